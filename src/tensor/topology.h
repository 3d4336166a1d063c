/* topology - where a layer's weights are and how they move.
 *
 * Allocation (method.md 2) decides how many weights each layer gets. ERK gives layer l
 *
 *     d_l = eps * (n_out + n_in + kh + kw) / (n_out * n_in * kh * kw)
 *
 * with one eps for the network, such that the total is density * all weights; a linear
 * layer has no kernel terms. Layers that would exceed 1 become dense and the rest share
 * what remains, until all fit. Of n weights exactly n - floor((1 - d) n) exist.
 *
 * Prune-grow (method.md 3) moves weights of one layer: the weakest floor(active * rate)
 * go and as many come back where the gradient is largest. The number of weights never
 * changes, so every array keeps its length.
 *
 * Weights are ranked by |mu| / sigma: SNR(|theta|) increases strictly with it, and unlike
 * SNR it neither cancels for large ratios nor goes flat near 0.
 */
#ifndef SB_TENSOR_TOPOLOGY_H
#define SB_TENSOR_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "tensor/pattern.h"

struct sb_weight_shape {
    int ndim;        /* 2: linear layer, 4: convolution */
    uint32_t dim[4]; /* out, in, kh, kw; only the first ndim count */
};

struct sb_allocation {
    double density;
    uint32_t active; /* weights that exist */
    bool dense;      /* all of them: never pruned or grown */
};

/* out: [layers]. density is the network's share of weights, in (0, 1]. */
sb_status sb_topology_erk(const struct sb_weight_shape *shape, size_t layers,
                          double density, struct sb_allocation *out);

/* The first layer is dense, every other one has `density`; the network's total is
 * therefore a little above it. */
sb_status sb_topology_uniform(const struct sb_weight_shape *shape, size_t layers,
                              double density, struct sb_allocation *out);

/* E|theta| / sd|theta| for theta ~ N(mu, sigma^2), sigma >= 0: what people read. Accurate
 * for any ratio; its minimum is sqrt(2 / (pi - 2)) at mu = 0. */
double sb_snr_abs(double mu, double sigma);

/* sigma = softplus(rho) and its inverse, in double. The inverse of 0 is the least finite
 * value that makes sense, about -708. */
double sb_sigma_of_rho(double rho);
double sb_rho_of_sigma(double sigma);

enum sb_criterion {
    SB_PRUNE_SNR,      /* |mu| / sigma; |mu| where there is no rho */
    SB_PRUNE_MAGNITUDE /* |mu| */
};

/* One layer's weights; all borrowed, arrays of pattern->nnz. */
struct sb_topology_layer {
    struct sb_pattern *pattern;
    float *mu;
    float *rho;          /* NULL: a point network */
    float *const *state; /* [states] momenta and the like, 0 for a weight that enters */
    size_t states;
};

struct sb_topology_stats {
    uint32_t dropped;  /* floor(active * rate) */
    uint32_t grown;    /* the same number */
    uint32_t returned; /* of those grown, weights dropped in this very update */
};

/* One update. grad: [rows][cols], the gradient of the batch's mean data term for every
 * position, existing or not; rate in [0, 1].
 *
 * Candidates to grow are all positions not kept, the just-dropped included. A weight that
 * enters has mu = 0, state = 0 and the mean sigma of the weights that existed before; one
 * that returns keeps its numbers. Among equals the lower position is kept or grown.
 *
 * SB_ENUMERIC when a weight or a gradient is not finite. After a failure the layer is as
 * it was; after success its arrays are the same blocks of memory with other contents.
 * Takes O(rows * cols) memory and gives it back. stats may be NULL. */
sb_status sb_topology_prune_grow(const struct sb_topology_layer *layer, const float *grad,
                                 double rate, enum sb_criterion criterion,
                                 struct sb_topology_stats *stats);

#endif
