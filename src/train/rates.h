/* rates - what holds at a batch of a stage: learning rates, the weight of the KL term, and
 * when and how far the support moves. Functions of the schedule alone. */
#ifndef SB_TRAIN_RATES_H
#define SB_TRAIN_RATES_H

#include <stdbool.h>
#include <stdint.h>

#include "train/stage.h"

/* A batch: of an epoch of a stage, both from 0. */
struct sb_place {
    const struct sb_stage *stage;
    uint32_t epoch;
    uint64_t batch;
};

/* Learning rates of mu (and all point parameters) and of rho. */
double sb_rates_lr(const struct sb_schedule *s, const struct sb_place *at);
double sb_rates_lr_rho(const struct sb_schedule *s, const struct sb_place *at);

/* beta, the weight of KL / N: min(1, t / anneal), t = the run's epoch or step from 1. */
double sb_rates_beta(const struct sb_schedule *s, const struct sb_place *at);

/* Whether the support moves on this step of a run, from 1. */
bool sb_rates_is_update(const struct sb_schedule *s, uint64_t step);

/* p and p_L when `step` steps of the run are done; with cosine decay
 * rate / 2 * (1 + cos(pi step / run_steps)). */
double sb_rates_prune(const struct sb_schedule *s, uint64_t step);
double sb_rates_prune_large(const struct sb_schedule *s, uint64_t step);

#endif
