/* state - what a run has open and where it stands. Internal to train/. */
#ifndef SB_TRAIN_STATE_H
#define SB_TRAIN_STATE_H

#include "base/lock.h"
#include "data/loader.h"
#include "files/npy_write.h"
#include "forms/feeder.h"
#include "forms/form.h"
#include "model/checkpoint.h"
#include "model/model.h"
#include "model/run_files.h"
#include "nn/net.h"
#include "predict/sampling.h"
#include "train/rates.h"
#include "train/results.h"
#include "train/source.h"
#include "train/stage.h"
#include "train/step.h"
#include "train/trainer.h"

/* Where a run stands between two batches: all a checkpoint needs besides the numbers. */
struct sb_position {
    uint64_t stage, epoch, batch; /* the next batch to do */
    uint64_t step;                /* batches of the stage's run done */
    uint64_t saves;               /* checkpoints written, their number */
    uint64_t task;                /* 0: all members; k + 1: member k alone */
    uint64_t metrics_bytes;       /* of metrics.jsonl that belong to this state, ... */
    uint64_t updates_bytes;       /* ... of updates.jsonl ... */
    uint64_t trajectory_bytes;    /* ... and of trajectory.npy */
    uint64_t images;              /* trained on, over all runs */
    uint64_t halvings;            /* of this run's learning rates, see divergence.c */
    uint64_t skipped;             /* epochs that patience left out, see patience.c ... */
    uint64_t waited;              /* ... validations since the best of this phase ... */
    double waited_for;            /* ... and its figure; NAN: none yet */
    double flops;                 /* of training, over all stages */
    double loss_sum;              /* of this epoch's batches */
    double seconds;               /* spent in training and validation */
};

/* What the run took that this one began with. */
struct sb_width_cost {
    double flops, seconds;
    uint64_t images;
};

struct sb_trainer {
    const struct sb_env *env;
    struct sb_recipe recipe;        /* fitted to the data */
    const struct sb_config *config; /* the recipe's, like method: t must not move */
    const struct sb_method *method;
    const struct sb_run_options *options;
    char *chosen;    /* owned: what fitting it chose, for people */
    char *canonical; /* owned: the recipe as far as it changes results */
    struct sb_schedule schedule;
    struct sb_source source;
    struct sb_loader *loader; /* owned */
    struct sb_net net;
    struct sb_growth growth;
    struct sb_form_spec form;
    struct sb_feeder feeder;
    struct sb_trained *trained; /* [networks] owned: finished networks ... */
    uint32_t trained_count;     /* ... so many */
    struct sb_trained best;     /* of the stage so far */
    bool has_best;
    struct sb_trained kept; /* what later stages rewind to */
    bool has_kept;
    float *row_weight;     /* [batch] owned: of the batch at hand; NULL: none */
    struct sb_trained now; /* memory to judge the network as it is */
    struct sb_position at;
    float *score; /* [targets, or 1][calibrations] owned: of the finished ensemble on its
                   * calibration part; NULL: not yet, or none */
    float *width; /* [targets] owned: of the mixture; NULL: not yet, or none ... */
    struct sb_width_cost before; /* ... and what finding it took */
    struct sb_far far;   /* where its training rows are to the finished ensemble ... */
    float *far_number;   /* owned: ... and the numbers of it; NULL: not yet */
    json_t *identity;    /* owned: what the data is (data/identity.h) ... */
    char *data;          /* owned: ... as text */
    struct sb_lock lock; /* on the run directory */
    double began, saved; /* clock: start of this process' part, last checkpoint */
};

/* sb_run_train by processes that all train the same (trainer.c). */
sb_status sb_trainer_train(const struct sb_env *env, const struct sb_recipe *recipe,
                           const struct sb_run_options *o, struct sb_run_result *out);

/* The same of one that is open; and what follows its last stage: width, scores, model,
 * figures on the test set. */
sb_status sb_trainer_train_open(struct sb_trainer *t, struct sb_run_result *out);
sb_status sb_trainer_conclude(struct sb_trainer *t, struct sb_run_result *out);

/* The width of the mixture (width.c): whether it can be fitted; the stages of a run that comes
 * before to find it, and about its rows, none if there is no such run; that run; its cost,
 * after the stages; and the width itself, if it is not known by then: models made afterwards
 * have it. The caller calls sb_schedule_fini. */
sb_status sb_trainer_check_width(const struct sb_trainer *t);
sb_status sb_trainer_width_schedule(const struct sb_trainer *t, struct sb_schedule *s,
                                    uint32_t *rows);
sb_status sb_trainer_find_width(struct sb_trainer *t);
void sb_trainer_add_width_cost(struct sb_trainer *t);
sb_status sb_trainer_fit_width(struct sb_trainer *t);

/* Says what of the recipe changes nothing, once the network is planned (fit.c). */
void sb_trainer_warn(const struct sb_trainer *t);

/* Opens the data and fits the resolved recipe to it. Close always. */
sb_status sb_trainer_open_data(struct sb_trainer *t, const struct sb_env *env,
                               const struct sb_recipe *recipe,
                               const struct sb_run_options *o);

/* And plans the network. Close always. */
sb_status sb_trainer_open(struct sb_trainer *t, const struct sb_env *env,
                          const struct sb_recipe *recipe, const struct sb_run_options *o);
void sb_trainer_close(struct sb_trainer *t);

/* Fits a resolved recipe to the data and settles its paths; *chosen, which the caller owns,
 * says what that chose. */
sb_status sb_trainer_fit(struct sb_recipe *r, const struct sb_env *env,
                         const struct sb_facts *facts, char **chosen);

/* The stages, from t->at to the end. */
sb_status sb_trainer_run(struct sb_trainer *t);

/* A model of these networks, whose numbers it uses where they are. The caller calls
 * sb_model_fini, also after a failure. */
sb_status sb_trainer_model(const struct sb_trainer *t, const struct sb_trained *network,
                           uint32_t networks, struct sb_model *out);

/* Whether one member can be trained alone, if that is asked for; and then only its stages are
 * left (task.c). */
sb_status sb_trainer_only(struct sb_trainer *t);

/* How many groups so many processes make for members that are trained apart (apart.c), whose
 * batches have so many shards, which a group has at least as many of as processes: the number
 * that ends first, if work follows shards; of two, the larger, whose groups exchange less. 1 if
 * none can be. */
uint32_t sb_apart_groups(uint32_t members, uint32_t ranks, uint32_t shards);

/* Networks that a run trains: members, or one whose form stands for them. */
uint32_t sb_trainer_networks(const struct sb_trainer *t);

/* The mean probability of the network's members, posterior means, on the first n test
 * images: out [n][classes]. */
sb_status sb_trainer_predict_test(struct sb_trainer *t, uint32_t n, float *out);

/* Whether all stages are done; and the one at hand, if not. */
bool sb_trainer_done(const struct sb_trainer *t);
const struct sb_stage *sb_trainer_stage(const struct sb_trainer *t);

/* Arithmetic of training on so many rows: 2 x multiply-adds of a forward, for the mean only,
 * times 3 for forward and both products of backward. */
double sb_trainer_flops(const struct sb_net *n, double rows);

/* The same of the one dense run that costs are a multiple of: the plain architecture over
 * the epochs of a first member. */
sb_status sb_trainer_dense_run(const struct sb_trainer *t, double *flops);

/* How one network stands for several members (network.c). */
struct sb_form_spec sb_trainer_form(const struct sb_config *c, const struct sb_method *m);

/* Rows a convolution's weights are drawn for; 0: the estimator is local. */
uint32_t sb_trainer_group(const struct sb_config *c);

/* The network of a stage (network.c). Plans it for so many weights a layer, [weights]; what
 * it was before, and the best so far, are gone. */
sb_status sb_trainer_plan(struct sb_trainer *t, const uint32_t *active);

/* Plans it as a fresh one of that support is, unless it is so already. */
sb_status sb_trainer_plan_fresh(struct sb_trainer *t, enum sb_stage_support support);

/* Multiply-adds of a row in a fresh network of that support, which is not planned for it. */
sb_status sb_trainer_fresh_macs(const struct sb_trainer *t, enum sb_stage_support support,
                                double *macs);

/* What the stage begins with; for its very first batch only. */
sb_status sb_trainer_enter(struct sb_trainer *t, const struct sb_stage *g);

/* One cut by magnitude through the network as it is; momenta become 0. */
sb_status sb_trainer_prune(struct sb_trainer *t);

/* t->kept = the network as it is; and what of it the cut through the network leaves. */
sb_status sb_trainer_keep(struct sb_trainer *t);
sb_status sb_trainer_mask_kept(struct sb_trainer *t);

/* Figures of the network's members, posterior means, on the validation part; NAN when nothing
 * is held out. */
sb_status sb_trainer_validate(struct sb_trainer *t, struct sb_figures *out);

/* Scores of the calibration part, if there is one: models made afterwards have them. */
sb_status sb_trainer_calibrate(struct sb_trainer *t);

/* Where training rows are to the finished ensemble (far.c): models made afterwards know it. */
sb_status sb_trainer_locate(struct sb_trainer *t);

/* Members and ensemble on the test set. */
sb_status sb_trainer_test(struct sb_trainer *t, struct sb_run_result *out);

/* Fills identity and data; identity.c has these. sb_trainer_data is what of it
 * results and the model keep beside class names and columns, a new object. */
sb_status sb_trainer_identify(struct sb_trainer *t);
sb_status sb_trainer_data(const struct sb_trainer *t, json_t **out);

/* Takes the run directory for this process, or says why not: whose it is, or what is there.
 * *go_on: from its checkpoints; else from the start. */
sb_status sb_trainer_enter_directory(struct sb_trainer *t, bool *go_on);

/* Files of the run directory. */
sb_status sb_trainer_begin_files(struct sb_trainer *t); /* or resumes: fills t->at */
sb_status sb_trainer_save(struct sb_trainer *t);        /* a checkpoint */

/* The same as a file of its own, and back to it; all but the clock and the number of
 * checkpoints is as it was then. */
sb_status sb_trainer_write_epoch(struct sb_trainer *t, const char *path);
sb_status sb_trainer_go_back(struct sb_trainer *t, const char *path);

/* The figure that an epoch is chosen by, and patience looks at (nn/figures.h). */
uint32_t sb_trainer_chooser(const struct sb_trainer *t);

/* Patience: after a validation, whose figures are v, and before t->at moves to the next
 * epoch. */
void sb_patience_look(struct sb_trainer *t, const struct sb_figures *v);

/* Divergence: before an epoch's first batch; after its last (SB_ENUMERIC: it has); and when it
 * has, SB_OK: t->at is at the beginning of the epoch again. The factor of learning rates is
 * 1 unless it has happened in this run. */
sb_status sb_divergence_begin_epoch(struct sb_trainer *t);
sb_status sb_divergence_look(const struct sb_trainer *t);
sb_status sb_divergence_met(struct sb_trainer *t);
double sb_divergence_factor(const struct sb_trainer *t);
void sb_divergence_end(const struct sb_trainer *t); /* of the training */

/* What is written while the run goes on. It is on the disk before the checkpoint that counts
 * its bytes; resuming cuts it to that length, or repairs what is shorter (repair.c). */
sb_status sb_trainer_sync_records(const struct sb_trainer *t);
sb_status sb_trainer_cut_records(struct sb_trainer *t);
sb_status sb_trainer_log_validation(struct sb_trainer *t, const struct sb_figures *v,
                                    double loss);
sb_status sb_trainer_log_update(struct sb_trainer *t, double rate);
sb_status sb_trainer_log_trajectory(struct sb_trainer *t);
/* The head of trajectory.npy; returns how many images a row has. */
uint32_t sb_trainer_trajectory_head(const struct sb_trainer *t,
                                    unsigned char head[SB_NPY_HEAD], size_t *size);
sb_status sb_trainer_write_model(struct sb_trainer *t);
sb_status sb_trainer_write_results(struct sb_trainer *t, const struct sb_run_result *r);

double sb_trainer_clock(void);

#endif
