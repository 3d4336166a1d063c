/* metrics - how good a prediction is, with the definitions of docs/evaluation.md.
 *
 * An ensemble predicts the mean of its members' probabilities; every figure below that
 * says "ensemble" is of that mean, taken in double. Inputs are float, sums and results
 * double, summed in the order of the examples, so a figure never depends on the thread
 * count.
 *
 *     acc    share of examples whose label has the largest probability (first of equals)
 *     nll    - mean log p(label); infinite when some label has probability 0
 *     brier  mean over examples of sum_c (p_c - [c = label])^2
 *     ece    top probability in K equal bins over (0, 1], right-closed:
 *            sum over bins of |sum(correct - confidence)| / n
 *
 * Everything refuses an empty set (SB_EARG) and numbers that are no probabilities
 * (SB_ENUMERIC).
 */
#ifndef SB_FIGURES_METRICS_H
#define SB_FIGURES_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* What the members of an ensemble say about n examples; a single network has one. */
struct sb_probs {
    const float *const *member; /* [members] of [n][classes], borrowed */
    size_t members, n, classes;
};

/* What everything below does first. */
sb_status sb_metrics_check(const struct sb_probs *p);

enum { SB_METRICS_BINS = 100 };

/* Sums over any number of batches or data sets. */
struct sb_metrics {
    unsigned bins; /* of ece */
    size_t n, correct;
    double nll, brier;
    double gap[SB_METRICS_BINS]; /* sum of correct - confidence in a bin */
};

struct sb_scores {
    double accuracy, nll, ece, brier;
};

/* bins in 1 .. SB_METRICS_BINS. */
sb_status sb_metrics_init(struct sb_metrics *m, unsigned bins);

/* Adds examples; label: [n], each in [0, classes). After a failure m must not be used. */
sb_status sb_metrics_add(struct sb_metrics *m, const struct sb_probs *p,
                         const int32_t *label);
sb_status sb_metrics_scores(const struct sb_metrics *m, struct sb_scores *out);

/* The three above in one, for one data set. */
sb_status sb_metrics_of(const struct sb_probs *p, const int32_t *label, unsigned bins,
                        struct sb_scores *out);

/* The ensemble's probability. */
double sb_metrics_mean_of(const struct sb_probs *p, size_t example, size_t class);

/* mean: [n][classes] of the members' mean probabilities. */
sb_status sb_metrics_mean(const struct sb_probs *p, float *mean);

/* The class of largest mean probability (first of equals) of example i, and that
 * probability; the bin of a probability. For probabilities that were checked: by adding
 * them, say. */
size_t sb_metrics_top(const struct sb_probs *p, size_t i, double *probability);
unsigned sb_metrics_bin(double probability, unsigned bins);

/* Share of the examples on which the arg-max of members a and b differs; E[KL(P_a ||
 * P_b)] over the examples, infinite where b excludes what a allows. */
sb_status sb_metrics_disagreement(const struct sb_probs *p, size_t a, size_t b,
                                  double *out);
sb_status sb_metrics_kl(const struct sb_probs *p, size_t a, size_t b, double *out);

struct sb_diversity {
    double disagreement; /* mean over pairs of members */
    double kl;           /* mean over ordered pairs */
};

/* At least two members, else SB_EARG. */
sb_status sb_metrics_diversity(const struct sb_probs *p, struct sb_diversity *out);

#endif
