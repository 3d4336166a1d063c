/* form - see form.h. The table, and the plain form. */
#include "forms/form.h"

#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"

/* ---- plain --------------------------------------------------------------------------- */

static sb_status build_plain(const struct sb_form_spec *s,
                             const struct sb_arch_shape *shape, enum sb_form_role role,
                             struct sb_arch *out)
{
    (void)s;
    (void)role;
    return sb_arch_init(out, shape);
}

const struct sb_form sb_form_plain = {.name = "plain", .build = build_plain};

/* ---- the table ----------------------------------------------------------------------- */

static const struct sb_form *const table[SB_FORM_COUNT] = {
    [SB_FORM_PLAIN] = &sb_form_plain,
    [SB_FORM_DROPOUT] = &sb_form_dropout,
    [SB_FORM_MIMO] = &sb_form_mimo,
    [SB_FORM_BATCH_ENSEMBLE] = &sb_form_batch_ensemble,
    [SB_FORM_RANK_1] = &sb_form_rank_1,
    [SB_FORM_TREE] = &sb_form_tree,
};

const struct sb_form *sb_form_of(enum sb_form_kind kind)
{
    return table[kind];
}

sb_status sb_form_find(const char *name, enum sb_form_kind *out)
{
    struct sb_nearest nearest = sb_nearest_begin(name);
    for (int i = 0; i < SB_FORM_COUNT; i++) {
        if (strcmp(table[i]->name, name) == 0) {
            *out = (enum sb_form_kind)i;
            return SB_OK;
        }
        sb_nearest_offer(&nearest, table[i]->name);
    }
    return sb_fail(SB_EARG, "there is no form '%s'; the nearest is '%s'", name,
                   nearest.best);
}

sb_status sb_form_build(const struct sb_form_spec *s, const struct sb_arch_shape *shape,
                        enum sb_form_role role, struct sb_arch *out)
{
    *out = (struct sb_arch){0};
    sb_status st = table[s->kind]->build(s, shape, role, out);
    return st == SB_OK ? sb_arch_set_likelihood(out, shape->likelihood) : st;
}

uint32_t sb_form_rows(const struct sb_form_spec *s, uint32_t batch)
{
    return table[s->kind]->rows ? table[s->kind]->rows(s, batch) : batch;
}

sb_status sb_form_member(const struct sb_form_spec *s, const struct sb_arch *trained,
                         const struct sb_arch *plain, const struct sb_trained *from,
                         uint32_t m, uint32_t draw, struct sb_trained *out)
{
    *out = (struct sb_trained){0};
    if (!table[s->kind]->member)
        return sb_trained_view(from, out);
    sb_status st = table[s->kind]->member(s, trained, plain, from, m, draw, out);
    if (st != SB_OK)
        return st;
    out->sample_seed = from->sample_seed;
    out->figures = from->figures;
    out->branch = m;
    out->shared = plain->shared;
    return SB_OK;
}

/* ---- what forms share ---------------------------------------------------------------- */

void sb_form_point(const struct sb_trained *from, const struct sb_param *record,
                   struct sb_trained *out, struct sb_param *to)
{
    to->value = record->value;
    if (to->role == SB_PARAM_MU)
        out->position[to->weight] = from->position[record->weight];
}

struct sb_arch_node sb_form_moved(const struct sb_arch *plain, uint32_t i,
                                  const uint32_t *moved)
{
    struct sb_arch_node n = plain->node[i];
    n.in = i > 0 ? moved[n.in] : 0;
    n.other = n.other == SB_NODE_NONE ? SB_NODE_NONE : moved[n.other];
    return n;
}

/* The k-th record of that role, or NULL. */
static const struct sb_param *nth(const struct sb_trained *t, enum sb_param_role role,
                                  uint32_t k)
{
    for (uint32_t i = 0; i < t->params.n; i++)
        if (t->params.param[i].role == role && k-- == 0)
            return &t->params.param[i];
    return NULL;
}

sb_status sb_form_shell(const struct sb_arch *plain, const struct sb_trained *from,
                        const uint32_t *active, size_t extra, struct sb_trained *out)
{
    uint32_t seen[SB_PARAM_ROLES] = {0};
    sb_status st = sb_trained_plan_shell(out, plain, active, from->gauss);
    if (st != SB_OK)
        return st;
    out->memory = sb_calloc(extra, sizeof(float));
    if (!out->memory)
        return sb_fail(SB_ENOMEM, "no memory for a member's %zu numbers", extra);
    for (uint32_t i = 0; i < out->params.n; i++) {
        struct sb_param *to = &out->params.param[i];
        const struct sb_param *record = nth(from, to->role, seen[to->role]++);
        if (record)
            sb_form_point(from, record, out, to);
    }
    return SB_OK;
}
