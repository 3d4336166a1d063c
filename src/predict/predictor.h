/* predictor - an ensemble predicts examples in memory; one thread uses it at a time.
 *
 * A thread takes a few examples through all layers of all members before it takes others,
 * so that activations stay in its caches and threads never wait for each other; the last
 * examples of a call are shared out by members, so that all threads end together. Only when
 * there are too few examples for that do threads share a layer's work.
 *
 * Members that begin with the same layers (loaded.h) are a group: those layers are computed
 * once for all of them, and one thread runs the group on its examples.
 *
 * Weights are borrowed from a loaded model, which any number of predictors share. All
 * memory is taken when a predictor is made; a call allocates nothing. A prediction depends
 * on the example alone (with activation noise, on its number too): not on what else is in
 * the batch, how large that is, how many threads work on it, or which predictor did.
 */
#ifndef SB_PREDICT_PREDICTOR_H
#define SB_PREDICT_PREDICTOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "figures/uncertainty.h"
#include "model/model.h"
#include "nn/net.h"
#include "predict/far.h"
#include "predict/input.h"
#include "predict/loaded.h"
#include "predict/missing.h"
#include "predict/outcomes.h"
#include "predict/sampling.h"

/* What a thread runs in. */
struct sb_predict_worker {
    struct sb_net net; /* runs with one member's weights after the other's */
    float *theta; /* [most weights of a member] owned: a draw; NULL: none is made here */
    float *layer; /* [most weights of a layer] owned: as drawn, not in order; or NULL */
    float *scratch; /* of drawing; owned, or NULL */
    float *draw;    /* [at_once][size] owned; size: sb_model_prediction_size */
    float *prob; /* [members][at_once][size] owned; then, [1 + members][at_once], how far
                  * examples are from training rows */
    /* [3 * members] owned: in prob or shared_prob; then, of outcomes, means and
     * variances apart */
    const float **member;
    unsigned char *bad; /* [at_once or bands] owned */
    bool lacks;    /* a row of this call had a number missing, unlike those of training */
    size_t filled; /* the chunk of this call whose examples are in the net */
};

struct sb_predictor {
    /* owned: takes calls of SB_FEW_IMAGES or less; NULL: none */
    struct sb_predictor *few;
    struct sb_env env;
    const struct sb_model *model; /* borrowed, like loaded */
    const struct sb_loaded *loaded;
    struct sb_sampling sampling;
    struct sb_normalise normal;
    struct sb_columns *columns;       /* owned: of a model of tables, else NULL */
    uint32_t at_once;                 /* examples a worker takes through the network */
    uint32_t workers;                 /* 1: all threads work together */
    struct sb_predict_worker *worker; /* [workers] owned */
    float *shared_prob;               /* [workers] owned: the same of last chunks */
    struct sb_missing missing;        /* of the last call that was answered */
    struct sb_far_places places;      /* where examples are compared with training rows */
};

struct sb_predictor_options {
    const struct sb_env *env;       /* copied */
    const struct sb_model *model;   /* must outlive the predictor, like loaded */
    const struct sb_loaded *loaded; /* made for this sampling, max_batch and env */
    /* The same for SB_FEW_IMAGES and env with its kernels' narrow ones; NULL: calls of few
     * examples run as any other. */
    const struct sb_loaded *few;
    struct sb_sampling sampling;
    uint32_t max_batch; /* most examples at once, over all threads */
};

/* The caller calls sb_predictor_fini, also after a failure. */
sb_status sb_predictor_init(struct sb_predictor *p, const struct sb_predictor_options *o);
void sb_predictor_fini(struct sb_predictor *p);

/* Predictions of n examples; what is NULL is not wanted. */
struct sb_predictions {
    float *members;            /* [members][n][classes] */
    struct sb_uncertainty sum; /* of the ensemble's classes */
    /* of the ensemble's targets: a model has one or the other */
    struct sb_outcomes outcome;
    float *far;    /* [n], see figures/far.h: SB_EARG of a model that has nothing of it */
    float *places; /* [1 + members][n][SB_FAR_WIDTH] what it is computed from */
};

/* first: the number of the first example, for activation noise. Activations need a predictor
 * for more than one example at once. */
sb_status sb_predictor_run(struct sb_predictor *p, const struct sb_input *in, size_t n,
                           uint64_t first, const struct sb_predictions *out);

#endif
