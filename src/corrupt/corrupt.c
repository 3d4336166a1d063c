/* corrupt - the table of kinds and the driver; see corrupt.h and corrupt_parts.h. */
#include "corrupt/corrupt.h"

#include <string.h>

#include "base/nearest.h"
#include "base/threads.h"
#include "corrupt/corrupt_parts.h"
#include "kernels/kernels.h"

static const struct sb_corruption_kind kinds[SB_CORRUPTIONS] = {
    [SB_GAUSSIAN_NOISE] = {"gaussian_noise", sb_noise_prepare, NULL, sb_noise_recode},
    [SB_SHOT_NOISE] = {"shot_noise", sb_noise_prepare, NULL, sb_noise_recode},
    [SB_IMPULSE_NOISE] = {"impulse_noise", sb_noise_prepare, NULL, sb_noise_recode},
    [SB_DEFOCUS_BLUR] = {"defocus_blur", NULL, sb_defocus_blur_paint, NULL},
    [SB_GLASS_BLUR] = {"glass_blur", sb_glass_blur_prepare, sb_glass_blur_paint, NULL},
    [SB_MOTION_BLUR] = {"motion_blur", NULL, sb_motion_blur_paint, NULL},
    [SB_ZOOM_BLUR] = {"zoom_blur", sb_zoom_blur_prepare, sb_zoom_blur_paint, NULL},
    [SB_SNOW] = {"snow", sb_snow_prepare, sb_snow_paint, NULL},
    [SB_FROST] = {"frost", NULL, sb_frost_paint, NULL},
    [SB_FOG] = {"fog", NULL, sb_fog_paint, NULL},
    [SB_BRIGHTNESS] = {"brightness", NULL, sb_brightness_paint, NULL},
    [SB_CONTRAST] = {"contrast", NULL, sb_contrast_paint, NULL},
    [SB_ELASTIC_TRANSFORM] = {"elastic_transform", sb_elastic_prepare, sb_elastic_paint,
                              NULL},
    [SB_PIXELATE] = {"pixelate", NULL, NULL, sb_pixelate_recode},
    [SB_JPEG_COMPRESSION] = {"jpeg_compression", NULL, NULL, sb_recoder_recode},
    [SB_SPECKLE_NOISE] = {"speckle_noise", sb_noise_prepare, NULL, sb_noise_recode},
    [SB_GAUSSIAN_BLUR] = {"gaussian_blur", sb_gaussian_blur_prepare,
                          sb_gaussian_blur_paint, NULL},
    [SB_SPATTER] = {"spatter", sb_spatter_prepare, sb_spatter_paint, NULL},
    [SB_SATURATE] = {"saturate", NULL, sb_saturate_paint, NULL},
};

const char *sb_corruption_name(enum sb_corruption kind)
{
    return kinds[kind].name;
}

sb_status sb_corruption_find(const char *name, enum sb_corruption *kind)
{
    struct sb_nearest nearest = sb_nearest_begin(name);
    for (int k = 0; k < SB_CORRUPTIONS; k++) {
        *kind = (enum sb_corruption)k;
        if (sb_nearest_distance(kinds[k].name, name) == 0)
            return SB_OK;
        sb_nearest_offer(&nearest, kinds[k].name);
    }
    return sb_fail(SB_EARG, "there is no corruption '%s'; the nearest is '%s'", name,
                   nearest.best);
}

/* ---- canvases ---- */

enum { USES = 16, LANES = 8, QUAD = 4, NORMALS = LANES * QUAD };

struct sb_stream sb_canvas_stream(const struct sb_canvas *v, uint32_t use)
{
    const struct sb_corrupt_plan *p = v->plan;
    return sb_rng_stream(p->seed, SB_RNG_CORRUPT, (uint32_t)p->kind, v->index,
                         p->severity * USES + use);
}

void sb_canvas_normals(const struct sb_canvas *v, uint32_t use, float mean, float sd,
                       float *out)
{
    struct sb_stream s = sb_canvas_stream(v, use);
    size_t vectors = (v->plan->plane + NORMALS - 1) / NORMALS;
    sb_kernels_narrow(v->plan->env->kernels)->normal(&s, 0, 0, 1, vectors, out);
    for (size_t i = 0; i < v->plan->plane; i++)
        out[i] = mean + sd * out[i];
}

void sb_canvas_uniforms(const struct sb_canvas *v, uint32_t use, size_t n, float *out)
{
    struct sb_stream s = sb_canvas_stream(v, use);
    for (size_t i = 0; i < n; i += 4) {
        uint32_t word[4];
        sb_rng_bits(&s, i / 4, word);
        for (size_t j = 0; j < 4 && i + j < n; j++)
            out[i + j] = (float)(int32_t)(word[j] >> 8) * 0x1p-23f - 1.0f;
    }
}

float sb_canvas_grey(const struct sb_canvas *v, size_t p)
{
    const float *at = v->image + p;
    size_t plane = v->plan->plane;
    return v->plan->channels == 1
               ? at[0]
               : 0.299f * at[0] + 0.587f * at[plane] + 0.114f * at[2 * plane];
}

static void canvas_fini(struct sb_canvas *v)
{
    sb_recoder_free(v->jpeg);
    sb_arena_fini(&v->arena);
}

static sb_status canvas_init(struct sb_canvas *v, const struct sb_corrupt_plan *p)
{
    size_t image = p->channels * p->plane, square = (size_t)p->side * p->side;
    size_t layer = (p->plane + NORMALS - 1) / NORMALS * NORMALS;
    size_t padded =
        (p->height + (size_t)2 * SB_KNIGHT) * (p->width + (size_t)2 * SB_REACH);
    size_t line = p->width + (size_t)2 * p->radius, size = sizeof(float);
    size_t all = 2 * sb_arena_bytes(image, size) + sb_arena_bytes(padded, size) +
                 sb_arena_bytes(line, size) + sb_arena_bytes(2 * square, size) +
                 sb_arena_bytes(p->plane, 1) + sb_arena_bytes(p->plane, size) +
                 SB_LAYERS * sb_arena_bytes(layer, size);
    v->plan = p;
    sb_status st = sb_arena_init(&v->arena, all);
    if (st != SB_OK)
        return st;
    v->image = sb_arena_take(&v->arena, image, size);
    v->other = sb_arena_take(&v->arena, image, size);
    v->padded = sb_arena_take(&v->arena, padded, size);
    v->line = sb_arena_take(&v->arena, line, size);
    v->plasma = sb_arena_take(&v->arena, 2 * square, size);
    v->bytes = sb_arena_take(&v->arena, p->plane, 1);
    v->stack = sb_arena_take(&v->arena, p->plane, sizeof *v->stack);
    for (int k = 0; k < SB_LAYERS; k++)
        v->layer[k] = sb_arena_take(&v->arena, layer, size);
    return SB_OK;
}

/* ---- the plan ---- */

/* Elastic blurs its displacements most: docs/corruptions.md, and corrupt_digital.c. */
static uint32_t largest_radius(uint32_t height, uint32_t width)
{
    uint32_t side = height < width ? height : width, least = 8;
    uint32_t elastic = (uint32_t)(0.6 * side) + 1;
    return elastic > least ? elastic : least;
}

static sb_status plan_init(struct sb_corrupt_plan *p, struct sb_arena *a)
{
    size_t taps = 2 * (size_t)p->radius + 1, longer = p->height, size = sizeof(float);
    longer = p->width > longer ? p->width : longer;
    size_t all = sb_arena_bytes((size_t)SB_SHADES * SB_SHADES, sizeof *p->noise) +
                 2 * sb_arena_bytes(taps, size) +
                 (size_t)2 * SB_ZOOMS_MOST * 3 * sb_arena_bytes(longer, size);
    sb_status st = sb_arena_init(a, all);
    if (st != SB_OK)
        return st;
    p->noise = sb_arena_take(a, (size_t)SB_SHADES * SB_SHADES, sizeof *p->noise);
    for (int k = 0; k < 2; k++)
        p->taps[k].weight = sb_arena_take(a, taps, size);
    for (int k = 0; k < 2 * SB_ZOOMS_MOST; k++) {
        struct sb_zoom *z = k % 2 ? &p->rows[k / 2] : &p->columns[k / 2];
        z->low = sb_arena_take(a, longer, sizeof *z->low);
        z->high = sb_arena_take(a, longer, sizeof *z->high);
        z->part = sb_arena_take(a, longer, sizeof *z->part);
    }
    return SB_OK;
}

/* ---- the driver ---- */

struct sb_corrupt {
    struct sb_corrupt_plan plan;
    struct sb_arena tables; /* what the plan points to */
    int threads;            /* canvases */
    bool chosen;
    struct sb_canvas *canvas; /* [threads] owned */
};

static sb_status init(struct sb_corrupt *c)
{
    sb_status st = plan_init(&c->plan, &c->tables);
    if (st != SB_OK)
        return st;
    c->canvas = sb_calloc((size_t)c->threads, sizeof *c->canvas);
    if (!c->canvas)
        return sb_fail(SB_ENOMEM, "no memory for corrupting on %d threads", c->threads);
    for (int i = 0; i < c->threads && st == SB_OK; i++)
        st = canvas_init(&c->canvas[i], &c->plan);
    return st;
}

sb_status sb_corrupt_new(struct sb_corrupt **out, const struct sb_env *env,
                         uint32_t channels, uint32_t height, uint32_t width)
{
    *out = NULL;
    if ((channels != 1 && channels != 3) || height < 1 || width < 1 ||
        height > SB_CORRUPT_SIDE_MOST || width > SB_CORRUPT_SIDE_MOST)
        return sb_fail(
            SB_EARG,
            "cannot corrupt images of %u x %u pixels with %u channels; want 1 to %d "
            "pixels a side and 1 or 3 channels",
            height, width, channels, SB_CORRUPT_SIDE_MOST);
    struct sb_corrupt *c = sb_calloc(1, sizeof *c);
    if (!c)
        return sb_fail(SB_ENOMEM, "no memory for corrupting images");
    c->threads = env->threads;
    c->plan = (struct sb_corrupt_plan){.env = env,
                                       .channels = channels,
                                       .height = height,
                                       .width = width,
                                       .plane = (size_t)height * width,
                                       .side = 2,
                                       .radius = largest_radius(height, width)};
    while (c->plan.side < height || c->plan.side < width)
        c->plan.side *= 2;
    sb_status st = init(c);
    if (st != SB_OK) {
        sb_corrupt_free(c);
        return st;
    }
    *out = c;
    return SB_OK;
}

void sb_corrupt_free(struct sb_corrupt *c)
{
    if (!c)
        return;
    for (int i = 0; c->canvas && i < c->threads; i++)
        canvas_fini(&c->canvas[i]);
    sb_free(c->canvas);
    sb_arena_fini(&c->tables);
    sb_free(c);
}

sb_status sb_corrupt_choose(struct sb_corrupt *c, enum sb_corruption kind,
                            uint32_t severity, uint64_t seed)
{
    struct sb_corrupt_plan *p = &c->plan;
    c->chosen = false;
    if (severity < 1 || severity > SB_SEVERITIES)
        return sb_fail(SB_EARG, "%s of severity %u; want 1 to %d", kinds[kind].name,
                       severity, SB_SEVERITIES);
    for (int i = 0; kind == SB_JPEG_COMPRESSION && i < c->threads; i++) {
        struct sb_canvas *v = &c->canvas[i];
        sb_status st =
            v->jpeg ? SB_OK : sb_recoder_new(&v->jpeg, p->channels, p->height, p->width);
        if (st != SB_OK)
            return st;
    }
    p->kind = kind;
    p->severity = severity - 1;
    p->seed = seed;
    if (kinds[kind].prepare)
        kinds[kind].prepare(p);
    c->chosen = true;
    return SB_OK;
}

struct job {
    struct sb_corrupt *c;
    uint32_t first;
    const uint8_t *in;
    uint8_t *out;
};

/* The fraction is cut off; what float arithmetic loses must not cost a whole step. */
static void store(const float *image, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        float x = image[i] + 0x1p-10f;
        x = x > 0.0f ? x : 0.0f;
        out[i] = (uint8_t)(int32_t)(x < 255.0f ? x : 255.0f);
    }
}

static void one_image(void *context, size_t chunk, int worker)
{
    const struct job *job = context;
    const struct sb_corrupt_plan *p = &job->c->plan;
    struct sb_canvas *v = &job->c->canvas[worker];
    size_t n = p->channels * p->plane;
    const uint8_t *in = job->in + chunk * n;
    uint8_t *out = job->out + chunk * n;
    v->index = job->first + (uint32_t)chunk;
    if (kinds[p->kind].recode) {
        kinds[p->kind].recode(v, in, out);
        return;
    }
    for (size_t i = 0; i < n; i++)
        v->image[i] = in[i];
    kinds[p->kind].paint(v);
    store(v->image, n, out);
}

sb_status sb_corrupt_images(struct sb_corrupt *c, uint32_t first, uint32_t n,
                            const uint8_t *in, uint8_t *out)
{
    struct job job = {c, first, in, out};
    if (!c->chosen)
        return sb_fail(SB_EARG, "no corruption was chosen");
    for (int i = 0; i < c->threads; i++)
        c->canvas[i].failed = false;
    sb_threads_run(c->threads, n, one_image, &job);
    for (int i = 0; i < c->threads; i++)
        if (c->canvas[i].failed)
            return sb_recoder_status(c->canvas[i].jpeg);
    return SB_OK;
}
