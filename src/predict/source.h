/* source - probabilities of a net's current weights, batch by batch or over a data set. */
#ifndef SB_PREDICT_SOURCE_H
#define SB_PREDICT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "data/batch.h"
#include "nn/net.h"

/* How many images are in the net: its batch, or one that is there as bands of rows. */
size_t sb_predict_images(const struct sb_net *net);

/* Of these images: out [images][classes]. first: the nodes before it were computed by the
 * forward before, with the parameters of a member that shares them. */
sb_status sb_predict_forward(const struct sb_env *env, struct sb_net *net,
                             const struct sb_pass *pass, uint32_t first, float *out);

/* mean[n] += draw[n] / draws: what several draws of the weights say together, each added
 * in turn. Everything that predicts averages by this, and so gets the same bits. */
void sb_predict_add(float *mean, const float *draw, size_t n, uint32_t draws);

struct sb_predict {
    const struct sb_env *env;
    struct sb_net *net;
    const struct sb_batch_source *source;
    const uint32_t *index; /* [n] examples; NULL: the first n */
    uint32_t n;
    bool noise; /* activation noise per input instead of the weights' mean */
    uint64_t seed;
    uint32_t member, draw; /* of the noise; example i has the i-th of them */
};

/* probabilities: [n][classes], label: [n] (may be NULL). Uses the net's buffers. */
sb_status sb_predict_run(const struct sb_predict *p, float *probabilities,
                         int32_t *label);

#endif
