/* trained - see trained.h. */
#include "nn/trained.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

/* ---- life -------------------------------------------------------------------------- */

/* Cuts the block: a first round, base NULL, counts; a second sets the pointers. All
 * elements have four bytes. */
struct cutter {
    float *base;
    size_t used;
};

static float *cut(struct cutter *c, size_t n)
{
    float *piece = c->base ? c->base + c->used : NULL;
    c->used += n;
    return piece;
}

static bool is_sparse(const struct sb_param *p)
{
    return p->weight != SB_NODE_NONE && p->count < sb_param_all(p);
}

static size_t cut_all(struct sb_trained *t, float *base)
{
    struct cutter c = {base, 0};
    for (uint32_t i = 0; i < t->params.n; i++) {
        struct sb_param *p = &t->params.param[i];
        if (p->role == SB_PARAM_MU && is_sparse(p))
            t->position[p->weight] = (int32_t *)(void *)cut(&c, p->count);
        p->value = cut(&c, p->count);
    }
    return c.used;
}

static sb_status index_weights(struct sb_trained *t, uint32_t weights)
{
    t->mu = sb_calloc(weights, sizeof *t->mu);
    t->position = sb_calloc(weights, sizeof *t->position);
    if (!t->mu || !t->position)
        return sb_fail(SB_ENOMEM, "no memory for the numbers of %u layers", weights);
    t->weights = weights;
    for (uint32_t i = 0; i < t->params.n; i++)
        if (t->params.param[i].role == SB_PARAM_MU)
            t->mu[t->params.param[i].weight] = i;
    return SB_OK;
}

sb_status sb_trained_plan_shell(struct sb_trained *t, const struct sb_arch *a,
                                const uint32_t *active, bool gauss)
{
    *t = (struct sb_trained){.gauss = gauss, .shared = a->shared};
    t->figures.of = sb_figures_none(a->likelihood);
    sb_status st = sb_param_list_init(&t->params, a, active, gauss);
    return st == SB_OK ? index_weights(t, a->weights) : st;
}

sb_status sb_trained_plan(struct sb_trained *t, const struct sb_arch *a,
                          const uint32_t *active, bool gauss)
{
    sb_status st = sb_trained_plan_shell(t, a, active, gauss);
    if (st != SB_OK)
        return st;
    size_t elements = cut_all(t, NULL);
    t->memory = sb_calloc(elements, sizeof(float));
    if (!t->memory)
        return sb_fail(SB_ENOMEM, "no memory for a network's %zu numbers", elements);
    t->bytes = elements * sizeof(float);
    cut_all(t, t->memory);
    return SB_OK;
}

sb_status sb_trained_init(struct sb_trained *t, const struct sb_net *net)
{
    *t = (struct sb_trained){0};
    uint32_t *active = sb_malloc(net->arch.weights, sizeof *active);
    if (!active)
        return sb_fail(SB_ENOMEM, "no memory for the numbers of %u layers",
                       net->arch.weights);
    for (uint32_t i = 0; i < net->arch.weights; i++)
        active[i] = net->weight[i].nnz;
    sb_status st =
        sb_trained_plan(t, &net->arch, active, net->arch.weights && net->weight[0].gauss);
    sb_free(active);
    return st;
}

void sb_trained_fini(struct sb_trained *t)
{
    if (!t)
        return;
    sb_param_list_fini(&t->params);
    sb_free(t->mu);
    sb_free(t->position);
    sb_free(t->memory);
    *t = (struct sb_trained){0};
}

sb_status sb_trained_view(const struct sb_trained *t, struct sb_trained *to)
{
    *to = *t;
    to->memory = NULL;
    to->bytes = 0;
    to->params.param = sb_malloc(t->params.n, sizeof *t->params.param);
    to->mu = sb_malloc(t->weights, sizeof *t->mu);
    to->position = sb_malloc(t->weights, sizeof *t->position);
    if (!to->params.param || !to->mu || !to->position)
        return sb_fail(SB_ENOMEM, "no memory for a view of %u layers", t->weights);
    memcpy(to->params.param, t->params.param, t->params.n * sizeof *t->params.param);
    memcpy(to->mu, t->mu, t->weights * sizeof *t->mu);
    memcpy(to->position, t->position, t->weights * sizeof *t->position);
    return SB_OK;
}

sb_status sb_trained_copy(const struct sb_trained *t, struct sb_trained *to)
{
    sb_status st = sb_trained_view(t, to);
    if (st != SB_OK)
        return st;
    to->memory = sb_malloc(t->bytes, 1);
    to->bytes = t->bytes;
    if (!to->memory)
        return sb_fail(SB_ENOMEM, "no memory for a copy of a network, %zu bytes",
                       t->bytes);
    memcpy(to->memory, t->memory, t->bytes);
    cut_all(to, to->memory);
    return SB_OK;
}

/* ---- to and from a network --------------------------------------------------------- */

struct sb_param *sb_trained_find(const struct sb_trained *t, uint32_t node,
                                 enum sb_param_role role)
{
    for (uint32_t i = 0; i < t->params.n; i++)
        if (t->params.param[i].node == node && t->params.param[i].role == role)
            return &t->params.param[i];
    return NULL;
}

/* The record of t that fits record p of a net, going on from *at; a point net has no place
 * for the deviations of a Gaussian, never the other way round. */
static struct sb_param *next_like(const struct sb_trained *t, const struct sb_param *p,
                                  uint32_t *at)
{
    for (; *at < t->params.n; ++*at) {
        struct sb_param *mine = &t->params.param[*at];
        if (sb_param_alike(mine, p)) {
            ++*at;
            return mine;
        }
        if (mine->role != SB_PARAM_RHO)
            break;
    }
    return NULL;
}

static sb_status check_fit(const struct sb_trained *t, const struct sb_net *net,
                           bool saving)
{
    uint32_t at = 0;
    bool gauss = net->arch.weights > 0 && net->weight[0].gauss;
    for (uint32_t i = 0; i < net->params.n; i++) {
        const struct sb_param *p = &net->params.param[i];
        if (p->role == SB_PARAM_RHO && !t->gauss)
            break;
        const struct sb_param *mine = next_like(t, p, &at);
        if (!mine)
            return sb_fail(SB_EARG,
                           "the numbers are not those of this network: %s.%s with %u "
                           "numbers is not where it belongs",
                           p->layer, p->part, p->count);
        if (p->role == SB_PARAM_MU &&
            !t->position[mine->weight] != net->weight[p->weight].dense)
            return sb_fail(SB_EARG, "layer %s: one is dense, the other is not", p->layer);
    }
    if (saving ? gauss != t->gauss : gauss && !t->gauss)
        return sb_fail(SB_EARG, "the numbers are %s, the network's weights are %s",
                       t->gauss ? "Gaussian" : "points", gauss ? "Gaussian" : "points");
    while (!saving && at < t->params.n && t->params.param[at].role == SB_PARAM_RHO)
        at++;
    if (at < t->params.n || (saving && t->params.n != net->params.n))
        return sb_fail(SB_EARG,
                       "the numbers are not those of this network: it has no %s.%s",
                       t->params.param[at < t->params.n ? at : 0].layer,
                       t->params.param[at < t->params.n ? at : 0].part);
    return SB_OK;
}

static void copy(float *to, const float *from, size_t n)
{
    if (n > 0)
        memcpy(to, from, n * sizeof *to);
}

sb_status sb_trained_save(struct sb_trained *t, const struct sb_net *net)
{
    sb_status st = check_fit(t, net, true);
    for (uint32_t i = 0; st == SB_OK && i < t->params.n; i++) {
        struct sb_param *to = &t->params.param[i];
        const struct sb_param *from = &net->params.param[i];
        if (to->role == SB_PARAM_MU) {
            const struct sb_weight *w = &net->weight[to->weight];
            if (t->position[to->weight])
                st = sb_pattern_positions(&w->pattern, t->position[to->weight]);
            sb_weight_get(w, to->value, t->gauss ? t->params.param[to->rho].value : NULL);
        } else if (to->role != SB_PARAM_RHO) {
            copy(to->value, from->value, to->count);
        }
    }
    return st;
}

static sb_status load_pattern(const int32_t *position, uint32_t nnz, struct sb_weight *w)
{
    struct sb_pattern p;
    sb_status st =
        sb_pattern_from_positions(&p, w->conv.out, sb_conv_cols(&w->conv), position, nnz);
    if (st == SB_OK)
        st = sb_weight_set_pattern(w, &p);
    sb_pattern_fini(&p);
    return st;
}

static sb_status load_weight(const struct sb_trained *t, const struct sb_param *from,
                             struct sb_weight *w)
{
    const int32_t *position = t->position[from->weight];
    sb_status st = position ? load_pattern(position, from->count, w) : SB_OK;
    if (st == SB_OK)
        sb_weight_set(w, from->value, w->gauss ? t->params.param[from->rho].value : NULL);
    return st;
}

static sb_status load(const struct sb_trained *t, struct sb_net *net)
{
    uint32_t at = 0;
    sb_status st = check_fit(t, net, false);
    for (uint32_t i = 0; st == SB_OK && i < net->params.n; i++) {
        struct sb_param *to = &net->params.param[i];
        const struct sb_param *from = next_like(t, to, &at);
        if (to->node < net->borrowed && to->role != SB_PARAM_KEEP)
            continue; /* whoever lends it has loaded it */
        if (to->role == SB_PARAM_MU)
            st = load_weight(t, from, &net->weight[to->weight]);
        else if (to->role != SB_PARAM_RHO)
            copy(to->value, from->value, to->count);
        if (to->momentum)
            memset(to->momentum, 0, to->count * sizeof(float));
    }
    return st;
}

sb_status sb_trained_load(const struct sb_trained *t, const struct sb_env *env,
                          struct sb_net *net)
{
    sb_status st = load(t, net);
    if (st == SB_OK)
        sb_net_refresh(env, net);
    return st;
}

void sb_trained_draw_layer(const struct sb_trained *t, const struct sb_env *env,
                           uint32_t layer, uint32_t draw, float *out)
{
    const struct sb_param *mu = &t->params.param[t->mu[layer]];
    uint32_t branch = mu->node < t->shared ? 0 : t->branch;
    struct sb_stream s =
        sb_rng_stream(t->sample_seed, SB_RNG_SAMPLE, branch, draw, layer);
    if (t->gauss)
        sb_params_sample(env, &s, mu->value, t->params.param[mu->rho].value, out,
                         mu->count);
    else
        copy(out, mu->value, mu->count);
}

size_t sb_trained_largest(const struct sb_trained *t)
{
    size_t most = 0;
    for (uint32_t i = 0; i < t->weights; i++) {
        size_t count = t->params.param[t->mu[i]].count;
        most = count > most ? count : most;
    }
    return most;
}

sb_status sb_trained_draw(const struct sb_trained *t, const struct sb_env *env,
                          struct sb_net *net, uint32_t draw)
{
    sb_status st = load(t, net);
    if (st != SB_OK)
        return st;
    float *drawn = sb_malloc(sb_trained_largest(t), sizeof *drawn);
    if (!drawn)
        return sb_fail(SB_ENOMEM, "no memory to draw the weights of a layer");
    for (uint32_t i = 0; i < t->weights; i++) {
        if (net->weight_node[i] < net->borrowed)
            continue;
        sb_trained_draw_layer(t, env, i, draw, drawn);
        sb_weight_set(&net->weight[i], drawn, NULL);
    }
    sb_free(drawn);
    sb_net_refresh(env, net);
    return SB_OK;
}

void sb_trained_active(const struct sb_trained *t, uint32_t *active)
{
    for (uint32_t i = 0; i < t->weights; i++)
        active[i] = t->params.param[t->mu[i]].count;
}
