/* trained_file - see trained_file.h. */
#include "model/trained_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static bool is_sparse(const struct sb_param *p)
{
    return p->weight != SB_NODE_NONE && p->count < sb_param_all(p);
}

struct sb_shape sb_param_shape(const struct sb_param *p)
{
    struct sb_shape s = {.ndim = p->ndim};
    if (is_sparse(p))
        return (struct sb_shape){1, {p->count}};
    for (uint32_t i = 0; i < p->ndim; i++)
        s.dim[i] = p->dim[i];
    return s;
}

/* ---- writing ----------------------------------------------------------------------- */

sb_status sb_trained_put(struct sb_st_writer *w, const char *prefix,
                         const struct sb_trained *t)
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; st == SB_OK && i < t->params.n; i++) {
        const struct sb_param *p = &t->params.param[i];
        struct sb_shape s = sb_param_shape(p);
        struct sb_field f;
        sb_field_begin(&f, prefix, p->layer);
        st = sb_st_writer_add(w, sb_field_part(&f, p->part), SB_F32, s.ndim, s.dim,
                              p->value);
        if (st == SB_OK && p->role == SB_PARAM_MU && t->position[p->weight])
            st = sb_st_writer_add(w, sb_field_part(&f, "positions"), SB_I32, s.ndim,
                                  s.dim, t->position[p->weight]);
    }
    return st;
}

/* ---- reading ----------------------------------------------------------------------- */

/* How many weights of a layer the file has: a list of one dimension comes with positions,
 * anything else must be all of them. */
static sb_status count_weights(struct sb_fields *f, const char *name,
                               const struct sb_arch_node *n, uint32_t *nnz)
{
    const struct sb_st_tensor *t = sb_fields_lookup(f, name);
    uint32_t all = sb_conv_weights(&n->conv);
    *nnz = all;
    if (!t)
        return sb_fail(SB_EFORMAT, "%s: has no tensor \"%s\"", f->st->path, name);
    if (t->ndim != 1) {
        /* whether it is the right shape is looked at when it is read; but memory is asked
         * for before that */
        if (t->count != all)
            return sb_fail(SB_EFORMAT,
                           "%s: tensor \"%s\": has %zu numbers, the layer %u weights",
                           f->st->path, name, t->count, all);
        return SB_OK;
    }
    if (t->count == 0 || t->count >= all)
        return sb_fail(SB_EFORMAT,
                       "%s: tensor \"%s\": a list of %zu weights, the layer has %u; want "
                       "at least one and not all",
                       f->st->path, name, t->count, all);
    *nnz = (uint32_t)t->count;
    return SB_OK;
}

static sb_status plan(struct sb_fields *f, const char *prefix, const struct sb_arch *a,
                      bool gauss, struct sb_trained *t)
{
    uint32_t i = 0, *active = sb_malloc(a->weights, sizeof *active);
    sb_status st = SB_OK;
    if (!active)
        return sb_fail(SB_ENOMEM, "%s: no memory for a network of %u layers", f->st->path,
                       a->weights);
    for (uint32_t k = 0; st == SB_OK && k < a->nodes; k++) {
        struct sb_field name;
        if (a->node[k].kind != SB_NODE_WEIGHT)
            continue;
        sb_field_begin(&name, prefix, a->node[k].name);
        st = count_weights(f, sb_field_part(&name, "mu"), &a->node[k], &active[i++]);
    }
    if (st == SB_OK)
        st = (f->in_place ? sb_trained_plan_shell : sb_trained_plan)(t, a, active, gauss);
    if (st == SB_EARG)
        st = sb_fail(SB_EFORMAT, "%s: %s", f->st->path, sb_message());
    sb_free(active);
    return st;
}

/* All are looked at before the one is looked for, as in fields.c. */
static sb_status check_positions(const struct sb_fields *f, const char *name,
                                 const int32_t *position, uint32_t nnz, uint32_t all)
{
    bool bad = position[0] < 0 || (uint32_t)position[nnz - 1] >= all;
    for (uint32_t k = 1; k < nnz; k++)
        bad |= position[k] <= position[k - 1];
    if (!bad)
        return SB_OK;
    for (uint32_t k = 0; k < nnz; k++) {
        int32_t p = position[k];
        if (p < 0 || (uint32_t)p >= all)
            return sb_fail(SB_EFORMAT,
                           "%s: tensor \"%s\": position %d is outside the layer's %u "
                           "weights",
                           f->st->path, name, p, all);
        if (k > 0 && p <= position[k - 1])
            return sb_fail(SB_EFORMAT,
                           "%s: tensor \"%s\": position %d comes after position %d",
                           f->st->path, name, p, position[k - 1]);
    }
    return SB_OK;
}

static sb_status get_positions(struct sb_fields *f, struct sb_field *name,
                               const struct sb_param *p, struct sb_trained *t)
{
    struct sb_shape s = sb_param_shape(p);
    int32_t **position = &t->position[p->weight];
    sb_status st = sb_fields_take_i32(f, sb_field_part(name, "positions"), &s, position);
    return st == SB_OK
               ? check_positions(f, name->name, *position, p->count, sb_param_all(p))
               : st;
}

static sb_status check_variance(const struct sb_fields *f, const char *name,
                                const struct sb_param *p)
{
    for (uint32_t c = 0; c < p->count; c++)
        if (p->value[c] < 0)
            return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": number %u is negative",
                           f->st->path, name, c);
    return SB_OK;
}

sb_status sb_trained_get(struct sb_fields *f, const char *prefix, const struct sb_arch *a,
                         bool gauss, struct sb_trained *t)
{
    size_t first = f->next;
    *t = (struct sb_trained){0};
    sb_status st = plan(f, prefix, a, gauss, t);
    f->next = first;
    for (uint32_t i = 0; st == SB_OK && i < t->params.n; i++) {
        struct sb_param *p = &t->params.param[i];
        struct sb_shape s = sb_param_shape(p);
        struct sb_field name;
        sb_field_begin(&name, prefix, p->layer);
        st = sb_fields_take_f32(f, sb_field_part(&name, p->part), &s, &p->value);
        if (st == SB_OK && p->role == SB_PARAM_RUNNING_VAR)
            st = check_variance(f, name.name, p);
        if (st == SB_OK && p->role == SB_PARAM_MU && is_sparse(p))
            st = get_positions(f, &name, p, t);
    }
    return st;
}

/* ---- figures ----------------------------------------------------------------------- */

/* JSON has no infinity; one whose nll is infinite must still come back as it was. */
static json_t *number(double x)
{
    if (isfinite(x))
        return json_real(x);
    return json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

json_t *sb_trained_to_json(const struct sb_trained *m)
{
    char seed[24];
    const struct sb_figures *g = &m->figures.of;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)m->sample_seed);
    json_t *j = json_pack("{s:s, s:I}", "sample_seed", seed, "epoch",
                          (json_int_t)m->figures.epoch);
    for (uint32_t i = 0; j && i < g->list->count; i++)
        if (json_object_set_new(j, g->list->kind[i].key, number(g->value[i])) != 0) {
            json_decref(j);
            return NULL;
        }
    return j;
}

static sb_status get_number(const json_t *object, const char *source, const char *key,
                            double *out)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (text && strcmp(text, "nan") == 0)
        *out = NAN;
    else if (text && strcmp(text, "inf") == 0)
        *out = INFINITY;
    else if (text && strcmp(text, "-inf") == 0)
        *out = -INFINITY;
    else
        return sb_json_number(object, source, key, out);
    return SB_OK;
}

sb_status sb_trained_from_json(const json_t *object, const char *source,
                               struct sb_trained *m)
{
    struct sb_figures *g = &m->figures.of;
    const char *seed;
    int64_t epoch = 0;
    sb_status st = sb_json_string(object, source, "sample_seed", &seed);
    if (st == SB_OK && !sb_parse_decimal(seed, UINT64_MAX, &m->sample_seed))
        st = sb_fail(SB_EFORMAT, "%s: key \"sample_seed\": want an integer, have \"%s\"",
                     source, seed);
    for (uint32_t i = 0; st == SB_OK && i < g->list->count; i++) {
        const char *key = g->list->kind[i].key;
        bool old = i == SB_CLASSES_BRIER && !json_object_get(object, key);
        if (!old) /* files that are older than the last figure do without */
            st = get_number(object, source, key, &g->value[i]);
    }
    if (st == SB_OK)
        st = sb_json_integer(object, source, "epoch", 0, INT64_MAX, &epoch);
    m->figures.epoch = (uint64_t)epoch;
    return st;
}
