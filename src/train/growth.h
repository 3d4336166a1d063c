/* growth - the sums of growth gradients as a checkpoint keeps them.
 *
 * Where growth averages over several batches, a run may stop while they are being collected:
 * then the sums are part of its state, one array a sparse layer, "growth.<layer>". Between
 * two collections there are none, and none are kept.
 */
#ifndef SB_TRAIN_GROWTH_H
#define SB_TRAIN_GROWTH_H

#include "model/checkpoint.h"
#include "train/step.h"

struct sb_growth_arrays {
    struct sb_checkpoint_array *array; /* [count] owned */
    size_t count;
    char *names; /* owned: what array[i].name points to */
    bool there;  /* what a checkpoint's has_arrays points to */
};

/* What there is to save. The caller calls sb_growth_arrays_fini, also after a failure; it
 * borrows g's sums. */
sb_status sb_growth_to_save(struct sb_growth_arrays *a, const struct sb_growth *g);

/* Room to load into, where `batches` are averaged: g has sums afterwards. */
sb_status sb_growth_to_load(struct sb_growth_arrays *a, struct sb_growth *g,
                            const struct sb_net *n, uint32_t batches);

/* After loading: without sums in the checkpoint g has none. */
void sb_growth_loaded(const struct sb_growth_arrays *a, struct sb_growth *g);

void sb_growth_arrays_fini(struct sb_growth_arrays *a);

#endif
