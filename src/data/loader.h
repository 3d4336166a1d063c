/* loader - an epoch's batches, the next one prepared while the current one computes.
 *
 *     sb_loader_new(&l, &options);
 *     for (epoch = ...) {
 *         sb_loader_start(l, member, epoch, 0);
 *         while ((st = sb_loader_next(l, &b)) == SB_OK && b.count > 0)
 *             ... use b until the next call ...
 *     }
 *     sb_loader_free(l);
 *
 * There are two slots. A helper thread fills one while the caller uses the other:
 *
 *     caller     start | use 0     | use 1     | use 2 ...
 *     helper     fill 0  fill 1    | fill 2    | fill 3 ...
 *
 * The order is a permutation by (seed, member, epoch), the last batch is what is left, and
 * augmentation goes by example and epoch: a run that starts again at any (epoch, batch)
 * sees the same bits, with or without the helper and on any number of threads.
 *
 * Everything is allocated by sb_loader_new. If the system gives no thread, batches are
 * filled when they are asked for, on the caller's threads. The helper blocks all signals;
 * a batch that it cannot fill (a streamed image that does not decode) ends the epoch when
 * the caller comes to it. A loader may be started anew or freed at any moment.
 */
#ifndef SB_DATA_LOADER_H
#define SB_DATA_LOADER_H

#include "data/batch.h"
#include "data/targets.h"

struct sb_loader; /* used by one thread at a time */

struct sb_loader_options {
    const struct sb_dataset *data;       /* borrowed, as all pointers here */
    const struct sb_normalise *normal;   /* data's element and channels */
    const struct sb_target_scale *scale; /* of data's targets; NULL: it has labels */
    const uint32_t *index;               /* [n] the examples of this split */
    uint32_t n;
    uint32_t batch; /* images; the last one of an epoch may have fewer */
    /* Of every batch only images [share, share + shares) are prepared: other processes have
     * the others. shares 0: all. */
    uint32_t share, shares;
    struct sb_augment augment;
    bool shuffle;    /* false: in the order of index, as for validation */
    bool background; /* use a helper thread */
    uint64_t seed;
    const struct sb_env *env;
};

struct sb_batch {
    const struct sb_act *x; /* images that were prepared: of all, or of this process */
    const uint32_t *labels; /* [x->batch]; NULL: outcomes */
    const float *targets;   /* [x->batch][targets] standardised; NULL: classes */
    const uint32_t *index;  /* [x->batch] which examples of the data set */
    uint32_t count;         /* images of the batch */
    uint32_t number;        /* within the epoch, from 0 */
};

/* *out is NULL after a failure. */
sb_status sb_loader_new(struct sb_loader **out, const struct sb_loader_options *o);

/* Accepts NULL; gives up what the helper is at. */
void sb_loader_free(struct sb_loader *l);

/* Whether a helper thread prepares batches. */
bool sb_loader_in_background(const struct sb_loader *l);

/* Begins an epoch at batch `first`, whatever was going on before. member <
 * SB_RNG_MEMBERS. With first >= the epoch's batches, it is over at once. */
void sb_loader_start(struct sb_loader *l, uint32_t member, uint32_t epoch,
                     uint32_t first);

/* The next batch, valid until the next call of a sb_loader function; b->count is 0 after
 * the last one, before the first start, and after a failure, which stays until the next
 * start. */
sb_status sb_loader_next(struct sb_loader *l, struct sb_batch *b);

#endif
