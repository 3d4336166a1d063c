/* conformal - intervals and sets that hold what they promise, whatever the model
 * (docs/method.md 10).
 *
 * Split-conformal: on examples that chose nothing else, how wrong the model is gets a score
 *
 *     a continuous outcome   |y - mean| / sd      of the mixture
 *     a class                1 - p(label)         of the ensemble
 *
 * and the quantile q of those scores at coverage c is the ceil((n + 1) c)-th smallest. The
 * interval mean +- q sd, or the set of classes with 1 - p <= q, then has the truth of a new
 * example with probability at least c, if that comes from where the examples came from.
 */
#ifndef SB_FIGURES_CONFORMAL_H
#define SB_FIGURES_CONFORMAL_H

#include "figures/metrics.h"
#include "figures/mixture.h"

/* score: [n], finite; its order is changed. coverage in (0, 1). Infinite where n is too
 * small for the coverage, (n + 1) c > n: then only all outcomes are enough. */
sb_status sb_conformal_quantile(double *score, size_t n, double coverage, double *out);

/* out: [m->n]; y: [n][targets]. */
sb_status sb_conformal_outcomes(const struct sb_mixture *m, const float *y, size_t target,
                                double *out);

/* out: [p->n]. */
sb_status sb_conformal_classes(const struct sb_probs *p, const int32_t *label,
                               double *out);

/* How intervals or sets of a quantile do on other examples. */
struct sb_conformal {
    double coverage; /* share that has the truth */
    double size;     /* mean width of an interval, or mean number of classes */
};

sb_status sb_conformal_intervals(const struct sb_mixture *m, const float *y,
                                 size_t target, double quantile,
                                 struct sb_conformal *out);
sb_status sb_conformal_sets(const struct sb_probs *p, const int32_t *label,
                            double quantile, struct sb_conformal *out);

#endif
