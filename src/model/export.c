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
    struct sb_export_array array; /* the next one */
    sb_status st;
};

/* The shape of all of a record's numbers. */
static struct sb_shape shape_of(const struct sb_param *p)
{
    struct sb_shape s = {.ndim = p->ndim};
    for (uint32_t i = 0; i < p->ndim; i++)
        s.dim[i] = p->dim[i];
    return s;
}

/* Weights are made of what exists; everything else is there. A mask is keep.<site>. */
static void visit(struct walk *w, const struct sb_param *p)
{
    bool weights = p->weight != SB_NODE_NONE, mask = p->role == SB_PARAM_KEEP;
    const char *part = p->role == SB_PARAM_MU    ? "weight"
                       : p->role == SB_PARAM_RHO ? "weight_sigma"
                                                 : p->part;
    struct sb_export_array *a = &w->array;
    a->shape = shape_of(p);
    a->values = weights ? NULL : p->value;
    a->layer = weights ? p->weight : 0;
    a->sigma = p->role == SB_PARAM_RHO;
    snprintf(a->name, sizeof a->name, "member.%u.%s.%s", a->member,
             mask ? "keep" : p->layer, mask ? p->layer : part);
    w->st = w->visit(w->context, a, NULL);
}

static void visit_member(struct walk *w, const struct sb_export *e)
{
    const struct sb_trained *m = &e->model->member[w->array.member];
    for (uint32_t i = 0; i < m->params.n && w->st == SB_OK; i++)
        if (m->params.param[i].role != SB_PARAM_RHO || e->sigma)
            visit(w, &m->params.param[i]);
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

struct fused_into {
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
    const struct sb_trained *m = &s->model->member[a->member];
    size_t nnz = m->params.param[m->mu[a->layer]].count;
    s->dense = count > s->dense ? count : s->dense;
    s->exist = nnz > s->exist ? nnz : s->exist;
    return SB_OK;
}

/* The layer's values, 0 where no weight exists. */
static const float *make(const struct fused_into *k, const struct sb_export_array *a)
{
    const struct sb_trained *m = &k->e->model->member[a->member];
    const struct sb_param *mu = &m->params.param[m->mu[a->layer]];
    const int32_t *position = m->position[a->layer];
    const float *exist = k->exist;
    if (a->sigma)
        for (uint32_t i = 0; i < mu->count; i++)
            k->exist[i] =
                (float)sb_sigma_of_rho((double)m->params.param[mu->rho].value[i]);
    else if (k->e->mean)
        exist = mu->value;
    else
        sb_trained_draw_layer(m, k->e->env, a->layer, 0, k->exist);
    if (!position)
        return exist;
    memset(k->dense, 0, sb_shape_count(&a->shape) * sizeof *k->dense);
    for (uint32_t i = 0; i < mu->count; i++)
        k->dense[position[i]] = exist[i];
    return k->dense;
}

static sb_status visit_made(void *context, const struct sb_export_array *a,
                            const float *values)
{
    struct fused_into *k = context;
    values = a->values ? a->values : make(k, a);
    sb_status st = k->visit(k->context, a, values);
    k->bytes += sb_shape_count(&a->shape) * sizeof *values;
    return st == SB_OK ? sb_progress_update(k->e->progress, k->bytes) : st;
}

sb_status sb_export_each_value(const struct sb_export *e, sb_export_fn *each,
                               void *context)
{
    struct fused_into k = {.e = e, .visit = each, .context = context};
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
    {"onnx", sb_export_onnx},
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
        return sb_fail(SB_EARG,
                       "there is no format '%s'; want safetensors-dense, npz or onnx",
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
