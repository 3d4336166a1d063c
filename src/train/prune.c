/* prune - see prune.h. */
#include "train/prune.h"

#include <string.h>

#include "base/mem.h"
#include "tensor/prune.h"

/* What the cut is made with; all owned. */
struct cutting {
    struct sb_prune_layer *layer; /* [weights] */
    struct sb_prune_cut *cut;     /* [weights] */
    uint32_t *active;             /* [weights] */
    uint32_t *index;              /* [most] entries of one layer that stay */
};

static const struct sb_param *mu_of(const struct sb_trained *t, uint32_t layer)
{
    return &t->params.param[t->mu[layer]];
}

static sb_status cutting_init(struct cutting *c, const struct sb_trained *by)
{
    *c = (struct cutting){
        .layer = sb_malloc(by->weights, sizeof *c->layer),
        .cut = sb_malloc(by->weights, sizeof *c->cut),
        .active = sb_malloc(by->weights, sizeof *c->active),
        .index = sb_malloc(sb_trained_largest(by), sizeof *c->index),
    };
    if (!c->layer || !c->cut || !c->active || !c->index)
        return sb_fail(SB_ENOMEM, "no memory to prune %u layers", by->weights);
    for (uint32_t i = 0; i < by->weights; i++)
        c->layer[i] = (struct sb_prune_layer){mu_of(by, i)->value, mu_of(by, i)->count};
    return SB_OK;
}

static void cutting_fini(struct cutting *c)
{
    sb_free(c->layer);
    sb_free(c->cut);
    sb_free(c->active);
    sb_free(c->index);
}

static bool same_support(const struct sb_trained *a, const struct sb_trained *b,
                         uint32_t layer)
{
    const int32_t *x = a->position[layer], *y = b->position[layer];
    uint32_t nnz = mu_of(a, layer)->count;
    return nnz == mu_of(b, layer)->count && !x == !y &&
           (!x || memcmp(x, y, nnz * sizeof *x) == 0);
}

/* The entries index[0 .. count) of a layer's weights; everything else as it is. */
static void gather(const struct sb_trained *from, const struct sb_param *p,
                   const uint32_t *index, struct sb_trained *out, struct sb_param *to)
{
    const int32_t *position = from->position[p->weight];
    for (uint32_t k = 0; k < to->count; k++) {
        uint32_t i = index[k];
        to->value[k] = p->value[i];
        if (to->role == SB_PARAM_MU && out->position[to->weight])
            out->position[to->weight][k] = position ? position[i] : (int32_t)i;
    }
}

static void copy_numbers(struct cutting *c, const struct sb_trained *from,
                         struct sb_trained *out)
{
    for (uint32_t i = 0; i < out->params.n; i++) {
        const struct sb_param *p = &from->params.param[i];
        struct sb_param *to = &out->params.param[i];
        if (p->weight == SB_NODE_NONE) {
            memcpy(to->value, p->value, p->count * sizeof *p->value);
            continue;
        }
        if (p->role == SB_PARAM_MU)
            sb_prune_list(&c->layer[p->weight], &c->cut[p->weight], c->index);
        gather(from, p, c->index, out, to);
    }
}

sb_status sb_prune_member(const struct sb_arch *a, const struct sb_trained *by,
                          const struct sb_trained *from, double sparsity,
                          struct sb_trained *out)
{
    struct cutting c;
    *out = (struct sb_trained){0};
    sb_status st = cutting_init(&c, by);
    if (st == SB_OK)
        st = sb_prune_global(c.layer, by->weights, sparsity, c.cut);
    for (uint32_t i = 0; st == SB_OK && i < by->weights; i++) {
        c.active[i] = c.cut[i].active;
        if (!same_support(by, from, i))
            st = sb_fail(SB_EARG, "prune: layer %u has two different supports", i);
    }
    if (st == SB_OK)
        st = sb_trained_plan(out, a, c.active, from->gauss);
    if (st == SB_OK)
        copy_numbers(&c, from, out);
    cutting_fini(&c);
    return st;
}
