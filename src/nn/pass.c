/* pass - one pass of a network: forward, loss, backward; see net.h. */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/pool.h"
#include "kernels/rows.h"
#include "nn/fuse.h"
#include "nn/net.h"
#include "nn/plan.h"
#include "nn/rows.h"

/* ---- forward ------------------------------------------------------------------------- */

static sb_status forward_weight(const struct sb_env *env, struct sb_net *n, uint32_t i,
                                const struct sb_pass *p)
{
    struct sb_net_node *node = &n->node[i];
    struct sb_weight *w = &n->weight[node->param];
    struct sb_noise *noise = &n->drawn[node->param];
    *noise = (struct sb_noise){
        .eps = p->eps ? p->eps[node->param] : NULL,
        .stream = sb_rng_stream(p->seed, SB_RNG_NOISE, p->member, p->step, node->param),
        .image = p->image,
        .weights = p->weight_eps ? p->weight_eps[node->param] : NULL,
    };
    struct sb_epilogue epilogue;
    struct sb_weight_forward f = {
        .x = &n->node[n->arch.node[i].in].y,
        .noise = p->sample ? noise : NULL,
        .epilogue = sb_net_epilogue(n, i, &epilogue),
        .y = sb_net_end(n, i),
        .slope = &node->slope,
    };
    return sb_weight_forward(env, w, &f, n->scratch);
}

static sb_status forward_norm(const struct sb_env *env, struct sb_net *n, uint32_t i,
                              const struct sb_pass *p)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    struct sb_norm norm = n->norm[n->node[i].param].norm, *m = &norm;
    const struct sb_act *x = &n->node[d->in].y;
    const struct sb_act *other = d->other == SB_NODE_NONE ? NULL : &n->node[d->other].y;
    int flags = d->relu ? SB_NORM_RELU : 0;
    norm.shards = &n->shards;
    if (!n->node[i].stored)
        return sb_norm_prepare(env, m, x, p->training);
    return p->training ? sb_norm_train(env, m, x, other, &n->node[i].y, flags)
                       : sb_norm_infer(env, m, x, other, &n->node[i].y, flags);
}

static sb_status forward_node(const struct sb_env *env, struct sb_net *n, uint32_t i,
                              const struct sb_pass *p)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    struct sb_act *y = &n->node[i].y;
    const struct sb_act *x = &n->node[d->in].y;
    switch (d->kind) {
    case SB_NODE_WEIGHT:
        return forward_weight(env, n, i, p);
    case SB_NODE_NORM:
        return forward_norm(env, n, i, p);
    case SB_NODE_RELU:
        sb_act_relu(env, y);
        return SB_OK;
    case SB_NODE_ADD:
        sb_act_add(env, y, &n->node[d->other].y);
        return SB_OK;
    case SB_NODE_MAX_POOL:
        return sb_pool_max(env, x, 2, y);
    case SB_NODE_MEAN_POOL:
        return n->arch.bands ? sb_pool_mean_bands(env, x, n->arch.bands, y)
                             : sb_pool_mean(env, x, y);
    case SB_NODE_SCALE:
        return sb_scale_forward(env, n, i, p);
    case SB_NODE_MASK:
        return sb_mask_forward(env, n, i, p);
    case SB_NODE_INPUT:
    case SB_NODE_FLATTEN:
        break;
    }
    return SB_OK;
}

sb_status sb_net_forward_part(const struct sb_env *env, struct sb_net *n,
                              const struct sb_pass *p, uint32_t first, uint32_t end)
{
    if (env->threads > n->threads)
        return sb_fail(SB_EARG, "%d threads; the network was planned for %d",
                       env->threads, n->threads);
    if (env->kernels->lanes != n->lanes)
        return sb_fail(SB_EARG, "kernels with %u lanes; the network was planned for %u",
                       env->kernels->lanes, n->lanes);
    if (n->arch.bands && (p->training || p->sample))
        return sb_fail(SB_EARG, "a network for single images only predicts, without "
                                "activation noise");
    if (n->affine && p->training)
        return sb_fail(SB_EARG, "a network for prediction has no training pass");
    n->trained = p->training;
    n->sampled = p->sample;
    for (uint32_t i = first > 1 ? first : 1; i < end; i++) {
        if (n->node[i].fused_into != i)
            continue;
        sb_status st = forward_node(env, n, i, p);
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

sb_status sb_net_forward(const struct sb_env *env, struct sb_net *n,
                         const struct sb_pass *p)
{
    return sb_net_forward_part(env, n, p, 0, n->arch.nodes);
}

static struct sb_likelihood_head head_of(struct sb_net *n, uint32_t i)
{
    return (struct sb_likelihood_head){&n->head[i].logits, n->noise.value,
                                       &n->head[i].prediction};
}

sb_status sb_net_loss(const struct sb_env *env, struct sb_net *n,
                      const struct sb_truth *truth, double *loss)
{
    enum sb_likelihood_kind kind = n->arch.likelihood;
    uint32_t targets = sb_likelihood_count(kind, n->arch.classes);
    sb_status st = SB_OK;
    *loss = 0.0;
    if (n->noise.gradient)
        memset(n->noise.gradient, 0, targets * sizeof(float));
    for (uint32_t i = 0; i < n->arch.heads && st == SB_OK; i++) {
        struct sb_act d = sb_net_head_view(n, &n->node[n->arch.head[i].node].dy, i);
        struct sb_likelihood_head head = head_of(n, i);
        size_t first = (size_t)i * n->input.batch;
        struct sb_truth of_head = {
            .label = truth->label ? truth->label + first : NULL,
            .target = truth->target ? truth->target + first * targets : NULL,
            .weight = truth->weight};
        double mean;
        st = sb_likelihood_row(kind)->loss(env, &n->shards, &head, &of_head, &mean,
                                           n->gradients ? &d : NULL, n->noise.gradient);
        *loss += st == SB_OK ? mean : 0.0;
    }
    return st;
}

void sb_net_predict(const struct sb_env *env, struct sb_net *n)
{
    for (uint32_t i = 0; i < n->arch.heads; i++) {
        struct sb_likelihood_head head = head_of(n, i);
        sb_likelihood_row(n->arch.likelihood)->predict(env, &head);
    }
}

/* ---- backward ------------------------------------------------------------------------ */

struct backward {
    const struct sb_env *env;
    struct sb_net *n;
    sb_net_visit_fn *visit;
    void *context;
};

static sb_status backward_weight(const struct backward *b, uint32_t i)
{
    struct sb_net *n = b->n;
    struct sb_net_node *node = &n->node[i];
    struct sb_net_node *in = &n->node[n->arch.node[i].in];
    struct sb_weight *w = &n->weight[node->param];
    struct sb_weight_backward wb = {
        .x = &in->y,
        .dy = &node->dy,
        .noise = n->sampled ? &n->drawn[node->param] : NULL,
        .slope = w->gauss ? &node->slope : NULL,
        .dx = node->in_wanted ? &in->dy : NULL,
        .add = node->add_in,
        .shards = &n->shards,
        .sums = n->sums,
        .stride = n->sum_floats,
    };
    sb_status st = sb_weight_backward(b->env, w, &wb, n->scratch);
    if (st == SB_OK && b->visit) /* looks at the gradients */
        st = sb_shards_settle(b->env, &n->shards);
    if (st == SB_OK && b->visit)
        st = b->visit(b->context, node->param, &in->y, &node->dy);
    return st;
}

static sb_status backward_norm(const struct backward *b, uint32_t i)
{
    struct sb_net *n = b->n;
    const struct sb_arch_node *d = &n->arch.node[i];
    struct sb_net_node *node = &n->node[i], *in = &n->node[d->in];
    struct sb_net_norm *m = &n->norm[node->param];
    struct sb_norm norm = m->norm;
    struct sb_norm_backward nb = {
        .dy = &node->dy,
        .y = d->relu && d->other != SB_NODE_NONE ? &node->y : NULL,
        .relu = d->relu,
        .x = &in->y,
        .dx = &in->dy,
        .residual = d->other == SB_NODE_NONE ? NULL : &n->node[d->other].dy,
        .add = node->add_in,
        .inference = !n->trained,
        .dgamma = m->dgamma,
        .dbeta = m->dbeta,
    };
    if (nb.residual && node->add_other) { /* several norms have this residual */
        if (d->relu)
            sb_act_relu_gradient(b->env, &node->dy, &node->y);
        sb_act_add(b->env, nb.residual, &node->dy);
        nb.residual = NULL;
        nb.y = NULL;
        nb.relu = 0;
    }
    norm.shards = &n->shards;
    return sb_norm_backward(b->env, &norm, &nb);
}

static sb_status backward_node(const struct backward *b, uint32_t i)
{
    struct sb_net *n = b->n;
    const struct sb_arch_node *d = &n->arch.node[i];
    struct sb_net_node *node = &n->node[i], *in = &n->node[d->in];
    switch (d->kind) {
    case SB_NODE_WEIGHT:
        return backward_weight(b, i);
    case SB_NODE_NORM:
        return backward_norm(b, i);
    case SB_NODE_RELU:
        sb_act_relu_gradient(b->env, &in->dy, &node->y);
        return SB_OK;
    case SB_NODE_ADD: /* an input's gradient is its own, in the same buffer, or takes it up */
        if (node->add_in)
            sb_act_add(b->env, &in->dy, &node->dy);
        if (node->add_other)
            sb_act_add(b->env, &n->node[d->other].dy, &node->dy);
        return SB_OK;
    case SB_NODE_MAX_POOL:
        return sb_pool_max_backward(b->env, &in->y, &node->y, &node->dy, 2, &in->dy);
    case SB_NODE_MEAN_POOL:
        return sb_pool_mean_backward(b->env, &node->dy, &in->dy);
    case SB_NODE_SCALE:
        return sb_scale_backward(b->env, n, i);
    case SB_NODE_MASK:
        sb_mask_backward(b->env, n, i);
        return SB_OK;
    case SB_NODE_INPUT:
    case SB_NODE_FLATTEN:
        break;
    }
    return SB_OK;
}

sb_status sb_net_backward(const struct sb_env *env, struct sb_net *n,
                          sb_net_visit_fn *visit, void *context)
{
    struct backward b = {env, n, visit, context};
    for (uint32_t i = n->arch.nodes - 1; i > 0; i--) {
        sb_status st = backward_node(&b, i);
        if (st != SB_OK)
            return st;
    }
    return sb_shards_settle(env, &n->shards);
}
