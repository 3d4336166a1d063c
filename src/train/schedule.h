/* schedule - what happens when, as functions of the configuration alone (METHOD 4).
 *
 * Training is one or more runs, one after the other. A run is an exploration phase and one
 * or more exploitation phases, each of which ends with a member:
 *
 *                 runs   exploitation phases a run
 *     one          1       1
 *     parallel     M       1
 *     sequential   1       M, a large prune-grow between two of them
 *
 *     phase 0: explore      phase 1: exploit       phase 2 ...
 *     lr                    lr_first | lr_second   lr_first | lr_second
 *                           ceil(half) the rest
 *
 * Phases count from 0 and epochs from 0 within a phase; steps count from 1 over a run, so
 * step t is the run's t-th batch. Nothing here has state: a resumed run asks the same
 * questions and gets the same answers.
 */
#ifndef SB_TRAIN_SCHEDULE_H
#define SB_TRAIN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "train/config.h"
#include "train/method.h"

struct sb_schedule {
    const struct sb_config *config; /* borrowed */
    const struct sb_method *method; /* borrowed */
    uint32_t runs;
    uint32_t phases;      /* of a run, the exploration included: 1 + members of a run */
    uint32_t run_epochs;  /* of one run */
    uint64_t epoch_steps; /* ceil(images / batch): the last, smaller batch counts */
    uint64_t run_steps;
    uint64_t total_epochs; /* of all runs */
    uint64_t total_steps;
};

/* images: the size of the training part, at least 1. */
struct sb_schedule sb_schedule_make(const struct sb_config *config,
                                    const struct sb_method *method, uint64_t images);

/* Epochs of a phase. Phase 0 may have none. */
uint32_t sb_schedule_epochs(const struct sb_schedule *s, uint32_t phase);

/* The run's epoch, from 0, at which a phase begins. */
uint32_t sb_schedule_first_epoch(const struct sb_schedule *s, uint32_t phase);

/* The phase an epoch of the run belongs to, epoch < run_epochs. */
uint32_t sb_schedule_phase_of(const struct sb_schedule *s, uint32_t run_epoch);

/* The member that a phase of a run works on, from 0; exploration works on the first. */
uint32_t sb_schedule_member(const struct sb_schedule *s, uint32_t run, uint32_t phase);

/* Learning rates of a batch in an epoch of a phase, of mu (and all point parameters) and of
 * rho. The halves of a phase are halves of its batches: a phase may have one epoch. */
double sb_schedule_lr(const struct sb_schedule *s, uint32_t phase, uint32_t epoch,
                      uint64_t batch);
double sb_schedule_lr_rho(const struct sb_schedule *s, uint32_t phase, uint32_t epoch,
                          uint64_t batch);

/* beta, the weight of KL / N: min(1, e / anneal), e = the run's epoch from 1. */
double sb_schedule_beta(const struct sb_schedule *s, uint32_t phase, uint32_t epoch);

/* Whether the support moves on this step, from 1. */
bool sb_schedule_is_update(const struct sb_schedule *s, uint64_t step);

/* Whether a large prune-grow follows the end of a phase: sequential, not after the last. */
bool sb_schedule_large_after(const struct sb_schedule *s, uint32_t phase);

/* p and p_L when `step` steps of the run are done; with cosine decay
 * rate / 2 * (1 + cos(pi step / run_steps)). */
double sb_schedule_rate(const struct sb_schedule *s, uint64_t step);
double sb_schedule_rate_large(const struct sb_schedule *s, uint64_t step);

#endif
