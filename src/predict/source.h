/* source - answers of a net's current weights, batch by batch or over a data set: an
 * example's are probabilities, or means and variances (nn/likelihood.h). */
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

/* Numbers of an answer. */
uint32_t sb_predict_answers(const struct sb_net *net);

/* Of these images: out [images][answers]. */
sb_status sb_predict_forward(const struct sb_env *env, struct sb_net *net,
                             const struct sb_pass *pass, float *out);

/* What several draws of the weights say together, each added in turn, beginning with zeros:
 * the mean of their probabilities; of outcomes the mean and variance of the mixture of their
 * Gaussians. number: of this draw, from 0. Everything that predicts does it by this, and so
 * gets the same bits. sum, draw: [images][answers]. */
void sb_predict_add(const struct sb_net *net, float *sum, const float *draw,
                    size_t images, uint32_t number, uint32_t draws);

struct sb_predict {
    const struct sb_env *env;
    struct sb_net *net;
    const struct sb_batch_source *source;
    const uint32_t *index; /* [n] examples; NULL: the first n */
    uint32_t first; /* those before it are left out: their answers stay as they are */
    uint32_t n;
    bool noise; /* activation noise per input instead of the weights' mean */
    uint64_t seed;
    uint32_t member, draw; /* of the noise; example i has the i-th of them */
};

/* answers: [n][answers], label: [n] (may be NULL). Uses the net's buffers. */
sb_status sb_predict_run(const struct sb_predict *p, float *answers, int32_t *label);

#endif
