/* regression - how good predictions of continuous outcomes are, with the definitions of
 * docs/method.md 10.
 *
 *     rmse, mae     of the mixture's mean
 *     nll           - mean log density of the mixture
 *     nll_matched   the same of the Gaussian with the mixture's mean and variance
 *     crps          mean of mixture.h's
 *     coverage      share of the outcomes within the central interval of a level, between
 *     width         the mixture's quantiles (1 - level) / 2 and (1 + level) / 2; its mean
 *     calibration   share of outcomes below the mixture's quantile p, which should be p
 *
 * Everything refuses an empty set (SB_EARG) and outcomes, means and variances that are not
 * finite (SB_ENUMERIC). With several targets, nll here is of one of them;
 * sb_regression_nll has the joint one.
 */
#ifndef SB_FIGURES_REGRESSION_H
#define SB_FIGURES_REGRESSION_H

#include "figures/mixture.h"

enum { SB_INTERVALS = 4 };
extern const double sb_interval_levels[SB_INTERVALS]; /* .5 .8 .9 .95 */

struct sb_regression {
    double rmse, mae, nll, nll_matched, crps;
    double coverage[SB_INTERVALS], width[SB_INTERVALS];
};

/* y: [n][targets]. */
sb_status sb_regression_of(const struct sb_mixture *m, const float *y, size_t target,
                           struct sb_regression *out);

/* Of the joint mixture over all targets. */
sb_status sb_regression_nll(const struct sb_mixture *m, const float *y, double *out);

/* What is quick to compute, for every epoch: nll is the joint one, the others are means over
 * targets. */
struct sb_outcome_scores {
    double nll, rmse, mae, crps;
};
sb_status sb_regression_scores(const struct sb_mixture *m, const float *y,
                               struct sb_outcome_scores *out);

/* level: [count], each in (0, 1) and rising; share[k]: of outcomes at or below quantile
 * level[k]. *error: mean of |share - level|; may be NULL. */
sb_status sb_regression_calibration(const struct sb_mixture *m, const float *y,
                                    size_t target, const double *level, size_t count,
                                    double *share, double *error);

#endif
