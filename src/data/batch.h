/* batch - chosen examples as normalised activations, a lane each.
 *
 * Bytes become floats, and streamed images are decoded, here and nowhere else. Blocks are
 * independent, so they are spread over threads; a lane's bytes are read along their row
 * and written a block of images apart, into a row of output that stays in the first-level
 * cache until all lanes are full.
 */
#ifndef SB_DATA_BATCH_H
#define SB_DATA_BATCH_H

#include "base/env.h"
#include "data/augment.h"
#include "data/dataset.h"
#include "data/normalise.h"
#include "kernels/act.h"

struct sb_batch_source {
    const struct sb_dataset *data;     /* borrowed */
    const struct sb_normalise *normal; /* borrowed; data's element and channels */
    struct sb_augment augment;         /* zeroed: examples as they are */
    uint64_t seed;                     /* of the augmentation ... */
    uint32_t member, step;             /* ... see augment.h */
};

/* x = the examples index[count], labels = theirs (may be NULL; 0 if data has none);
 * padding lanes are 0. x has data's shape (of a table with columns: its features) and
 * memory for count >= 1 examples: the caller's promise. threads is env's, but 1 on a
 * thread that is not the program's main one costs less. Only streamed data can fail, and
 * only they need memory. */
sb_status sb_batch_fill(const struct sb_batch_source *s, int threads,
                        const uint32_t *index, uint32_t count, struct sb_act *x,
                        uint32_t *labels);

#endif
