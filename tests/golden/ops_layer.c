/* ops_layer - golden cases of kernels/: one layer, forward and backward.
 *
 * A layer case is computed twice, by the sparse kernels on its mask and by the dense ones
 * with zeros outside it; both must give every output.
 */
#include <math.h>
#include <string.h>

#include "base/fmath.h"
#include "case.h"
#include "kernels/dense.h"
#include "kernels/norm.h"
#include "kernels/params.h"
#include "kernels/sparse.h"
#include "masks.h"
#include "tensor/pattern.h"

struct layer_case {
    struct golden_case *c;
    struct sb_conv conv;
    uint32_t batch;
    size_t weights, inputs, outputs; /* elements */
    float *mu, *rho, *bias;          /* [weights] zero outside the mask; [out] or NULL */
    uint8_t *mask;
    struct sb_act x, eps, dy, y, slope, dx; /* data owned by the case */
};

/* An act whose memory lives as long as the case, filled from nchw if that is not NULL. */
static bool case_act(struct golden_case *c, struct sb_act *a, uint32_t batch, uint32_t ch,
                     uint32_t h, uint32_t w, const float *nchw)
{
    if (!golden_ok(c, sb_act_shape(a, c->env->kernels->lanes, batch, ch, h, w)))
        return false;
    a->data = golden_alloc(c, sb_act_size(a), sizeof(float));
    if (a->data && nchw)
        sb_act_load(a, nchw);
    return a->data != NULL;
}

static void check_act(struct golden_case *c, const char *name, const struct sb_act *a)
{
    size_t n = (size_t)a->batch * a->channels * a->height * a->width;
    float *flat = golden_alloc(c, n, sizeof *flat);
    if (!flat)
        return;
    sb_act_store(a, flat);
    golden_check_f32(c, name, flat, n, GOLDEN_TOL_LAYER);
}

static bool read_shape(struct layer_case *l, bool linear)
{
    struct golden_case *c = l->c;
    const struct sb_st_tensor *x = golden_input(c, "x"), *mu = golden_input(c, "mu");
    double stride = 1, pad = 0;
    if (!x || !mu)
        return false;
    size_t dims = linear ? 2 : 4;
    if (x->ndim != dims || mu->ndim != dims) {
        golden_fail(c, "x and mu must have %zu dimensions", dims);
        return false;
    }
    for (size_t i = 0; i < dims; i++)
        if (x->shape[i] > UINT32_MAX || mu->shape[i] > UINT32_MAX) {
            golden_fail(c, "a dimension of x or mu is too large");
            return false;
        }
    l->batch = (uint32_t)x->shape[0];
    if (linear)
        return golden_ok(c, sb_conv_init_linear(&l->conv, (uint32_t)mu->shape[1],
                                                (uint32_t)mu->shape[0]));
    if (!golden_number(c, "stride", 1, 4, &stride) ||
        !golden_number(c, "padding", 0, 1e6, &pad))
        return false;
    return golden_ok(
        c, sb_conv_init(&l->conv, (uint32_t)mu->shape[1], (uint32_t)mu->shape[0],
                        (uint32_t)mu->shape[2], (uint32_t)mu->shape[3], (uint32_t)stride,
                        (uint32_t)pad, (uint32_t)x->shape[2], (uint32_t)x->shape[3]));
}

static bool read_layer(struct layer_case *l, bool linear)
{
    if (!read_shape(l, linear))
        return false;
    struct golden_case *c = l->c;
    const struct sb_conv *v = &l->conv;
    l->weights = sb_conv_weights(v);
    l->inputs = (size_t)l->batch * v->in * v->height * v->width;
    l->outputs = (size_t)l->batch * v->out * v->out_height * v->out_width;
    float *x = golden_f32(c, "x", l->inputs), *eps = golden_f32(c, "eps", l->outputs);
    float *dy = golden_f32(c, "dy", l->outputs);
    l->mu = golden_f32(c, "mu", l->weights);
    l->rho = golden_f32(c, "rho", l->weights);
    l->mask = golden_mask(c, "mask", l->weights);
    l->bias = golden_input_optional(c, "bias") ? golden_f32(c, "bias", v->out) : NULL;
    if (!x || !eps || !dy || !l->mu || !l->rho || !l->mask)
        return false;
    for (size_t i = 0; i < l->weights; i++)
        l->mu[i] = l->mask[i] ? l->mu[i] : 0.0f;
    uint32_t n = l->batch, oh = v->out_height, ow = v->out_width;
    return case_act(c, &l->x, n, v->in, v->height, v->width, x) &&
           case_act(c, &l->dx, n, v->in, v->height, v->width, NULL) &&
           case_act(c, &l->eps, n, v->out, oh, ow, eps) &&
           case_act(c, &l->dy, n, v->out, oh, ow, dy) &&
           case_act(c, &l->y, n, v->out, oh, ow, NULL) &&
           case_act(c, &l->slope, n, v->out, oh, ow, NULL);
}

/* drho = ds2 * d(softplus(rho)^2)/drho, by the library, without a prior. */
static void check_weights(struct layer_case *l, const uint32_t *position, size_t n,
                          const float *rho, float *dmu, float *ds2)
{
    struct golden_case *c = l->c;
    float *full_mu = golden_alloc(c, l->weights, sizeof *full_mu);
    float *full_rho = golden_alloc(c, l->weights, sizeof *full_rho);
    float *zero = golden_alloc(c, n, sizeof *zero);
    if (!full_mu || !full_rho || !zero)
        return;
    sb_params_gradient(c->env, zero, rho, ds2, 0.0f, (struct sb_prior){0.0f, 1.0f}, dmu,
                       ds2, n);
    for (size_t k = 0; k < n; k++) {
        size_t at = position ? position[k] : k;
        full_mu[at] = l->mask[at] ? dmu[k] : 0.0f;
        full_rho[at] = l->mask[at] ? ds2[k] : 0.0f;
    }
    golden_check_f32(c, "dmu", full_mu, l->weights, GOLDEN_TOL_LAYER);
    golden_check_f32(c, "drho", full_rho, l->weights, GOLDEN_TOL_LAYER);
}

static void check_bias(struct layer_case *l)
{
    struct golden_case *c = l->c;
    float *dbias = golden_alloc(c, l->conv.out, sizeof *dbias);
    if (!dbias || !l->bias)
        return;
    sb_act_channel_sums(c->env, &l->dy, dbias);
    golden_check_f32(c, "dbias", dbias, l->conv.out, GOLDEN_TOL_LAYER);
}

/* The values a layer's kernels take: those of the pattern, or all. */
struct values {
    size_t n;
    float *mu, *rho, *s2, *mu_t, *s2_t, *dmu, *ds2;
    uint32_t *position; /* NULL: all */
};

static bool make_values(struct layer_case *l, struct values *v,
                        const struct sb_pattern *p)
{
    struct golden_case *c = l->c;
    v->n = p ? p->nnz : l->weights;
    float **array[] = {&v->mu, &v->rho, &v->s2, &v->mu_t, &v->s2_t, &v->dmu, &v->ds2};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++)
        if (!(*array[i] = golden_alloc(c, v->n, sizeof(float))))
            return false;
    v->position = p ? golden_alloc(c, v->n, sizeof *v->position) : NULL;
    if (p && !v->position)
        return false;
    for (uint32_t r = 0; p && r < p->rows; r++)
        for (uint32_t k = p->row_ptr[r]; k < p->row_ptr[r + 1]; k++)
            v->position[k] = r * p->cols + p->col[k];
    for (size_t k = 0; k < v->n; k++) {
        size_t at = p ? v->position[k] : k;
        v->mu[k] = l->mu[at];
        v->rho[k] = l->rho[at];
    }
    sb_params_variance(c->env, v->rho, v->s2, v->n);
    for (size_t k = 0; !p && k < v->n; k++)
        v->s2[k] = l->mask[k] ? v->s2[k] : 0.0f;
    return true;
}

static void check_sparse(struct layer_case *l)
{
    struct golden_case *c = l->c;
    const struct sb_env *env = c->env;
    struct sb_pattern p = {0};
    struct sb_sparse s = {0};
    struct values v = {0};
    uint32_t cols = sb_conv_cols(&l->conv);
    if (!golden_ok(c, pattern_of_mask(&p, l->conv.out, cols, l->mask)) ||
        !golden_ok(c,
                   sb_sparse_init(&s, &l->conv, env->kernels->lanes, l->batch, p.nnz)) ||
        !golden_ok(c, sb_sparse_set_pattern(&s, p.row_ptr, p.col)) ||
        !make_values(l, &v, &p))
        goto done;
    void *scratch = golden_alloc(c, sb_sparse_scratch(&s), (size_t)env->threads);
    if (!scratch)
        goto done;
    struct sb_noise noise = {.eps = &l->eps};
    struct sb_forward f = {.mu = v.mu, .s2 = v.s2, .bias = l->bias, .noise = &noise};
    struct sb_forward mean = {.mu = v.mu, .bias = l->bias};
    struct sb_backward b = {.dy = &l->dy, .dv = &l->slope, .x = &l->x};
    if (!golden_ok(c, sb_sparse_forward(env, &s, &mean, &l->x, &l->y, NULL, scratch)))
        goto done;
    check_act(c, "y_mean", &l->y);
    if (!golden_ok(c, sb_sparse_forward(env, &s, &f, &l->x, &l->y, &l->slope, scratch)))
        goto done;
    check_act(c, "y", &l->y);
    sb_act_multiply(env, &l->slope, &l->dy); /* dv */
    sb_sparse_arrange(&s, v.mu, v.mu_t);
    sb_sparse_arrange(&s, v.s2, v.s2_t);
    if (!golden_ok(
            c, sb_sparse_input_gradient(env, &s, &b, v.mu_t, v.s2_t, &l->dx, 0, scratch)))
        goto done;
    check_act(c, "dx", &l->dx);
    if (!golden_ok(c, sb_sparse_weight_gradient(env, &s, &b, v.dmu, v.ds2, scratch)))
        goto done;
    check_weights(l, v.position, v.n, v.rho, v.dmu, v.ds2);
done:
    sb_sparse_fini(&s);
    sb_pattern_fini(&p);
}

static void check_dense(struct layer_case *l)
{
    struct golden_case *c = l->c;
    const struct sb_env *env = c->env;
    const struct sb_conv *g = &l->conv;
    struct values v = {0};
    void *scratch = golden_alloc(c, sb_dense_scratch(g), (size_t)env->threads);
    if (!make_values(l, &v, NULL) || !scratch)
        return;
    struct sb_noise noise = {.eps = &l->eps};
    struct sb_forward f = {.mu = v.mu, .s2 = v.s2, .bias = l->bias, .noise = &noise};
    struct sb_forward mean = {.mu = v.mu, .bias = l->bias};
    struct sb_backward b = {.dy = &l->dy, .dv = &l->slope, .x = &l->x};
    if (!golden_ok(c, sb_dense_forward(env, g, &mean, &l->x, &l->y, NULL, scratch)))
        return;
    check_act(c, "y_mean", &l->y);
    if (!golden_ok(c, sb_dense_forward(env, g, &f, &l->x, &l->y, &l->slope, scratch)))
        return;
    check_act(c, "y", &l->y);
    sb_act_multiply(env, &l->slope, &l->dy); /* dv */
    sb_dense_transpose(env, g, v.mu, v.mu_t);
    sb_dense_transpose(env, g, v.s2, v.s2_t);
    if (!golden_ok(
            c, sb_dense_input_gradient(env, g, &b, v.mu_t, v.s2_t, &l->dx, 0, scratch)))
        return;
    check_act(c, "dx", &l->dx);
    if (!golden_ok(c, sb_dense_weight_gradient(env, g, &b, v.dmu, v.ds2, scratch)))
        return;
    golden_check_f32(c, "dmu_dense", v.dmu, v.n, GOLDEN_TOL_LAYER);
    check_weights(l, NULL, v.n, v.rho, v.dmu, v.ds2);
}

static void run_layer(struct golden_case *c, bool linear)
{
    struct layer_case l = {.c = c};
    if (!read_layer(&l, linear))
        return;
    check_sparse(&l);
    check_dense(&l);
    check_bias(&l);
}

static void run_linear(struct golden_case *c)
{
    run_layer(c, true);
}

static void run_conv2d(struct golden_case *c)
{
    run_layer(c, false);
}

/* ---- batch norm and ReLU ------------------------------------------------------------- */

static bool read_norm(struct golden_case *c, struct sb_norm *n, uint32_t channels)
{
    double epsilon, momentum;
    if (!golden_number(c, "epsilon", 0, 1, &epsilon) ||
        !golden_number(c, "momentum", 0, 1, &momentum))
        return false;
    *n = (struct sb_norm){
        .channels = channels,
        .epsilon = (float)epsilon,
        .momentum = (float)momentum,
        .gamma = golden_f32(c, "gamma", channels),
        .beta = golden_f32(c, "beta", channels),
        .running_mean = golden_f32(c, "running_mean", channels),
        .running_var = golden_f32(c, "running_var", channels),
        .mean = golden_alloc(c, channels, sizeof(float)),
        .inv_sd = golden_alloc(c, channels, sizeof(float)),
    };
    return n->gamma && n->beta && n->running_mean && n->running_var && n->mean &&
           n->inv_sd;
}

static void run_batchnorm_relu(struct golden_case *c)
{
    const struct sb_st_tensor *t = golden_input(c, "x");
    if (!t)
        return;
    if (t->ndim != 4 || t->count > UINT32_MAX) {
        golden_fail(c, "x must have 4 dimensions");
        return;
    }
    uint32_t n = (uint32_t)t->shape[0], ch = (uint32_t)t->shape[1];
    uint32_t h = (uint32_t)t->shape[2], w = (uint32_t)t->shape[3];
    const float *x = golden_f32(c, "x", t->count), *dy = golden_f32(c, "dy", t->count);
    struct sb_norm norm;
    struct sb_act ax, ady, ay, adx;
    float *dgamma = golden_alloc(c, ch, sizeof *dgamma);
    float *dbeta = golden_alloc(c, ch, sizeof *dbeta);
    if (!x || !dy || !dgamma || !dbeta || !read_norm(c, &norm, ch) ||
        !case_act(c, &ax, n, ch, h, w, x) || !case_act(c, &ady, n, ch, h, w, dy) ||
        !case_act(c, &ay, n, ch, h, w, NULL) || !case_act(c, &adx, n, ch, h, w, NULL))
        return;
    if (!golden_ok(c, sb_norm_infer(c->env, &norm, &ax, NULL, &ay, SB_NORM_RELU)))
        return;
    check_act(c, "y_eval", &ay);
    struct sb_norm_backward b = {
        .dy = &ady, .y = &ay, .x = &ax, .dx = &adx, .dgamma = dgamma, .dbeta = dbeta};
    if (!golden_ok(c, sb_norm_train(c->env, &norm, &ax, NULL, &ay, SB_NORM_RELU)) ||
        !golden_ok(c, sb_norm_backward(c->env, &norm, &b)))
        return;
    check_act(c, "y", &ay);
    check_act(c, "dx", &adx);
    golden_check_f32(c, "dgamma", dgamma, ch, GOLDEN_TOL_LAYER);
    golden_check_f32(c, "dbeta", dbeta, ch, GOLDEN_TOL_LAYER);
    golden_check_f32(c, "running_mean", norm.running_mean, ch, GOLDEN_TOL_LAYER);
    golden_check_f32(c, "running_var", norm.running_var, ch, GOLDEN_TOL_LAYER);
}

/* ---- KL ------------------------------------------------------------------------------ */

static void run_kl(struct golden_case *c)
{
    const struct sb_st_tensor *t = golden_input(c, "mu");
    double prior_sd;
    if (!t || !golden_number(c, "prior_std", 1e-6, 1e6, &prior_sd))
        return;
    size_t n = t->count, active = 0;
    float *mu = golden_f32(c, "mu", n), *rho = golden_f32(c, "rho", n);
    const uint8_t *mask = golden_mask(c, "mask", n);
    float *dmu = golden_alloc(c, n, sizeof *dmu),
          *drho = golden_alloc(c, n, sizeof *drho);
    float *full_mu = golden_alloc(c, n, sizeof *dmu),
          *full_rho = golden_alloc(c, n, sizeof *dmu);
    if (!mu || !rho || !mask || !dmu || !drho || !full_mu || !full_rho)
        return;
    for (size_t i = 0; i < n; i++) /* keep the weights that exist */
        if (mask[i]) {
            mu[active] = mu[i];
            rho[active++] = rho[i];
        }
    struct sb_prior prior = {0.0f, (float)prior_sd};
    double kl = sb_params_kl(c->env, mu, rho, prior, active);
    sb_params_gradient(c->env, mu, rho, drho, 1.0f, prior, dmu, drho, active);
    for (size_t i = n; i-- > 0;)
        if (mask[i]) {
            active--;
            full_mu[i] = dmu[active];
            full_rho[i] = drho[active];
        }
    golden_check_f64(c, "kl", &kl, 1, GOLDEN_TOL_LAYER);
    golden_check_f32(c, "dmu", full_mu, n, GOLDEN_TOL_LAYER);
    golden_check_f32(c, "drho", full_rho, n, GOLDEN_TOL_LAYER);
}

const struct golden_op golden_layer_ops[] = {
    {"linear_lrt", run_linear},
    {"conv2d_lrt", run_conv2d},
    {"batchnorm_relu", run_batchnorm_relu},
    {"kl", run_kl},
    {NULL, NULL},
};
