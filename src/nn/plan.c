/* plan - see plan.h and the head of net.h.
 *
 * Values that backward needs are laid out twice by the same code: once to learn their
 * size, with base NULL, and once to hand it out. Gradients, and values of a net that only
 * predicts, take turns in a few buffers.
 */
#include "nn/plan.h"

#include <string.h>

#include "base/mem.h"
#include "kernels/spread.h"
#include "nn/fuse.h"
#include "nn/rows.h"

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

/* Numbers of a head's prediction. */
static uint32_t predictions_of(const struct sb_net *n)
{
    return sb_likelihood_predictions(n->arch.likelihood, n->arch.classes);
}

static sb_status shape_of(const struct sb_net *n, uint32_t i, struct sb_act *a)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    if (n->node[i].sliced)
        return sb_act_shape_sliced(a, n->lanes, n->max_batch, d->channels, d->height,
                                   d->width);
    sb_status st =
        sb_act_shape(a, n->lanes, n->max_batch, d->channels, d->height, d->width);
    if (st == SB_OK && feeds_flatten(&n->arch, i)) {
        a->plane = (size_t)a->height * a->width * a->lanes;
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

static sb_status lay_scale(const struct sb_net *n, struct sb_net_scale *s,
                           uint32_t channels, float *base, size_t *used)
{
    struct sb_act *act[] = {&s->factor, &s->shift, &s->dfactor, &s->dshift, &s->eps};
    for (size_t i = 0; i < sizeof act / sizeof *act; i++) {
        sb_status st = sb_act_shape(act[i], n->lanes, n->max_batch, channels, 1, 1);
        if (st != SB_OK)
            return st;
        act[i]->data = take(base, used, sb_act_size(act[i]));
    }
    return SB_OK;
}

/* The value of a norm that is not stored. */
static void read_through(struct sb_net *n, uint32_t i)
{
    struct sb_net_node *node = &n->node[i];
    const struct sb_norm *norm = &n->norm[node->param].norm;
    node->y = n->node[n->arch.node[i].in].y;
    node->y.scale = norm->scale;
    node->y.shift = norm->shift;
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
        else if (!node->stored)
            read_through(n, i);
        else
            node->y.data = take(base, used, sb_act_size(&node->y));
        if (d->kind == SB_NODE_SCALE)
            st = lay_scale(n, &n->scale[node->param], d->channels, base, used);
        if (st != SB_OK)
            return st;
        if (d->kind == SB_NODE_MASK && !d->mask.given) {
            n->mask[node->param].drop = node->y;
            n->mask[node->param].drop.data = take(base, used, sb_act_size(&node->y));
        }
        if (d->kind != SB_NODE_WEIGHT || !gauss || n->weight[node->param].group)
            continue;
        node->slope = node->y;
        node->slope.data = take(base, used, sb_act_size(&node->slope));
    }
    for (uint32_t i = 0; i < n->arch.heads; i++) {
        struct sb_act *p = &n->head[i].prediction;
        sb_status st = sb_act_shape(p, n->lanes, n->max_batch, predictions_of(n), 1, 1);
        if (st != SB_OK)
            return st;
        p->data = take(base, used, sb_act_size(p));
    }
    return SB_OK;
}

/* ---- shared memory ------------------------------------------------------------------- */

struct buffer {
    size_t floats;
    uint32_t users; /* values or gradients that live in it now */
    float *data;
};

struct buffers {
    struct buffer *b; /* [nodes + 2] */
    uint32_t n;
    uint32_t *of; /* [nodes] the buffer of a node's value or gradient, or SB_NODE_NONE */
};

static sb_status buffers_init(struct buffers *s, uint32_t nodes)
{
    *s = (struct buffers){.b = sb_calloc((size_t)nodes + 2, sizeof *s->b),
                          .of = sb_calloc(nodes, sizeof *s->of)};
    for (uint32_t i = 0; s->of && i < nodes; i++)
        s->of[i] = SB_NODE_NONE;
    return s->b && s->of
               ? SB_OK
               : sb_fail(SB_ENOMEM, "no memory to plan a network of %u nodes", nodes);
}

static void buffers_fini(struct buffers *s)
{
    sb_free(s->b);
    sb_free(s->of);
}

/* One block of zeros for all of them; the first is at its start. */
static sb_status buffers_allocate(struct buffers *s, const char *what, float **memory,
                                  size_t *floats)
{
    *floats = 0;
    for (uint32_t i = 0; i < s->n; i++)
        take(NULL, floats, s->b[i].floats);
    *memory = sb_calloc(*floats, sizeof(float));
    if (!*memory)
        return sb_fail(SB_ENOMEM, "no memory for %s: %zu MB", what,
                       *floats * sizeof(float) >> 20);
    size_t used = 0;
    for (uint32_t i = 0; i < s->n; i++)
        s->b[i].data = take(*memory, &used, s->b[i].floats);
    return SB_OK;
}

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

/* ---- values that are kept no longer than they are read ------------------------------- */

/* The node whose memory i's value is in. */
static uint32_t home_of(const struct sb_arch *a, uint32_t i)
{
    while (in_place(a->node[i].kind))
        i = a->node[i].in;
    return i;
}

static void read_at(const struct sb_arch *a, uint32_t *last, uint32_t i, uint32_t when)
{
    if (i != SB_NODE_NONE && last[home_of(a, i)] < when)
        last[home_of(a, i)] = when;
}

/* last[h]: the last node with which the memory of home h is read. Images and logits stay. */
static void find_last(const struct sb_net *n, uint32_t *last)
{
    const struct sb_arch *a = &n->arch;
    for (uint32_t i = 1; i < a->nodes; i++) {
        read_at(a, last, a->node[i].in, n->node[i].fused_into);
        read_at(a, last, a->node[i].other, n->node[i].fused_into);
    }
    for (uint32_t i = 1; i < a->nodes;
         i++) /* what the members of a network share stays */
        for (int k = 0; k < 2 && i >= a->shared && a->shared > 0; k++) {
            uint32_t from = k == 0 ? a->node[i].in : a->node[i].other;
            if (from != SB_NODE_NONE && from < a->shared)
                last[home_of(a, from)] = SB_NODE_NONE;
        }
    last[0] = SB_NODE_NONE;
    for (uint32_t i = 0; i < a->heads; i++)
        last[home_of(a, a->head[i].node)] = SB_NODE_NONE;
}

/* What is computed with node i. */
struct made {
    uint32_t node[3], n;
};

static struct made made_with(const struct sb_net *n, uint32_t i)
{
    struct made m = {{i}, 1};
    if (n->node[i].add != SB_NODE_NONE)
        m.node[m.n++] = n->node[i].add;
    if (n->node[i].end != SB_NODE_NONE)
        m.node[m.n++] = n->node[i].end;
    return m;
}

static void place_value(const struct sb_net *n, struct buffers *s, uint32_t i)
{
    uint32_t home = home_of(&n->arch, i);
    if (!n->node[i].stored || s->of[home] != SB_NODE_NONE)
        return;
    s->of[home] = find_buffer(s, sb_act_size(&n->node[home].y));
    s->b[s->of[home]].users++;
}

static void release(const struct sb_net *n, struct buffers *s, uint32_t *last, uint32_t i,
                    uint32_t now)
{
    uint32_t home = i == SB_NODE_NONE ? 0 : home_of(&n->arch, i);
    if (last[home] != now || s->of[home] == SB_NODE_NONE)
        return;
    s->b[s->of[home]].users--;
    last[home] = SB_NODE_NONE;
}

/* Walks forwards. Returns the buffer of all slopes, which nobody reads. */
static uint32_t plan_values(struct sb_net *n, struct buffers *s, uint32_t *last,
                            bool gauss)
{
    const struct sb_arch *a = &n->arch;
    size_t slope = 0;
    for (uint32_t i = 0; i < a->nodes; i++) {
        if (n->node[i].fused_into != i)
            continue;
        struct made m = made_with(n, i);
        size_t floats = sb_act_size(&n->node[i].y);
        for (uint32_t k = 0; k < m.n; k++)
            place_value(n, s, m.node[k]);
        if (a->node[i].kind == SB_NODE_WEIGHT && gauss && floats > slope)
            slope = floats;
        for (uint32_t k = 0; k < m.n && i > 0; k++) {
            release(n, s, last, a->node[m.node[k]].in, i);
            release(n, s, last, a->node[m.node[k]].other, i);
        }
    }
    s->b[s->n] = (struct buffer){.floats = slope};
    return s->n++;
}

static sb_status init_affine(struct sb_net *n)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < n->arch.nodes; i++)
        if (n->arch.node[i].kind == SB_NODE_NORM && n->arch.node[i].channels > most)
            most = n->arch.node[i].channels;
    n->affine = sb_malloc((size_t)2 * most, sizeof *n->affine);
    return n->affine ? SB_OK : sb_fail(SB_ENOMEM, "no memory for a norm of %u", most);
}

static sb_status lay_values_shared(struct sb_net *n, bool gauss)
{
    struct buffers s;
    uint32_t *last = sb_calloc(n->arch.nodes, sizeof *last);
    sb_status st = buffers_init(&s, n->arch.nodes);
    if (!last)
        st = sb_fail(SB_ENOMEM, "no memory to plan a network of %u nodes", n->arch.nodes);
    for (uint32_t i = 0; i < n->arch.nodes && st == SB_OK; i++)
        st = shape_of(n, i, &n->node[i].y);
    if (st != SB_OK || !last)
        goto done;
    find_last(n, last);
    uint32_t slope = plan_values(n, &s, last, gauss), prediction = s.n++;
    st = sb_act_shape(&n->head[0].prediction, n->lanes, n->max_batch, predictions_of(n),
                      1, 1);
    s.b[prediction] = (struct buffer){.floats = sb_act_size(&n->head[0].prediction)};
    if (st != SB_OK)
        goto done;
    st = buffers_allocate(&s, "activations", &n->values, &n->value_floats);
    if (st != SB_OK)
        goto done;
    n->head[0].prediction.data = s.b[prediction].data;
    for (uint32_t i = 0; i < n->arch.nodes; i++) {
        struct sb_net_node *node = &n->node[i];
        uint32_t buffer = s.of[home_of(&n->arch, i)];
        node->y.data =
            buffer == SB_NODE_NONE ? NULL : s.b[buffer].data + sb_act_lead(&node->y);
        node->slope = node->y;
        node->slope.data = s.b[slope].data;
    }
done:
    sb_free(last);
    buffers_fini(&s);
    return st;
}

/* ---- gradients ----------------------------------------------------------------------- */

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

/* Whether node i reads the images, or is a weight that reads a view of them. */
static bool reads_images(const struct sb_arch *a, uint32_t i)
{
    uint32_t in = a->node[i].in;
    return in == 0 || (a->node[i].kind == SB_NODE_WEIGHT && a->node[in].in == 0 &&
                       a->node[in].kind == SB_NODE_FLATTEN);
}

/* Walks backwards, as the gradients will be computed. */
static void plan_gradients(struct sb_net *n, struct buffers *s, bool input_gradient)
{
    for (uint32_t i = 0; i < n->arch.heads; i++)
        if (s->of[n->arch.head[i].node] == SB_NODE_NONE)
            place_gradient(n, s, n->arch.head[i].node, SB_NODE_NONE);
    for (uint32_t i = n->arch.nodes - 1; i > 0; i--) {
        const struct sb_arch_node *d = &n->arch.node[i];
        struct sb_net_node *node = &n->node[i];
        uint32_t own = s->of[i];
        if (own == SB_NODE_NONE) /* a view of the images, whose gradient nobody wants */
            continue;
        bool norm = d->kind == SB_NODE_NORM, residual = norm && d->other != SB_NODE_NONE;
        /* A norm's residual takes over the buffer; else the input may. */
        bool overwrites =
            (norm && !residual) || d->kind == SB_NODE_SCALE || d->kind == SB_NODE_MASK;
        /* what an addition passed on may be another node's gradient, too */
        bool stays = in_place(d->kind) || (overwrites && s->b[own].users == 1);
        node->in_wanted = input_gradient || !reads_images(&n->arch, i);
        if (d->other != SB_NODE_NONE)
            node->add_other = place_gradient(n, s, d->other, own);
        if (node->in_wanted)
            node->add_in = place_gradient(n, s, d->in, stays ? own : SB_NODE_NONE);
        s->b[own].users--;
    }
}

static sb_status lay_gradients(struct sb_net *n, bool input_gradient)
{
    struct buffers s;
    sb_status st = buffers_init(&s, n->arch.nodes);
    if (st != SB_OK)
        goto done;
    plan_gradients(n, &s, input_gradient);
    st = buffers_allocate(&s, "gradients", &n->gradients, &n->gradient_floats);
    if (st != SB_OK)
        goto done;
    for (uint32_t i = 0; i < n->arch.nodes; i++) {
        n->node[i].dy = n->node[i].y;
        n->node[i].dy.scale = n->node[i].dy.shift = NULL;
        n->node[i].dy.data = s.of[i] == SB_NODE_NONE ? NULL : s.b[s.of[i]].data;
    }
done:
    buffers_fini(&s);
    return st;
}

sb_status sb_net_plan(struct sb_net *n, bool gauss, bool inference, bool input_gradient)
{
    if (inference) {
        sb_status st = init_affine(n);
        return st == SB_OK ? lay_values_shared(n, gauss) : st;
    }
    sb_status st = lay_values(n, gauss, NULL, &n->value_floats);
    if (st != SB_OK)
        return st;
    n->values = sb_calloc(n->value_floats, sizeof(float));
    if (!n->values)
        return sb_fail(SB_ENOMEM, "no memory for activations: %zu MB",
                       n->value_floats * sizeof(float) >> 20);
    st = lay_values(n, gauss, n->values, &n->value_floats);
    return st == SB_OK ? lay_gradients(n, input_gradient) : st;
}

/* ---- scratch ------------------------------------------------------------------------- */

static size_t scratch_of(const struct sb_net *n, int threads)
{
    size_t most = 0;
    for (uint32_t i = 0; i < n->arch.weights; i++) {
        size_t bytes = sb_weight_scratch(&n->weight[i], threads);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Floats of the longest array that is summed over shards. */
static size_t longest_sum(const struct sb_net *n)
{
    size_t most = 0;
    for (uint32_t i = 0; i < n->arch.weights; i++) {
        size_t floats = sb_weight_gradient_floats(&n->weight[i]);
        most = floats > most ? floats : most;
    }
    for (uint32_t i = 0; i < n->arch.nodes; i++) {
        const struct sb_arch_node *d = &n->arch.node[i];
        size_t floats = d->kind == SB_NODE_SCALE ? sb_scale_gradient_floats(d) : 0;
        most = floats > most ? floats : most;
    }
    return most;
}

sb_status sb_net_plan_share(struct sb_net *n, const struct sb_net_options *o)
{
    uint32_t first;
    if (sb_comm_size(o->comm) < 2)
        return SB_OK;
    n->spread = sb_calloc(1, sizeof *n->spread);
    if (!n->spread)
        return sb_fail(SB_ENOMEM, "no memory to share batches");
    sb_status st = sb_spread_init(n->spread, o->comm, o->shard, o->max_batch);
    if (st != SB_OK)
        return st;
    n->shards.spread = n->spread;
    n->max_batch = sb_spread_rows(n->spread, o->max_batch, &first);
    n->shards.first = first / o->shard;
    return SB_OK;
}

static sb_status plan_exchange(struct sb_net *n)
{
    size_t sums = 1; /* the loss */
    for (uint32_t i = 0; i < n->arch.norms; i++)
        sums = n->norm[i].norm.channels > sums ? n->norm[i].norm.channels : sums;
    return n->spread ? sb_spread_reserve(n->spread, sums, n->sum_floats) : SB_OK;
}

sb_status sb_net_plan_sums(struct sb_net *n)
{
    uint32_t places =
        sb_tree_places(n->shards.first, sb_shards_of(&n->shards, n->max_batch));
    n->sum_floats = longest_sum(n);
    sb_status st = plan_exchange(n);
    if (st != SB_OK || places < 2)
        return st;
    n->sums = sb_calloc(places - 1, n->sum_floats * sizeof *n->sums);
    return n->sums ? SB_OK
                   : sb_fail(SB_ENOMEM, "no memory for gradients of shards: %zu MB",
                             (places - 1) * n->sum_floats * sizeof *n->sums >> 20);
}

sb_status sb_net_plan_scratch(struct sb_net *n, const struct sb_net_options *o)
{
    size_t most = o->shared ? 0 : scratch_of(n, n->threads);
    for (uint32_t i = 0; o->shared && i < o->shared_count; i++) {
        size_t bytes = scratch_of(&o->shared[i], n->threads);
        most = bytes > most ? bytes : most;
    }
    n->scratch_bytes = most;
    n->scratch = sb_malloc(most, 1);
    if (!n->scratch)
        return sb_fail(SB_ENOMEM, "no memory for %d threads' scratch", n->threads);
    return SB_OK;
}
