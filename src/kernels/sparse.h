/* sparse - a layer's three products, computed with the weights that exist.
 *
 * For a Bayesian layer with posterior mean mu and variance s2 on the pattern
 * (method.md 1: local reparameterisation), * being the layer's convolution:
 *
 *     forward          m = mu * x + bias,  v = s2 * x^2
 *                      y = m + sqrt(v + 1e-8) eps,  slope = eps / (2 sqrt(v + 1e-8))
 *     input gradient   dx = mu^T * dy + 2 x . (s2^T * dv),  dv = dy . slope
 *     weight gradient  dmu = dy (x) x,  ds2 = dv (x) x^2, at the pattern's positions
 *
 * Each has a mean-only form (s2, dv NULL) for point networks and prediction. x is read
 * once: its square is taken where it lies in the first-level cache.
 *
 * How the work is cut depends on shapes alone, so any number of threads gives the same
 * bits. Nothing is allocated after sb_sparse_init; scratch memory is the caller's.
 */
#ifndef SB_KERNELS_SPARSE_H
#define SB_KERNELS_SPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/act.h"
#include "kernels/conv.h"
#include "kernels/corr.h"
#include "kernels/product.h"

struct sb_sparse {
    struct sb_conv conv;
    uint32_t lanes, max_batch;
    struct sb_corr forward, backward;
    uint32_t
        *perm; /* [edges * capacity] owned: weight k of backward or, if there is none, of
                     * forward is the pattern's perm[k] */
};

/* For kernels with that many lanes. capacity: the most weights a pattern will have. The
 * caller calls sb_sparse_fini, also after a failure. */
sb_status sb_sparse_init(struct sb_sparse *s, const struct sb_conv *c, uint32_t lanes,
                         uint32_t max_batch, uint32_t capacity);
/* The same without input and weight gradient. Forward then takes weights as sb_sparse_arrange
 * gives them. sliced: its inputs are, and it never gets variances. */
sb_status sb_sparse_init_forward(struct sb_sparse *s, const struct sb_conv *c,
                                 uint32_t lanes, uint32_t max_batch, uint32_t capacity,
                                 bool sliced);
void sb_sparse_fini(struct sb_sparse *s);

/* Checks and takes over a pattern in compressed rows: row_ptr[out + 1], col[nnz] strictly
 * increasing within a row. SB_EARG says what is wrong with it and where; then the pattern
 * set before stays. */
sb_status sb_sparse_set_pattern(struct sb_sparse *s, const uint32_t *row_ptr,
                                const uint32_t *col);

/* Bytes of scratch a thread needs; the calls below take env->threads times as many,
 * 64-byte aligned. */
size_t sb_sparse_scratch(const struct sb_sparse *s);

/* y, and with s2 slope: [batch][out][out_height][out_width]. Without noise they get m and v
 * themselves. */
sb_status sb_sparse_forward(const struct sb_env *env, const struct sb_sparse *s,
                            const struct sb_forward *w, const struct sb_act *x,
                            struct sb_act *y, struct sb_act *slope, void *scratch);

/* How many values sb_sparse_arrange gives at most. */
size_t sb_sparse_room_for(const struct sb_sparse *s);

/* out[k] = value[perm[k]]: a value of each weight in the order the input gradient takes or,
 * where there is none, forward, which may want some again behind the first nnz. */
void sb_sparse_arrange(const struct sb_sparse *s, const float *value, float *out);

/* mu_t, s2_t as sb_sparse_arrange gives them. add: dx += instead of dx =. */
sb_status sb_sparse_input_gradient(const struct sb_env *env, const struct sb_sparse *s,
                                   const struct sb_backward *b, const float *mu_t,
                                   const float *s2_t, struct sb_act *dx, int add,
                                   void *scratch);

/* dmu and, with dv, ds2: [nnz], in the pattern's order, overwritten. */
sb_status sb_sparse_weight_gradient(const struct sb_env *env, const struct sb_sparse *s,
                                    const struct sb_backward *b, float *dmu, float *ds2,
                                    void *scratch);

#endif
