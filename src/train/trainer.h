/* trainer - a run from its recipe to its members, stage by stage.
 *
 * All of it is in the run directory (model/run_files.h). A run is a function of its recipe
 * alone: thread count, kernels, interruptions and how many processes share it (env->comm;
 * together.h, apart.c) do not change a bit of the model.
 */
#ifndef SB_TRAIN_TRAINER_H
#define SB_TRAIN_TRAINER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/progress.h"
#include "base/status.h"
#include "nn/figures.h"
#include "recipe/options.h"

struct sb_pulse;

struct sb_run_options {
    const char *out; /* run directory; created */
    bool resume;
    bool force;                   /* resume with other data where that can be */
    struct sb_progress *progress; /* may be NULL */
    bool one_member; /* train `member` alone, where members are trained apart (task.c) */
    uint32_t member; /* from 0 */
    /* of ltr's: the run that has its dense stage; NULL: train it */
    const char *dense_from;
    const char *version; /* of the library, which processes compare */
    bool apart;       /* of a merge: of tasks that this very run began, by processes that
                 * share no batches; it may be repeated (apart.c) */
    bool preliminary; /* a run that another one begins with (width.c) */
    struct sb_pulse *pulse; /* of a task of such a run; NULL: none */
};

struct sb_run_result {
    struct sb_figures ensemble;
    struct sb_figures *member; /* [members] owned */
    uint32_t members;
    float *target_width; /* [targets] owned; NULL: none */
    double density;
    double train_seconds, images_per_second, training_flops;
    double dense_run_flops; /* of one dense network, explored and exploited once */
};

/* Trains a resolved recipe, which is fitted to the data first; evaluates on the test set,
 * if there is one (figures are NAN else), writes the files. SB_ECANCELED: progress asked to
 * stop, and a checkpoint was written. */
sb_status sb_run_train(const struct sb_env *env, const struct sb_recipe *recipe,
                       const struct sb_run_options *o, struct sb_run_result *out);

/* Makes the run of its members, each of which was trained alone into a directory: model,
 * records, figures on the test set. The model is that of a run that trained them one after the
 * other, to the bit. directory: [count], in any order. */
sb_status sb_run_merge(const struct sb_env *env, const struct sb_recipe *recipe,
                       const struct sb_run_options *o, const char *const *directory,
                       uint32_t count, struct sb_run_result *out);
void sb_run_result_fini(struct sb_run_result *r);

/* What a run would take, as text for people: parameters, weights that exist, memory, and
 * an estimate of the time from a few real steps. The caller owns *out (sb_free). */
sb_status sb_run_plan(const struct sb_env *env, const struct sb_recipe *recipe,
                      struct sb_progress *progress, char **out);

/* For ensembles of members[i] networks, [count], each at least 1, the sparsity with which
 * training them costs as much as the recipe does, to four decimals, or comes nearest to it;
 * cost[i] is what it costs then, as a multiple of one dense run. For methods whose members
 * have a sparsity before they are trained. */
sb_status sb_run_sizes(const struct sb_env *env, const struct sb_recipe *recipe,
                       const uint32_t *members, size_t count, double *sparsity,
                       double *cost);

/* Fits the resolved recipe to its data, as training would, and says where that is: paths
 * of the recipe become such that they are right from any directory. */
sb_status sb_run_fit(const struct sb_env *env, struct sb_recipe *recipe);

/* A network between machines. */
struct sb_network {
    double bits;    /* a second, each way */
    double latency; /* seconds until a small message has arrived */
};

/* What so many processes would take together, as text for people: a rank's share of the batch
 * is measured, what they exchange is counted. The caller owns *out (sb_free). */
sb_status sb_run_forecast(const struct sb_env *env, const struct sb_recipe *recipe,
                          struct sb_progress *progress, const uint32_t *ranks,
                          size_t count, const struct sb_network *network, char **out);

#endif
