/* loss - softmax and cross-entropy. */
#ifndef SB_KERNELS_LOSS_H
#define SB_KERNELS_LOSS_H

#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/act.h"
#include "kernels/shards.h"

/* logits (planes 1 x 1, a class a channel) become probabilities, in place; *loss is the
 * mean of -log p(label). d, if not NULL, receives the gradient of *loss with respect to
 * the logits, (p - [label]) / batch, zero in the padding lanes. shards: of the batch; NULL:
 * its rows are one. weight, [batch], if not NULL, is what the loss of each image is
 * multiplied with; the mean is still over the number of images. */
sb_status sb_loss_softmax(const struct sb_env *env, const struct sb_shards *shards,
                          struct sb_act *logits, const uint32_t *label,
                          const float *weight, double *loss, struct sb_act *d);

/* The probabilities alone. */
void sb_softmax(const struct sb_env *env, struct sb_act *logits);

#endif
