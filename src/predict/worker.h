/* worker - what a thread of a predictor has of its own: a network that runs with one
 * member's weights after the other's, and room for what that gives. Part of predictor.h. */
#ifndef SB_PREDICT_WORKER_H
#define SB_PREDICT_WORKER_H

#include "predict/predictor.h"

/* Whether this predictor draws weights itself; a single draw comes with what is loaded. */
static inline bool sb_worker_draws(const struct sb_predictor *p)
{
    return p->sampling.kind == SB_SAMPLE_DRAWS && p->sampling.draws > 1;
}

/* Predictions of all members to the examples a worker takes at once. */
static inline size_t sb_worker_predictions(const struct sb_predictor *p)
{
    return (size_t)p->at_once * sb_model_prediction_size(&p->model->info) *
           p->model->members;
}

/* Floats of them, and of the distances of all places. */
static inline size_t sb_worker_floats(const struct sb_predictor *p)
{
    return sb_worker_predictions(p) + (size_t)p->at_once * (1 + p->model->members);
}

/* p->at_once is known. single: the plan of one example. The caller calls sb_worker_fini, also
 * after a failure, and of a zeroed one. */
sb_status sb_worker_init(struct sb_predict_worker *w, const struct sb_predictor *p,
                         int threads, bool single);
void sb_worker_fini(struct sb_predict_worker *w);

#endif
