/* member_file - see member_file.h. */
#include "model/member_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct sb_shape sb_member_shape(const struct sb_arch_node *n)
{
    return (struct sb_shape){n->bias ? 2 : 4,
                             {n->conv.out, n->conv.in, n->conv.kh, n->conv.kw}};
}

static struct sb_shape shape1(size_t n)
{
    return (struct sb_shape){1, {n}};
}

/* ---- writing ----------------------------------------------------------------------- */

static sb_status put(struct sb_st_writer *w, const char *name, enum sb_dtype dtype,
                     const struct sb_shape *s, const void *data)
{
    return sb_st_writer_add(w, name, dtype, s->ndim, s->dim, data);
}

static sb_status put_weight(struct sb_st_writer *w, struct sb_field *f,
                            const struct sb_arch_node *n,
                            const struct sb_member_weight *x)
{
    struct sb_shape s = x->position ? shape1(x->nnz) : sb_member_shape(n);
    struct sb_shape out = shape1(x->out);
    sb_status st = put(w, sb_field_part(f, "mu"), SB_F32, &s, x->mu);
    if (st == SB_OK && x->position)
        st = put(w, sb_field_part(f, "positions"), SB_I32, &s, x->position);
    if (st == SB_OK && x->rho)
        st = put(w, sb_field_part(f, "rho"), SB_F32, &s, x->rho);
    if (st == SB_OK && x->bias)
        st = put(w, sb_field_part(f, "bias"), SB_F32, &out, x->bias);
    return st;
}

static sb_status put_norm(struct sb_st_writer *w, struct sb_field *f,
                          const struct sb_member_norm *x)
{
    struct sb_shape s = shape1(x->channels);
    sb_status st = put(w, sb_field_part(f, "weight"), SB_F32, &s, x->gamma);
    if (st == SB_OK)
        st = put(w, sb_field_part(f, "bias"), SB_F32, &s, x->beta);
    if (st == SB_OK)
        st = put(w, sb_field_part(f, "running_mean"), SB_F32, &s, x->running_mean);
    if (st == SB_OK)
        st = put(w, sb_field_part(f, "running_var"), SB_F32, &s, x->running_var);
    return st;
}

sb_status sb_member_put(struct sb_st_writer *w, const char *prefix,
                        const struct sb_arch *a, const struct sb_member *m)
{
    uint32_t i = 0, j = 0;
    sb_status st = SB_OK;
    for (uint32_t k = 0; st == SB_OK && k < a->nodes; k++) {
        const struct sb_arch_node *n = &a->node[k];
        struct sb_field f;
        sb_field_begin(&f, prefix, n->name);
        if (n->kind == SB_NODE_WEIGHT)
            st = put_weight(w, &f, n, &m->weight[i++]);
        else if (n->kind == SB_NODE_NORM)
            st = put_norm(w, &f, &m->norm[j++]);
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
                      bool gauss, struct sb_member *m)
{
    uint32_t i = 0, *active = sb_malloc(a->weights, sizeof *active);
    sb_status st = SB_OK;
    if (!active)
        return sb_fail(SB_ENOMEM, "%s: no memory for a member of %u layers", f->st->path,
                       a->weights);
    for (uint32_t k = 0; st == SB_OK && k < a->nodes; k++) {
        struct sb_field name;
        if (a->node[k].kind != SB_NODE_WEIGHT)
            continue;
        sb_field_begin(&name, prefix, a->node[k].name);
        st = count_weights(f, sb_field_part(&name, "mu"), &a->node[k], &active[i++]);
    }
    if (st == SB_OK)
        st = (f->in_place ? sb_member_plan_shell : sb_member_plan)(m, a, active, gauss);
    if (st == SB_EARG)
        st = sb_fail(SB_EFORMAT, "%s: %s", f->st->path, sb_message());
    sb_free(active);
    return st;
}

/* All are looked at before the one is looked for, as in fields.c. */
static sb_status check_positions(const struct sb_fields *f, const char *name,
                                 const struct sb_member_weight *x, uint32_t all)
{
    bool bad = x->position[0] < 0 || (uint32_t)x->position[x->nnz - 1] >= all;
    for (uint32_t k = 1; k < x->nnz; k++)
        bad |= x->position[k] <= x->position[k - 1];
    if (!bad)
        return SB_OK;
    for (uint32_t k = 0; k < x->nnz; k++) {
        int32_t p = x->position[k];
        if (p < 0 || (uint32_t)p >= all)
            return sb_fail(SB_EFORMAT,
                           "%s: tensor \"%s\": position %d is outside the layer's %u "
                           "weights",
                           f->st->path, name, p, all);
        if (k > 0 && p <= x->position[k - 1])
            return sb_fail(SB_EFORMAT,
                           "%s: tensor \"%s\": position %d comes after position %d",
                           f->st->path, name, p, x->position[k - 1]);
    }
    return SB_OK;
}

static sb_status get_weight(struct sb_fields *f, struct sb_field *name,
                            const struct sb_arch_node *n, bool gauss,
                            struct sb_member_weight *x)
{
    uint32_t all = sb_conv_weights(&n->conv);
    bool sparse = x->nnz < all;
    struct sb_shape s = sparse ? shape1(x->nnz) : sb_member_shape(n);
    struct sb_shape out = shape1(x->out);
    sb_status st = sb_fields_take_f32(f, sb_field_part(name, "mu"), &s, &x->mu);
    if (st == SB_OK && sparse)
        st = sb_fields_take_i32(f, sb_field_part(name, "positions"), &s, &x->position);
    if (st == SB_OK && sparse)
        st = check_positions(f, name->name, x, all);
    if (st == SB_OK && gauss)
        st = sb_fields_take_f32(f, sb_field_part(name, "rho"), &s, &x->rho);
    if (st == SB_OK && x->out > 0)
        st = sb_fields_take_f32(f, sb_field_part(name, "bias"), &out, &x->bias);
    return st;
}

static sb_status get_norm(struct sb_fields *f, struct sb_field *name,
                          struct sb_member_norm *x)
{
    struct sb_shape s = shape1(x->channels);
    const struct {
        const char *name;
        float **array;
    } part[] = {{"weight", &x->gamma},
                {"bias", &x->beta},
                {"running_mean", &x->running_mean},
                {"running_var", &x->running_var}};
    sb_status st = SB_OK;
    for (size_t i = 0; i < sizeof part / sizeof *part && st == SB_OK; i++)
        st = sb_fields_take_f32(f, sb_field_part(name, part[i].name), &s, part[i].array);
    for (uint32_t c = 0; st == SB_OK && c < x->channels; c++)
        if (x->running_var[c] < 0)
            st = sb_fail(SB_EFORMAT, "%s: tensor \"%s\": number %u is negative",
                         f->st->path, name->name, c);
    return st;
}

sb_status sb_member_get(struct sb_fields *f, const char *prefix, const struct sb_arch *a,
                        bool gauss, struct sb_member *m)
{
    uint32_t i = 0, j = 0;
    size_t first = f->next;
    *m = (struct sb_member){0};
    sb_status st = plan(f, prefix, a, gauss, m);
    f->next = first;
    for (uint32_t k = 0; st == SB_OK && k < a->nodes; k++) {
        const struct sb_arch_node *n = &a->node[k];
        struct sb_field name;
        sb_field_begin(&name, prefix, n->name);
        if (n->kind == SB_NODE_WEIGHT)
            st = get_weight(f, &name, n, gauss, &m->weight[i++]);
        else if (n->kind == SB_NODE_NORM)
            st = get_norm(f, &name, &m->norm[j++]);
    }
    return st;
}

/* ---- figures ----------------------------------------------------------------------- */

/* JSON has no infinity; a member whose nll is infinite must still come back as it was. */
static json_t *number(double x)
{
    if (isfinite(x))
        return json_real(x);
    return json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

json_t *sb_member_to_json(const struct sb_member *m)
{
    char seed[24];
    const struct sb_member_figures *g = &m->figures;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)m->sample_seed);
    return json_pack("{s:s, s:o, s:o, s:o, s:I}", "sample_seed", seed, "accuracy",
                     number(g->accuracy), "nll", number(g->nll), "ece", number(g->ece),
                     "epoch", (json_int_t)g->epoch);
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

sb_status sb_member_from_json(const json_t *object, const char *source,
                              struct sb_member *m)
{
    struct sb_member_figures *g = &m->figures;
    const char *seed;
    int64_t epoch = 0;
    sb_status st = sb_json_string(object, source, "sample_seed", &seed);
    if (st == SB_OK && !sb_parse_decimal(seed, UINT64_MAX, &m->sample_seed))
        st = sb_fail(SB_EFORMAT, "%s: key \"sample_seed\": want an integer, have \"%s\"",
                     source, seed);
    if (st == SB_OK)
        st = get_number(object, source, "accuracy", &g->accuracy);
    if (st == SB_OK)
        st = get_number(object, source, "nll", &g->nll);
    if (st == SB_OK)
        st = get_number(object, source, "ece", &g->ece);
    if (st == SB_OK)
        st = sb_json_integer(object, source, "epoch", 0, INT64_MAX, &epoch);
    g->epoch = (uint64_t)epoch;
    return st;
}
