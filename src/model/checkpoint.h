/* checkpoint - all a training run needs to go on as if it had never stopped.
 *
 * A checkpoint is a safetensors file `checkpoint-<step>.safetensors` in the run's
 * directory:
 *
 *     net.<layer>.mu, .mu_momentum, .rho, .rho_momentum, .bias, .bias_momentum,
 *         .positions
 *     net.<norm>.weight, .bias, .weight_momentum, .bias_momentum, .running_mean,
 *         .running_var
 *     array.<name>          whatever else the trainer accumulates
 *     member<m>.*, best.*   finished members, and the phase's best so far, as in model.h
 *
 *     metadata: format "sebays-checkpoint", version, recipe, state.<name> (integers in
 *     decimal, doubles as the 16 hexadecimal digits of their bits), members, best
 *     (figures), checksum
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
#include "model/member.h"
#include "nn/net.h"

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
    struct sb_net *net;
    const struct sb_checkpoint_value *value; /* [values] */
    size_t values;
    const struct sb_checkpoint_array *array; /* [arrays] */
    size_t arrays;
    struct sb_member *member; /* [room] the first `members` are finished; the others are
                               * zeroed or initialised */
    uint32_t members, room;
    struct sb_member *best; /* NULL: nobody asks */
    bool has_best;          /* best holds something */
};

/* Writes directory/checkpoint-<step>.safetensors, then removes all others but the last
 * before it. `step` must grow from one save to the next of a run. */
sb_status sb_checkpoint_save(const struct sb_checkpoint *c, const char *directory,
                             uint64_t step);

/* Whether there is a checkpoint, intact or not. */
bool sb_checkpoint_exists(const char *directory);

/* Fills net (refreshed), values, arrays, member[0 .. members), members, best and has_best
 * from the newest intact checkpoint, and *step with its step. A corrupt one is passed
 * over with a warning to env->log. SB_EFORMAT when none is intact, SB_EIO when there is
 * none, SB_EARG when it belongs to another recipe: the sentence has the first line that
 * differs. After a failure what c points to must not be used except to be freed. */
sb_status sb_checkpoint_load(struct sb_checkpoint *c, const struct sb_env *env,
                             const char *directory, uint64_t *step);

#endif
