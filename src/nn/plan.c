/* plan - see plan.h and the head of net.h.
 *
 * Memory is laid out twice by the same code: once to learn its size, with base NULL, and
 * once to hand it out.
 */
#include "nn/plan.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

/* ---- values -------------------------------------------------------------------------- */

static bool in_place(enum sb_node_kind k)
{
    return k == SB_NODE_RELU || k == SB_NODE_ADD || k == SB_NODE_FLATTEN;
}

/* Whether some node reads i as flat features: then its planes must not be spread. */
static bool feeds_flatten(const struct sb_arch *a, uint32_t i)
{
    for (uint32_t j = i + 1; j < a->nodes; j++)
        if (a->node[j].kind == SB_NODE_FLATTEN && a->node[j].in == i)
            return true;
    return false;
}

static sb_status shape_of(const struct sb_net *n, uint32_t i, struct sb_act *a)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    sb_status st = sb_act_shape(a, n->max_batch, d->channels, d->height, d->width);
    if (st == SB_OK && feeds_flatten(&n->arch, i)) {
        a->plane = (size_t)a->height * a->width * SB_LANES;
        a->block = a->plane * a->channels;
    }
    return st;
}

static float *take(float *base, size_t *used, size_t floats)
{
    float *at = base ? base + *used : NULL;
    *used += (floats + 15) / 16 * 16;
    return at;
}

static sb_status lay_values(struct sb_net *n, bool gauss, float *base, size_t *used)
{
    *used = 0;
    for (uint32_t i = 0; i < n->arch.nodes; i++) {
        const struct sb_arch_node *d = &n->arch.node[i];
        struct sb_net_node *node = &n->node[i];
        sb_status st = shape_of(n, i, &node->y);
        if (st != SB_OK)
            return st;
        if (in_place(d->kind))
            node->y.data = n->node[d->in].y.data;
        else
            node->y.data = take(base, used, sb_act_size(&node->y));
        if (d->kind != SB_NODE_WEIGHT || !gauss)
            continue;
        node->slope = node->y;
        node->slope.data = take(base, used, sb_act_size(&node->slope));
    }
    n->probabilities = n->node[n->arch.nodes - 1].y;
    n->probabilities.data = take(base, used, sb_act_size(&n->probabilities));
    return SB_OK;
}

/* ---- gradients ----------------------------------------------------------------------- */

struct buffer {
    size_t floats;
    uint32_t users; /* gradients that live in it now */
    float *data;
};

struct buffers {
    struct buffer *b; /* [nodes] */
    uint32_t n;
    uint32_t *of; /* [nodes] the buffer of a node's gradient, or SB_NODE_NONE */
};

/* The smallest free buffer that is large enough, or the largest free one made larger, or
 * a new one. */
static uint32_t find_buffer(struct buffers *s, size_t floats)
{
    uint32_t fit = SB_NODE_NONE, grow = SB_NODE_NONE;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->b[i].users)
            continue;
        if (s->b[i].floats >= floats &&
            (fit == SB_NODE_NONE || s->b[i].floats < s->b[fit].floats))
            fit = i;
        if (grow == SB_NODE_NONE || s->b[i].floats > s->b[grow].floats)
            grow = i;
    }
    uint32_t found = fit != SB_NODE_NONE ? fit : grow;
    if (found == SB_NODE_NONE)
        s->b[found = s->n++] = (struct buffer){0};
    if (s->b[found].floats < floats)
        s->b[found].floats = floats;
    return found;
}

/* Gives node i's gradient a home: `shared`, if it may be there, else a buffer of its own.
 * Returns whether it has one already, that is, whether to add. */
static bool place_gradient(struct sb_net *n, struct buffers *s, uint32_t i,
                           uint32_t shared)
{
    if (s->of[i] != SB_NODE_NONE)
        return true;
    s->of[i] =
        shared != SB_NODE_NONE ? shared : find_buffer(s, sb_act_size(&n->node[i].y));
    s->b[s->of[i]].users++;
    return false;
}

/* Walks backwards, as the gradients will be computed. */
static void plan_gradients(struct sb_net *n, struct buffers *s, bool input_gradient)
{
    for (uint32_t i = 0; i < n->arch.nodes; i++)
        s->of[i] = SB_NODE_NONE;
    place_gradient(n, s, n->arch.nodes - 1, SB_NODE_NONE);
    for (uint32_t i = n->arch.nodes - 1; i > 0; i--) {
        const struct sb_arch_node *d = &n->arch.node[i];
        struct sb_net_node *node = &n->node[i];
        uint32_t own = s->of[i];
        bool norm = d->kind == SB_NODE_NORM, residual = norm && d->other != SB_NODE_NONE;
        /* A norm's residual takes over the buffer; else the input may. */
        bool stays = in_place(d->kind) || (norm && !residual);
        node->in_wanted = d->in != 0 || input_gradient;
        if (d->other != SB_NODE_NONE)
            node->add_other = place_gradient(n, s, d->other, own);
        assert(!(residual && node->add_other)); /* a norm sets its residual's gradient */
        if (node->in_wanted)
            node->add_in = place_gradient(n, s, d->in, stays ? own : SB_NODE_NONE);
        s->b[own].users--;
    }
}

static sb_status lay_gradients(struct sb_net *n, bool input_gradient)
{
    struct buffers s = {0};
    sb_status st = SB_OK;
    s.b = sb_calloc(n->arch.nodes, sizeof *s.b);
    s.of = sb_calloc(n->arch.nodes, sizeof *s.of);
    if (!s.b || !s.of) {
        st = sb_fail(SB_ENOMEM, "no memory to plan a network of %u nodes", n->arch.nodes);
        goto done;
    }
    plan_gradients(n, &s, input_gradient);
    size_t used = 0;
    for (uint32_t i = 0; i < s.n; i++)
        take(NULL, &used, s.b[i].floats);
    n->gradient_floats = used;
    n->gradients = sb_calloc(used, sizeof(float));
    if (!n->gradients) {
        st = sb_fail(SB_ENOMEM, "no memory for gradients: %zu MB",
                     used * sizeof(float) >> 20);
        goto done;
    }
    used = 0;
    for (uint32_t i = 0; i < s.n; i++)
        s.b[i].data = take(n->gradients, &used, s.b[i].floats);
    for (uint32_t i = 0; i < n->arch.nodes; i++) {
        n->node[i].dy = n->node[i].y;
        n->node[i].dy.data = s.of[i] == SB_NODE_NONE ? NULL : s.b[s.of[i]].data;
    }
done:
    sb_free(s.b);
    sb_free(s.of);
    return st;
}

sb_status sb_net_plan(struct sb_net *n, bool gauss, bool inference, bool input_gradient)
{
    sb_status st = lay_values(n, gauss, NULL, &n->value_floats);
    if (st != SB_OK)
        return st;
    n->values = sb_calloc(n->value_floats, sizeof(float));
    if (!n->values)
        return sb_fail(SB_ENOMEM, "no memory for activations: %zu MB",
                       n->value_floats * sizeof(float) >> 20);
    st = lay_values(n, gauss, n->values, &n->value_floats);
    if (st == SB_OK && !inference)
        st = lay_gradients(n, input_gradient);
    return st;
}
