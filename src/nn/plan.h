/* plan - which memory each node of a net uses. Internal to nn/. */
#ifndef SB_NN_PLAN_H
#define SB_NN_PLAN_H

#include "nn/net.h"

/* Lays out values, slopes and (unless inference) gradients for n->max_batch images, and
 * allocates them. */
sb_status sb_net_plan(struct sb_net *n, bool gauss, bool inference, bool input_gradient);

/* Scratch memory for n->threads, enough for the net's weights or its shared_count'. */
sb_status sb_net_plan_scratch(struct sb_net *n, const struct sb_net_options *o);

/* What the processes of o->comm have of a batch, if there are several: n->spread, and
 * n->max_batch for the share of this one. */
sb_status sb_net_plan_share(struct sb_net *n, const struct sb_net_options *o);

/* Memory for gradients of shards, if a batch of n->max_batch has several. */
sb_status sb_net_plan_sums(struct sb_net *n);

/* Fills n->params from what was allocated. */
sb_status sb_net_list_params(struct sb_net *n, const struct sb_net_options *o);

/* The part of a, an act of head i's node, that is the head's. */
struct sb_act sb_net_head_view(const struct sb_net *n, const struct sb_act *a,
                               uint32_t i);

#endif
