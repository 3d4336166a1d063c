/* lanes_elementwise - everything that is not a sparse product, on vectors of 8 lanes.
 *
 * Included by every instruction set's file, scalar.c too: each operation is lane by lane
 * and exactly rounded, so what differs is only the instructions the compiler picks. Sums
 * run over 4 interleaved partial vectors, to hide the latency of an addition.
 */
#ifndef SB_KERNELS_LANES_ELEMENTWISE_H
#define SB_KERNELS_LANES_ELEMENTWISE_H

#include "kernels/kernels.h"
#include "kernels/lanes.h"

#define VAR_FLOOR 1e-8f /* under the square root of every pre-activation variance */

/* ---- noise --------------------------------------------------------------------------- */

static void normal(const struct sb_stream *s, uint32_t image, uint32_t quad,
                   uint32_t step, size_t n, float *out)
{
    struct philox_keys keys;
    philox_keys(&keys, s->key[0], s->key[1]);
    v8u lane = {0, 1, 2, 3, 4, 5, 6, 7};
    for (; n > 0; n--, quad += step, out += 32) {
        v8u c[4] = {v8u_set(image) + lane, v8u_set(quad), v8u_set(s->step),
                    v8u_set(s->tag)};
        v8 z0, z1, z2, z3;
        v8_philox(c, &keys);
        v8_box_muller(c[0], c[1], &z0, &z1);
        v8_box_muller(c[2], c[3], &z2, &z3);
        v8_store(out, z0);
        v8_store(out + 8, z1);
        v8_store(out + 16, z2);
        v8_store(out + 24, z3);
    }
}

static void mix(float *mean, float *var, const float *eps, size_t n)
{
    for (size_t i = 0; i < 8 * n; i += 8) {
        v8 sd = v8_sqrt(v8_load(var + i) + v8_set(VAR_FLOOR)), e = v8_load(eps + i);
        v8_store(mean + i, v8_fma(sd, e, v8_load(mean + i)));
        v8_store(var + i, e * v8_set(0.5f) / sd);
    }
}

/* ---- element-wise -------------------------------------------------------------------- */

static void square(float *x, size_t n)
{
    for (size_t i = 0; i < 8 * n; i += 8)
        v8_store(x + i, v8_load(x + i) * v8_load(x + i));
}

static void multiply(float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < 8 * n; i += 8)
        v8_store(a + i, v8_load(a + i) * v8_load(b + i));
}

static void add(float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < 8 * n; i += 8)
        v8_store(a + i, v8_load(a + i) + v8_load(b + i));
}

static void axpy2(float *a, const float *x, const float *b, size_t n)
{
    for (size_t i = 0; i < 8 * n; i += 8) {
        v8 two_x = v8_load(x + i) + v8_load(x + i);
        v8_store(a + i, v8_fma(two_x, v8_load(b + i), v8_load(a + i)));
    }
}

static void relu(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < 8 * n; i += 8)
        v8_store(y + i, v8_relu(v8_load(x + i)));
}

/* dy where y > 0 or y is NaN, else 0 */
SB_INLINE v8 masked(v8 dy, v8 y)
{
    return (v8)((v8i)dy & ~(y <= v8_set(0.0f)));
}

static void relu_gradient(float *dy, const float *y, size_t n)
{
    for (size_t i = 0; i < 8 * n; i += 8)
        v8_store(dy + i, masked(v8_load(dy + i), v8_load(y + i)));
}

/* ---- batch norm ---------------------------------------------------------------------- */

/* to[8] += the four partial sums */
SB_INLINE void fold4(const v8 s[4], float *to)
{
    v8_storeu(to, v8_loadu(to) + ((s[0] + s[1]) + (s[2] + s[3])));
}

static void moments(const float *x, size_t n, float pivot, float *sum, float *sum_sq)
{
    v8 s[4] = {v8_set(0.0f), v8_set(0.0f), v8_set(0.0f), v8_set(0.0f)};
    v8 q[4] = {v8_set(0.0f), v8_set(0.0f), v8_set(0.0f), v8_set(0.0f)};
    v8 p = v8_set(pivot);
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; j++) {
            v8 d = v8_load(x + 8 * (i + j)) - p;
            s[j] += d;
            q[j] = v8_fma(d, d, q[j]);
        }
    for (; i < n; i++) {
        v8 d = v8_load(x + 8 * i) - p;
        s[0] += d;
        q[0] = v8_fma(d, d, q[0]);
    }
    fold4(s, sum);
    fold4(q, sum_sq);
}

SB_INLINE void normalise_as(const float *x, const float *more, float *y, size_t n,
                            v8 scale, v8 shift, int with_relu)
{
    for (size_t i = 0; i < 8 * n; i += 8) {
        v8 z = v8_fma(v8_load(x + i), scale, shift);
        z = more ? z + v8_load(more + i) : z;
        v8_store(y + i, with_relu ? v8_relu(z) : z);
    }
}

static void normalise(const float *x, const float *more, float *y, size_t n, float scale,
                      float shift, int with_relu)
{
    v8 a = v8_set(scale), b = v8_set(shift);
    if (more && with_relu)
        normalise_as(x, more, y, n, a, b, 1);
    else if (more)
        normalise_as(x, more, y, n, a, b, 0);
    else if (with_relu)
        normalise_as(x, NULL, y, n, a, b, 1);
    else
        normalise_as(x, NULL, y, n, a, b, 0);
}

static void norm_sums(const float *dy, const float *y, const float *x, size_t n,
                      float mean, float *sum, float *sum_x)
{
    v8 s[4] = {v8_set(0.0f), v8_set(0.0f), v8_set(0.0f), v8_set(0.0f)};
    v8 q[4] = {v8_set(0.0f), v8_set(0.0f), v8_set(0.0f), v8_set(0.0f)};
    v8 m = v8_set(mean);
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
#pragma GCC unroll 4
        for (size_t j = 0; j < 4; j++) {
            size_t at = 8 * (i + j);
            v8 g = y ? masked(v8_load(dy + at), v8_load(y + at)) : v8_load(dy + at);
            s[j] += g;
            q[j] = v8_fma(g, v8_load(x + at) - m, q[j]);
        }
    for (; i < n; i++) {
        v8 g = y ? masked(v8_load(dy + 8 * i), v8_load(y + 8 * i)) : v8_load(dy + 8 * i);
        s[0] += g;
        q[0] = v8_fma(g, v8_load(x + 8 * i) - m, q[0]);
    }
    fold4(s, sum);
    fold4(q, sum_x);
}

static void norm_gradient(const float *dy, const float *y, const float *x, float *dx,
                          float *keep, size_t n, const float *abc_mean,
                          const int32_t *lane_mask, int more)
{
    v8 a = v8_set(abc_mean[0]), b = v8_set(abc_mean[1]), c = v8_set(abc_mean[2]);
    v8 mean = v8_set(abc_mean[3]);
    v8i lanes;
    memcpy(&lanes, lane_mask, sizeof lanes);
    for (size_t i = 0; i < 8 * n; i += 8) {
        v8 g = y ? masked(v8_load(dy + i), v8_load(y + i)) : v8_load(dy + i);
        v8 d = v8_fma(a, g, v8_fma(b, v8_load(x + i) - mean, c));
        d = (v8)((v8i)d & lanes);
        if (keep)
            v8_store(keep + i, g);
        v8_store(dx + i, more ? v8_load(dx + i) + d : d);
    }
}

/* ---- pooling ------------------------------------------------------------------------- */

/* The first of two equals; a NaN wins and stays. */
SB_INLINE v8 larger(v8 a, v8 b)
{
    return v8_pick((b <= a) | (a != a), a, b);
}

static void max_pool(const float *x, uint32_t height, uint32_t width, uint32_t size,
                     float *y)
{
    for (uint32_t i = 0; i + size <= height; i += size)
        for (uint32_t j = 0; j + size <= width; j += size, y += 8) {
            v8 best = v8_load(x + ((size_t)i * width + j) * 8);
            for (uint32_t k = 1; k < size * size; k++) {
                v8 z = v8_load(x + ((size_t)(i + k / size) * width + j + k % size) * 8);
                best = larger(best, z);
            }
            v8_store(y, best);
        }
}

/* The gradient goes to the first maximum of a window, row by row. */
static void max_pool_gradient(const float *x, const float *y, const float *dy,
                              uint32_t height, uint32_t width, uint32_t size, float *dx)
{
    memset(dx, 0, (size_t)height * width * 8 * sizeof(float));
    for (uint32_t i = 0; i + size <= height; i += size)
        for (uint32_t j = 0; j + size <= width; j += size, y += 8, dy += 8) {
            v8i open = v8i_set(-1);
            v8 best = v8_load(y), d = v8_load(dy);
            for (uint32_t k = 0; k < size * size; k++) {
                size_t at = ((size_t)(i + k / size) * width + j + k % size) * 8;
                v8i here = open & (v8_load(x + at) == best);
                v8_store(dx + at, (v8)((v8i)d & here));
                open &= ~here;
            }
        }
}

static void mean_pool(const float *x, size_t n, float *y)
{
    v8 s = v8_set(0.0f);
    for (size_t i = 0; i < 8 * n; i += 8)
        s += v8_load(x + i);
    v8_store(y, s / v8_set((float)n));
}

static void mean_pool_gradient(const float *dy, size_t n, float *dx)
{
    v8 d = v8_load(dy) / v8_set((float)n);
    for (size_t i = 0; i < 8 * n; i += 8)
        v8_store(dx + i, d);
}

/* ---- loss ---------------------------------------------------------------------------- */

static void softmax(float *logits, uint32_t classes, size_t stride, const uint32_t *label,
                    float *loss)
{
    v8 top = v8_load(logits), sum = v8_set(0.0f), chosen;
    for (uint32_t c = 1; c < classes; c++) {
        v8 z = v8_load(logits + c * stride);
        top = larger(top, z);
    }
    for (int l = 0; l < 8; l++)
        chosen[l] = logits[label[l] * stride + (size_t)l] - top[l];
    for (uint32_t c = 0; c < classes; c++) {
        v8 e = v8_exp(v8_load(logits + c * stride) - top);
        v8_store(logits + c * stride, e);
        sum += e;
    }
    for (uint32_t c = 0; c < classes; c++)
        v8_store(logits + c * stride, v8_load(logits + c * stride) / sum);
    v8_storeu(loss, v8_log(sum) - chosen);
}

/* ---- parameters ---------------------------------------------------------------------- */

/* Up to 8 floats from p, the rest filled up. */
SB_INLINE v8 load_some(const float *p, size_t n, float fill)
{
    v8 x = v8_set(fill);
    if (n >= 8)
        return v8_loadu(p);
    memcpy(&x, p, n * sizeof(float));
    return x;
}

SB_INLINE void store_some(float *p, size_t n, v8 x)
{
    if (n >= 8)
        v8_storeu(p, x);
    else
        memcpy(p, &x, n * sizeof(float));
}

static void variance(const float *rho, float *s2, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        v8 s = v8_softplus(load_some(rho + i, n - i, 0.0f));
        store_some(s2 + i, n - i, s * s);
    }
}

/* Element e of the stream has the normals of weights 4 e to 4 e + 3; `normal` gives eight
 * elements' first ones, then their second ones, ... */
static void sample(const struct sb_stream *s, uint32_t first, const float *mu,
                   const float *rho, float *out, size_t n)
{
    _Alignas(32) float z[32], ordered[32];
    for (size_t i = 0; i < n; i += 32) {
        normal(s, (first + (uint32_t)i) / 4, 0, 0, 1, z);
        for (size_t k = 0; k < 32; k++)
            ordered[k] = z[k % 4 * 8 + k / 4];
        for (size_t k = i; k < i + 32 && k < n; k += 8) {
            v8 sd = v8_softplus(load_some(rho + k, n - k, 0.0f));
            store_some(out + k, n - k,
                       load_some(mu + k, n - k, 0.0f) + sd * v8_load(ordered + (k - i)));
        }
    }
}

static double kl(const float *mu, const float *rho, float prior_sd, size_t n)
{
    double sum[8] = {0};
    v8 half = v8_set(0.5f / (prior_sd * prior_sd)), log_prior = v8_log(v8_set(prior_sd));
    for (size_t i = 0; i < n; i += 8) {
        v8 m = load_some(mu + i, n - i, 0.0f),
           s = v8_softplus(load_some(rho + i, n - i, 0.0f));
        v8 term = v8_fma(v8_fma(s, s, m * m), half, log_prior - v8_log(s)) - v8_set(0.5f);
        size_t lanes = n - i < 8 ? n - i : 8;
        for (size_t l = 0; l < lanes; l++)
            sum[l] += (double)term[l];
    }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) +
           ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

static void posterior_gradient(const float *mu, const float *rho, const float *ds2,
                               float factor, float prior_sd, float *dmu, float *drho,
                               size_t n)
{
    v8 f = v8_set(factor), f_var = v8_set(factor / (prior_sd * prior_sd));
    for (size_t i = 0; i < n; i += 8) {
        v8 r = load_some(rho + i, n - i, 0.0f), s = v8_softplus(r);
        v8 ds =
            v8_fma(s + s, load_some(ds2 + i, n - i, 0.0f), v8_fma(s, f_var, -(f / s)));
        v8 dm = load_some(dmu + i, n - i, 0.0f);
        store_some(dmu + i, n - i, v8_fma(load_some(mu + i, n - i, 0.0f), f_var, dm));
        store_some(drho + i, n - i, ds * v8_sigmoid(r));
    }
}

static void sgd(float *w, const float *g, float *m, float rate, float momentum,
                float decay, int nesterov, size_t n)
{
    v8 lr = v8_set(-rate), mo = v8_set(momentum), wd = v8_set(decay);
    for (size_t i = 0; i < n; i += 8) {
        v8 x = load_some(w + i, n - i, 0.0f);
        v8 d = v8_fma(wd, x, load_some(g + i, n - i, 0.0f));
        v8 v = v8_fma(mo, load_some(m + i, n - i, 0.0f), d);
        v8 step = nesterov ? v8_fma(mo, v, d) : v;
        store_some(m + i, n - i, v);
        store_some(w + i, n - i, v8_fma(lr, step, x));
    }
}

/* The table's rows that this file fills. */
#define SB_ELEMENTWISE_ROWS                                                              \
    .normal = normal, .mix = mix, .square = square, .multiply = multiply, .add = add,    \
    .axpy2 = axpy2, .relu = relu, .relu_gradient = relu_gradient, .moments = moments,    \
    .normalise = normalise, .norm_sums = norm_sums, .norm_gradient = norm_gradient,      \
    .max_pool = max_pool, .max_pool_gradient = max_pool_gradient,                        \
    .mean_pool = mean_pool, .mean_pool_gradient = mean_pool_gradient,                    \
    .softmax = softmax, .variance = variance, .sample = sample, .kl = kl,                \
    .posterior_gradient = posterior_gradient, .sgd = sgd

#endif
