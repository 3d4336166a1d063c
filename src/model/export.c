/* export - which arrays there are, and making them; see export.h. */
#include "model/export.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/export_parts.h"
#include "tensor/topology.h"

/* ---- which arrays there are ---------------------------------------------------------- */

/* Visits arrays of one layer of one member. */
struct walk {
    sb_export_fn *visit;
    void *context;
    const char *layer;
    struct sb_export_array array; /* the next one: all but its name */
    sb_status st;
};

static void visit(struct walk *w, const char *part)
{
    if (w->st != SB_OK)
        return;
    snprintf(w->array.name, sizeof w->array.name, "member.%u.%s.%s", w->array.member,
             w->layer, part);
    w->st = w->visit(w->context, &w->array, NULL);
}

static void visit_vector(struct walk *w, const char *part, const float *x, uint32_t n)
{
    w->array.shape = (struct sb_shape){.ndim = 1, .dim = {n}};
    w->array.values = x;
    visit(w, part);
}

static void visit_weight(struct walk *w, const struct sb_arch_node *d,
                         const struct sb_member_weight *m, bool sigma)
{
    const struct sb_conv *c = &d->conv;
    w->array.shape =
        (struct sb_shape){.ndim = d->bias ? 2 : 4, .dim = {c->out, c->in, c->kh, c->kw}};
    w->array.values = NULL;
    visit(w, "weight");
    w->array.sigma = true;
    if (sigma)
        visit(w, "weight_sigma");
    w->array.sigma = false;
    if (m->bias)
        visit_vector(w, "bias", m->bias, m->out);
}

static void visit_norm(struct walk *w, const struct sb_member_norm *n)
{
    visit_vector(w, "weight", n->gamma, n->channels);
    visit_vector(w, "bias", n->beta, n->channels);
    visit_vector(w, "running_mean", n->running_mean, n->channels);
    visit_vector(w, "running_var", n->running_var, n->channels);
}

static void visit_member(struct walk *w, const struct sb_export *e)
{
    const struct sb_arch *a = &e->model->arch;
    const struct sb_member *m = &e->model->member[w->array.member];
    uint32_t norm = 0;
    w->array.layer = 0;
    for (uint32_t k = 0; k < a->nodes; k++) {
        w->layer = a->node[k].name;
        if (a->node[k].kind == SB_NODE_WEIGHT) {
            visit_weight(w, &a->node[k], &m->weight[w->array.layer], e->sigma);
            w->array.layer++;
        } else if (a->node[k].kind == SB_NODE_NORM) {
            visit_norm(w, &m->norm[norm++]);
        }
    }
}

sb_status sb_export_each(const struct sb_export *e, sb_export_fn *each, void *context)
{
    struct walk w = {.visit = each, .context = context, .st = SB_OK};
    for (uint32_t i = 0; i < e->members && w.st == SB_OK; i++) {
        w.array.member = e->first + i;
        visit_member(&w, e);
    }
    return w.st;
}

/* ---- their values -------------------------------------------------------------------- */

struct maker {
    const struct sb_export *e;
    sb_export_fn *visit;
    void *context;
    float *dense;   /* [all weights of the largest layer] owned */
    float *exist;   /* [existing weights of the layer with most] owned */
    uint64_t bytes; /* done */
};

struct sizes {
    const struct sb_model *model;
    size_t dense, exist; /* of the largest layer */
    uint64_t bytes;      /* of all arrays */
};

static sb_status measure(void *context, const struct sb_export_array *a,
                         const float *values)
{
    struct sizes *s = context;
    size_t count = sb_shape_count(&a->shape);
    (void)values;
    s->bytes += count * sizeof(float);
    if (a->values)
        return SB_OK;
    size_t nnz = s->model->member[a->member].weight[a->layer].nnz;
    s->dense = count > s->dense ? count : s->dense;
    s->exist = nnz > s->exist ? nnz : s->exist;
    return SB_OK;
}

/* The layer's values, 0 where no weight exists. */
static const float *make(const struct maker *k, const struct sb_export_array *a)
{
    const struct sb_member *m = &k->e->model->member[a->member];
    const struct sb_member_weight *w = &m->weight[a->layer];
    const float *exist = k->exist;
    if (a->sigma)
        for (uint32_t i = 0; i < w->nnz; i++)
            k->exist[i] = (float)sb_sigma_of_rho((double)w->rho[i]);
    else if (k->e->mean)
        exist = w->mu;
    else
        sb_member_draw_layer(m, k->e->env, a->layer, 0, k->exist);
    if (!w->position)
        return exist;
    memset(k->dense, 0, sb_shape_count(&a->shape) * sizeof *k->dense);
    for (uint32_t i = 0; i < w->nnz; i++)
        k->dense[w->position[i]] = exist[i];
    return k->dense;
}

static sb_status visit_made(void *context, const struct sb_export_array *a,
                            const float *values)
{
    struct maker *k = context;
    values = a->values ? a->values : make(k, a);
    sb_status st = k->visit(k->context, a, values);
    k->bytes += sb_shape_count(&a->shape) * sizeof *values;
    return st == SB_OK ? sb_progress_update(k->e->progress, k->bytes) : st;
}

sb_status sb_export_each_value(const struct sb_export *e, sb_export_fn *each,
                               void *context)
{
    struct maker k = {.e = e, .visit = each, .context = context};
    struct sizes s = {.model = e->model};
    sb_status st = sb_export_each(e, measure, &s);
    if (st != SB_OK)
        return st;
    sb_progress_begin_bytes(e->progress, "export", 0, s.bytes);
    k.dense = sb_malloc(s.dense, sizeof *k.dense);
    k.exist = sb_malloc(s.exist, sizeof *k.exist);
    if (k.dense && k.exist)
        st = sb_export_each(e, visit_made, &k);
    else
        st = sb_fail(SB_ENOMEM, "no memory for the largest layer, %zu MB when dense",
                     s.dense * sizeof *k.dense >> 20);
    if (st == SB_OK)
        st = sb_progress_end(e->progress);
    sb_free(k.dense);
    sb_free(k.exist);
    return st;
}

const char *sb_export_sampling(const struct sb_export *e)
{
    return !e->model->info.gauss ? "point" : e->mean ? "mean" : "draw";
}

/* ---- formats ------------------------------------------------------------------------- */

static const struct {
    const char *name;
    sb_status (*write)(const struct sb_export *e, const char *path);
} formats[] = {
    {"safetensors-dense", sb_export_safetensors},
    {"npz", sb_export_npz},
};

sb_status sb_export_write(const struct sb_export *options, const char *format,
                          const char *path)
{
    struct sb_export e = *options;
    uint32_t there = e.model->members;
    size_t i = 0, n = sizeof formats / sizeof *formats;
    while (i < n && strcmp(formats[i].name, format) != 0)
        i++;
    if (i == n)
        return sb_fail(SB_EARG, "there is no format '%s'; want safetensors-dense or npz",
                       format);
    if (e.first >= there || e.members > there - e.first)
        return sb_fail(SB_EARG, "there is no member %u; the model has %u, counted from 0",
                       e.first >= there ? e.first : there, there);
    if (e.sigma && !e.model->info.gauss)
        return sb_fail(SB_EARG,
                       "weights of %s are points: there are no deviations to export",
                       e.model->info.method);
    if (e.members == 0)
        e.members = there - e.first;
    return formats[i].write(&e, path);
}
