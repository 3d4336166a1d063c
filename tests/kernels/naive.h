/* naive - a layer's products once more, in double and straight from method.md's
 * equations: no tiles, no phases, no lanes. Weights are dense, [out][in][kh][kw], zero where
 * there is none; activations are [batch][channels][height][width].
 *
 *     m = bias + sum mu x        v = sum s2 x^2
 *     y = m + sqrt(v + 1e-8) eps                     slope = eps / (2 sqrt(v + 1e-8))
 *     dx = sum mu dy + 2 x sum s2 dv                 dv = dy slope
 *     dmu = sum dy x             ds2 = sum dv x^2
 */
#ifndef SB_TESTS_NAIVE_H
#define SB_TESTS_NAIVE_H

#include "cases.h"

struct naive {
    struct sb_conv c;
    uint32_t batch;
    size_t weights, inputs, outputs;
    bool *exists;                   /* [weights] */
    double *mu, *rho, *s2, *bias;   /* [weights] and [out] */
    double *x, *eps, *dy;           /* given */
    double *m, *v, *y, *slope, *dv; /* [outputs] */
    double *dx, *dmu, *ds2;         /* gradients, at every position */
};

static inline double *naive_doubles(size_t n)
{
    return check_alloc(n, sizeof(double));
}

static inline void naive_read(const struct sb_act *a, double *to)
{
    size_t n = (size_t)a->batch * a->channels * a->height * a->width;
    float *flat = check_floats(n);
    sb_act_store(a, flat);
    for (size_t i = 0; i < n; i++)
        to[i] = (double)flat[i];
    sb_free(flat);
}

/* The numbers of a layer; its s2 is recomputed from rho. */
static inline void naive_init(struct naive *n, const struct layer *l)
{
    const struct sb_conv *c = &l->conv;
    *n = (struct naive){.c = *c, .batch = l->shape->batch};
    n->weights = sb_conv_weights(c);
    n->inputs = (size_t)n->batch * c->in * c->height * c->width;
    n->outputs = (size_t)n->batch * c->out * c->out_height * c->out_width;
    double **weight[] = {&n->mu, &n->rho, &n->s2, &n->dmu, &n->ds2};
    double **output[] = {&n->eps, &n->dy, &n->m, &n->v, &n->y, &n->slope, &n->dv};
    for (size_t i = 0; i < sizeof weight / sizeof *weight; i++)
        *weight[i] = naive_doubles(n->weights);
    for (size_t i = 0; i < sizeof output / sizeof *output; i++)
        *output[i] = naive_doubles(n->outputs);
    n->x = naive_doubles(n->inputs);
    n->dx = naive_doubles(n->inputs);
    n->bias = naive_doubles(c->out);
    n->exists = check_alloc(n->weights, sizeof *n->exists);
    for (uint32_t r = 0; r < c->out; r++) {
        n->bias[r] = (double)l->bias[r];
        for (uint32_t k = l->row_ptr[r]; k < l->row_ptr[r + 1]; k++) {
            size_t at = (size_t)r * sb_conv_cols(c) + l->col[k];
            n->exists[at] = true;
            n->mu[at] = (double)l->mu[k];
            n->rho[at] = (double)l->rho[k];
        }
    }
    naive_read(&l->x, n->x);
    naive_read(&l->eps, n->eps);
    naive_read(&l->dy, n->dy);
}

static inline void naive_fini(struct naive *n)
{
    void *block[] = {n->exists, n->mu, n->rho, n->s2,    n->bias, n->x,  n->eps, n->dy,
                     n->m,      n->v,  n->y,   n->slope, n->dv,   n->dx, n->dmu, n->ds2};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        sb_free(block[i]);
}

/* For weight w, calls fn with the place of every (input, output) pair it joins. */
typedef void naive_pair_fn(struct naive *n, size_t w, size_t in, size_t out);

static inline void naive_pairs(struct naive *n, size_t w, naive_pair_fn *fn)
{
    const struct sb_conv *c = &n->c;
    size_t b = w % c->kw, a = w / c->kw % c->kh, i = w / c->kw / c->kh % c->in;
    size_t o = w / sb_conv_cols(c);
    for (size_t img = 0; img < n->batch; img++)
        for (size_t p = 0; p < (size_t)c->out_height * c->out_width; p++) {
            size_t y = p / c->out_width * c->stride + a, x = p % c->out_width * c->stride;
            x += b;
            if (y < c->pad || x < c->pad || y - c->pad >= c->height ||
                x - c->pad >= c->width)
                continue;
            size_t in = (img * c->in + i) * c->height + (y - c->pad);
            fn(n, w, in * c->width + (x - c->pad),
               (img * c->out + o) * c->out_height * c->out_width + p);
        }
}

static inline void naive_add_forward(struct naive *n, size_t w, size_t in, size_t out)
{
    n->m[out] += n->mu[w] * n->x[in];
    n->v[out] += n->s2[w] * n->x[in] * n->x[in];
}

static inline void naive_forward(struct naive *n)
{
    size_t plane = (size_t)n->c.out_height * n->c.out_width;
    for (size_t i = 0; i < n->outputs; i++) {
        n->m[i] = n->bias[i / plane % n->c.out];
        n->v[i] = 0.0;
    }
    for (size_t w = 0; w < n->weights; w++)
        if (n->exists[w]) {
            double s = log1p(exp(n->rho[w]));
            n->s2[w] = s * s;
            naive_pairs(n, w, naive_add_forward);
        }
    for (size_t i = 0; i < n->outputs; i++) {
        double sd = sqrt(n->v[i] + 1e-8);
        n->y[i] = n->m[i] + sd * n->eps[i];
        n->slope[i] = n->eps[i] / (2.0 * sd);
    }
}

static inline void naive_add_input(struct naive *n, size_t w, size_t in, size_t out)
{
    n->dx[in] += n->mu[w] * n->dy[out] + 2.0 * n->x[in] * n->s2[w] * n->dv[out];
}

static inline void naive_add_weight(struct naive *n, size_t w, size_t in, size_t out)
{
    n->dmu[w] += n->dy[out] * n->x[in];
    n->ds2[w] += n->dv[out] * n->x[in] * n->x[in];
}

/* After naive_forward. variance: with the noise's share, else that of the mean alone. all:
 * weight gradients at positions without a weight too. */
static inline void naive_backward(struct naive *n, bool variance, bool all)
{
    for (size_t i = 0; i < n->outputs; i++)
        n->dv[i] = variance ? n->dy[i] * n->slope[i] : 0.0;
    memset(n->dx, 0, n->inputs * sizeof *n->dx);
    memset(n->dmu, 0, n->weights * sizeof *n->dmu);
    memset(n->ds2, 0, n->weights * sizeof *n->ds2);
    for (size_t w = 0; w < n->weights; w++) {
        if (n->exists[w])
            naive_pairs(n, w, naive_add_input);
        if (n->exists[w] || all)
            naive_pairs(n, w, naive_add_weight);
    }
}

/* ---- comparing ----------------------------------------------------------------------- */

/* max |have - want| / max |want|, what DESIGN bounds by 1e-5 for a layer in float. Where
 * all that is wanted is zero, zero is what there must be. A NaN counts as infinite. */
static inline double naive_error(const float *have, const double *want, size_t n)
{
    double worst = 0.0, most = 0.0;
    for (size_t i = 0; i < n; i++) {
        double e = fabs((double)have[i] - want[i]);
        worst = e <= worst ? worst : isnan(e) ? INFINITY : e;
        most = fmax(most, fabs(want[i]));
    }
    return most > 0.0 ? worst / most : worst > 0.0 ? INFINITY : 0.0;
}

static inline double naive_error_act(const struct sb_act *have, const double *want)
{
    size_t n = (size_t)have->batch * have->channels * have->height * have->width;
    float *flat = check_floats(n);
    sb_act_store(have, flat);
    double e = naive_error(flat, want, n);
    sb_free(flat);
    return e;
}

/* d f / d *x by central difference. In double with this step the truncation is of order
 * 1e-10 and the rounding of order 1e-11 of f, far below the 1e-5 float is given. */
typedef double naive_value_fn(void *context);

static inline double naive_slope(naive_value_fn *f, void *context, double *x)
{
    const double h = 1e-5, at = *x;
    *x = at + h;
    double up = f(context);
    *x = at - h;
    double down = f(context);
    *x = at;
    return (up - down) / (2.0 * h);
}

#endif
