/* far - how unlike its training rows an example is: a number in [0, 1].
 *
 * In a place (model/far.h) an example is some numbers z, at most SB_FAR_WIDTH. A Gaussian is
 * fitted to those of n training rows, with a little of a sphere in it so that it has a width
 * everywhere, and
 *
 *     d = (z - mean)' C^-1 (z - mean) / width,   C = covariance + (trace / width / 1000) I
 *
 * is about 1 for a row like them. A training row is part of the Gaussian it is compared with;
 * what it would be without itself is known from d (Sherman-Morrison): with q = d width,
 *
 *     q' = n / (n - 1) q / (1 - q / (n - 1))
 *
 * A score is half the input's d and half the mean of the members'. far is the share of
 * training rows whose score, each without itself, is lower; beyond all of them it goes on
 * rising towards 1, so that two far examples can still be compared.
 */
#ifndef SB_FIGURES_FAR_H
#define SB_FIGURES_FAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/far.h"

/* Fits mean [width] and factor [triangle], C's Cholesky factor, to z [n][SB_FAR_WIDTH], of
 * which the first width are used; n > 0. */
sb_status sb_far_fit(const float *z, uint32_t n, uint32_t width, float *mean,
                     float *factor);

/* d of z, which is [width]. */
double sb_far_distance(const float *z, uint32_t width, const float *mean,
                       const float *factor);

/* The same in a place of a model. */
double sb_far_away(const struct sb_far *f, uint32_t place, const float *z);

/* d without itself of one of n > 2 rows. */
double sb_far_left_out(double d, uint32_t width, uint32_t n);

/* The score of d's of an input and of members. */
double sb_far_score(double input, double features);

/* The quantiles of n scores, which it sorts: as many as out has room for, or n. Returns how
 * many. */
uint32_t sb_far_quantiles(double *score, uint32_t n, float out[SB_FAR_QUANTILES]);

/* far of a score; of one that is not finite 1. */
double sb_far_share(const float *quantile, uint32_t count, double score);

/* far [n] of the d's in all places of f: away [1 + members][stride]. */
void sb_far_conclude(const struct sb_far *f, const float *away, size_t stride, uint32_t n,
                     float *far);

#endif
