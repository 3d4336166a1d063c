/* ood - how well an ensemble's doubt tells strange examples from familiar ones.
 *
 * Out-of-distribution examples are the positive class, and scores are expected to be
 * larger on them. There are two scores of an example:
 *
 *     max probability   1 - max over classes of the members' mean probability
 *     member mean       mean over members of 1 - max over classes of its probability
 */
#ifndef SB_FIGURES_OOD_H
#define SB_FIGURES_OOD_H

#include "figures/metrics.h"

/* Either may be NULL; [p->n]. */
sb_status sb_ood_scores(const struct sb_probs *p, double *max_probability,
                        double *member_mean);

/* The scores of both sides. Every function below refuses an empty one (SB_EARG) and a
 * score that is not finite (SB_ENUMERIC). */
struct sb_ood_sides {
    const double *in, *out; /* [n_in], [n_out] */
    size_t n_in, n_out;
};

struct sb_ood {
    double auroc; /* P(score out > score in) + half the ties */
    double aupr;  /* average precision, examples of equal score taken together */
    double fpr95; /* least share of in-distribution examples called out-of-distribution by
                   * a threshold that finds at least 95 % of the others */
};

sb_status sb_ood_detect(const struct sb_ood_sides *s, struct sb_ood *out);

enum { SB_ROC_POINTS = 200 };

struct sb_roc_point {
    double fpr, tpr;
};

/* The ROC curve from (0, 0) to (1, 1), left out where it hardly moves: every point that
 * is there is exact. out: [SB_ROC_POINTS], *count of them are filled. */
sb_status sb_ood_roc(const struct sb_ood_sides *s, struct sb_roc_point *out,
                     size_t *count);

/* Counts in `bins` equal bins over [0, 1], the last one closed. in, out: [bins]. */
sb_status sb_ood_histogram(const struct sb_ood_sides *s, unsigned bins, size_t *in,
                           size_t *out);

#endif
