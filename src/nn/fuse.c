/* fuse - see fuse.h. */
#include "nn/fuse.h"

/* Every node is computed on its own and stored. */
static void unfuse(struct sb_net *n)
{
    for (uint32_t i = 0; i < n->arch.nodes; i++) {
        n->node[i].fused_into = i;
        n->node[i].add = n->node[i].end = SB_NODE_NONE;
        n->node[i].stored = true;
        n->node[i].sliced = false;
    }
}

static bool reads(const struct sb_arch *a, uint32_t reader, uint32_t i)
{
    return reader != 0 && (a->node[reader].in == i || a->node[reader].other == i);
}

/* How many nodes read i, and the first of them. */
static uint32_t readers(const struct sb_arch *a, uint32_t i, uint32_t *first)
{
    uint32_t count = 0;
    *first = SB_NODE_NONE;
    for (uint32_t j = i + 1; j < a->nodes; j++)
        if (reads(a, j, i) && count++ == 0)
            *first = j;
    return count;
}

static bool read_after(const struct sb_arch *a, uint32_t i, uint32_t after,
                       uint32_t but_by)
{
    for (uint32_t j = after + 1; j < a->nodes; j++)
        if (j != but_by && reads(a, j, i))
            return true;
    return false;
}

/* What members of one network share must not end in a node of one of them. */
static bool crosses(const struct sb_arch *a, uint32_t i, uint32_t end)
{
    return i < a->shared && end >= a->shared;
}

/* The sum that weight i's outputs go into, if the other summand is there before. A sum
 * takes the place of its first summand, which nobody else may then need. */
static void take_sum(struct sb_net *n, uint32_t i)
{
    const struct sb_arch *a = &n->arch;
    uint32_t sum;
    if (readers(a, i, &sum) != 1 || a->node[sum].kind != SB_NODE_ADD ||
        crosses(a, i, sum))
        return;
    uint32_t first = a->node[sum].in, other = first == i ? a->node[sum].other : first;
    if (other >= i || (other == first && read_after(a, other, i, sum)))
        return;
    n->node[i].add = sum;
    n->node[i].stored = false;
    n->node[sum].fused_into = i;
}

/* The norm of i's outputs whose residual, if any, is there before; else SB_NODE_NONE. */
static uint32_t find_norm(const struct sb_arch *a, uint32_t i, uint32_t outputs)
{
    for (uint32_t j = outputs + 1; j < a->nodes; j++) {
        const struct sb_arch_node *d = &a->node[j];
        if (d->kind == SB_NODE_NORM && d->in == outputs &&
            (d->other == SB_NODE_NONE || d->other < i))
            return j;
    }
    return SB_NODE_NONE;
}

static void take_end(struct sb_net *n, uint32_t i)
{
    const struct sb_arch *a = &n->arch;
    uint32_t outputs = n->node[i].add == SB_NODE_NONE ? i : n->node[i].add, first;
    uint32_t count = readers(a, outputs, &first), end = find_norm(a, i, outputs);
    if (end == SB_NODE_NONE && count == 1 && a->node[first].kind == SB_NODE_RELU)
        end = first;
    if (end == SB_NODE_NONE || crosses(a, i, end))
        return;
    n->node[i].end = end;
    n->node[end].fused_into = i;
    n->node[outputs].stored = count > 1;
}

void sb_net_fuse(struct sb_net *n)
{
    unfuse(n);
    for (uint32_t i = 0; i < n->arch.nodes; i++)
        if (n->arch.node[i].kind == SB_NODE_WEIGHT) {
            take_sum(n, i);
            take_end(n, i);
        }
}

/* ---- nets that train ----------------------------------------------------------------- */

/* Whether node i can make a norm's result of the norm's input as it reads it. */
static bool makes_norms(const struct sb_arch_node *d)
{
    return d->kind == SB_NODE_MAX_POOL ||
           (d->kind == SB_NODE_WEIGHT && sb_conv_has_planes(&d->conv));
}

static bool need_not_be_stored(const struct sb_arch *a, uint32_t i)
{
    const struct sb_arch_node *d = &a->node[i];
    uint32_t first;
    if (d->kind != SB_NODE_NORM || d->in == 0 || d->other != SB_NODE_NONE || !d->relu ||
        readers(a, i, &first) == 0)
        return false;
    for (uint32_t j = first; j < a->nodes; j++)
        if (reads(a, j, i) && !makes_norms(&a->node[j]))
            return false;
    return true;
}

void sb_net_unstore_norms(struct sb_net *n)
{
    unfuse(n);
    for (uint32_t i = 0; i < n->arch.nodes; i++)
        n->node[i].stored = !need_not_be_stored(&n->arch, i);
}

/* ---- slices -------------------------------------------------------------------------- */

/* The node that weight i's outputs end up as. */
static uint32_t end_of(const struct sb_net *n, uint32_t i)
{
    const struct sb_net_node *node = &n->node[i];
    return node->end != SB_NODE_NONE   ? node->end
           : node->add != SB_NODE_NONE ? node->add
                                       : i;
}

/* Whether i has memory of its own which nothing but weights reads, all of them sliced and
 * one of them a convolution of more than a pixel. */
static bool worth_slicing(const struct sb_arch *a, uint32_t i)
{
    bool worth = false;
    if (a->node[i].kind != SB_NODE_WEIGHT && a->node[i].kind != SB_NODE_NORM)
        return false;
    for (uint32_t j = i + 1; j < a->nodes; j++) {
        const struct sb_arch_node *d = &a->node[j];
        if (!reads(a, j, i))
            continue;
        if (d->kind != SB_NODE_WEIGHT || !sb_corr_reads_slices(&d->conv))
            return false;
        worth = worth || d->conv.kh > 1;
    }
    return worth;
}

void sb_net_slice(struct sb_net *n)
{
    for (uint32_t i = 0; i < n->arch.nodes; i++) {
        const struct sb_arch_node *d = &n->arch.node[i];
        if (d->kind == SB_NODE_WEIGHT && d->height % SB_GROUP == 0 &&
            d->width % SB_SLICE == 0) /* no tile hangs over: outputs land */
            n->node[end_of(n, i)].sliced = worth_slicing(&n->arch, end_of(n, i));
    }
}

/* ---- at a forward --------------------------------------------------------------------- */

const struct sb_epilogue *sb_net_epilogue(const struct sb_net *n, uint32_t i,
                                          struct sb_epilogue *t)
{
    const struct sb_net_node *node = &n->node[i];
    uint32_t sum = node->add == SB_NODE_NONE ? i : node->add;
    *t = (struct sb_epilogue){0};
    if (node->add != SB_NODE_NONE) {
        const struct sb_arch_node *d = &n->arch.node[node->add];
        t->add = &n->node[d->in == i ? d->other : d->in].y;
    }
    if (node->end == SB_NODE_NONE)
        return t->add ? t : NULL;
    const struct sb_arch_node *end = &n->arch.node[node->end];
    t->relu = end->kind == SB_NODE_RELU || end->relu;
    t->sum = n->node[sum].stored ? &n->node[sum].y : NULL;
    if (end->kind == SB_NODE_RELU)
        return t;
    const struct sb_norm *norm = &n->norm[n->node[node->end].param].norm;
    sb_norm_affine(norm, n->affine, n->affine + norm->channels);
    t->scale = n->affine;
    t->shift = n->affine + norm->channels;
    t->after = end->other == SB_NODE_NONE ? NULL : &n->node[end->other].y;
    return t;
}

struct sb_act *sb_net_end(struct sb_net *n, uint32_t i)
{
    return &n->node[end_of(n, i)].y;
}
