/* weight - see weight.h. */
#include "tensor/weight.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "kernels/dense.h"
#include "kernels/draw.h"

/* ---- life ---------------------------------------------------------------------------- */

static size_t whole_lines(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

/* What an array of a weight is there for. */
enum kind { POINT, GAUSS, BIAS };

/* What forward needs comes first, then the gradients. */
static sb_status allocate(struct sb_weight *w, const struct sb_weight_options *o)
{
    const struct {
        float **to;
        enum kind kind;
    } array[] = {
        {&w->mu, POINT},           {&w->rho, GAUSS},         {&w->s2, GAUSS},
        {&w->bias, BIAS},          {&w->dmu, POINT},         {&w->drho, GAUSS},
        {&w->dbias, BIAS},         {&w->mu_momentum, POINT}, {&w->rho_momentum, GAUSS},
        {&w->bias_momentum, BIAS}, {&w->mu_t, POINT},        {&w->s2_t, GAUSS}};
    enum { FORWARD = 4, ARRAYS = sizeof array / sizeof *array };
    size_t placed = o->inference ? sb_sparse_room_for(&w->kernel) : w->nnz;
    size_t size[] = {whole_lines(placed), w->gauss ? whole_lines(placed) : 0,
                     o->bias ? whole_lines(w->conv.out) : 0};
    size_t n = o->inference ? FORWARD : ARRAYS, floats = 0;
    for (size_t i = 0; i < n; i++)
        floats += size[array[i].kind];
    w->memory = sb_calloc(floats, sizeof(float));
    if (!w->memory)
        return sb_fail(SB_ENOMEM, "no memory for a layer of %u weights", w->nnz);
    float *at = w->memory;
    for (size_t i = 0; i < n; i++) {
        if (size[array[i].kind] > 0)
            *array[i].to = at;
        at += size[array[i].kind];
    }
    return SB_OK;
}

size_t sb_weight_gradient_floats(const struct sb_weight *w)
{
    return whole_lines(w->nnz) * (w->gauss ? 2 : 1) +
           (w->bias ? whole_lines(w->conv.out) : 0);
}

/* The kernel order of a layer all of whose weights exist. */
static sb_status set_full_pattern(struct sb_weight *w)
{
    struct sb_pattern all;
    sb_status st = sb_pattern_dense(&all, w->conv.out, sb_conv_cols(&w->conv));
    if (st == SB_OK)
        st = sb_sparse_set_pattern(&w->kernel, all.row_ptr, all.col);
    sb_pattern_fini(&all);
    return st;
}

sb_status sb_weight_init(struct sb_weight *w, const struct sb_conv *c,
                         const struct sb_weight_options *o)
{
    uint32_t all = sb_conv_weights(c);
    *w = (struct sb_weight){.conv = *c,
                            .gauss = o->gauss,
                            .dense = o->active == all,
                            .nnz = o->active,
                            .group = o->gauss && !o->inference ? o->group : 0,
                            .max_batch = o->max_batch};
    if (w->group % SB_MAX_LANES != 0)
        return sb_fail(SB_EARG,
                       "weights drawn for groups of %u rows: want a multiple of %d",
                       w->group, SB_MAX_LANES);
    if (o->active == 0 || o->active > all)
        return sb_fail(SB_EARG, "a layer with %u of %u weights: must be 1 to all",
                       o->active, all);
    sb_status st = SB_OK;
    if (o->inference)
        st = sb_sparse_init_forward(&w->kernel, c, o->lanes, o->max_batch, o->active,
                                    o->sliced);
    else if (!w->dense)
        st = sb_sparse_init(&w->kernel, c, o->lanes, o->max_batch, o->active);
    if (st == SB_OK && w->dense && o->inference)
        st = set_full_pattern(w);
    return st == SB_OK ? allocate(w, o) : st;
}

void sb_weight_fini(struct sb_weight *w)
{
    if (!w)
        return;
    sb_pattern_fini(&w->pattern);
    sb_sparse_fini(&w->kernel);
    sb_free(w->memory);
    *w = (struct sb_weight){0};
}

sb_status sb_weight_set_pattern(struct sb_weight *w, const struct sb_pattern *p)
{
    if (w->dense)
        return sb_fail(SB_EARG, "a dense layer takes no pattern");
    if (p->nnz != w->nnz || p->rows != w->conv.out || p->cols != sb_conv_cols(&w->conv))
        return sb_fail(
            SB_EARG, "a pattern of %u weights in %u x %u; the layer has %u in %u x %u",
            p->nnz, p->rows, p->cols, w->nnz, w->conv.out, sb_conv_cols(&w->conv));
    struct sb_pattern copy;
    sb_status st = sb_pattern_copy(p, &copy);
    if (st == SB_OK)
        st = sb_sparse_set_pattern(&w->kernel, copy.row_ptr, copy.col);
    if (st != SB_OK) {
        sb_pattern_fini(&copy);
        return st;
    }
    sb_pattern_fini(&w->pattern);
    w->pattern = copy;
    return SB_OK;
}

/* Such a weight has nothing but what forward needs. */
static bool inference(const struct sb_weight *w)
{
    return !w->mu_t;
}

/* Whether products take all weights where they lie; else they go by the kernel's order. */
static bool full(const struct sb_weight *w)
{
    return w->dense && !inference(w);
}

/* ---- a fresh start ------------------------------------------------------------------- */

/* Uniform in +-bound: number order[i] of the stream is x[i]; order NULL: number i. */
static void fill_uniform(const struct sb_stream *s, float bound, const uint32_t *order,
                         float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = bound * (2.0f * sb_rng_uniform(s, order ? order[i] : i) - 1.0f);
}

static void zero_momenta(struct sb_weight *w)
{
    if (w->mu_momentum)
        memset(w->mu_momentum, 0, w->nnz * sizeof(float));
    if (w->rho_momentum)
        memset(w->rho_momentum, 0, w->nnz * sizeof(float));
    if (w->bias_momentum)
        memset(w->bias_momentum, 0, w->conv.out * sizeof(float));
}

sb_status sb_weight_start(struct sb_weight *w, uint64_t seed, uint32_t member,
                          uint32_t layer, float rho_init)
{
    float fan_in = (float)sb_conv_cols(&w->conv);
    struct sb_stream s = sb_rng_stream(seed, SB_RNG_INIT, member, 0, layer);
    struct sb_stream b = sb_rng_stream(seed, SB_RNG_INIT, member, 1, layer);
    struct sb_stream where = sb_rng_stream(seed, SB_RNG_SUPPORT, member, 0, layer);
    if (!w->dense) {
        struct sb_pattern p;
        sb_status st =
            sb_pattern_random(&p, w->conv.out, sb_conv_cols(&w->conv), w->nnz, &where);
        if (st == SB_OK)
            st = sb_weight_set_pattern(w, &p);
        sb_pattern_fini(&p);
        if (st != SB_OK)
            return st;
    }
    fill_uniform(&s, sqrtf(6.0f / fan_in), inference(w) ? w->kernel.perm : NULL, w->mu,
                 sb_weight_placed(w));
    for (uint32_t k = 0; w->gauss && k < w->nnz; k++)
        w->rho[k] = rho_init;
    if (w->bias)
        fill_uniform(&b, 1.0f / sqrtf(fan_in), NULL, w->bias, w->conv.out);
    zero_momenta(w);
    return SB_OK;
}

size_t sb_weight_placed(const struct sb_weight *w)
{
    return inference(w) ? w->kernel.forward.placed : w->nnz;
}

/* From the pattern's order to the kernels' ... */
static void arrange(const struct sb_weight *w, const float *from, float *to)
{
    if (inference(w))
        sb_sparse_arrange(&w->kernel, from, to);
    else
        memcpy(to, from, w->nnz * sizeof *to);
}

/* ... and back. */
static void restore(const struct sb_weight *w, const float *from, float *to)
{
    const uint32_t *order = inference(w) ? w->kernel.perm : NULL;
    for (uint32_t k = 0; k < w->nnz; k++)
        to[order ? order[k] : k] = from[k];
}

void sb_weight_set(struct sb_weight *w, const float *mu, const float *rho)
{
    arrange(w, mu, w->mu);
    if (rho)
        arrange(w, rho, w->rho);
}

void sb_weight_get(const struct sb_weight *w, float *mu, float *rho)
{
    restore(w, w->mu, mu);
    if (rho)
        restore(w, w->rho, rho);
}

/* ---- products ------------------------------------------------------------------------ */

void sb_weight_refresh(const struct sb_env *env, struct sb_weight *w)
{
    if (w->gauss && w->group)
        sb_params_deviation(env, w->rho, w->s2, w->nnz);
    else if (w->gauss)
        sb_params_variance(env, w->rho, w->s2, w->nnz);
    if (inference(w))
        return;
    if (w->dense) {
        sb_dense_transpose(env, &w->conv, w->mu, w->mu_t);
        if (w->gauss)
            sb_dense_transpose(env, &w->conv, w->s2, w->s2_t);
    } else {
        sb_sparse_arrange(&w->kernel, w->mu, w->mu_t);
        if (w->gauss)
            sb_sparse_arrange(&w->kernel, w->s2, w->s2_t);
    }
}

/* Floats from a group's weights to the next one's: whole cache lines. */
static size_t apart(const struct sb_weight *w)
{
    return ((size_t)w->nnz + 15) / 16 * 16;
}

/* What a layer with groups has before the threads' scratch: what is drawn for all groups,
 * in the order of the pattern and in that of the input gradient. */
static size_t drawn_floats(const struct sb_weight *w)
{
    uint32_t groups = w->group ? (w->max_batch + w->group - 1) / w->group : 0;
    return 2 * (size_t)groups * apart(w);
}

size_t sb_weight_scratch(const struct sb_weight *w, int threads)
{
    /* the dense gradient of an update runs on every layer */
    size_t dense = w->dmu ? sb_dense_scratch(&w->conv) : 0,
           sparse = full(w) ? 0 : sb_sparse_scratch(&w->kernel);
    return drawn_floats(w) * sizeof(float) +
           (dense > sparse ? dense : sparse) * (size_t)threads;
}

static struct sb_draw draw_of(const struct sb_weight *w, const struct sb_noise *noise,
                              const struct sb_act *x)
{
    return (struct sb_draw){.noise = noise,
                            .rows = w->group,
                            .groups = (x->batch + w->group - 1) / w->group,
                            .n = w->nnz,
                            .apart = apart(w)};
}

sb_status sb_weight_forward(const struct sb_env *env, const struct sb_weight *w,
                            const struct sb_weight_forward *f, void *scratch)
{
    struct sb_forward p = {.mu = w->mu,
                           .s2 = f->noise && w->gauss && !w->group ? w->s2 : NULL,
                           .bias = w->bias,
                           .noise = f->noise,
                           .epilogue = f->epilogue};
    if (f->noise && w->group) {
        float *theta = scratch;
        struct sb_draw d = draw_of(w, f->noise, f->x);
        sb_draw_weights(env, &d, w->mu, w->s2, theta);
        p.mu = theta;
        p.groups = (struct sb_groups){.rows = d.rows, .apart = d.apart};
        scratch = theta + drawn_floats(w);
    }
    return full(w)
               ? sb_dense_forward(env, &w->conv, &p, f->x, f->y, f->slope, scratch)
               : sb_sparse_forward(env, &w->kernel, &p, f->x, f->y, f->slope, scratch);
}

/* A shard's gradients, in to. */
typedef sb_status gradient_fn(const struct sb_env *env, const struct sb_weight *w,
                              const struct sb_backward *b, float *to, void *scratch);

/* Of the weights that exist, as they follow each other in w. */
static sb_status existing(const struct sb_env *env, const struct sb_weight *w,
                          const struct sb_backward *b, float *to, void *scratch)
{
    float *ds2 = w->gauss ? to + (w->drho - w->dmu) : NULL;
    if (w->bias)
        sb_act_channel_sums(env, b->dy, to + (w->dbias - w->dmu));
    if (w->gauss && !b->dv && !b->groups.rows) /* after a mean forward */
        memset(ds2, 0, w->nnz * sizeof *ds2);
    return w->dense ? sb_dense_weight_gradient(env, &w->conv, b, to, ds2, scratch)
                    : sb_sparse_weight_gradient(env, &w->kernel, b, to, ds2, scratch);
}

/* Of every position. */
static sb_status every(const struct sb_env *env, const struct sb_weight *w,
                       const struct sb_backward *b, float *to, void *scratch)
{
    return sb_dense_weight_gradient(env, &w->conv, b, to, NULL, scratch);
}

struct sums_of {
    const struct sb_shards *shards;
    const struct sb_backward *b; /* of all rows here */
    void *scratch;
    gradient_fn *gradient;
};

/* Rows of a shard; of the only one, all. */
static uint32_t shard_rows(const struct sums_of *o)
{
    return o->shards ? o->shards->width : 0;
}

/* The groups from a row on. */
static struct sb_groups groups_from(const struct sums_of *o, uint32_t row)
{
    struct sb_groups g = o->b->groups;
    if (g.rows)
        g.eps += row / g.rows * g.apart;
    return g;
}

/* A gradient's sum over shards. */
static sb_status fold_shards(const struct sb_env *env, const struct sb_weight *w,
                             const struct sums_of *o, struct sb_fold *f)
{
    uint32_t n = sb_shards_of(o->shards, o->b->dy->batch);
    for (uint32_t i = 0; i < n; i++) {
        struct sb_act x = sb_shards_view(o->shards, o->b->x, i), dv = {0};
        struct sb_act dy = sb_shards_view(o->shards, o->b->dy, i);
        struct sb_backward here = {
            .dy = &dy, .x = &x, .groups = groups_from(o, i * shard_rows(o))};
        if (o->b->dv) {
            dv = sb_shards_view(o->shards, o->b->dv, i);
            here.dv = &dv;
        }
        sb_status st = o->gradient(env, w, &here, sb_fold_next(f), o->scratch);
        if (st != SB_OK)
            return st;
        sb_fold_push(env, f,
                     (struct sb_subtree){0, (o->shards ? o->shards->first : 0) + i});
        sb_shards_poll(o->shards);
    }
    return sb_fold_start(env, o->shards, f, "gradients of weights");
}

/* Draws again what forward drew, and returns the weights as the input gradient takes them; if
 * it is not wanted, NULL. Both are in the scratch. */
static const float *draw_again(const struct sb_env *env, const struct sb_weight *w,
                               const struct sb_weight_backward *b, float *eps,
                               struct sb_groups *groups)
{
    struct sb_draw d = draw_of(w, b->noise, b->x);
    float *theta = eps + d.groups * d.apart;
    *groups = (struct sb_groups){.rows = d.rows, .apart = d.apart, .eps = eps};
    sb_draw_noise(env, &d, eps);
    if (!b->dx)
        return NULL;
    for (uint32_t g = 0; g < d.groups && w->dense; g++)
        sb_dense_transpose(env, &w->conv, eps + g * d.apart, theta + g * d.apart);
    sb_draw_ordered(env, &d, w->mu_t, w->s2_t, w->dense ? theta : eps,
                    w->dense ? NULL : w->kernel.perm, theta);
    return theta;
}

sb_status sb_weight_backward(const struct sb_env *env, struct sb_weight *w,
                             const struct sb_weight_backward *b, void *scratch)
{
    struct sb_backward in = {
        .dy = b->dy, .dv = w->gauss && !w->group ? b->slope : NULL, .x = b->x};
    const float *theta_t = w->mu_t;
    sb_status st = SB_OK;
    if (in.dv)
        sb_act_multiply(env, b->slope, b->dy);
    if (w->group && b->noise) {
        theta_t = draw_again(env, w, b, scratch, &in.groups);
        scratch = (float *)scratch + drawn_floats(w);
    }
    if (b->dx)
        st = w->dense ? sb_dense_input_gradient(env, &w->conv, &in, theta_t, w->s2_t,
                                                b->dx, b->add, scratch)
                      : sb_sparse_input_gradient(env, &w->kernel, &in, theta_t, w->s2_t,
                                                 b->dx, b->add, scratch);
    if (st != SB_OK)
        return st;
    sb_shards_poll(b->shards);
    struct sb_fold f = {.n = sb_weight_gradient_floats(w),
                        .first = w->dmu,
                        .more = b->sums,
                        .stride = b->stride};
    return fold_shards(env, w, &(struct sums_of){b->shards, &in, scratch, existing}, &f);
}

sb_status sb_weight_dense_gradient(const struct sb_env *env, const struct sb_weight *w,
                                   const struct sb_weight_backward *b, float *gradient)
{
    struct sb_backward in = {.dy = b->dy, .x = b->x};
    struct sb_fold f = {.n = sb_conv_weights(&w->conv),
                        .first = gradient,
                        .more = b->sums,
                        .stride = b->stride};
    void *scratch = sb_malloc(sb_dense_scratch(&w->conv), (size_t)env->threads);
    if (!scratch)
        return sb_fail(SB_ENOMEM, "no memory for the dense gradient of %u weights",
                       sb_conv_weights(&w->conv));
    sb_status st =
        fold_shards(env, w, &(struct sums_of){b->shards, &in, scratch, every}, &f);
    if (st == SB_OK)
        st = sb_shards_settle(env, b->shards);
    sb_free(scratch);
    return st;
}

/* ---- the support ------------------------------------------------------------------------- */

sb_status sb_weight_update(struct sb_weight *w, const float *gradient, double rate,
                           enum sb_criterion criterion, struct sb_topology_stats *stats)
{
    float *state[] = {w->mu_momentum, w->rho_momentum};
    struct sb_topology_layer layer = {&w->pattern, w->mu, w->rho, state,
                                      w->gauss ? 2 : 1};
    sb_status st = sb_topology_prune_grow(&layer, gradient, rate, criterion, stats);
    if (st == SB_OK)
        st = sb_sparse_set_pattern(&w->kernel, w->pattern.row_ptr, w->pattern.col);
    return st;
}
