/* tsne - t-SNE (van der Maaten and Hinton, 2008), exactly: all pairs, O(n^2) a step.
 *
 * For the few hundred points of a training trajectory. Affinities p_ij are Gaussian with a
 * width for each point such that its neighbours' perplexity is as asked (bisection); the
 * embedding minimises KL(P || Q), q_ij ~ 1 / (1 + |y_i - y_j|^2), by gradient descent with
 * momentum and gains, the first quarter of the steps with P exaggerated twelvefold. It
 * starts from the first two principal components, made small.
 *
 * Nothing is random but the vectors that the power iteration for those begins with, and
 * sums are taken in an order that does not depend on threads: equal points give equal bits.
 */
#ifndef SB_FIGURES_TSNE_H
#define SB_FIGURES_TSNE_H

#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"

struct sb_tsne_options {
    double perplexity; /* 0: 30, but at most a third of the other points */
    uint32_t steps;    /* 0: 1000 */
};

enum { SB_TSNE_LEAST = 4, SB_TSNE_MOST = 10000 };

/* x: [n][dimensions], finite; y: [n][2]. SB_EARG unless n is from SB_TSNE_LEAST to
 * SB_TSNE_MOST and the perplexity in [1, n - 1). */
sb_status sb_tsne(const struct sb_env *env, const float *x, size_t n, size_t dimensions,
                  const struct sb_tsne_options *o, double *y);

#endif
