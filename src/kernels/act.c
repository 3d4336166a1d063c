/* act - see act.h. */
#include "kernels/act.h"

#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "kernels/kernels.h"

/* Planes of at least this many floats are spread over the cache sets. */
enum { SPREAD_FROM = 512, LINE_FLOATS = SB_ALIGN / sizeof(float) };

static size_t plane_floats(size_t pixels, uint32_t lanes)
{
    size_t n = pixels * lanes;
    if (n < SPREAD_FROM)
        return n;
    size_t lines = (n + LINE_FLOATS - 1) / LINE_FLOATS;
    return (lines | 1) * LINE_FLOATS;
}

static sb_status check_lanes(uint32_t lanes)
{
    if (lanes == 8 || lanes == SB_MAX_LANES)
        return SB_OK;
    return sb_fail(SB_EARG,
                   "activations with %u images side by side; kernels have 8 or %d", lanes,
                   SB_MAX_LANES);
}

sb_status sb_act_shape(struct sb_act *a, uint32_t lanes, uint32_t batch,
                       uint32_t channels, uint32_t height, uint32_t width)
{
    *a = (struct sb_act){0};
    sb_status st = check_lanes(lanes);
    if (st != SB_OK)
        return st;
    if (batch == 0 || channels == 0 || height == 0 || width == 0)
        return sb_fail(SB_EARG,
                       "activations of %u x %u x %u x %u: every size must be at least 1",
                       batch, channels, height, width);
    if (batch > UINT32_MAX - lanes)
        return sb_fail(SB_EARG, "a batch of %u images is too large", batch);
    const size_t limit = SIZE_MAX / 8 / sizeof(float);
    uint32_t blocks = (batch + lanes - 1) / lanes;
    size_t plane, block;
    if (__builtin_mul_overflow((size_t)height, (size_t)width, &plane) ||
        plane > limit / (2 * SB_MAX_LANES) ||
        __builtin_mul_overflow(plane_floats(plane, lanes), (size_t)channels, &block) ||
        block > limit / blocks)
        return sb_fail(SB_EARG,
                       "activations of %u x %u x %u x %u do not fit the address space",
                       batch, channels, height, width);
    a->lanes = lanes;
    a->batch = batch;
    a->channels = channels;
    a->height = height;
    a->width = width;
    a->blocks = blocks;
    a->pitch = (size_t)width * lanes;
    a->plane = plane_floats(plane, lanes);
    a->block = block;
    return SB_OK;
}

/* Half a way of a first-level cache of 64 sets, by which rows of many channels are shifted
 * against each other, so that the same channels of three rows fall into different sets. */
enum { SETS = 64, FEW_LINES = 3 * SETS };

size_t sb_act_slice_pitch(uint32_t lanes, uint32_t channels)
{
    size_t lines = (size_t)channels * (SB_SLICE + 2) * lanes / LINE_FLOATS;
    if (lines > FEW_LINES)
        lines += (SETS + SETS / 2 - lines % SETS) % SETS;
    return lines * LINE_FLOATS;
}

sb_status sb_act_shape_sliced(struct sb_act *a, uint32_t lanes, uint32_t batch,
                              uint32_t channels, uint32_t height, uint32_t width)
{
    sb_status st = sb_act_shape(a, lanes, batch, channels, height, width);
    if (st != SB_OK)
        return st;
    if (width % SB_SLICE != 0)
        return sb_fail(SB_EARG, "activations %u wide are not slices of %d", width,
                       SB_SLICE);
    /* no overflow: less than twice as much as planes, which leave room for more */
    a->sliced = true;
    a->plane = (size_t)(SB_SLICE + 2) * lanes;
    a->pitch = sb_act_slice_pitch(lanes, channels);
    a->slice = height * a->pitch;
    a->block = width / SB_SLICE * a->slice;
    return SB_OK;
}

sb_status sb_act_init(struct sb_act *a, uint32_t lanes, uint32_t batch, uint32_t channels,
                      uint32_t height, uint32_t width)
{
    sb_status st = sb_act_shape(a, lanes, batch, channels, height, width);
    if (st != SB_OK)
        return st;
    a->data = sb_calloc(sb_act_size(a), sizeof(float));
    if (!a->data)
        return sb_fail(SB_ENOMEM, "no memory for activations of %u x %u x %u x %u", batch,
                       channels, height, width);
    return SB_OK;
}

void sb_act_fini(struct sb_act *a)
{
    if (!a)
        return;
    sb_free(a->data);
    *a = (struct sb_act){0};
}

void sb_act_set_batch(struct sb_act *a, uint32_t batch)
{
    a->batch = batch;
    a->blocks = a->lanes ? (batch + a->lanes - 1) / a->lanes : 0;
}

void sb_act_load(struct sb_act *a, const float *nchw)
{
    size_t pixels = (size_t)a->height * a->width;
    memset(a->data, 0, sb_act_size(a) * sizeof(float));
    for (uint32_t n = 0; n < a->batch; n++)
        for (uint32_t c = 0; c < a->channels; c++) {
            const float *from = nchw + ((size_t)n * a->channels + c) * pixels;
            float *to = sb_act_image(a, n, c);
            for (size_t p = 0; p < pixels; p++)
                to[p * a->lanes] = from[p];
        }
}

void sb_act_store(const struct sb_act *a, float *nchw)
{
    size_t pixels = (size_t)a->height * a->width;
    for (uint32_t n = 0; n < a->batch; n++)
        for (uint32_t c = 0; c < a->channels; c++) {
            const float *from = sb_act_image(a, n, c);
            float *to = nchw + ((size_t)n * a->channels + c) * pixels;
            for (size_t p = 0; p < pixels; p++)
                to[p] = from[p * a->lanes];
        }
}

/* ---- element-wise -------------------------------------------------------------------- */

typedef void pair_fn(float *a, const float *b, size_t n);

struct pair {
    pair_fn *fn;
    struct sb_act *a;
    const struct sb_act *b;
};

static void pair_plane(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct pair *p = context;
    uint32_t block = (uint32_t)(chunk / p->a->channels);
    uint32_t channel = (uint32_t)(chunk % p->a->channels);
    p->fn(sb_act_plane(p->a, block, channel), sb_act_plane(p->b, block, channel),
          (size_t)p->a->height * p->a->width);
}

static void run_pair(const struct sb_env *env, pair_fn *fn, struct sb_act *a,
                     const struct sb_act *b)
{
    struct pair p = {fn, a, b};
    sb_threads_run(env->threads, (size_t)a->blocks * a->channels, pair_plane, &p);
}

void sb_act_multiply(const struct sb_env *env, struct sb_act *a, const struct sb_act *b)
{
    run_pair(env, env->kernels->multiply, a, b);
}

void sb_act_add(const struct sb_env *env, struct sb_act *a, const struct sb_act *b)
{
    run_pair(env, env->kernels->add, a, b);
}

void sb_act_relu(const struct sb_env *env, struct sb_act *a)
{
    run_pair(env, env->kernels->relu, a, a);
}

void sb_act_relu_gradient(const struct sb_env *env, struct sb_act *dy,
                          const struct sb_act *y)
{
    run_pair(env, env->kernels->relu_gradient, dy, y);
}

struct sums {
    const struct sb_env *env;
    const struct sb_act *a;
    float *out;
};

static void sum_channel(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct sums *s = context;
    uint32_t channel = (uint32_t)chunk;
    double part[SB_PARTIALS] = {0};
    for (uint32_t b = 0; b < s->a->blocks; b++) {
        float sum[SB_MAX_LANES] = {0}, unused[SB_MAX_LANES] = {0};
        s->env->kernels->moments(sb_act_plane(s->a, b, channel),
                                 (size_t)s->a->height * s->a->width, 0.0f, sum, unused);
        sb_partials_add(part, b, s->a->lanes, sb_act_lanes(s->a, b), sum);
    }
    s->out[channel] = (float)sb_partials_fold(part);
}

void sb_act_channel_sums(const struct sb_env *env, const struct sb_act *a, float *out)
{
    struct sums s = {env, a, out};
    sb_threads_run(env->threads, a->channels, sum_channel, &s);
}
