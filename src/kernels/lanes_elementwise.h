/* lanes_elementwise - everything that is not a sparse product, on vectors of images.
 *
 * Included by every instruction set's file, scalar.c too: each operation is lane by lane
 * and exactly rounded, so what differs is only the instructions the compiler picks. Sums
 * run over 4 interleaved partial vectors, to hide the latency of an addition.
 */
#ifndef SB_KERNELS_LANES_ELEMENTWISE_H
#define SB_KERNELS_LANES_ELEMENTWISE_H

#include <stdbool.h>

#include "kernels/kernels.h"
#include "kernels/lanes.h"
#include "kernels/lanes_pool.h"

#define VAR_FLOOR 1e-8f /* under the square root of every pre-activation variance */

/* ---- noise --------------------------------------------------------------------------- */

static void normal(const struct sb_stream *s, uint32_t image, uint32_t quad,
                   uint32_t step, size_t n, float *out)
{
    struct philox_keys keys;
    philox_keys(&keys, s->key[0], s->key[1]);
    const vu lane = VF_LANE;
    for (; n > 0; n--, quad += step, out += 4 * VF_LANES) {
        vu c[4] = {vu_set(image) + lane, vu_set(quad), vu_set(s->step), vu_set(s->tag)};
        vf z0, z1, z2, z3;
        vf_philox(c, &keys);
        vf_box_muller(c[0], c[1], &z0, &z1);
        vf_box_muller(c[2], c[3], &z2, &z3);
        vf_store(out, z0);
        vf_store(out + VF_LANES, z1);
        vf_store(out + 2 * VF_LANES, z2);
        vf_store(out + 3 * VF_LANES, z3);
    }
}

static float spin(uint32_t rounds, float start)
{
    vf a[SB_SPIN_CHAINS], factor = vf_set(0.999f), term = vf_set(0.1f);
    for (int i = 0; i < SB_SPIN_CHAINS; i++)
        a[i] = vf_set(start + (float)i);
    for (uint32_t r = 0; r < rounds; r++)
#pragma GCC unroll 10
        for (int i = 0; i < SB_SPIN_CHAINS; i++)
            a[i] = vf_fma(a[i], factor, term);
    for (int i = 1; i < SB_SPIN_CHAINS; i++)
        a[0] += a[i];
    return vf_sum8(a[0], 0);
}

static void mix(const float *mean, const float *var, const float *eps, float *y,
                float *slope, size_t n)
{
    for (size_t i = 0; i < VF_LANES * n; i += VF_LANES) {
        vf sd = vf_sqrt(vf_load(var + i) + vf_set(VAR_FLOOR)), e = vf_load(eps + i);
        vf_store(y + i, vf_fma(sd, e, vf_load(mean + i)));
        vf_store(slope + i, e * vf_set(0.5f) / sd);
    }
}

/* ---- element-wise -------------------------------------------------------------------- */

static void square(float *x, size_t n)
{
    for (size_t i = 0; i < VF_LANES * n; i += VF_LANES)
        vf_store(x + i, vf_load(x + i) * vf_load(x + i));
}

static void multiply(float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < VF_LANES * n; i += VF_LANES)
        vf_store(a + i, vf_load(a + i) * vf_load(b + i));
}

static void add(float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < VF_LANES * n; i += VF_LANES)
        vf_store(a + i, vf_load(a + i) + vf_load(b + i));
}

SB_INLINE void input_gradient_by(float *dx, const float *mean, const float *x,
                                 const float *affine, const float *var, size_t n,
                                 const bool both, const bool add)
{
    for (size_t i = 0; i < VF_LANES * n; i += VF_LANES) {
        vf d = vf_load(mean + i);
        if (both) {
            vf z = vf_seen(x + i, affine);
            d = vf_fma(z + z, vf_load(var + i), d);
        }
        vf_store(dx + i, add ? vf_load(dx + i) + d : d);
    }
}

static void input_gradient(float *dx, const float *mean, const float *x,
                           const float *affine, const float *var, size_t n, int add)
{
    if (var && affine && add)
        input_gradient_by(dx, mean, x, affine, var, n, true, true);
    else if (var && affine)
        input_gradient_by(dx, mean, x, affine, var, n, true, false);
    else if (var && add)
        input_gradient_by(dx, mean, x, NULL, var, n, true, true);
    else if (var)
        input_gradient_by(dx, mean, x, NULL, var, n, true, false);
    else if (add)
        input_gradient_by(dx, mean, NULL, NULL, NULL, n, false, true);
    else
        input_gradient_by(dx, mean, NULL, NULL, NULL, n, false, false);
}

static void relu(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < VF_LANES * n; i += VF_LANES)
        vf_store(y + i, vf_relu(vf_load(x + i)));
}

/* dy where y > 0 or y is NaN, else 0 */
SB_INLINE vf masked(vf dy, vf y)
{
    return (vf)((vi)dy & ~(y <= vf_set(0.0f)));
}

static void relu_gradient(float *dy, const float *y, size_t n)
{
    for (size_t i = 0; i < VF_LANES * n; i += VF_LANES)
        vf_store(dy + i, masked(vf_load(dy + i), vf_load(y + i)));
}

/* ---- batch norm ---------------------------------------------------------------------- */

/* to[lanes] += the four partial sums */
SB_INLINE void fold4(const vf s[4], float *to)
{
    vf_storeu(to, vf_loadu(to) + ((s[0] + s[1]) + (s[2] + s[3])));
}

static void moments(const float *x, size_t n, float pivot, float *sum, float *sum_sq)
{
    vf s[4] = {vf_set(0.0f), vf_set(0.0f), vf_set(0.0f), vf_set(0.0f)};
    vf q[4] = {vf_set(0.0f), vf_set(0.0f), vf_set(0.0f), vf_set(0.0f)};
    vf p = vf_set(pivot);
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; j++) {
            vf d = vf_load(x + VF_LANES * (i + j)) - p;
            s[j] += d;
            q[j] = vf_fma(d, d, q[j]);
        }
    for (; i < n; i++) {
        vf d = vf_load(x + VF_LANES * i) - p;
        s[0] += d;
        q[0] = vf_fma(d, d, q[0]);
    }
    fold4(s, sum);
    fold4(q, sum_sq);
}

SB_INLINE void normalise_as(const float *x, const float *more, float *y, size_t n,
                            vf scale, vf shift, int with_relu)
{
    for (size_t i = 0; i < VF_LANES * n; i += VF_LANES) {
        vf z = vf_fma(vf_load(x + i), scale, shift);
        z = more ? z + vf_load(more + i) : z;
        vf_store(y + i, with_relu ? vf_relu(z) : z);
    }
}

static void normalise(const float *x, const float *more, float *y, size_t n, float scale,
                      float shift, int with_relu)
{
    vf a = vf_set(scale), b = vf_set(shift);
    if (more && with_relu)
        normalise_as(x, more, y, n, a, b, 1);
    else if (more)
        normalise_as(x, more, y, n, a, b, 0);
    else if (with_relu)
        normalise_as(x, NULL, y, n, a, b, 1);
    else
        normalise_as(x, NULL, y, n, a, b, 0);
}

/* How the gradient before a ReLU is found. */
enum relu_kind { NO_RELU, RELU_OF_Y, RELU_OF_X };

SB_INLINE enum relu_kind relu_kind(const struct sb_norm_plane *p)
{
    return p->y ? RELU_OF_Y : p->affine ? RELU_OF_X : NO_RELU;
}

SB_INLINE vf before_relu(const struct sb_norm_plane *p, const enum relu_kind kind,
                         size_t at, vf x)
{
    vf dy = vf_load(p->dy + at);
    if (kind == RELU_OF_Y)
        return masked(dy, vf_load(p->y + at));
    if (kind == RELU_OF_X)
        return masked(dy, vf_fma(x, vf_set(p->affine[0]), vf_set(p->affine[1])));
    return dy;
}

SB_INLINE void norm_sums_by(const struct sb_norm_plane *p, const enum relu_kind kind,
                            float *sum, float *sum_x)
{
    vf s[4] = {vf_set(0.0f), vf_set(0.0f), vf_set(0.0f), vf_set(0.0f)};
    vf q[4] = {vf_set(0.0f), vf_set(0.0f), vf_set(0.0f), vf_set(0.0f)};
    vf m = vf_set(p->mean);
    size_t i = 0;
    for (; i + 4 <= p->n; i += 4)
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; j++) {
            size_t at = VF_LANES * (i + j);
            vf x = vf_load(p->x + at), g = before_relu(p, kind, at, x);
            s[j] += g;
            q[j] = vf_fma(g, x - m, q[j]);
        }
    for (; i < p->n; i++) {
        size_t at = VF_LANES * i;
        vf x = vf_load(p->x + at), g = before_relu(p, kind, at, x);
        s[0] += g;
        q[0] = vf_fma(g, x - m, q[0]);
    }
    fold4(s, sum);
    fold4(q, sum_x);
}

static void norm_sums(const struct sb_norm_plane *p, float *sum, float *sum_x)
{
    switch (relu_kind(p)) {
    case NO_RELU:
        norm_sums_by(p, NO_RELU, sum, sum_x);
        break;
    case RELU_OF_Y:
        norm_sums_by(p, RELU_OF_Y, sum, sum_x);
        break;
    case RELU_OF_X:
        norm_sums_by(p, RELU_OF_X, sum, sum_x);
        break;
    }
}

SB_INLINE void norm_gradient_by(const struct sb_norm_plane *p, const enum relu_kind kind,
                                const float *abc, const int32_t *lane_mask, float *dx,
                                float *keep, int more)
{
    vf a = vf_set(abc[0]), b = vf_set(abc[1]), c = vf_set(abc[2]), mean = vf_set(p->mean);
    vi lanes;
    memcpy(&lanes, lane_mask, sizeof lanes);
    for (size_t i = 0; i < VF_LANES * p->n; i += VF_LANES) {
        vf x = vf_load(p->x + i), g = before_relu(p, kind, i, x);
        vf d = vf_fma(a, g, vf_fma(b, x - mean, c));
        d = (vf)((vi)d & lanes);
        if (keep)
            vf_store(keep + i, g);
        vf_store(dx + i, more ? vf_load(dx + i) + d : d);
    }
}

static void norm_gradient(const struct sb_norm_plane *p, const float *abc,
                          const int32_t *lane_mask, float *dx, float *keep, int more)
{
    switch (relu_kind(p)) {
    case NO_RELU:
        norm_gradient_by(p, NO_RELU, abc, lane_mask, dx, keep, more);
        break;
    case RELU_OF_Y:
        norm_gradient_by(p, RELU_OF_Y, abc, lane_mask, dx, keep, more);
        break;
    case RELU_OF_X:
        norm_gradient_by(p, RELU_OF_X, abc, lane_mask, dx, keep, more);
        break;
    }
}

/* ---- loss ---------------------------------------------------------------------------- */

static void softmax(float *logits, uint32_t classes, size_t stride, const uint32_t *label,
                    float *loss)
{
    vf top = vf_load(logits), sum = vf_set(0.0f), chosen;
    for (uint32_t c = 1; c < classes; c++) {
        vf z = vf_load(logits + c * stride);
        top = vf_larger(top, z);
    }
    for (int l = 0; l < VF_LANES; l++)
        chosen[l] = logits[label[l] * stride + (size_t)l] - top[l];
    for (uint32_t c = 0; c < classes; c++) {
        vf e = vf_exp(vf_load(logits + c * stride) - top);
        vf_store(logits + c * stride, e);
        sum += e;
    }
    for (uint32_t c = 0; c < classes; c++)
        vf_store(logits + c * stride, vf_load(logits + c * stride) / sum);
    vf_storeu(loss, vf_log(sum) - chosen);
}

/* ---- parameters ---------------------------------------------------------------------- */

/* Up to a vector of floats from p, the rest filled up. */
SB_INLINE vf load_some(const float *p, size_t n, float fill)
{
    vf x = vf_set(fill);
    if (n >= VF_LANES)
        return vf_loadu(p);
    memcpy(&x, p, n * sizeof(float));
    return x;
}

SB_INLINE void store_some(float *p, size_t n, vf x)
{
    if (n >= VF_LANES)
        vf_storeu(p, x);
    else
        memcpy(p, &x, n * sizeof(float));
}

static void variance(const float *rho, float *s2, size_t n)
{
    for (size_t i = 0; i < n; i += VF_LANES) {
        vf s = vf_softplus(load_some(rho + i, n - i, 0.0f));
        store_some(s2 + i, n - i, s * s);
    }
}

static void deviation(const float *rho, float *s, size_t n)
{
    for (size_t i = 0; i < n; i += VF_LANES)
        store_some(s + i, n - i, vf_softplus(load_some(rho + i, n - i, 0.0f)));
}

/* Element e of the stream has the normals of weights 4 e to 4 e + 3; `normal` gives an element
 * a lane, the first ones of all, then their second ones, ... */
static void sample(const struct sb_stream *s, uint32_t first, const float *mu,
                   const float *rho, float *out, size_t n)
{
    enum { DRAWN = 4 * VF_LANES };
    _Alignas(64) float z[DRAWN], ordered[DRAWN];
    for (size_t i = 0; i < n; i += DRAWN) {
        normal(s, (first + (uint32_t)i) / 4, 0, 0, 1, z);
        for (size_t k = 0; k < DRAWN; k++)
            ordered[k] = z[k % 4 * VF_LANES + k / 4];
        for (size_t k = i; k < i + DRAWN && k < n; k += VF_LANES) {
            vf sd = vf_softplus(load_some(rho + k, n - k, 0.0f));
            store_some(out + k, n - k,
                       load_some(mu + k, n - k, 0.0f) + sd * vf_load(ordered + (k - i)));
        }
    }
}

static double kl(const float *mu, const float *rho, float prior_sd, size_t n)
{
    double sum[SB_PARTIALS] = {0};
    vf half = vf_set(0.5f / (prior_sd * prior_sd)), log_prior = vf_log(vf_set(prior_sd));
    for (size_t i = 0; i < n; i += VF_LANES) {
        vf m = load_some(mu + i, n - i, 0.0f),
           s = vf_softplus(load_some(rho + i, n - i, 0.0f));
        vf term = vf_fma(vf_fma(s, s, m * m), half, log_prior - vf_log(s)) - vf_set(0.5f);
        size_t lanes = n - i < VF_LANES ? n - i : VF_LANES;
        for (size_t l = 0; l < lanes; l++)
            sum[(i + l) % SB_PARTIALS] += (double)term[l];
    }
    return sb_partials_fold(sum);
}

/* data: the data term's gradient of s^2 or, of_s, of s */
SB_INLINE void add_gradients(const float *mu, const float *rho, const float *data,
                             const int of_s, float factor, float prior_sd, float *dmu,
                             float *drho, size_t n)
{
    vf f = vf_set(factor), f_var = vf_set(factor / (prior_sd * prior_sd));
    for (size_t i = 0; i < n; i += VF_LANES) {
        vf r = load_some(rho + i, n - i, 0.0f), s = vf_softplus(r);
        vf d = load_some(data + i, n - i, 0.0f), of_kl = vf_fma(s, f_var, -(f / s));
        vf ds = of_s ? d + of_kl : vf_fma(s + s, d, of_kl);
        vf dm = load_some(dmu + i, n - i, 0.0f);
        store_some(dmu + i, n - i, vf_fma(load_some(mu + i, n - i, 0.0f), f_var, dm));
        store_some(drho + i, n - i, ds * vf_sigmoid(r));
    }
}

static void posterior_gradient(const float *mu, const float *rho, const float *ds2,
                               float factor, float prior_sd, float *dmu, float *drho,
                               size_t n)
{
    add_gradients(mu, rho, ds2, 0, factor, prior_sd, dmu, drho, n);
}

static void deviation_gradient(const float *mu, const float *rho, const float *ds,
                               float factor, float prior_sd, float *dmu, float *drho,
                               size_t n)
{
    add_gradients(mu, rho, ds, 1, factor, prior_sd, dmu, drho, n);
}

static void sgd(float *w, const float *g, float *m, float rate, float momentum,
                float decay, int nesterov, size_t n)
{
    vf lr = vf_set(-rate), mo = vf_set(momentum), wd = vf_set(decay);
    for (size_t i = 0; i < n; i += VF_LANES) {
        vf x = load_some(w + i, n - i, 0.0f);
        vf d = vf_fma(wd, x, load_some(g + i, n - i, 0.0f));
        vf v = vf_fma(mo, load_some(m + i, n - i, 0.0f), d);
        vf step = nesterov ? vf_fma(mo, v, d) : v;
        store_some(m + i, n - i, v);
        store_some(w + i, n - i, vf_fma(lr, step, x));
    }
}

/* The table's rows that this file fills. */
#define SB_ELEMENTWISE_ROWS                                                              \
    .normal = normal, .spin = spin, .mix = mix, .square = square, .multiply = multiply,  \
    .add = add, .input_gradient = input_gradient, .relu = relu,                          \
    .relu_gradient = relu_gradient, .moments = moments, .normalise = normalise,          \
    .norm_sums = norm_sums, .norm_gradient = norm_gradient, .max_pool = max_pool,        \
    .max_pool_gradient = max_pool_gradient, .mean_pool = mean_pool,                      \
    .mean_pool_gradient = mean_pool_gradient, .softmax = softmax, .variance = variance,  \
    .deviation = deviation, .sample = sample, .kl = kl,                                  \
    .posterior_gradient = posterior_gradient, .deviation_gradient = deviation_gradient,  \
    .sgd = sgd

#endif
