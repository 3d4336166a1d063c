/* likelihood - what a network's outputs say about the truth, and the loss that follows.
 *
 *     categorical         an output a class: p = softmax(outputs)
 *     gauss-shared        an output a target: y ~ N(output, v), where log v is a parameter
 *                         of the network that belongs to no node, one a target
 *     gauss-per-example   two outputs a target, the T means first, then T log-variances,
 *                         which start at 0 and count as at most 12 away from it
 *
 * A likelihood is a row of the table in likelihood.c; who adds one adds a row there. The
 * loss of a head is the mean over rows of -log p(truth), with Gaussians the sum over targets of
 *
 *     0.5 (log 2 pi + log v + (y - f)^2 / v)
 *
 * A head's prediction is what people and figures use: the probabilities, or T means and then T
 * variances, in the units of the targets that it was trained on.
 */
#ifndef SB_NN_LIKELIHOOD_H
#define SB_NN_LIKELIHOOD_H

#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/act.h"
#include "kernels/shards.h"

#define SB_LOG_VARIANCE_MOST 12.0f /* either way */

enum sb_likelihood_kind {
    SB_LIKELIHOOD_CATEGORICAL,
    SB_LIKELIHOOD_GAUSS_SHARED,
    SB_LIKELIHOOD_GAUSS_PER_EXAMPLE,
    SB_LIKELIHOODS
};

/* What is right, for the rows of every head. */
struct sb_truth {
    const uint32_t *label; /* [heads][rows] of classes; NULL: of outcomes, it is ... */
    const float *target;   /* ... [heads][rows][targets] */
    const float *weight; /* [rows] what the loss of a row of every head counts; NULL: 1 */
};

/* One head of a network after a forward. */
struct sb_likelihood_head {
    const struct sb_act *outputs;
    const float *noise; /* [targets] log-variances that belong to no node; or NULL */
    struct sb_act *prediction; /* that receives it; not the same memory */
};

struct sb_likelihood {
    const char *name;
    uint32_t outputs;     /* of the network, for each class or target ... */
    uint32_t predictions; /* ... numbers of the prediction ... */
    uint32_t noise;       /* ... and parameters that belong to no node */
    void (*predict)(const struct sb_env *env, const struct sb_likelihood_head *head);
    /* The prediction, too. shards: of the batch; NULL: its rows are one. truth: of this head's
     * rows. d, if not NULL, receives the gradient with respect to the outputs, zero in the
     * padding lanes; dnoise [targets], if not NULL, is added to. */
    sb_status (*loss)(const struct sb_env *env, const struct sb_shards *shards,
                      const struct sb_likelihood_head *head, const struct sb_truth *truth,
                      double *loss, struct sb_act *d, float *dnoise);
};

const struct sb_likelihood *sb_likelihood_row(enum sb_likelihood_kind kind);

/* Classes or targets that a head with so many outputs predicts. */
uint32_t sb_likelihood_count(enum sb_likelihood_kind kind, uint32_t outputs);

/* Numbers of its prediction, and parameters that belong to no node. */
uint32_t sb_likelihood_predictions(enum sb_likelihood_kind kind, uint32_t outputs);
uint32_t sb_likelihood_noise(enum sb_likelihood_kind kind, uint32_t outputs);

#endif
