/* traffic - see traffic.h. */
#include "nn/traffic.h"

/* Floats of one row of a node's value. */
static double floats_of(const struct sb_net *n, uint32_t i)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    return (double)d->channels * d->height * d->width;
}

/* Whether a weight computes the variance of its outputs, too. */
static bool draws_outputs(const struct sb_net *n, uint32_t i)
{
    return n->node[i].slope.data != NULL;
}

static double forward_floats(const struct sb_net *n, uint32_t i)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    double x = floats_of(n, d->in), y = floats_of(n, i);
    bool other = d->other != SB_NODE_NONE;
    switch (d->kind) {
    case SB_NODE_WEIGHT:
        return x + y * (draws_outputs(n, i) ? 2 : 1);
    case SB_NODE_NORM:
        return y * (other ? 3 : n->node[i].stored ? 2 : 1);
    case SB_NODE_ADD:
        return 3 * y;
    case SB_NODE_RELU:
    case SB_NODE_SCALE:
    case SB_NODE_MASK:
        return 2 * y;
    case SB_NODE_MAX_POOL:
    case SB_NODE_MEAN_POOL:
        return x + y;
    case SB_NODE_INPUT:
    case SB_NODE_FLATTEN:
        break;
    }
    return 0.0;
}

static double backward_weight(const struct sb_net *n, uint32_t i)
{
    const struct sb_net_node *node = &n->node[i];
    double x = floats_of(n, n->arch.node[i].in), y = floats_of(n, i);
    double v = draws_outputs(n, i) ? y : 0.0;
    double input = y + v + x + (v > 0.0 ? x : 0.0) + (node->add_in ? x : 0.0);
    return 3 * v + (node->in_wanted ? input : 0.0) + x + y + v;
}

static double backward_floats(const struct sb_net *n, uint32_t i)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    const struct sb_net_node *node = &n->node[i];
    double x = floats_of(n, d->in), y = floats_of(n, i);
    int adds = node->add_in + node->add_other, other = d->other != SB_NODE_NONE;
    switch (d->kind) {
    case SB_NODE_WEIGHT:
        return backward_weight(n, i);
    case SB_NODE_NORM:
        return y * (3 + (d->relu && other ? 1 : 0) + other + adds);
    case SB_NODE_ADD:
        return 3 * y * adds;
    case SB_NODE_RELU:
        return 3 * y;
    case SB_NODE_SCALE:
    case SB_NODE_MASK:
        return 2 * y;
    case SB_NODE_MAX_POOL:
        return 2 * x + 2 * y;
    case SB_NODE_MEAN_POOL:
        return x + y;
    case SB_NODE_INPUT:
    case SB_NODE_FLATTEN:
        break;
    }
    return 0.0;
}

/* Streams of products that a weight computes: mean, and variance. */
static double streams(const struct sb_net *n, uint32_t w)
{
    return draws_outputs(n, n->weight_node[w]) ? 2.0 : 1.0;
}

struct sb_traffic sb_net_traffic(const struct sb_net *n, uint32_t rows)
{
    struct sb_traffic t = {0};
    for (uint32_t i = 1; i < n->arch.nodes; i++) {
        t.forward += forward_floats(n, i) * rows;
        t.backward += backward_floats(n, i) * rows;
    }
    for (uint32_t w = 0; w < n->arch.weights; w++) {
        double weights = n->weight[w].nnz * streams(n, w);
        t.forward += weights;
        t.backward += 2 * weights;
        t.update += n->weight[w].gauss ? 8.0 * n->weight[w].nnz : 0.0;
    }
    for (uint32_t i = 0; i < n->params.n; i++)
        t.update += n->params.param[i].momentum ? 5.0 * n->params.param[i].count : 0.0;
    t.forward *= sizeof(float);
    t.backward *= sizeof(float);
    t.update *= sizeof(float);
    return t;
}

double sb_net_step_flops(const struct sb_net *n, uint32_t rows)
{
    double macs = 0.0;
    for (uint32_t w = 0; w < n->arch.weights; w++) {
        const struct sb_conv *c = &n->weight[w].conv;
        macs += (double)n->weight[w].nnz * c->out_height * c->out_width * streams(n, w);
    }
    return 3 * 2.0 * macs * rows;
}
