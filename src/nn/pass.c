/* pass - one pass of a network: forward, loss, backward; see net.h. */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/loss.h"
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
    struct sb_noise noise = {
        .eps = p->eps ? p->eps[node->param] : NULL,
        .stream = sb_rng_stream(p->seed, SB_RNG_NOISE, p->member, p->step, node->param),
        .image = p->image,
    };
    struct sb_epilogue epilogue;
    struct sb_weight_forward f = {
        .x = &n->node[n->arch.node[i].in].y,
        .noise = p->sample ? &noise : NULL,
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
    struct sb_norm *m = &n->norm[n->node[i].param].norm;
    const struct sb_act *x = &n->node[d->in].y;
    const struct sb_act *other = d->other == SB_NODE_NONE ? NULL : &n->node[d->other].y;
    int flags = d->relu ? SB_NORM_RELU : 0;
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

/* A head's probabilities begin as its logits. */
static void copy_logits(struct sb_net_head *h)
{
    for (uint32_t b = 0; b < h->logits.blocks; b++)
        for (uint32_t c = 0; c < h->logits.channels; c++)
            memcpy(sb_act_plane(&h->probabilities, b, c), sb_act_plane(&h->logits, b, c),
                   h->logits.lanes * sizeof(float));
}

sb_status sb_net_loss(const struct sb_env *env, struct sb_net *n, const uint32_t *label,
                      double *loss)
{
    return sb_net_loss_weighted(env, n, label, NULL, loss);
}

sb_status sb_net_loss_weighted(const struct sb_env *env, struct sb_net *n,
                               const uint32_t *label, const float *weight, double *loss)
{
    sb_status st = SB_OK;
    *loss = 0.0;
    for (uint32_t i = 0; i < n->arch.heads && st == SB_OK; i++) {
        struct sb_net_head *h = &n->head[i];
        struct sb_act d = sb_net_head_view(n, &n->node[n->arch.head[i].node].dy, i);
        double mean;
        copy_logits(h);
        st = sb_loss_softmax_weighted(env, &h->probabilities, label + (size_t)i * d.batch,
                                      weight, &mean, n->gradients ? &d : NULL);
        *loss += st == SB_OK ? mean : 0.0;
    }
    return st;
}

void sb_net_softmax(const struct sb_env *env, struct sb_net *n)
{
    for (uint32_t i = 0; i < n->arch.heads; i++) {
        copy_logits(&n->head[i]);
        sb_softmax(env, &n->head[i].probabilities);
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
        .slope = w->gauss ? &node->slope : NULL,
        .dx = node->in_wanted ? &in->dy : NULL,
        .add = node->add_in,
    };
    sb_status st = sb_weight_backward(b->env, w, &wb, n->scratch);
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
    struct sb_norm_backward nb = {
        .dy = &node->dy,
        .y = d->relu ? &node->y : NULL,
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
    }
    return sb_norm_backward(b->env, &m->norm, &nb);
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
        sb_scale_backward(b->env, n, i);
        return SB_OK;
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
    return SB_OK;
}
