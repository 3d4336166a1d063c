/* width - one factor a target that makes an ensemble's intervals as wide as its errors are
 * (docs/method.md 10).
 *
 * The ensemble says Y, a mixture of Gaussians with the mean c; with the width s it says
 * c + s (Y - c). Of n examples that it was not trained on, s is where
 *
 *     sum of  log s - log p(c + (y - c) / s)   +   2 (log s + 1 / (2 s^2))
 *
 * is least, p being the density of Y: the likelihood of the examples, and of two rows more of
 * one Gaussian, whose error is its deviation. These say 1, so that few examples do not decide
 * alone. Looked for is the place where the slope changes its sign, with functions that have
 * the same bits everywhere (base/fmath.h): the width is part of a model.
 */
#ifndef SB_FIGURES_WIDTH_H
#define SB_FIGURES_WIDTH_H

#include "figures/mixture.h"

/* What is looked through. */
#define SB_WIDTH_LEAST 0.125
#define SB_WIDTH_MOST  8.0

/* y: [m->n][m->targets], finite. A width that m has does not count. */
sb_status sb_width_fit(const struct sb_mixture *m, const float *y, size_t target,
                       double *out);

/* Of members that were trained on fewer rows than those the width is for. They err more, and
 * not by chance: what they say is right where it is less than 1, and otherwise its root. */
double sb_width_of_fewer(double width);

#endif
