/* outcomes - what an ensemble says about continuous targets, in the units of the data.
 *
 * A network predicts of an example T means and then T variances of standardised targets
 * (nn/likelihood.h). Here they become those of the targets themselves, apart from each other
 * as figures take them, and what the mixture of the members (figures/mixture.h) says.
 */
#ifndef SB_PREDICT_OUTCOMES_H
#define SB_PREDICT_OUTCOMES_H

#include "base/status.h"
#include "figures/mixture.h"
#include "model/model.h"

/* A member's predictions of n examples, [n][2 T], become means [n][T] and behind them
 * variances [n][T]. scratch: as many numbers. */
void sb_outcomes_units(const struct sb_model_info *i, float *prediction, size_t n,
                       float *scratch);

/* Their mixture, with the model's width: pointer [2 * members] is filled, and what *out borrows. */
void sb_outcomes_mixture(const struct sb_model_info *i, const float *const *prediction,
                         size_t members, size_t n, const float **pointer,
                         struct sb_mixture *out);

/* What is wanted of n examples; what is NULL is not. Deviations are square roots of
 * mixture.h's variances, so that all have the units of the target: sd^2 = aleatoric^2 +
 * epistemic^2. */
struct sb_outcomes {
    float *mean, *sd, *aleatoric, *epistemic; /* [n][targets] */
    float *quantile;                          /* [n][targets][levels] */
    const double *level;                      /* [levels] each in (0, 1) */
    uint32_t levels;
    float *member_mean, *member_var; /* [members][n][targets] */
};

/* The m->n examples from number `at` of all on. */
sb_status sb_outcomes_of(const struct sb_mixture *m, size_t at,
                         const struct sb_outcomes *out);

#endif
