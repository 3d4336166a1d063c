/* pool - see pool.h. A chunk is one plane of one image block. */
#include "kernels/pool.h"

#include "base/threads.h"
#include "kernels/kernels.h"

struct pool_job {
    const struct sb_env *env;
    const struct sb_act *x, *y, *dy;
    struct sb_act *out;
    uint32_t size; /* of a window; bands */
};

static float *plane(const struct sb_act *a, size_t chunk)
{
    return sb_act_plane(a, (uint32_t)(chunk / a->channels),
                        (uint32_t)(chunk % a->channels));
}

static const float *affine_of(const struct sb_act *a, size_t chunk, float affine[2])
{
    return sb_act_affine(a, (uint32_t)(chunk % a->channels), affine);
}

static void max_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct pool_job *j = context;
    float affine[2];
    j->env->kernels->max_pool(plane(j->x, chunk), affine_of(j->x, chunk, affine),
                              j->x->height, j->x->width, j->size, plane(j->out, chunk));
}

static void max_backward_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct pool_job *j = context;
    float affine[2];
    j->env->kernels->max_pool_gradient(
        plane(j->x, chunk), affine_of(j->x, chunk, affine), plane(j->y, chunk),
        plane(j->dy, chunk), j->x->height, j->x->width, j->size, plane(j->out, chunk));
}

static void mean_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct pool_job *j = context;
    j->env->kernels->mean_pool(plane(j->x, chunk), (size_t)j->x->height * j->x->width,
                               plane(j->out, chunk));
}

/* Rows of the whole image in their order, as mean_pool adds them. */
static void mean_bands_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct pool_job *j = context;
    const float *x = plane(j->x, chunk);
    size_t pixels = (size_t)j->x->height * j->x->width;
    float sum = 0.0f, *y = plane(j->out, chunk);
    for (uint32_t band = 0; band < j->size; band++)
        for (size_t i = 0; i < pixels; i++)
            sum += x[j->x->lanes * i + band];
    for (uint32_t l = 0; l < j->out->lanes; l++)
        y[l] = sum / (float)(pixels * j->size);
}

static void mean_backward_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct pool_job *j = context;
    j->env->kernels->mean_pool_gradient(plane(j->dy, chunk),
                                        (size_t)j->out->height * j->out->width,
                                        plane(j->out, chunk));
}

static sb_status check(const char *what, const struct sb_act *x, const struct sb_act *y,
                       uint32_t height, uint32_t width)
{
    if (height == 0 || width == 0)
        return sb_fail(SB_EARG, "pooling: planes of %u x %u are smaller than a window",
                       x->height, x->width);
    if (y->batch != x->batch || y->channels != x->channels || y->height != height ||
        y->width != width)
        return sb_fail(SB_EARG,
                       "pooling: %s is %u x %u x %u x %u; want %u x %u x %u x %u", what,
                       y->batch, y->channels, y->height, y->width, x->batch, x->channels,
                       height, width);
    return SB_OK;
}

static void run(struct pool_job *j, const struct sb_act *shape, sb_chunk_fn *fn)
{
    sb_threads_run(j->env->threads, (size_t)shape->blocks * shape->channels, fn, j);
}

static sb_status check_max(const char *what, const struct sb_act *x,
                           const struct sb_act *y, uint32_t size)
{
    if (size == 0)
        return sb_fail(SB_EARG, "pooling: a window of size 0; must be at least 1");
    return check(what, x, y, x->height / size, x->width / size);
}

sb_status sb_pool_max(const struct sb_env *env, const struct sb_act *x, uint32_t size,
                      struct sb_act *y)
{
    sb_status st = check_max("output", x, y, size);
    struct pool_job j = {.env = env, .x = x, .out = y, .size = size};
    if (st == SB_OK)
        run(&j, x, max_chunk);
    return st;
}

sb_status sb_pool_max_backward(const struct sb_env *env, const struct sb_act *x,
                               const struct sb_act *y, const struct sb_act *dy,
                               uint32_t size, struct sb_act *dx)
{
    sb_status st = check_max("output", x, y, size);
    if (st == SB_OK)
        st = check_max("output gradient", x, dy, size);
    if (st == SB_OK)
        st = check("input gradient", x, dx, x->height, x->width);
    struct pool_job j = {env, x, y, dy, dx, size};
    if (st == SB_OK)
        run(&j, x, max_backward_chunk);
    return st;
}

sb_status sb_pool_mean(const struct sb_env *env, const struct sb_act *x, struct sb_act *y)
{
    sb_status st = check("output", x, y, 1, 1);
    struct pool_job j = {.env = env, .x = x, .out = y};
    if (st == SB_OK)
        run(&j, x, mean_chunk);
    return st;
}

sb_status sb_pool_mean_bands(const struct sb_env *env, const struct sb_act *x,
                             uint32_t bands, struct sb_act *y)
{
    sb_status st = check("output", x, y, 1, 1);
    struct pool_job j = {.env = env, .x = x, .out = y, .size = bands};
    if (st == SB_OK)
        run(&j, x, mean_bands_chunk);
    return st;
}

sb_status sb_pool_mean_backward(const struct sb_env *env, const struct sb_act *dy,
                                struct sb_act *dx)
{
    sb_status st = check("output gradient", dx, dy, 1, 1);
    struct pool_job j = {.env = env, .dy = dy, .out = dx};
    if (st == SB_OK)
        run(&j, dx, mean_backward_chunk);
    return st;
}
