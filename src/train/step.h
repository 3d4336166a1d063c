/* step - one batch: forward, loss, backward, and either an optimiser step or a move of the
 * support. */
#ifndef SB_TRAIN_STEP_H
#define SB_TRAIN_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/params.h"
#include "nn/net.h"

struct sb_step_options {
    uint64_t seed;        /* of the activation noise ... */
    uint32_t run, number; /* ... with the run and the step within it */
    uint32_t rows; /* of the whole batch, where several processes share it; 0: x's */
    /* the noise itself, as a pass has it (nn/net.h); NULL: drawn */
    const struct sb_act *const *eps, *const *scale_eps, *const *drop;
    const float *const *weight_eps;
    struct sb_sgd sgd;
    float lr_rho, lr_scale;
    float clip;      /* the gradients' norm, at most; 0: any */
    float kl_factor; /* beta / N */
    float prior_sd;
    double rate; /* of a prune-grow update on this batch; negative: none */
    enum sb_criterion criterion;
    bool step_on_update; /* an update's batch also takes an optimiser step */
    bool collect;        /* keep this batch's dense gradients for the update to come */
    uint32_t batches;    /* whose gradients an update averages, this one included */
};

/* Dense gradients of earlier batches, where growth averages over several; zeroed: none. */
struct sb_growth {
    float **sum;     /* [layers] owned, NULL for a dense one; NULL: nothing collected */
    size_t *weights; /* [layers] owned: how long each is */
    uint32_t layers;
    uint64_t count;             /* batches in the sums */
    uint64_t dropped, returned; /* of the last update, over all layers */
};

void sb_growth_fini(struct sb_growth *g);

/* Sums of zeros, unless there are some. */
sb_status sb_growth_start(struct sb_growth *g, const struct sb_net *n);

/* One training batch; *loss is the mean of -log p(truth), summed over heads. SB_ENUMERIC
 * if that is not finite, before any parameter is touched. Only an update allocates. */
sb_status sb_train_step(const struct sb_env *env, struct sb_net *n,
                        const struct sb_act *x, const struct sb_truth *truth,
                        const struct sb_step_options *o, struct sb_growth *growth,
                        double *loss);

#endif
