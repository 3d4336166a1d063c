/* param - see param.h. */
#include "nn/param.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* What a role is, whatever the architecture. */
static const struct {
    const char *part;
    enum sb_rate_group rate;
    bool decays;
} role_table[] = {
    [SB_PARAM_MU] = {"mu", SB_RATE_MU, true},
    [SB_PARAM_RHO] = {"rho", SB_RATE_RHO, false},
    [SB_PARAM_BIAS] = {"bias", SB_RATE_MU, true},
    [SB_PARAM_GAMMA] = {"weight", SB_RATE_MU, true},
    [SB_PARAM_BETA] = {"bias", SB_RATE_MU, true},
    [SB_PARAM_RUNNING_MEAN] = {"running_mean", SB_RATE_NONE, false},
    [SB_PARAM_RUNNING_VAR] = {"running_var", SB_RATE_NONE, false},
    [SB_PARAM_SCALE] = {"", SB_RATE_SCALE, false},
    [SB_PARAM_SCALE_RHO] = {"", SB_RATE_SCALE, false},
    [SB_PARAM_SCALE_BIAS] = {"bias", SB_RATE_SCALE, false},
    [SB_PARAM_KEEP] = {"keep", SB_RATE_NONE, false},
    [SB_PARAM_NOISE] = {"log_variance", SB_RATE_MU, false},
};

enum { MOST_OF_A_NODE = 4, MOST_OF_NONE = 1 };

/* What stands for a layer's name in the record that belongs to no node. */
static const char no_node[SB_NODE_NAME] = "noise";

/* Writes the next record of node `node` and returns it. */
static struct sb_param *append(struct sb_param_list *l, const struct sb_arch *a,
                               uint32_t node, enum sb_param_role role, uint32_t ndim,
                               const uint32_t *dim)
{
    struct sb_param *p = &l->param[l->n++];
    *p = (struct sb_param){.role = role,
                           .node = node,
                           .weight = SB_NODE_NONE,
                           .ndim = ndim,
                           .rate = role_table[role].rate,
                           .decays = role_table[role].decays,
                           .rho = SB_NODE_NONE};
    memcpy(p->layer, node == SB_NODE_NONE ? no_node : a->node[node].name,
           sizeof p->layer);
    snprintf(p->part, sizeof p->part, "%s", role_table[role].part);
    memcpy(p->dim, dim, ndim * sizeof *dim);
    p->count = sb_param_all(p);
    return p;
}

static sb_status append_weight(struct sb_param_list *l, const struct sb_arch *a,
                               uint32_t node, uint32_t weight, uint32_t active,
                               bool gauss)
{
    const struct sb_arch_node *d = &a->node[node];
    const uint32_t dim[] = {d->conv.out, d->conv.in, d->conv.kh, d->conv.kw};
    uint32_t all = sb_conv_weights(&d->conv), mu = l->n;
    if (active == 0 || active > all)
        return sb_fail(SB_EARG, "layer %s has %u of %u weights; must be 1 to all",
                       d->name, active, all);
    if (active < all && all > (uint32_t)INT32_MAX)
        return sb_fail(SB_EARG, "layer %s has %u weights, too many for 32-bit positions",
                       d->name, all);
    for (int i = 0; i < (gauss ? 2 : 1); i++) {
        struct sb_param *p = append(l, a, node, i == 0 ? SB_PARAM_MU : SB_PARAM_RHO,
                                    d->linear ? 2 : 4, dim);
        p->weight = weight;
        p->count = active;
    }
    if (gauss)
        l->param[mu].rho = mu + 1;
    if (d->bias)
        append(l, a, node, SB_PARAM_BIAS, 1, dim);
    return SB_OK;
}

static void append_norm(struct sb_param_list *l, const struct sb_arch *a, uint32_t node)
{
    const uint32_t channels = a->node[node].channels;
    append(l, a, node, SB_PARAM_GAMMA, 1, &channels);
    append(l, a, node, SB_PARAM_BETA, 1, &channels);
    append(l, a, node, SB_PARAM_RUNNING_MEAN, 1, &channels);
    append(l, a, node, SB_PARAM_RUNNING_VAR, 1, &channels);
}

static void append_scale(struct sb_param_list *l, const struct sb_arch *a, uint32_t node)
{
    const struct sb_arch_node *d = &a->node[node];
    const uint32_t dim[] = {d->scale.members, d->channels};
    uint32_t first = l->n;
    struct sb_param *p = append(l, a, node, SB_PARAM_SCALE, 2, dim);
    snprintf(p->part, sizeof p->part, d->scale.gauss ? "%c.mu" : "%c", d->scale.part);
    if (d->scale.gauss) {
        l->param[first].rho = first + 1;
        p = append(l, a, node, SB_PARAM_SCALE_RHO, 2, dim);
        snprintf(p->part, sizeof p->part, "%c.rho", d->scale.part);
    }
    if (d->bias)
        append(l, a, node, SB_PARAM_SCALE_BIAS, 2, dim);
}

static void append_mask(struct sb_param_list *l, const struct sb_arch *a, uint32_t node)
{
    const struct sb_arch_node *d = &a->node[node];
    uint32_t bands = a->bands ? a->bands : 1; /* a mask has whole planes */
    const uint32_t dim[] = {d->channels, d->height * bands, d->width};
    if (d->mask.given)
        append(l, a, node, SB_PARAM_KEEP, 3, dim);
}

static void append_noise(struct sb_param_list *l, const struct sb_arch *a)
{
    const uint32_t count = sb_likelihood_noise(a->likelihood, a->classes);
    if (count > 0)
        append(l, a, SB_NODE_NONE, SB_PARAM_NOISE, 1, &count);
}

sb_status sb_param_list_init(struct sb_param_list *l, const struct sb_arch *a,
                             const uint32_t *active, bool gauss)
{
    uint32_t w = 0;
    sb_status st = SB_OK;
    *l = (struct sb_param_list){
        .param = sb_calloc((size_t)MOST_OF_A_NODE * a->nodes + MOST_OF_NONE,
                           sizeof *l->param)};
    if (!l->param)
        return sb_fail(SB_ENOMEM, "no memory to list the parameters of %u nodes",
                       a->nodes);
    for (uint32_t i = 0; i < a->nodes && st == SB_OK; i++) {
        const struct sb_arch_node *d = &a->node[i];
        if (d->kind == SB_NODE_WEIGHT) {
            st = append_weight(l, a, i, w, active ? active[w] : sb_conv_weights(&d->conv),
                               gauss);
            w++;
        } else if (d->kind == SB_NODE_NORM) {
            append_norm(l, a, i);
        } else if (d->kind == SB_NODE_SCALE) {
            append_scale(l, a, i);
        } else if (d->kind == SB_NODE_MASK) {
            append_mask(l, a, i);
        }
    }
    if (st == SB_OK)
        append_noise(l, a);
    return st;
}

void sb_param_list_fini(struct sb_param_list *l)
{
    if (!l)
        return;
    sb_free(l->param);
    *l = (struct sb_param_list){0};
}

uint32_t sb_param_all(const struct sb_param *p)
{
    uint32_t all = 1;
    for (uint32_t i = 0; i < p->ndim; i++)
        all *= p->dim[i];
    return all;
}

bool sb_param_alike(const struct sb_param *a, const struct sb_param *b)
{
    return a->count == b->count && strcmp(a->layer, b->layer) == 0 &&
           strcmp(a->part, b->part) == 0;
}
