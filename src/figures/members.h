/* members - how members differ, and what each further one brings (method.md 6). */
#ifndef SB_FIGURES_MEMBERS_H
#define SB_FIGURES_MEMBERS_H

#include "figures/metrics.h"

enum { SB_SUBSETS = 100 }; /* of one size, at most */

/* Both [members][members]: the share of examples on which two members' arg-max differ, and
 * E[KL(P_row || P_column)]; the diagonals are 0. */
sb_status sb_members_matrices(const struct sb_probs *p, double *disagreement, double *kl);

struct sb_spread {
    double mean, sd; /* sd of the population; 0 for one subset */
};

struct sb_size_row {
    uint32_t k, subsets;
    struct sb_spread accuracy, nll, ece;
};

/* Ensembles of k = 1 .. members: figures over all subsets of k members or, where there are
 * more than SB_SUBSETS, over so many random ones that depend on seed and k alone. out:
 * [members]. */
sb_status sb_members_sizes(const struct sb_probs *p, const int32_t *label, unsigned bins,
                           uint64_t seed, struct sb_size_row *out);

#endif
