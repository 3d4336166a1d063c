/* forward - predictions of what is in a net: an example's are probabilities, or means and
 * variances (nn/likelihood.h). */
#ifndef SB_PREDICT_FORWARD_H
#define SB_PREDICT_FORWARD_H

#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "nn/net.h"

/* How many images are in the net: its batch, or one that is there as bands of rows. */
size_t sb_predict_images(const struct sb_net *net);

/* Of these images: out [images][size]. first: the nodes before it were computed by the
 * forward before, with the parameters of a member that shares them. */
sb_status sb_predict_forward(const struct sb_env *env, struct sb_net *net,
                             const struct sb_pass *pass, uint32_t first, float *out);

/* What several draws of the weights say together, each added in turn, beginning with zeros:
 * the mean of their probabilities; of outcomes the mean and variance of the mixture of their
 * Gaussians. number: of this draw, from 0. Everything that predicts does it by this, and so
 * gets the same bits. sum, draw: [images][size]. */
void sb_predict_add(const struct sb_net *net, float *sum, const float *draw,
                    size_t images, uint32_t number, uint32_t draws);

#endif
