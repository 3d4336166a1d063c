/* fold - which nodes of a net that only predicts are computed along with a weight.
 *
 * A weight's outputs are in registers when they are finished. The sum, the norm and the
 * ReLU behind it are a few instructions there; as passes of their own they would read and
 * write whole activations. The bits are the same. Internal to nn/.
 */
#ifndef SB_NN_FOLD_H
#define SB_NN_FOLD_H

#include "nn/net.h"

/* Every node is computed on its own and stored. */
void sb_net_unfold(struct sb_net *n);

/* Weights take over what can be done with their outputs. */
void sb_net_fold(struct sb_net *n);

#endif
