/* mixture - the equal-weight mixture of Gaussians that an ensemble predicts for a
 * continuous outcome (docs/method.md 10).
 *
 * Member m says N(mean_m, var_m) for a target of an example. The mixture of M of them has
 *
 *     mean        mean of the means
 *     aleatoric   mean of the variances: what the data leave open
 *     epistemic   variance of the means: where members disagree
 *     variance    their sum
 *     cdf(x)      mean of Phi((x - mean_m) / sd_m)
 *
 * A mixture with a width s for a target (figures/width.h) is that one, Y, drawn apart about
 * its mean c: c + s (Y - c). So member m says N(c + s (mean_m - c), s^2 var_m), the mean stays
 * and both variances are s^2 times as large. Of some of the members, c is theirs.
 *
 * Inputs are float, everything computed is double, members in order: an example's figures
 * do not depend on its neighbours. Units are those of the means.
 */
#ifndef SB_FIGURES_MIXTURE_H
#define SB_FIGURES_MIXTURE_H

#include <stddef.h>

#include "base/status.h"

/* What the members of an ensemble say about n examples; a single network has one. */
struct sb_mixture {
    const float *const *mean; /* [members] of [n][targets], borrowed */
    const float *const *var;  /* [members] of [n][targets], each positive */
    size_t members, n, targets;
    const float *width; /* [targets], each positive, borrowed; NULL: 1 */
};

/* SB_EARG for an empty one, SB_ENUMERIC unless means are finite, variances and widths finite
 * and positive. The functions below, but for this one, take what was checked. */
sb_status sb_mixture_check(const struct sb_mixture *m);

struct sb_moments {
    double mean, aleatoric, epistemic;
};

struct sb_moments sb_mixture_moments(const struct sb_mixture *m, size_t example,
                                     size_t target);

/* log of the density of y[targets]: of the mixture of the members' joint Gaussians, which
 * is not the sum over targets. */
double sb_mixture_log_density(const struct sb_mixture *m, size_t example, const float *y);

/* The same of one target alone. */
double sb_mixture_log_density_of(const struct sb_mixture *m, size_t example,
                                 size_t target, double y);

double sb_mixture_cdf(const struct sb_mixture *m, size_t example, size_t target,
                      double x);

/* The x with cdf(x) = p, 0 < p < 1, to the last bits of a double. */
double sb_mixture_quantile(const struct sb_mixture *m, size_t example, size_t target,
                           double p);

/* Continuous ranked probability score, E|X - y| - E|X - X'| / 2, in closed form (Grimit
 * et al. 2006); O(members^2). */
double sb_mixture_crps(const struct sb_mixture *m, size_t example, size_t target,
                       double y);

#endif
