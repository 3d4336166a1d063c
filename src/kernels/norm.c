/* norm - see norm.h. */
#include "kernels/norm.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/threads.h"
#include "kernels/kernels.h"
#include "kernels/spread.h"

struct norm_job {
    const struct sb_env *env;
    const struct sb_norm *n;
    const struct sb_act *x, *residual;
    struct sb_act *y; /* NULL: the result is not stored */
    int flags, training;
    const float *pivot; /* [channels] moments are taken about these */
    const struct sb_norm_backward *b;
    double *own; /* [channels][subtrees here][2] where others have some of the batch */
};

static sb_status check_like(const struct sb_norm *n, const struct sb_act *x,
                            const struct sb_act *a, const char *what)
{
    if (x->channels != n->channels)
        return sb_fail(SB_EARG, "batch norm of %u channels on an input of %u",
                       n->channels, x->channels);
    if (a && (a->batch != x->batch || a->channels != x->channels ||
              a->height != x->height || a->width != x->width))
        return sb_fail(SB_EARG,
                       "batch norm: %s is %u x %u x %u x %u, the input %u x %u x %u x %u",
                       what, a->batch, a->channels, a->height, a->width, x->batch,
                       x->channels, x->height, x->width);
    return SB_OK;
}

static size_t pixels(const struct sb_act *a)
{
    return (size_t)a->height * a->width;
}

/* ---- forward ------------------------------------------------------------------------- */

/* Images and pixels of the whole batch. */
static double count_of(const struct sb_norm *n, const struct sb_act *x)
{
    return (double)sb_shards_rows(n->shards, x->batch) * (double)pixels(x);
}

/* Two sums of an image block, one a lane, about a pivot. */
typedef void block_sums_fn(const struct norm_job *j, uint32_t block, uint32_t channel,
                           float pivot, float *a, float *b);

/* The same over the rows here, by subtrees. */
static void sum_here(const struct norm_job *j, const struct sb_act *x, uint32_t c,
                     float pivot, block_sums_fn *fn, struct sb_tree_sums *out)
{
    const struct sb_shards *shards = j->n->shards;
    uint32_t n = sb_shards_of(shards, x->batch), first = shards ? shards->first : 0;
    out->tree.parts = 0;
    for (uint32_t i = 0; i < n; i++) {
        double sum[SB_PARTIALS] = {0}, other[SB_PARTIALS] = {0};
        uint32_t begin, end;
        sb_shards_blocks(shards, x, i, &begin, &end);
        for (uint32_t b = begin; b < end; b++) {
            float p[SB_MAX_LANES] = {0}, q[SB_MAX_LANES] = {0};
            fn(j, b, c, pivot, p, q);
            sb_partials_add(sum, b, x->lanes, sb_act_lanes(x, b), p);
            sb_partials_add(other, b, x->lanes, sb_act_lanes(x, b), q);
        }
        sb_tree_sums_push(out, (struct sb_subtree){0, first + i}, sb_partials_fold(sum),
                          sb_partials_fold(other));
    }
}

/* Over the batch, in out->sum[0]; where others have some of it, from what was gathered. */
static void sum_batch(const struct norm_job *j, const struct sb_act *x, uint32_t c,
                      float pivot, block_sums_fn *fn, struct sb_tree_sums *out)
{
    if (j->own) {
        sb_spread_sum(j->n->shards->spread, c, out);
        return;
    }
    sum_here(j, x, c, pivot, fn, out);
    sb_tree_sums_end(out);
}

static void put_sums(const struct norm_job *j, const struct sb_tree_sums *t, uint32_t c)
{
    memcpy(j->own + (size_t)c * t->tree.parts * 2, t->sum,
           t->tree.parts * sizeof t->sum[0]);
}

/* Exchanges what chunks put into j->own, if there are others to exchange it with. */
static sb_status gather(struct norm_job *j, sb_chunk_fn *chunk, const char *what)
{
    struct sb_spread *s = j->n->shards ? j->n->shards->spread : NULL;
    if (!s)
        return SB_OK;
    j->own = sb_spread_begin(s, j->n->channels);
    sb_threads_run(j->env->threads, j->n->channels, chunk, j);
    return sb_spread_gather(s, what);
}

static void block_moments(const struct norm_job *j, uint32_t block, uint32_t channel,
                          float pivot, float *sum, float *square)
{
    j->env->kernels->moments(sb_act_plane(j->x, block, channel), pixels(j->x), pivot, sum,
                             square);
}

static void moments_here(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct norm_job *j = context;
    struct sb_tree_sums sums;
    uint32_t c = (uint32_t)chunk;
    sum_here(j, j->x, c, j->pivot[c], block_moments, &sums);
    put_sums(j, &sums, c);
}

struct moments {
    double centre, var;
    bool far; /* the centre is so far from the pivot that the squares' digits cancel */
};

static struct moments moments_about(const struct norm_job *j, uint32_t c, float pivot)
{
    const double far = 8.0; /* deviations: six bits of the variance are lost there */
    struct sb_tree_sums sums;
    double count = count_of(j->n, j->x);
    sum_batch(j, j->x, c, pivot, block_moments, &sums);
    double mean = sums.sum[0][0] / count;
    double var = sums.sum[0][1] / count - mean * mean;
    return (struct moments){.centre = (double)pivot + mean,
                            .var = var > 0.0 || isnan(var) ? var : 0.0,
                            .far = mean * mean > far * far * var};
}

/* What is far from its running mean is summed a second time, about the mean found. Where
 * others have some of the batch all channels are, if any is: n->mean keeps the pivots. */
static sb_status gather_moments(struct norm_job *j)
{
    const struct sb_norm *n = j->n;
    bool again = false;
    j->pivot = n->running_mean;
    sb_status st = gather(j, moments_here, "sums of a norm");
    for (uint32_t c = 0; st == SB_OK && j->own && c < n->channels; c++) {
        struct moments m = moments_about(j, c, n->running_mean[c]);
        n->mean[c] = m.far ? (float)m.centre : n->running_mean[c];
        again |= m.far;
    }
    if (!again)
        return st;
    j->pivot = n->mean;
    return gather(j, moments_here, "sums of a norm");
}

static void batch_moments(const struct norm_job *j, uint32_t c)
{
    const struct sb_norm *n = j->n;
    struct moments of = moments_about(j, c, j->pivot[c]);
    if (of.far && !j->own)
        of = moments_about(j, c, (float)of.centre);
    double count = count_of(n, j->x), centre = of.centre, var = of.var;
    n->mean[c] = (float)centre;
    n->inv_sd[c] = (float)(1.0 / sqrt(var + (double)n->epsilon));
    double unbiased = count > 1.0 ? var * count / (count - 1.0) : var;
    double m = (double)n->momentum;
    n->running_mean[c] = (float)((1.0 - m) * (double)n->running_mean[c] + m * centre);
    n->running_var[c] = (float)((1.0 - m) * (double)n->running_var[c] + m * unbiased);
}

static float running_inv_sd(const struct sb_norm *n, uint32_t c)
{
    return (float)(1.0 / sqrt((double)n->running_var[c] + (double)n->epsilon));
}

/* y = x * scale + shift, with the batch's moments or the running averages. */
static void affine_of(const struct sb_norm *n, uint32_t c, int training, float *scale,
                      float *shift)
{
    *scale = n->gamma[c] * (training ? n->inv_sd[c] : running_inv_sd(n, c));
    *shift = fmaf(-(training ? n->mean : n->running_mean)[c], *scale, n->beta[c]);
}

void sb_norm_affine(const struct sb_norm *n, float *scale, float *shift)
{
    for (uint32_t c = 0; c < n->channels; c++)
        affine_of(n, c, 0, &scale[c], &shift[c]);
}

static void normalise_channel(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct norm_job *j = context;
    const struct sb_norm *n = j->n;
    uint32_t c = (uint32_t)chunk;
    float scale, shift;
    if (j->training)
        batch_moments(j, c);
    affine_of(n, c, j->training, &scale, &shift);
    if (!j->y) {
        n->scale[c] = scale;
        n->shift[c] = shift;
        return;
    }
    for (uint32_t b = 0; b < j->x->blocks; b++)
        j->env->kernels->normalise(sb_act_plane(j->x, b, c),
                                   j->residual ? sb_act_plane(j->residual, b, c) : NULL,
                                   sb_act_plane(j->y, b, c), pixels(j->x), scale, shift,
                                   j->flags & SB_NORM_RELU);
}

static sb_status forward(struct norm_job *j)
{
    sb_status st = check_like(j->n, j->x, j->y, "the output");
    if (st == SB_OK)
        st = check_like(j->n, j->x, j->residual, "the residual");
    if (st == SB_OK && j->training)
        st = gather_moments(j);
    if (st == SB_OK)
        sb_threads_run(j->env->threads, j->n->channels, normalise_channel, j);
    return st;
}

sb_status sb_norm_train(const struct sb_env *env, struct sb_norm *n,
                        const struct sb_act *x, const struct sb_act *residual,
                        struct sb_act *y, int flags)
{
    struct norm_job j = {.env = env,
                         .n = n,
                         .x = x,
                         .residual = residual,
                         .y = y,
                         .flags = flags,
                         .training = 1};
    return forward(&j);
}

sb_status sb_norm_infer(const struct sb_env *env, const struct sb_norm *n,
                        const struct sb_act *x, const struct sb_act *residual,
                        struct sb_act *y, int flags)
{
    struct norm_job j = {
        .env = env, .n = n, .x = x, .residual = residual, .y = y, .flags = flags};
    return forward(&j);
}

sb_status sb_norm_prepare(const struct sb_env *env, struct sb_norm *n,
                          const struct sb_act *x, int training)
{
    struct norm_job j = {.env = env, .n = n, .x = x, .training = training};
    return forward(&j);
}

/* ---- backward ------------------------------------------------------------------------ */

static float mean_of(const struct norm_job *j, uint32_t channel)
{
    return j->b->inference ? j->n->running_mean[channel] : j->n->mean[channel];
}

static struct sb_norm_plane plane_of(const struct norm_job *j, uint32_t block,
                                     uint32_t channel, float affine[2])
{
    const struct sb_norm_backward *w = j->b;
    bool of_x = w->relu && !w->y;
    if (of_x)
        affine_of(j->n, channel, !w->inference, &affine[0], &affine[1]);
    return (struct sb_norm_plane){.dy = sb_act_plane(w->dy, block, channel),
                                  .x = sb_act_plane(w->x, block, channel),
                                  .y = w->y ? sb_act_plane(w->y, block, channel) : NULL,
                                  .affine = of_x ? affine : NULL,
                                  .mean = mean_of(j, channel),
                                  .n = pixels(w->x)};
}

/* Of g and g (x - mean), g as below. */
static void block_gradients(const struct norm_job *j, uint32_t block, uint32_t channel,
                            float mean, float *sum, float *sum_x)
{
    (void)mean; /* plane_of has it */
    float affine[2];
    struct sb_norm_plane p = plane_of(j, block, channel, affine);
    j->env->kernels->norm_sums(&p, sum, sum_x);
}

static void gradients_here(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct norm_job *j = context;
    struct sb_tree_sums sums;
    uint32_t c = (uint32_t)chunk;
    sum_here(j, j->b->x, c, mean_of(j, c), block_gradients, &sums);
    put_sums(j, &sums, c);
}

/* With g the gradient behind the ReLU and xhat = (x - mean) inv_sd:
 * dx = gamma inv_sd (g - mean(g) - xhat mean(g xhat)) = a g + b (x - mean) + c; where mean
 * and inv_sd are constants, b = c = 0. */
static void backward_channel(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct norm_job *j = context;
    const struct sb_norm *n = j->n;
    const struct sb_norm_backward *w = j->b;
    const struct sb_kernels *k = j->env->kernels;
    uint32_t ch = (uint32_t)chunk;
    double count = count_of(n, w->x);
    float mean = mean_of(j, ch);
    struct sb_tree_sums sums;
    sum_batch(j, w->x, ch, mean, block_gradients, &sums);
    double sum = sums.sum[0][0], sum_x = sums.sum[0][1];
    double inv_sd = (double)(w->inference ? running_inv_sd(n, ch) : n->inv_sd[ch]);
    double dgamma = sum_x * inv_sd, a = (double)n->gamma[ch] * inv_sd;
    double back = w->inference ? 0.0 : -a; /* through the batch's moments */
    const float abc[] = {(float)a, (float)(back * inv_sd * dgamma / count),
                         (float)(back * sum / count)};
    w->dbeta[ch] = (float)sum;
    w->dgamma[ch] = (float)dgamma;
    for (uint32_t b = 0; b < w->x->blocks; b++) {
        int32_t mask[SB_MAX_LANES];
        for (uint32_t l = 0; l < SB_MAX_LANES; l++)
            mask[l] = l < sb_act_lanes(w->x, b) ? -1 : 0;
        float affine[2];
        struct sb_norm_plane p = plane_of(j, b, ch, affine);
        k->norm_gradient(&p, abc, mask, sb_act_plane(w->dx, b, ch),
                         w->residual ? sb_act_plane(w->residual, b, ch) : NULL, w->add);
    }
}

sb_status sb_norm_backward(const struct sb_env *env, const struct sb_norm *n,
                           const struct sb_norm_backward *b)
{
    struct norm_job j = {.env = env, .n = n, .b = b};
    sb_status st = check_like(n, b->x, b->dy, "the output's gradient");
    if (st == SB_OK)
        st = check_like(n, b->x, b->dx, "the input's gradient");
    if (st == SB_OK)
        st = check_like(n, b->x, b->y, "the output");
    if (st == SB_OK)
        st = check_like(n, b->x, b->residual, "the residual's gradient");
    if (st == SB_OK)
        st = gather(&j, gradients_here, "gradients of a norm");
    if (st == SB_OK)
        sb_threads_run(env->threads, n->channels, backward_channel, &j);
    return st;
}
