/* prune - one cut through all layers together, by magnitude (method.md 5.3: pf,
 * ltr).
 *
 * Of all weights floor(S * total) go, those of least |w|; of equal ones the one that comes
 * first, layers in order, goes first. A layer that would lose all keeps its largest weight,
 * the first of equal ones, in addition: a network must stay connected.
 *
 * Works on plain arrays and copies none of them: the cut is found digit by digit over the
 * bits of |w|, which order like the numbers, in four readings of all weights. What comes out
 * is a cut a layer; sb_prune_list turns it into the indices that stay.
 */
#ifndef SB_TENSOR_PRUNE_H
#define SB_TENSOR_PRUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Borrowed: the weights of a layer. */
struct sb_prune_layer {
    const float *value; /* [count] */
    uint32_t count;     /* at least 1 */
};

/* What stays of a layer. */
struct sb_prune_cut {
    uint32_t key;    /* of |w|: smaller ones go ... */
    uint32_t ties;   /* ... and the first so many of those equal to it */
    uint32_t active; /* weights that stay, at least 1 */
    bool emptied;    /* all would go: the largest one stays */
};

/* cut: [layers]. sparsity in [0, 1). SB_EARG for another one or no layers; SB_ENUMERIC when
 * a weight is not finite. Allocates nothing. */
sb_status sb_prune_global(const struct sb_prune_layer *layer, size_t layers,
                          double sparsity, struct sb_prune_cut *cut);

/* index: [cut->active], increasing: the weights of the layer that stay. */
void sb_prune_list(const struct sb_prune_layer *layer, const struct sb_prune_cut *cut,
                   uint32_t *index);

#endif
