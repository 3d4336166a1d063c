/* stage - a training as a list of stages (method.md 4, 5).
 *
 * A stage is some epochs with one support and one curve of the learning rate. It says how it
 * begins and what it leaves; the trainer walks the list (sb_trainer_run). A run is what one
 * start of the network leads to: it has a number, which together with its steps is what data
 * order and noise follow from. Stages of a run are neighbours, and all runs are equally
 * long.
 *
 *     one, parallel     [explore exploit*] a run, a run a member
 *     sequential        explore exploit* exploit* ...      Algorithm 1; before each but the
 *                                                          first exploit a large update
 *     ... of dense ones cycle* cycle* ...                  snapshot
 *     fine-tune         [dense fine-tune*] a run, a run a member       pf
 *     rewind            [dense] [retrain*] [retrain*] ...              ltr
 *
 * The starred ones leave a member. Epochs count from 0 within a stage; steps count from 1
 * over a run. Nothing here has state: a resumed training makes the same list.
 */
#ifndef SB_TRAIN_STAGE_H
#define SB_TRAIN_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "recipe/config.h"
#include "recipe/method.h"

enum sb_stage_begin {
    SB_STAGE_FRESH,        /* a run begins: new weights on a support of their own */
    SB_STAGE_GO_ON,        /* with what the stage before left */
    SB_STAGE_LARGE_UPDATE, /* the same, and its first batch moves the support by p_L */
    SB_STAGE_GLOBAL_PRUNE, /* one cut by magnitude through all layers; momenta are 0 */
    SB_STAGE_REWIND        /* a run begins: the kept weights; momenta are 0 */
};

enum sb_stage_leaves {
    SB_STAGE_NOTHING,
    SB_STAGE_MEMBER, /* its best epoch, of those that may be chosen */
    SB_STAGE_KEPT /* for others to rewind to: its weights after keep_epoch epochs, on the
                   * support that one cut through its last weights leaves */
};

/* Which weights exist. */
enum sb_stage_support {
    SB_STAGE_DENSE,  /* all */
    SB_STAGE_SHARED, /* as many a layer as the recipe's allocation shares out */
    SB_STAGE_PRUNED, /* what one cut through all layers left */
    SB_STAGE_SUPPORTS
};

/* Learning rate of mu and the point parameters: `lr` for `hold` epochs of exploration, then
 * `first` and `second`, half of the remaining batches each or, along a cosine, from the one
 * to the other. */
struct sb_stage_rates {
    uint32_t hold;
    double lr, first, second;
    bool cosine;
    bool milestones; /* the recipe's, if it has any, instead of all that */
};

struct sb_stage {
    const char *name;     /* explore, exploit, cycle, dense, fine-tune, retrain */
    uint32_t run;         /* its number, from 0 */
    uint32_t member;      /* that it leaves or helps to make, from 0 */
    uint32_t epochs;      /* at least 1 */
    uint32_t first_epoch; /* of its run */
    enum sb_stage_begin begin;
    enum sb_stage_leaves leaves;
    enum sb_stage_support support;
    uint32_t keep_epoch;  /* where it leaves KEPT: from 1 to epochs */
    uint32_t choose_from; /* where it leaves MEMBER: the first epoch that may be one */
    struct sb_stage_rates rates;
};

struct sb_schedule {
    const struct sb_config *config; /* borrowed */
    const struct sb_method *method; /* borrowed */
    struct sb_stage *stage;         /* [stages] owned */
    uint32_t stages;
    uint32_t run_epochs;  /* of one run */
    uint64_t run_steps;   /* of one run */
    uint64_t epoch_steps; /* ceil(images / batch): the last, smaller batch counts */
    uint64_t total_epochs, total_steps;
    /* exploration and one exploitation: the epochs of the one dense network that costs
     * are a multiple of; milestones are shares of as many */
    uint32_t dense_epochs;
    uint32_t trainings; /* how often a curve of the learning rate is begun anew: what the
                         * paper counts as training runs */
};

/* images: the size of the training part, at least 1. The caller calls sb_schedule_fini, also
 * after a failure. */
sb_status sb_schedule_init(struct sb_schedule *s, const struct sb_config *config,
                           const struct sb_method *method, uint64_t images);
void sb_schedule_fini(struct sb_schedule *s);

/* Leaves only what one member needs, where members are trained apart: its own stages, and the
 * dense stage that others share if `dense`. Runs and epochs keep their numbers, so that it
 * becomes the member that it would have been. */
void sb_schedule_only(struct sb_schedule *s, uint32_t member, bool dense);

/* The stage that an epoch of all, from 0 to total_epochs - 1, belongs to; *epoch within it. */
const struct sb_stage *sb_schedule_at(const struct sb_schedule *s, uint64_t of_all,
                                      uint32_t *epoch);

#endif
