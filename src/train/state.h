/* state - what a run has open and where it stands. Internal to train/. */
#ifndef SB_TRAIN_STATE_H
#define SB_TRAIN_STATE_H

#include "data/loader.h"
#include "model/checkpoint.h"
#include "model/member.h"
#include "nn/net.h"
#include "train/results.h"
#include "train/schedule.h"
#include "train/source.h"
#include "train/step.h"
#include "train/trainer.h"

/* Where a run stands between two batches: all a checkpoint needs besides the numbers. */
struct sb_position {
    uint64_t run, phase, epoch, batch; /* the next batch to do */
    uint64_t step;                     /* batches of this run done */
    uint64_t saves;                    /* checkpoints written, their number */
    uint64_t metrics_bytes;    /* of metrics.jsonl that belong to this state, ... */
    uint64_t updates_bytes;    /* ... of updates.jsonl ... */
    uint64_t trajectory_bytes; /* ... and of trajectory.npy */
    uint64_t images;           /* trained on, over all runs */
    double loss_sum;           /* of this epoch's batches */
    double seconds;            /* spent in training and validation */
};

struct sb_trainer {
    const struct sb_env *env;
    const struct sb_config *config;
    const struct sb_method *method;
    const struct sb_run_options *options;
    struct sb_schedule schedule;
    struct sb_source source;
    struct sb_loader *loader; /* owned */
    struct sb_net net;
    struct sb_growth growth;
    struct sb_member *member; /* [config->method.members] owned */
    uint32_t members;         /* finished */
    struct sb_member best;    /* of the phase so far */
    bool has_best;
    struct sb_position at;
    double began, saved; /* clock: start of this process' part, last checkpoint */
};

/* Opens the data and plans the network. Close always. */
sb_status sb_trainer_open(struct sb_trainer *t, const struct sb_env *env,
                          const struct sb_config *c, const struct sb_method *m,
                          const struct sb_run_options *o);
void sb_trainer_close(struct sb_trainer *t);

/* Algorithm 1, from t->at to the end. */
sb_status sb_trainer_run(struct sb_trainer *t);

/* Figures of the network's posterior mean on the validation part; accuracy NAN when
 * nothing is held out. */
sb_status sb_trainer_validate(struct sb_trainer *t, struct sb_scores *out);

/* Members and ensemble on the test set. */
sb_status sb_trainer_test(struct sb_trainer *t, struct sb_run_result *out);

/* Files of the run directory. */
sb_status sb_trainer_begin_files(struct sb_trainer *t); /* or resumes: fills t->at */
sb_status sb_trainer_save(struct sb_trainer *t);        /* a checkpoint */

/* What is written while the run goes on; resuming cuts it to the checkpoint's length. */
sb_status sb_trainer_cut_records(const struct sb_trainer *t);
sb_status sb_trainer_log_validation(struct sb_trainer *t, const struct sb_scores *v,
                                    double loss);
sb_status sb_trainer_log_update(struct sb_trainer *t, double rate);
sb_status sb_trainer_log_trajectory(struct sb_trainer *t);
sb_status sb_trainer_write_model(struct sb_trainer *t);
sb_status sb_trainer_write_results(struct sb_trainer *t, const struct sb_run_result *r);

double sb_trainer_clock(void);

#endif
