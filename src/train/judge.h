/* judge - a model's members on some examples of the run's data, and figures of them. */
#ifndef SB_TRAIN_JUDGE_H
#define SB_TRAIN_JUDGE_H

#include "figures/metrics.h"
#include "figures/mixture.h"
#include "model/model.h"
#include "nn/figures.h"
#include "predict/sampling.h"
#include "train/state.h"

/* Which examples are judged. */
struct sb_job {
    const struct sb_batch_source *source;
    const uint32_t *index; /* [n]; NULL: the first n */
    uint32_t n;
};

struct sb_judging {
    const struct sb_trainer *trainer; /* borrowed, like model */
    const struct sb_model *model;
    uint32_t n;
    int32_t *label;     /* [n] owned; NULL: outcomes */
    float *target;      /* [n][targets] owned; NULL: classes */
    float *prediction;  /* [members][n][size] owned; of outcomes means, then variances */
    const float **list; /* [members] owned: in prediction */
    const float **pointer; /* [2 * members] owned: scratch */
    float *places; /* [1 + members][n][SB_FAR_WIDTH] borrowed: where examples are (see
                    * predict/far.h), filled with the predictions; NULL: not wanted */
};

/* Memory, and what is right for the examples of job. The caller calls sb_judging_fini, also
 * after a failure. */
sb_status sb_judging_init(struct sb_judging *j, const struct sb_trainer *t,
                          const struct sb_model *model, const struct sb_job *job);
void sb_judging_fini(struct sb_judging *j);

/* Of the run's finished members, whose model is made for it: all members' predictions. The
 * caller calls sb_judging_fini and sb_model_fini, also after a failure. */
sb_status sb_judging_finished(struct sb_judging *j, const struct sb_trainer *t,
                              const struct sb_job *job, struct sb_model *model);

/* All members' predictions, by the path that those who use the model take: so they get the
 * bits that are judged here. Processes that train together share the examples. */
sb_status sb_judging_run(struct sb_judging *j, const struct sb_job *job,
                         struct sb_sampling s);

/* Members [first, first + count), which have predicted: as metrics take them, and their
 * figures together. */
struct sb_probs sb_judging_probs(const struct sb_judging *j, uint32_t first,
                                 uint32_t count);
struct sb_mixture sb_judging_mixture(const struct sb_judging *j, uint32_t first,
                                     uint32_t count);
sb_status sb_judging_figures(const struct sb_judging *j, uint32_t first, uint32_t count,
                             struct sb_figures *out);

/* A warning where the ensemble, judged on the test part, says no more than the training part
 * does without it (useless.c). SB_ENOMEM. */
sb_status sb_judging_warn(const struct sb_judging *j, const struct sb_figures *ensemble);

#endif
