/* member - see member.h. */
#include "model/member.h"

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

static void cut_weight(struct cutter *c, struct sb_member_weight *w, uint32_t all,
                       bool gauss)
{
    w->position = w->nnz < all ? (int32_t *)(void *)cut(c, w->nnz) : NULL;
    w->mu = cut(c, w->nnz);
    w->rho = gauss ? cut(c, w->nnz) : NULL;
    w->bias = w->out > 0 ? cut(c, w->out) : NULL;
}

static size_t cut_all(struct sb_member *m, const struct sb_arch *a, float *base)
{
    struct cutter c = {base, 0};
    uint32_t i = 0, j = 0;
    for (uint32_t k = 0; k < a->nodes; k++) {
        const struct sb_arch_node *d = &a->node[k];
        if (d->kind == SB_NODE_WEIGHT) {
            cut_weight(&c, &m->weight[i++], sb_conv_weights(&d->conv), m->gauss);
        } else if (d->kind == SB_NODE_NORM) {
            struct sb_member_norm *n = &m->norm[j++];
            n->gamma = cut(&c, n->channels);
            n->beta = cut(&c, n->channels);
            n->running_mean = cut(&c, n->channels);
            n->running_var = cut(&c, n->channels);
        }
    }
    return c.used;
}

static sb_status set_sizes(struct sb_member *m, const struct sb_arch *a,
                           const uint32_t *active)
{
    uint32_t i = 0, j = 0;
    for (uint32_t k = 0; k < a->nodes; k++) {
        const struct sb_arch_node *d = &a->node[k];
        if (d->kind == SB_NODE_NORM)
            m->norm[j++].channels = d->channels;
        if (d->kind != SB_NODE_WEIGHT)
            continue;
        uint32_t all = sb_conv_weights(&d->conv), nnz = active ? active[i] : all;
        if (nnz == 0 || nnz > all)
            return sb_fail(SB_EARG, "member: layer %s with %u of %u weights", d->name,
                           nnz, all);
        if (nnz < all && all > (uint32_t)INT32_MAX)
            return sb_fail(SB_EARG,
                           "member: layer %s has %u weights, too many for 32-bit "
                           "positions",
                           d->name, all);
        m->weight[i].nnz = nnz;
        m->weight[i++].out = d->bias ? d->conv.out : 0;
    }
    return SB_OK;
}

sb_status sb_member_plan_shell(struct sb_member *m, const struct sb_arch *a,
                               const uint32_t *active, bool gauss)
{
    *m = (struct sb_member){.gauss = gauss};
    m->figures = (struct sb_member_figures){NAN, NAN, NAN, 0};
    m->weight = sb_calloc(a->weights, sizeof *m->weight);
    m->norm = sb_calloc(a->norms, sizeof *m->norm);
    if (!m->weight || !m->norm)
        return sb_fail(SB_ENOMEM, "no memory for a member of %u layers", a->weights);
    m->weights = a->weights;
    m->norms = a->norms;
    return set_sizes(m, a, active);
}

sb_status sb_member_plan(struct sb_member *m, const struct sb_arch *a,
                         const uint32_t *active, bool gauss)
{
    sb_status st = sb_member_plan_shell(m, a, active, gauss);
    if (st != SB_OK)
        return st;
    size_t elements = cut_all(m, a, NULL);
    m->memory = sb_calloc(elements, sizeof(float));
    if (!m->memory)
        return sb_fail(SB_ENOMEM, "no memory for a member of %zu numbers", elements);
    m->bytes = elements * sizeof(float);
    cut_all(m, a, m->memory);
    return SB_OK;
}

sb_status sb_member_init(struct sb_member *m, const struct sb_net *net)
{
    *m = (struct sb_member){0};
    uint32_t *active = sb_malloc(net->arch.weights, sizeof *active);
    if (!active)
        return sb_fail(SB_ENOMEM, "no memory for a member of %u layers",
                       net->arch.weights);
    for (uint32_t i = 0; i < net->arch.weights; i++)
        active[i] = net->weight[i].nnz;
    sb_status st =
        sb_member_plan(m, &net->arch, active, net->arch.weights && net->weight[0].gauss);
    sb_free(active);
    return st;
}

void sb_member_fini(struct sb_member *m)
{
    if (!m)
        return;
    sb_free(m->weight);
    sb_free(m->norm);
    sb_free(m->memory);
    *m = (struct sb_member){0};
}

/* The array of `to` that is where x is in `from`; NULL stays. */
static void *moved(const struct sb_member *from, const struct sb_member *to,
                   const void *x)
{
    return x ? (char *)to->memory + ((const char *)x - (const char *)from->memory) : NULL;
}

static void move_arrays(const struct sb_member *from, struct sb_member *to)
{
    for (uint32_t i = 0; i < to->weights; i++) {
        struct sb_member_weight *w = &to->weight[i];
        w->position = moved(from, to, w->position);
        w->mu = moved(from, to, w->mu);
        w->rho = moved(from, to, w->rho);
        w->bias = moved(from, to, w->bias);
    }
    for (uint32_t i = 0; i < to->norms; i++) {
        struct sb_member_norm *n = &to->norm[i];
        n->gamma = moved(from, to, n->gamma);
        n->beta = moved(from, to, n->beta);
        n->running_mean = moved(from, to, n->running_mean);
        n->running_var = moved(from, to, n->running_var);
    }
}

sb_status sb_member_copy(const struct sb_member *m, struct sb_member *to)
{
    *to = *m;
    to->weight = sb_malloc(m->weights, sizeof *m->weight);
    to->norm = sb_malloc(m->norms, sizeof *m->norm);
    to->memory = sb_malloc(m->bytes, 1);
    if (!to->weight || !to->norm || !to->memory)
        return sb_fail(SB_ENOMEM, "no memory for a copy of a member, %zu bytes",
                       m->bytes);
    memcpy(to->weight, m->weight, m->weights * sizeof *m->weight);
    memcpy(to->norm, m->norm, m->norms * sizeof *m->norm);
    memcpy(to->memory, m->memory, m->bytes);
    move_arrays(m, to);
    return SB_OK;
}

/* ---- to and from a network --------------------------------------------------------- */

/* A point network may take a Gaussian member's means, never the other way round. */
static sb_status check_fit(const struct sb_member *m, const struct sb_net *net,
                           bool saving)
{
    if (m->weights != net->arch.weights || m->norms != net->arch.norms)
        return sb_fail(SB_EARG,
                       "member: %u layers and %u norms; the network has %u and %u",
                       m->weights, m->norms, net->arch.weights, net->arch.norms);
    for (uint32_t i = 0; i < m->weights; i++) {
        const struct sb_member_weight *a = &m->weight[i];
        const struct sb_weight *w = &net->weight[i];
        const char *name = net->arch.node[net->weight_node[i]].name;
        if (a->nnz != w->nnz || !a->position != w->dense ||
            a->out != (w->bias ? w->conv.out : 0))
            return sb_fail(SB_EARG,
                           "member: layer %s has %u weights%s; the network's has %u%s",
                           name, a->nnz, a->position ? "" : " (all)", w->nnz,
                           w->dense ? " (all)" : "");
        if (saving ? w->gauss != m->gauss : w->gauss && !m->gauss)
            return sb_fail(SB_EARG, "member: layer %s is %s; the network's is %s", name,
                           m->gauss ? "Gaussian" : "a point",
                           w->gauss ? "Gaussian" : "a point");
    }
    for (uint32_t i = 0; i < m->norms; i++)
        if (m->norm[i].channels != net->norm[i].norm.channels)
            return sb_fail(SB_EARG, "member: norm %s has %u channels; the network's %u",
                           net->arch.node[net->norm_node[i]].name, m->norm[i].channels,
                           net->norm[i].norm.channels);
    return SB_OK;
}

static void copy(float *to, const float *from, size_t n)
{
    if (n > 0)
        memcpy(to, from, n * sizeof *to);
}

sb_status sb_member_save(struct sb_member *m, const struct sb_net *net)
{
    sb_status st = check_fit(m, net, true);
    for (uint32_t i = 0; st == SB_OK && i < m->weights; i++) {
        const struct sb_weight *w = &net->weight[i];
        struct sb_member_weight *to = &m->weight[i];
        if (to->position)
            st = sb_pattern_positions(&w->pattern, to->position);
        sb_weight_give(w, to->mu, m->gauss ? to->rho : NULL);
        copy(to->bias, w->bias, to->out);
    }
    for (uint32_t i = 0; st == SB_OK && i < m->norms; i++) {
        const struct sb_norm *n = &net->norm[i].norm;
        struct sb_member_norm *to = &m->norm[i];
        copy(to->gamma, n->gamma, n->channels);
        copy(to->beta, n->beta, n->channels);
        copy(to->running_mean, n->running_mean, n->channels);
        copy(to->running_var, n->running_var, n->channels);
    }
    return st;
}

static sb_status load_pattern(const struct sb_member_weight *from, struct sb_weight *w)
{
    struct sb_pattern p;
    sb_status st = sb_pattern_from_positions(&p, w->conv.out, sb_conv_cols(&w->conv),
                                             from->position, from->nnz);
    if (st == SB_OK)
        st = sb_weight_set_pattern(w, &p);
    sb_pattern_fini(&p);
    return st;
}

static sb_status load_weight(const struct sb_member_weight *from, struct sb_weight *w)
{
    sb_status st = from->position ? load_pattern(from, w) : SB_OK;
    if (st != SB_OK)
        return st;
    sb_weight_take(w, from->mu, w->gauss ? from->rho : NULL);
    sb_weight_rest(w);
    copy(w->bias, from->bias, from->out);
    return SB_OK;
}

static void load_norm(const struct sb_member_norm *from, struct sb_net_norm *m)
{
    uint32_t channels = from->channels;
    copy(m->norm.gamma, from->gamma, channels);
    copy(m->norm.beta, from->beta, channels);
    copy(m->norm.running_mean, from->running_mean, channels);
    copy(m->norm.running_var, from->running_var, channels);
    memset(m->gamma_momentum, 0, channels * sizeof(float));
    memset(m->beta_momentum, 0, channels * sizeof(float));
}

static sb_status load(const struct sb_member *m, struct sb_net *net)
{
    sb_status st = check_fit(m, net, false);
    for (uint32_t i = 0; st == SB_OK && i < m->weights; i++)
        st = load_weight(&m->weight[i], &net->weight[i]);
    for (uint32_t i = 0; st == SB_OK && i < m->norms; i++)
        load_norm(&m->norm[i], &net->norm[i]);
    return st;
}

sb_status sb_member_load(const struct sb_member *m, const struct sb_env *env,
                         struct sb_net *net)
{
    sb_status st = load(m, net);
    if (st == SB_OK)
        sb_net_refresh(env, net);
    return st;
}

void sb_member_draw_layer(const struct sb_member *m, const struct sb_env *env,
                          uint32_t layer, uint32_t draw, float *out)
{
    const struct sb_member_weight *w = &m->weight[layer];
    struct sb_stream s = sb_rng_stream(m->sample_seed, SB_RNG_SAMPLE, 0, draw, layer);
    if (m->gauss)
        sb_params_sample(env, &s, w->mu, w->rho, out, w->nnz);
    else
        copy(out, w->mu, w->nnz);
}

size_t sb_member_largest(const struct sb_member *m)
{
    size_t most = 0;
    for (uint32_t i = 0; i < m->weights; i++)
        most = m->weight[i].nnz > most ? m->weight[i].nnz : most;
    return most;
}

sb_status sb_member_draw(const struct sb_member *m, const struct sb_env *env,
                         struct sb_net *net, uint32_t draw)
{
    sb_status st = load(m, net);
    if (st != SB_OK)
        return st;
    float *drawn = sb_malloc(sb_member_largest(m), sizeof *drawn);
    if (!drawn)
        return sb_fail(SB_ENOMEM, "no memory to draw the weights of a layer");
    for (uint32_t i = 0; i < m->weights; i++) {
        sb_member_draw_layer(m, env, i, draw, drawn);
        sb_weight_take(&net->weight[i], drawn, NULL);
    }
    sb_free(drawn);
    sb_net_refresh(env, net);
    return SB_OK;
}

/* ---- layout ------------------------------------------------------------------------ */

bool sb_member_alike(const struct sb_member *a, const struct sb_member *b)
{
    if (a->weights != b->weights || a->norms != b->norms || a->gauss != b->gauss)
        return false;
    for (uint32_t i = 0; i < a->weights; i++) {
        const struct sb_member_weight *x = &a->weight[i], *y = &b->weight[i];
        if (x->nnz != y->nnz || x->out != y->out || !x->position != !y->position)
            return false;
    }
    for (uint32_t i = 0; i < a->norms; i++)
        if (a->norm[i].channels != b->norm[i].channels)
            return false;
    return true;
}

void sb_member_active(const struct sb_member *m, uint32_t *active)
{
    for (uint32_t i = 0; i < m->weights; i++)
        active[i] = m->weight[i].nnz;
}
