/* fold - which nodes of a net that only predicts are computed along with a weight.
 *
 * A weight's outputs are in registers when they are finished. The sum, the norm and the
 * ReLU behind it are a few instructions there; as passes of their own they would read and
 * write whole activations. The bits are the same. Internal to nn/.
 */
#ifndef SB_NN_FOLD_H
#define SB_NN_FOLD_H

#include "kernels/product.h"
#include "nn/net.h"

/* Every node is computed on its own and stored. */
void sb_net_unfold(struct sb_net *n);

/* Weights take over what can be done with their outputs. */
void sb_net_fold(struct sb_net *n);

/* After folding: values that only weights read are sliced (act.h) if all of those can. */
void sb_net_slice(struct sb_net *n);

/* What weight i does along with its product, in *t; NULL: nothing. */
const struct sb_tail *sb_net_tail(const struct sb_net *n, uint32_t i, struct sb_tail *t);

/* Where weight i's outputs end up. */
struct sb_act *sb_net_end(struct sb_net *n, uint32_t i);

#endif
