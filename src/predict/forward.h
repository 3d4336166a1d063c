/* forward - probabilities of what is in a net. */
#ifndef SB_PREDICT_FORWARD_H
#define SB_PREDICT_FORWARD_H

#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
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

#endif
