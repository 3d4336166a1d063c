/* weight - the weights of one layer that exist: numbers, gradients, momenta and products.
 *
 * All arrays have one entry per existing weight, in the order of the pattern; for
 * inference, in the order in which the kernel reads them. A Gaussian weight is N(mu,
 * sigma^2), sigma = softplus(rho); a point weight is mu alone. A layer all of whose
 * weights exist has no pattern. It trains on the dense products, and for inference, where
 * others write and read slices, runs on the sparse ones with the same bits. A bias is a
 * point parameter.
 *
 * What the kernels take is derived from mu and rho: the variance s2 and, for the input
 * gradient, both in transposed order. sb_weight_refresh brings them up to date after mu,
 * rho or the pattern changed.
 *
 * A layer with groups (the estimator `weights`) draws its weights for each group of rows. It
 * takes sigma where others take the variance, in the same arrays, and nothing of a draw
 * is kept: backward draws again (draw.h).
 */
#ifndef SB_TENSOR_WEIGHT_H
#define SB_TENSOR_WEIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/act.h"
#include "kernels/conv.h"
#include "kernels/params.h"
#include "kernels/product.h"
#include "kernels/shards.h"
#include "kernels/sparse.h"
#include "tensor/pattern.h"
#include "tensor/topology.h"

struct sb_weight {
    struct sb_conv conv;
    bool gauss;
    bool dense; /* every weight exists */
    uint32_t nnz;
    uint32_t group;     /* rows that weights are drawn for; 0: noise is the outputs' */
    uint32_t max_batch; /* rows */
    struct sb_pattern pattern; /* empty when dense */
    struct sb_sparse kernel;   /* empty when dense, but for inference */
    float *memory;             /* owned; the arrays below are pieces of it */
    float *mu, *rho;           /* [nnz]; rho NULL: point */
    /* Gradients, one behind the other, so that a sum over shards is that of one array; drho
     * is ds2, with groups dsigma, until sb_net_add_kl. */
    float *dmu, *drho;
    float *mu_momentum, *rho_momentum;
    float *s2, *mu_t, *s2_t;             /* derived; with groups s2 is sigma */
    float *bias, *dbias, *bias_momentum; /* [out], NULL: none */
};

struct sb_weight_options {
    uint32_t lanes; /* of the kernels */
    uint32_t max_batch;
    uint32_t active; /* weights that exist; all of them: dense */
    bool gauss, bias;
    uint32_t group; /* of gauss, where it is trained: as above */
    bool inference; /* forward only: no gradients, momenta or transposed order */
    bool sliced;    /* for inference without gauss: inputs are, see act.h */
};

/* Memory for everything, numbers zero, no pattern yet. The caller calls sb_weight_fini,
 * also after a failure. */
sb_status sb_weight_init(struct sb_weight *w, const struct sb_conv *c,
                         const struct sb_weight_options *o);
void sb_weight_fini(struct sb_weight *w);

/* Takes over a pattern of exactly the planned number of weights (not for dense layers). */
sb_status sb_weight_set_pattern(struct sb_weight *w, const struct sb_pattern *p);

/* A fresh start for (seed, member, layer): a random support, mu uniform in
 * +-sqrt(6 / dense fan-in), rho = rho_init, bias uniform in +-1 / sqrt(fan-in), momenta 0. */
sb_status sb_weight_start(struct sb_weight *w, uint64_t seed, uint32_t member,
                          uint32_t layer, float rho_init);

/* Sets mu and, unless NULL, rho, given in the order of the pattern; and the way back. */
void sb_weight_set(struct sb_weight *w, const float *mu, const float *rho);
void sb_weight_get(const struct sb_weight *w, float *mu, float *rho);

/* Numbers that mu has, with the pattern as it is: more than weights where forward wants some
 * of them in several places. */
size_t sb_weight_placed(const struct sb_weight *w);

void sb_weight_refresh(const struct sb_env *env, struct sb_weight *w);

/* Bytes of scratch for that many threads. */
size_t sb_weight_scratch(const struct sb_weight *w, int threads);

struct sb_weight_forward {
    const struct sb_act *x;
    const struct sb_noise *noise; /* NULL: the mean alone, and slope is not touched */
    const struct sb_epilogue *epilogue; /* may be NULL */
    struct sb_act *y, *slope;
};

sb_status sb_weight_forward(const struct sb_env *env, const struct sb_weight *w,
                            const struct sb_weight_forward *f, void *scratch);

struct sb_weight_backward {
    const struct sb_act *x, *dy;
    const struct sb_noise *noise; /* what forward had; only layers with groups want it */
    struct sb_act *slope; /* what forward left; becomes dv. NULL after a mean forward */
    struct sb_act *dx;    /* NULL: not wanted */
    bool add;             /* dx += */
    const struct sb_shards *shards; /* of the batch; NULL: its rows are one */
    float *sums;   /* [places of their tree - 1][stride] for sums over shards, */
    size_t stride; /* ... at least sb_weight_gradient_floats */
};

/* Floats from dmu to the end of all gradients. */
size_t sb_weight_gradient_floats(const struct sb_weight *w);

/* Fills dmu, drho (the gradient of s2 or, with groups, of sigma), dbias and dx. */
sb_status sb_weight_backward(const struct sb_env *env, struct sb_weight *w,
                             const struct sb_weight_backward *b, void *scratch);

/* The mean data term's gradient for every position, [out][in][kh][kw], existing or not, of
 * b's x, dy and shards. sums: [places - 1][stride] of b. */
sb_status sb_weight_dense_gradient(const struct sb_env *env, const struct sb_weight *w,
                                   const struct sb_weight_backward *b, float *gradient);

/* One prune-grow update from the dense gradient; the kernel order is rebuilt. */
sb_status sb_weight_update(struct sb_weight *w, const float *gradient, double rate,
                           enum sb_criterion criterion, struct sb_topology_stats *stats);

#endif
