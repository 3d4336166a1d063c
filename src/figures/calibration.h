/* calibration - reliability diagrams and the table of classes, of an ensemble's mean
 * probabilities (metrics.h).
 *
 *     bins   top probability in K equal bins over (0, 1], right-closed, as ece's
 *     adaptive ece   the same sum over K bins of as many examples each, sorted by top
 *            probability (equal ones in their order)
 *     class  acc         share of its examples that are found
 *            precision   share of the examples called so that are
 *            confidence  mean top probability of its examples
 */
#ifndef SB_FIGURES_CALIBRATION_H
#define SB_FIGURES_CALIBRATION_H

#include "figures/metrics.h"

struct sb_bin {
    double low, high;            /* (low, high] */
    size_t count;                /* examples with their top probability there */
    double confidence, accuracy; /* their means; NAN: none */
};

/* out: [bins], bins in 1 .. SB_METRICS_BINS. */
sb_status sb_calibration_bins(const struct sb_probs *p, const int32_t *label,
                              unsigned bins, struct sb_bin *out);

/* bins in 1 .. SB_METRICS_BINS; of fewer examples, each is a bin. */
sb_status sb_calibration_adaptive(const struct sb_probs *p, const int32_t *label,
                                  unsigned bins, double *ece);

struct sb_class_row {
    size_t n;
    double accuracy, precision, confidence; /* NAN: of nothing */
};

/* out: [p->classes]. */
sb_status sb_calibration_classes(const struct sb_probs *p, const int32_t *label,
                                 struct sb_class_row *out);

#endif
