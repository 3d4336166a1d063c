/* temperature - one number that makes probabilities as sure as they should be (Guo et al.
 * 2017): p_c becomes p_c^(1/T) / sum of them, so that no example changes its class.
 *
 * T is the one of least nll on examples that the model was not trained on. The nll is convex
 * in 1/T, so the place where its slope changes sign is the only one. A probability below the
 * least normal float counts as that.
 */
#ifndef SB_FIGURES_TEMPERATURE_H
#define SB_FIGURES_TEMPERATURE_H

#include "figures/metrics.h"

/* What is looked through: a set that is all right, or all wrong, has no least nll. */
#define SB_TEMPERATURE_LEAST 0.05
#define SB_TEMPERATURE_MOST  20.0

struct sb_temperature {
    double t;
    double before, after; /* nll of the examples it was fitted on, as it was and at t */
};

/* Of the ensemble's mean probabilities. */
sb_status sb_temperature_fit(const struct sb_probs *p, const int32_t *label,
                             struct sb_temperature *out);

/* prob: [n][classes] of one network or a mean; out may be prob. */
void sb_temperature_apply(const float *prob, size_t n, size_t classes, double t,
                          float *out);

#endif
