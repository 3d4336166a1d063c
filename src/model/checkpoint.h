/* checkpoint - all a training run needs to go on as if it had never stopped.
 *
 * A checkpoint is a safetensors file `checkpoint-<step>.safetensors` in the run's
 * directory:
 *
 *     net.<layer>.<part>, .<part>_momentum   the network's records (nn/param.h)
 *     net.<layer>.positions                  of a sparse layer
 *     array.<name>          whatever else the trainer accumulates
 *     trained<m>.*, best.*, kept.*   finished networks, the stage's best so far, and what
 *                           later stages rewind to, as in model.h
 *
 *     metadata: format "sebays-checkpoint", version, recipe, active (a list: how many
 *     weights of each layer exist), state.<name> (integers in decimal, doubles as the 16
 *     hexadecimal digits of their bits), trained, best, kept (figures), data (its
 *     identity), checksum
 *
 * How many weights there are may change on the way: `active` is looked at before anything
 * is sized by it, and a network of another size is planned anew.
 *
 * The checksum is FNV-1a, 64 bits, of the header without it and all data. Each of its
 * steps is a bijection of the state, so a change within one byte never goes unnoticed,
 * and any other with probability 2^-64.
 *
 * Files are written in one step (base/file.h), and older ones removed only afterwards: at
 * every moment, kill or power cut included, the last complete checkpoint is there. A full
 * disk makes saving fail and leaves the old ones. The last two are kept; loading takes
 * the newest that is intact.
 *
 * Randomness needs no state here: it is a function of the step (base/rng.h).
 */
#ifndef SB_MODEL_CHECKPOINT_H
#define SB_MODEL_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "nn/net.h"
#include "nn/trained.h"

/* A number of the trainer's; one table serves saving and loading. Exactly one of the
 * pointers is set, borrowed. */
struct sb_checkpoint_value {
    const char *name;
    uint64_t *integer;
    double *real; /* any bits, NaN too */
};

struct sb_checkpoint_array {
    const char *name;
    float *data; /* [count] borrowed */
    size_t count;
};

/* Everything is borrowed. */
struct sb_checkpoint {
    const char *recipe; /* text; only what changes results belongs there */
    const char *data; /* what the data is (data/identity.h), as text; NULL: nobody asks */
    bool force;       /* loading: go on with other data where that can be */
    struct sb_net *net;
    const struct sb_checkpoint_value *value; /* [values] */
    size_t values;
    const struct sb_checkpoint_array *array; /* [arrays] */
    size_t arrays;
    /* NULL: they are always there; else whether they are, all of them or none; loading
     * tells */
    bool *has_arrays;
    struct sb_trained *trained; /* [capacity] the first trained_count are finished; the
                                 * others are zeroed or initialised */
    uint32_t trained_count, capacity;
    struct sb_trained *best; /* NULL: nobody asks */
    bool has_best;           /* best holds something */
    struct sb_trained *kept; /* likewise */
    bool has_kept;
    /* Loading: makes *net one with so many weights a layer, [net->arch.weights], where it
     * has other numbers. NULL: it must have these. */
    sb_status (*plan)(void *context, const uint32_t *active);
    void *context;
};

/* Writes directory/checkpoint-<step>.safetensors, then removes all others but the last
 * before it. `step` must grow from one save to the next of a run. */
sb_status sb_checkpoint_save(const struct sb_checkpoint *c, const char *directory,
                             uint64_t step);

/* The contents of one file. Reading: SB_EFORMAT when it is not intact or not of this network,
 * SB_EARG when it is of another recipe; the net is not refreshed. */
sb_status sb_checkpoint_write(const struct sb_checkpoint *c, const char *path);
sb_status sb_checkpoint_read(struct sb_checkpoint *c, const char *path);

/* Whether there is a checkpoint, intact or not. */
bool sb_checkpoint_exists(const char *directory);

/* Fills net (refreshed), values, arrays, trained[0 .. trained_count), trained_count,
 * best, kept and what says that they are there from the newest intact checkpoint, and
 * *step with its step. A corrupt one is passed over with a warning to env->log.
 * SB_EFORMAT when none is intact, SB_EIO when there is none, SB_EARG when it belongs to
 * another recipe or other data: the sentence has the first line that differs. After a
 * failure what c points to must not be used except to be freed. */
sb_status sb_checkpoint_load(struct sb_checkpoint *c, const struct sb_env *env,
                             const char *directory, uint64_t *step);

/* Whether two recipes say the same: SB_EARG, with the section and the first line that
 * differs, unless they do. Recipes are INI texts as the option table writes them: every key,
 * in a fixed order; blank lines, comments and space at either end of a line do not count.
 * path is the file that `then` comes from. */
sb_status sb_recipe_diff(const char *path, const char *then, const char *now);

/* Whether the first line that differs says how data is read: it is in [data], and not one
 * that follows from the rows unless it is given. */
bool sb_recipe_reads_otherwise(const char *then, const char *now);

#endif
