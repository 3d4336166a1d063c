/* net - see net.h. */
#include "nn/net.h"

#include <string.h>

#include "base/mem.h"
#include "kernels/spread.h"
#include "nn/fuse.h"
#include "nn/plan.h"
#include "nn/rows.h"

/* ---- life ---------------------------------------------------------------------------- */

enum { NORM_ARRAYS = 12 };

static sb_status norm_init(struct sb_net_norm *m, uint32_t channels)
{
    float **array[NORM_ARRAYS] = {
        &m->norm.gamma, &m->norm.beta,   &m->norm.running_mean, &m->norm.running_var,
        &m->norm.mean,  &m->norm.inv_sd, &m->norm.scale,        &m->norm.shift,
        &m->dgamma,     &m->dbeta,       &m->gamma_momentum,    &m->beta_momentum};
    m->memory = sb_calloc((size_t)NORM_ARRAYS * channels, sizeof(float));
    if (!m->memory)
        return sb_fail(SB_ENOMEM, "no memory for batch norm of %u channels", channels);
    for (size_t i = 0; i < NORM_ARRAYS; i++)
        *array[i] = m->memory + i * channels;
    m->norm.channels = channels;
    m->norm.epsilon = SB_NORM_EPSILON;
    m->norm.momentum = 0.1f;
    return SB_OK;
}

static sb_status init_weight(struct sb_net *n, const struct sb_net_options *o, uint32_t i,
                             uint32_t w)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    struct sb_weight_options wo = {
        .lanes = n->lanes,
        .max_batch = n->max_batch,
        .active = o->active ? o->active[w] : sb_conv_weights(&d->conv),
        .gauss = o->gauss,
        .group = d->linear ? 0 : o->group,
        .bias = d->bias,
        .inference = o->inference || o->single || o->parameters,
        .sliced = n->node[d->in].sliced,
    };
    n->weight_node[w] = i;
    if (o->prefix && i < n->borrowed)
        n->weight[w] = o->prefix->weight[w];
    return i < n->borrowed ? SB_OK : sb_weight_init(&n->weight[w], &d->conv, &wo);
}

static sb_status init_norm(struct sb_net *n, const struct sb_net_options *o, uint32_t i,
                           uint32_t m)
{
    n->norm_node[m] = i;
    if (o->prefix && i < n->borrowed)
        n->norm[m] = o->prefix->norm[m];
    return i < n->borrowed ? SB_OK : norm_init(&n->norm[m], n->arch.node[i].channels);
}

static sb_status init_noise(struct sb_net *n)
{
    struct sb_net_noise *m = &n->noise;
    uint32_t count = sb_likelihood_noise(n->arch.likelihood, n->arch.classes);
    if (count == 0)
        return SB_OK;
    m->memory = sb_calloc(3 * (size_t)count, sizeof *m->memory);
    if (!m->memory)
        return sb_fail(SB_ENOMEM, "no memory for the noise of %u targets", count);
    m->value = m->memory;
    m->gradient = m->value + count;
    m->momentum = m->gradient + count;
    return SB_OK;
}

static sb_status init_params(struct sb_net *n, const struct sb_net_options *o)
{
    uint32_t weights = 0, norms = 0, scales = 0, masks = 0;
    sb_status st = SB_OK;
    for (uint32_t i = 0; i < n->arch.nodes && st == SB_OK; i++) {
        const struct sb_arch_node *d = &n->arch.node[i];
        uint32_t *count = d->kind == SB_NODE_WEIGHT  ? &weights
                          : d->kind == SB_NODE_NORM  ? &norms
                          : d->kind == SB_NODE_SCALE ? &scales
                          : d->kind == SB_NODE_MASK  ? &masks
                                                     : NULL;
        if (!count)
            continue;
        uint32_t k = n->node[i].param = (*count)++;
        if (d->kind == SB_NODE_WEIGHT)
            st = init_weight(n, o, i, k);
        else if (d->kind == SB_NODE_NORM)
            st = init_norm(n, o, i, k);
        else if (d->kind == SB_NODE_SCALE)
            st = sb_scale_init(&n->scale[k], d);
        else if (!o->shared)
            st = sb_mask_init(&n->mask[k], d, n->arch.bands);
    }
    if (st == SB_OK && !o->shared)
        st = init_noise(n);
    return st == SB_OK && !o->shared ? sb_net_list_params(n, o) : st;
}

/* The architecture: made already, or by its shape. */
static sb_status init_arch(struct sb_net *n, const struct sb_net_options *o)
{
    sb_status st = SB_OK;
    if (o->made) {
        n->arch = *o->made;
        *o->made = (struct sb_arch){0};
    } else {
        st = sb_arch_init(&n->arch, &o->shape);
    }
    if (st == SB_OK)
        st = sb_arch_check(&n->arch);
    if (st == SB_OK && o->single)
        n->max_batch = sb_arch_band(&n->arch, n->lanes);
    n->borrowed = o->shared ? n->arch.nodes : o->prefix ? n->arch.shared : 0;
    return st;
}

static sb_status init_arrays(struct sb_net *n)
{
    const struct sb_arch *a = &n->arch;
    n->node = sb_calloc(a->nodes, sizeof *n->node);
    n->weight = sb_calloc(a->weights, sizeof *n->weight);
    n->weight_node = sb_calloc(a->weights, sizeof *n->weight_node);
    n->norm = sb_calloc(a->norms, sizeof *n->norm);
    n->norm_node = sb_calloc(a->norms, sizeof *n->norm_node);
    n->scale = sb_calloc(a->scales, sizeof *n->scale);
    n->mask = sb_calloc(a->masks, sizeof *n->mask);
    n->head = sb_calloc(a->heads, sizeof *n->head);
    n->drawn = sb_calloc(a->weights, sizeof *n->drawn);
    return n->node && n->weight && n->weight_node && n->norm && n->norm_node &&
                   n->scale && n->mask && n->head && n->drawn
               ? SB_OK
               : sb_fail(SB_ENOMEM, "no memory for a network of %u nodes", a->nodes);
}

static sb_status check_options(const struct sb_net_options *o)
{
    if (o->max_batch == 0 || o->threads < 1)
        return sb_fail(SB_EARG,
                       "a network for batches of %u on %d threads: both at least 1",
                       o->max_batch, o->threads);
    if (o->shard % SB_PARTIALS != 0)
        return sb_fail(SB_EARG, "shards of %u rows: want a multiple of %d", o->shard,
                       SB_PARTIALS);
    return SB_OK;
}

sb_status sb_net_init(struct sb_net *n, const struct sb_net_options *o)
{
    *n = (struct sb_net){.lanes = o->lanes,
                         .max_batch = o->max_batch,
                         .threads = o->threads,
                         .shards.width = o->shard};
    sb_status st = check_options(o);
    if (st == SB_OK)
        st = init_arch(n, o);
    if (st == SB_OK)
        st = init_arrays(n);
    bool predicts = o->inference || o->single || o->parameters || o->shared;
    if (st == SB_OK && !predicts)
        st = sb_net_plan_share(n, o);
    if (st != SB_OK)
        return st;
    if (predicts)
        sb_net_fuse(n);
    else
        sb_net_unstore_norms(n);
    if (predicts && !o->single && !o->gauss)
        sb_net_slice(n);
    st = init_params(n, o);
    if (st != SB_OK || o->parameters)
        return st;
    st = sb_net_plan(n, o->gauss, predicts, o->input_gradient);
    if (st == SB_OK)
        st = sb_net_plan_scratch(n, o);
    if (st == SB_OK && !predicts)
        st = sb_net_plan_sums(n);
    if (st != SB_OK)
        return st;
    sb_net_set_rows(n, n->spread ? o->max_batch : n->max_batch);
    if (o->shared)
        sb_net_share(n, &o->shared[0]);
    return SB_OK;
}

void sb_net_share(struct sb_net *n, const struct sb_net *from)
{
    memcpy(n->weight, from->weight, n->arch.weights * sizeof *n->weight);
    if (n->arch.norms > 0)
        memcpy(n->norm, from->norm, n->arch.norms * sizeof *n->norm);
    if (n->arch.masks > 0)
        memcpy(n->mask, from->mask, n->arch.masks * sizeof *n->mask);
    n->noise = from->noise;
}

void sb_net_fini(struct sb_net *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; n->weight && n->weight_node && i < n->arch.weights; i++)
        if (n->weight_node[i] >= n->borrowed)
            sb_weight_fini(&n->weight[i]);
    for (uint32_t i = 0; n->norm && n->norm_node && i < n->arch.norms; i++)
        if (n->norm_node[i] >= n->borrowed)
            sb_free(n->norm[i].memory);
    for (uint32_t i = 0; n->scale && i < n->arch.scales; i++)
        sb_scale_fini(&n->scale[i]);
    for (uint32_t i = 0; n->mask && n->borrowed < n->arch.nodes && i < n->arch.masks; i++)
        sb_free(n->mask[i].keep);
    if (n->borrowed < n->arch.nodes)
        sb_free(n->noise.memory);
    sb_param_list_fini(&n->params);
    sb_free(n->scale);
    sb_free(n->mask);
    sb_free(n->head);
    sb_free(n->drawn);
    sb_free(n->node);
    sb_free(n->weight);
    sb_free(n->weight_node);
    sb_free(n->norm);
    sb_free(n->norm_node);
    sb_free(n->scratch);
    sb_free(n->affine);
    sb_free(n->values);
    sb_free(n->gradients);
    sb_free(n->sums);
    sb_spread_fini(n->spread);
    sb_free(n->spread);
    sb_arch_fini(&n->arch);
    *n = (struct sb_net){0};
}

/* Outputs [first, end) of a layer become 0 whatever it reads. */
static void silence(struct sb_weight *w, uint32_t first, uint32_t end)
{
    uint32_t cols = sb_conv_cols(&w->conv);
    uint32_t from = w->dense ? first * cols : w->pattern.row_ptr[first];
    uint32_t to = w->dense ? end * cols : w->pattern.row_ptr[end];
    memset(w->mu + from, 0, (to - from) * sizeof *w->mu);
    if (w->bias)
        memset(w->bias + first, 0, (end - first) * sizeof *w->bias);
}

/* Every log-variance begins as 0: that of the targets, which are standardised. */
static void start_variances(struct sb_net *n)
{
    const struct sb_arch *a = &n->arch;
    uint32_t shared = sb_likelihood_noise(a->likelihood, a->classes);
    uint32_t targets = sb_likelihood_count(a->likelihood, a->classes);
    if (shared > 0)
        memset(n->noise.memory, 0, 3 * (size_t)shared * sizeof(float));
    for (uint32_t h = 0; targets < a->classes && h < a->heads; h++) {
        const struct sb_arch_node *d = &a->node[a->head[h].node];
        uint32_t first = a->head[h].first + targets, end = first + targets;
        uint32_t weight = d->kind == SB_NODE_SCALE ? d->in : a->head[h].node;
        silence(&n->weight[n->node[weight].param], first, end);
        if (d->kind == SB_NODE_SCALE && d->bias)
            for (uint32_t m = 0; m < d->scale.members; m++)
                memset(n->scale[n->node[a->head[h].node].param].bias +
                           (size_t)m * d->channels + first,
                       0, targets * sizeof(float));
    }
}

sb_status sb_net_start(struct sb_net *n, uint64_t seed, uint32_t member, float rho_init)
{
    for (uint32_t i = 0; i < n->arch.weights; i++) {
        sb_status st = sb_weight_start(&n->weight[i], seed, member, i, rho_init);
        if (st != SB_OK)
            return st;
    }
    for (uint32_t i = 0; i < n->arch.norms; i++) {
        struct sb_net_norm *m = &n->norm[i];
        memset(m->memory, 0, (size_t)NORM_ARRAYS * m->norm.channels * sizeof(float));
        for (uint32_t c = 0; c < m->norm.channels; c++)
            m->norm.gamma[c] = m->norm.running_var[c] = 1.0f;
    }
    for (uint32_t i = 0; i < n->arch.nodes; i++)
        if (n->arch.node[i].kind == SB_NODE_SCALE)
            sb_scale_start(&n->scale[n->node[i].param], &n->arch.node[i], seed, member,
                           n->node[i].param);
    start_variances(n);
    return SB_OK;
}

void sb_net_refresh(const struct sb_env *env, struct sb_net *n)
{
    for (uint32_t i = 0; i < n->arch.weights; i++)
        if (n->weight_node[i] >= n->borrowed)
            sb_weight_refresh(env, &n->weight[i]);
}

void sb_net_set_batch(struct sb_net *n, uint32_t batch)
{
    for (uint32_t i = 0; i < n->arch.nodes; i++) {
        sb_act_set_batch(&n->node[i].y, batch);
        sb_act_set_batch(&n->node[i].slope, batch);
        sb_act_set_batch(&n->node[i].dy, batch);
    }
    for (uint32_t i = 0; i < n->arch.scales; i++) {
        struct sb_net_scale *c = &n->scale[i];
        struct sb_act *act[] = {&c->factor, &c->shift, &c->dfactor, &c->dshift, &c->eps};
        for (size_t k = 0; k < sizeof act / sizeof *act; k++)
            sb_act_set_batch(act[k], batch);
    }
    for (uint32_t i = 0; i < n->arch.masks; i++)
        sb_act_set_batch(&n->mask[i].drop, batch);
    for (uint32_t i = 0; i < n->arch.heads; i++) {
        const struct sb_arch_head *h = &n->arch.head[i];
        n->head[i].logits = sb_net_head_view(n, &n->node[h->node].y, i);
        sb_act_set_batch(&n->head[i].prediction, batch);
    }
    n->input = n->node[0].y;
    if (!n->spread)
        n->shards.rows = batch;
}

uint32_t sb_net_share_of(const struct sb_net *n, uint32_t rows, uint32_t *first)
{
    *first = 0;
    return n->spread ? sb_spread_rows(n->spread, rows, first) : rows;
}

void sb_net_set_rows(struct sb_net *n, uint32_t rows)
{
    uint32_t first;
    sb_net_set_batch(n, sb_net_share_of(n, rows, &first));
    if (!n->spread)
        return;
    n->shards.rows = rows;
    n->shards.first = first / n->shards.width;
    sb_spread_set(n->spread, rows);
}

struct sb_act sb_net_head_view(const struct sb_net *n, const struct sb_act *a, uint32_t i)
{
    struct sb_act view = *a;
    view.channels = n->arch.classes;
    view.data = a->data ? a->data + n->arch.head[i].first * a->plane : NULL;
    return view;
}

void sb_net_set_input(struct sb_net *n, const struct sb_act *x)
{
    struct sb_act *y = &n->node[0].y;
    sb_net_set_batch(n, x->batch);
    if (y->plane == x->plane) {
        y->data = x->data;
    } else {
        y->data = n->values; /* its own memory: the first of all values */
        for (uint32_t b = 0; b < x->blocks; b++)
            for (uint32_t c = 0; c < x->channels; c++)
                memcpy(sb_act_plane(y, b, c), sb_act_plane(x, b, c),
                       (size_t)x->height * x->width * x->lanes * sizeof(float));
    }
    for (uint32_t i = 1; i < n->arch.nodes; i++) /* views of the images */
        if (n->arch.node[i].kind == SB_NODE_FLATTEN && n->arch.node[i].in == 0)
            n->node[i].y.data = y->data;
    n->input = *y;
}
