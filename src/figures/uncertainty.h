/* uncertainty - what an ensemble says about single examples, and how sure it is.
 *
 *     total      entropy of the members' mean probability, in nats
 *     aleatoric  mean of the members' entropies: what the data leave open
 *     epistemic  total - aleatoric, the mutual information: where members disagree;
 *                0 where rounding makes it negative
 *
 * Sums are double's, over members and classes in order, so an example's figures do not
 * depend on its neighbours.
 */
#ifndef SB_FIGURES_UNCERTAINTY_H
#define SB_FIGURES_UNCERTAINTY_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "figures/metrics.h"

/* Arrays of the caller, for all his examples; NULL: not wanted. */
struct sb_uncertainty {
    float *mean;                          /* [n][classes] */
    float *total, *aleatoric, *epistemic; /* [n] */
    uint32_t *votes;                      /* [n][classes]: members whose arg-max it is */
};

/* Fills examples at .. at + p->n - 1. SB_ENUMERIC for what is no probability. */
sb_status sb_uncertainty_of(const struct sb_probs *p, size_t at,
                            const struct sb_uncertainty *out);

#endif
