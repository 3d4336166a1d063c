/* rows - see rows.h. Loops over lanes are plain: the compiler makes vectors of them, and
 * without contraction every instruction set rounds alike. */
#include "kernels/rows.h"

#include "base/threads.h"

static size_t pixels(const struct sb_act *a)
{
    return (size_t)a->height * a->width;
}

struct scale_job {
    const struct sb_act *x, *factor, *shift;
    struct sb_act *y;
    bool add;
};

static void scale_plane(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct scale_job *j = context;
    uint32_t b = (uint32_t)(chunk / j->x->channels),
             c = (uint32_t)(chunk % j->x->channels);
    const float *x = sb_act_plane(j->x, b, c), *f = sb_act_plane(j->factor, b, c);
    const float *s = j->shift ? sb_act_plane(j->shift, b, c) : NULL;
    size_t lanes = j->x->lanes;
    float *y = sb_act_plane(j->y, b, c);
    for (size_t i = 0; i < pixels(j->x); i++, x += lanes, y += lanes)
        for (size_t l = 0; l < lanes; l++) {
            float scaled = x[l] * f[l];
            y[l] = s ? scaled + s[l] : scaled;
        }
}

void sb_rows_scale(const struct sb_env *env, const struct sb_act *x,
                   const struct sb_act *factor, const struct sb_act *shift,
                   struct sb_act *y)
{
    struct scale_job j = {x, factor, shift, y, false};
    sb_threads_run(env->threads, (size_t)x->blocks * x->channels, scale_plane, &j);
}

static void backward_plane(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct sb_rows_backward *j = context;
    uint32_t b = (uint32_t)(chunk / j->x->channels),
             c = (uint32_t)(chunk % j->x->channels);
    const float *x = sb_act_plane(j->x, b, c), *f = sb_act_plane(j->factor, b, c);
    const float *dy = sb_act_plane(j->dy, b, c);
    float *dx = j->dx ? sb_act_plane(j->dx, b, c) : NULL;
    float df[SB_MAX_LANES] = {0}, ds[SB_MAX_LANES] = {0};
    size_t lanes = j->x->lanes;
    for (size_t i = 0; i < pixels(j->x); i++, x += lanes, dy += lanes) {
        float scaled[SB_MAX_LANES];
        for (size_t l = 0; l < lanes; l++) {
            df[l] += dy[l] * x[l];
            ds[l] += dy[l];
            scaled[l] = dy[l] * f[l];
        }
        for (size_t l = 0; dx && l < lanes; l++)
            dx[l] = j->add ? dx[l] + scaled[l] : scaled[l];
        dx = dx ? dx + lanes : NULL;
    }
    float *to = sb_act_plane(j->dfactor, b, c);
    float *shift = j->dshift ? sb_act_plane(j->dshift, b, c) : NULL;
    for (size_t l = 0; l < lanes; l++) {
        to[l] = df[l];
        if (shift)
            shift[l] = ds[l];
    }
}

void sb_rows_scale_backward(const struct sb_env *env, const struct sb_rows_backward *b)
{
    struct sb_rows_backward j = *b;
    sb_threads_run(env->threads, (size_t)b->x->blocks * b->x->channels, backward_plane,
                   &j);
}

static void multiply_plane(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct scale_job *j = context;
    uint32_t b = (uint32_t)(chunk / j->x->channels),
             c = (uint32_t)(chunk % j->x->channels);
    const float *x = sb_act_plane(j->x, b, c), *f = sb_act_plane(j->factor, b, c);
    float *y = sb_act_plane(j->y, b, c);
    size_t lanes = j->x->lanes;
    for (size_t i = 0; i < pixels(j->x) * lanes; i++)
        y[i] = j->add ? y[i] + x[i] * f[i] : x[i] * f[i];
}

void sb_rows_multiply(const struct sb_env *env, const struct sb_act *x,
                      const struct sb_act *factor, struct sb_act *y, bool add)
{
    struct scale_job j = {x, factor, NULL, y, add};
    sb_threads_run(env->threads, (size_t)x->blocks * x->channels, multiply_plane, &j);
}

struct mask_job {
    const struct sb_act *x;
    const float *keep;
    uint32_t bands;
    struct sb_act *y;
    bool add;
};

/* Lane l is band l of the plane: whatever is in further lanes becomes 0. */
static void mask_bands(const struct mask_job *j, const float *x, const float *keep,
                       float *y)
{
    size_t lanes = j->x->lanes, n = pixels(j->x);
    for (size_t i = 0; i < n; i++, x += lanes, y += lanes)
        for (size_t l = 0; l < lanes; l++) {
            float product = l < j->bands ? x[l] * keep[l * n + i] : 0.0f;
            y[l] = j->add ? y[l] + product : product;
        }
}

static void mask_plane(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct mask_job *j = context;
    uint32_t b = (uint32_t)(chunk / j->x->channels),
             c = (uint32_t)(chunk % j->x->channels);
    size_t lanes = j->x->lanes, plane = pixels(j->x) * (j->bands ? j->bands : 1);
    const float *x = sb_act_plane(j->x, b, c), *keep = j->keep + c * plane;
    float *y = sb_act_plane(j->y, b, c);
    if (j->bands) {
        mask_bands(j, x, keep, y);
        return;
    }
    for (size_t i = 0; i < plane; i++, x += lanes, y += lanes)
        for (size_t l = 0; l < lanes; l++)
            y[l] = j->add ? y[l] + x[l] * keep[i] : x[l] * keep[i];
}

void sb_rows_mask(const struct sb_env *env, const struct sb_act *x, const float *keep,
                  uint32_t bands, struct sb_act *y, bool add)
{
    struct mask_job j = {x, keep, bands, y, add};
    sb_threads_run(env->threads, (size_t)x->blocks * x->channels, mask_plane, &j);
}
