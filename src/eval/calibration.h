/* calibration - reliability diagrams and the table of classes, of an ensemble's mean
 * probabilities (metrics.h).
 *
 *     bins   top probability in K equal bins over (0, 1], right-closed, as ece's
 *     class  acc         share of its examples that are found
 *            precision   share of the examples called so that are
 *            confidence  mean top probability of its examples
 */
#ifndef SB_EVAL_CALIBRATION_H
#define SB_EVAL_CALIBRATION_H

#include "eval/metrics.h"

struct sb_bin {
    double low, high;            /* (low, high] */
    size_t count;                /* examples with their top probability there */
    double confidence, accuracy; /* their means; NAN: none */
};

/* out: [bins], bins in 1 .. SB_METRICS_BINS. */
sb_status sb_calibration_bins(const struct sb_probs *p, const int32_t *label,
                              unsigned bins, struct sb_bin *out);

struct sb_class_row {
    size_t n;
    double accuracy, precision, confidence; /* NAN: of nothing */
};

/* out: [p->classes]. */
sb_status sb_calibration_classes(const struct sb_probs *p, const int32_t *label,
                                 struct sb_class_row *out);

#endif
