/* traffic - the bytes that a training step moves, by a model.
 *
 * Every pass over a tensor reads or writes all of it, and nothing stays in a cache from one
 * pass to the next. That is right for batches whose tensors are larger than the caches, and
 * too much for small ones. Floats of one row, X going in, Y coming out, V the slope of a
 * Gaussian layer that draws its outputs (V = Y, else 0):
 *
 *     node        forward        backward
 *     weight      X + Y + V      dv in place 3V; input gradient Y + V + X, with V also X, and
 *                                X more where it adds; weight gradient X + Y + V
 *     norm        2Y, + residual 3Y, + Y of a ReLU, + residual, + Y where it adds
 *     ReLU        2Y             3Y
 *     sum         3Y             3Y for each gradient that takes it up
 *     max pool    X + Y          2X + 2Y
 *     mean pool   X + Y          X + Y
 *     scale, mask 2Y             2Y
 *
 * Parameters: 5 floats for each number that is trained (gradient; value and momentum, read
 * and written); for each weight with a posterior 8 more (prior's gradient 6, variance 2);
 * and each product reads its weights once.
 */
#ifndef SB_NN_TRAFFIC_H
#define SB_NN_TRAFFIC_H

#include <stdint.h>

#include "nn/net.h"

struct sb_traffic {
    double forward, backward, update; /* bytes of a step */
};

/* Of a step of `rows` rows of the batch. */
struct sb_traffic sb_net_traffic(const struct sb_net *n, uint32_t rows);

static inline double sb_traffic_bytes(const struct sb_traffic *t)
{
    return t->forward + t->backward + t->update;
}

/* Floating-point operations of such a step: forward and both gradients, two for each
 * multiply-add of an existing weight, in as many streams as the layer computes. */
double sb_net_step_flops(const struct sb_net *n, uint32_t rows);

#endif
