/* rows - nodes whose rows have factors of their own: scales (BatchEnsemble, rank-1) and
 * masks (dropout). Internal to nn/.
 *
 * A scale has members; the rows of a batch are the members' in equal parts, the first
 * member's first. Row i of member m is multiplied, channel by channel, by
 *
 *     point      mu[m]
 *     Gaussian   mu[m] + softplus(rho[m]) eps_i, and by mu[m] in a pass without noise
 *
 * A mask multiplies each element by 0 or 1 / (1 - rate).
 */
#ifndef SB_NN_ROWS_H
#define SB_NN_ROWS_H

#include "nn/net.h"

/* Memory for the numbers of a scale or mask node. fini takes half-built ones. */
sb_status sb_scale_init(struct sb_net_scale *s, const struct sb_arch_node *d);
sb_status sb_mask_init(struct sb_net_mask *m, const struct sb_arch_node *d);
void sb_scale_fini(struct sb_net_scale *s);

/* Floats of its gradients, one behind the other from dmu on. */
size_t sb_scale_gradient_floats(const struct sb_arch_node *d);

/* First factors, for (seed, member), node number `index` of its kind. */
void sb_scale_start(struct sb_net_scale *s, const struct sb_arch_node *d, uint64_t seed,
                    uint32_t member, uint32_t index);

sb_status sb_scale_forward(const struct sb_env *env, struct sb_net *n, uint32_t i,
                           const struct sb_pass *p);
sb_status sb_scale_backward(const struct sb_env *env, struct sb_net *n, uint32_t i);
sb_status sb_mask_forward(const struct sb_env *env, struct sb_net *n, uint32_t i,
                          const struct sb_pass *p);
void sb_mask_backward(const struct sb_env *env, struct sb_net *n, uint32_t i);

#endif
