/* fuse - which nodes are computed along with others.
 *
 * In a net that only predicts, a weight's outputs are in registers when they are finished. The
 * sum, the norm and the ReLU behind it are a few instructions there; as passes of their own
 * they would read and write whole activations.
 *
 * In a net that trains, a norm needs its whole batch first, and backward its input. Its result
 * is two instructions for who reads it next: where those are convolutions and pools only, it
 * is never stored, and its node's value is its input's, with a scale and a shift (act.h).
 *
 * The bits are the same. Internal to nn/.
 */
#ifndef SB_NN_FUSE_H
#define SB_NN_FUSE_H

#include "kernels/product.h"
#include "nn/net.h"

/* Of a net that trains: every node is computed on its own and stored but for norms that
 * need not be. */
void sb_net_unstore_norms(struct sb_net *n);

/* Weights take over what can be done with their outputs. */
void sb_net_fuse(struct sb_net *n);

/* After fusing: values that only weights read are sliced (act.h) if all of those can. */
void sb_net_slice(struct sb_net *n);

/* What weight i does along with its product, in *t; NULL: nothing. */
const struct sb_epilogue *sb_net_epilogue(const struct sb_net *n, uint32_t i,
                                          struct sb_epilogue *t);

/* Where weight i's outputs end up. */
struct sb_act *sb_net_end(struct sb_net *n, uint32_t i);

#endif
