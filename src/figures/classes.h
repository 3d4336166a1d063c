/* classes - figures of single classes and means over them, of an ensemble's mean
 * probabilities (metrics.h).
 *
 *     recall      share of the class' examples that are called so
 *     precision   share of the examples called so that are
 *     f1          harmonic mean of the two; 0 where nothing is called right
 *     auc         P(an example of the class has a larger probability of it than one of the
 *                 others), ties half: one against the rest
 *     nll         - mean log p(label) of its examples
 *
 * A figure of nothing is NAN. Means are over the classes that have examples (balanced
 * accuracy: of recall), and of f1 also over those that something is called; auc over
 * those that have examples and are not all there is.
 */
#ifndef SB_FIGURES_CLASSES_H
#define SB_FIGURES_CLASSES_H

#include "figures/metrics.h"

struct sb_class_figures {
    size_t n;
    double recall, precision, f1, auc, nll;
};

struct sb_class_means {
    double balanced_accuracy, f1, auc;
    size_t most_frequent;    /* the class with most examples, the first of equals ... */
    double most_frequent_of; /* ... and its share: the accuracy of always saying it */
};

/* row: [p->classes]. */
sb_status sb_classes_of(const struct sb_probs *p, const int32_t *label,
                        struct sb_class_figures *row, struct sb_class_means *means);

/* out: [classes][classes]: how many examples of the first are called the second. */
sb_status sb_classes_confusion(const struct sb_probs *p, const int32_t *label,
                               size_t *out);

#endif
