/* predictor - an ensemble's answers to examples in memory; one thread uses it at a time.
 *
 * Weights are borrowed from a loaded model, which any number of predictors share. All
 * memory is taken when a predictor is made; a call allocates nothing. An answer depends on
 * the example alone (with activation noise, on its number too): not on what else is in the
 * batch, how large that is, how many threads work on it, or which predictor did.
 */
#ifndef SB_PREDICT_PREDICTOR_H
#define SB_PREDICT_PREDICTOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "eval/uncertainty.h"
#include "model/model.h"
#include "nn/net.h"
#include "predict/input.h"
#include "predict/loaded.h"
#include "predict/sampling.h"

struct sb_predictor {
    struct sb_env env;
    const struct sb_model *model; /* borrowed, like loaded */
    const struct sb_loaded *loaded;
    struct sb_sampling sampling;
    uint32_t max_batch;
    struct sb_normalise normal;
    struct sb_net net; /* runs with one member's weights after the other's */
    float *theta; /* [most weights of a member] owned: a draw; NULL: none is made here */
    float *draw;  /* [max_batch][classes] owned */
    float *prob;  /* [members][max_batch][classes] owned */
    const float **member; /* [members] owned: of prob */
    unsigned char *bad;   /* [max_batch or bands] owned */
};

struct sb_predictor_options {
    const struct sb_env *env;       /* copied */
    const struct sb_model *model;   /* must outlive the predictor, like loaded */
    const struct sb_loaded *loaded; /* made for this sampling and max_batch */
    struct sb_sampling sampling;
    uint32_t max_batch; /* examples at once */
};

/* The caller calls sb_predictor_fini, also after a failure. */
sb_status sb_predictor_init(struct sb_predictor *p, const struct sb_predictor_options *o);
void sb_predictor_fini(struct sb_predictor *p);

/* Answers to n examples; what is NULL is not wanted. */
struct sb_answers {
    float *members;            /* [members][n][classes] */
    struct sb_uncertainty sum; /* of the ensemble */
};

/* first: the number of the first example, for activation noise. */
sb_status sb_predictor_run(struct sb_predictor *p, const struct sb_input *in, size_t n,
                           uint64_t first, const struct sb_answers *out);

#endif
