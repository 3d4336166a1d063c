/* onnx_graph - the nodes of the members as those of an ONNX graph; see onnx.h.
 *
 * A value is [n][channels][height][width] until something flattens it; Gemm wants it flat,
 * and gets a Flatten in front where a plane of 1 x 1 is not yet.
 */
#include <stdio.h>

#include "base/mem.h"
#include "model/onnx.h"

struct name {
    char text[SB_EXPORT_NAME + 16];
};

struct graph {
    struct sb_pb *p;
    const struct sb_arch *a;
    uint32_t member;
    bool *flat; /* [nodes] values that are [n][features] */
};

/* ---- nodes of ONNX ------------------------------------------------------------------- */

size_t sb_onnx_begin(struct sb_pb *p, const char *op, const char *const *in,
                     uint32_t inputs, const char *out)
{
    size_t begun = sb_pb_begin(p, GRAPH_NODE);
    for (uint32_t i = 0; i < inputs; i++)
        sb_pb_text(p, NODE_INPUT, in[i]);
    sb_pb_text(p, NODE_OUTPUT, out);
    sb_pb_text(p, NODE_NAME, out);
    sb_pb_text(p, NODE_OP, op);
    return begun;
}

void sb_onnx_put(struct sb_pb *p, const char *op, const char *a, const char *b,
                 const char *out)
{
    const char *const in[] = {a, b};
    sb_pb_end(p, sb_onnx_begin(p, op, in, b ? 2 : 1, out));
}

void sb_onnx_put_integer(struct sb_pb *p, const char *name, uint32_t value)
{
    size_t begun = sb_pb_begin(p, NODE_ATTRIBUTE);
    sb_pb_text(p, ATTRIBUTE_NAME, name);
    sb_pb_integer(p, ATTRIBUTE_I, value);
    sb_pb_integer(p, ATTRIBUTE_TYPE, TYPE_INT);
    sb_pb_end(p, begun);
}

static void put_float(struct sb_pb *p, const char *name, float value)
{
    size_t begun = sb_pb_begin(p, NODE_ATTRIBUTE);
    sb_pb_text(p, ATTRIBUTE_NAME, name);
    sb_pb_float(p, ATTRIBUTE_F, value);
    sb_pb_integer(p, ATTRIBUTE_TYPE, TYPE_FLOAT);
    sb_pb_end(p, begun);
}

void sb_onnx_put_integers(struct sb_pb *p, const char *name, const uint32_t *value,
                          uint32_t n)
{
    size_t begun = sb_pb_begin(p, NODE_ATTRIBUTE);
    sb_pb_text(p, ATTRIBUTE_NAME, name);
    for (uint32_t i = 0; i < n; i++)
        sb_pb_integer(p, ATTRIBUTE_INTS, value[i]);
    sb_pb_integer(p, ATTRIBUTE_TYPE, TYPE_INTS);
    sb_pb_end(p, begun);
}

/* ---- names --------------------------------------------------------------------------- */

/* The value of node i, or a step on the way to it. */
static struct name value_of(const struct graph *g, uint32_t i, const char *step)
{
    struct name n;
    if (i == 0)
        snprintf(n.text, sizeof n.text, "normalised");
    else
        snprintf(n.text, sizeof n.text, "member.%u.value.%u%s", g->member, i, step);
    return n;
}

/* An array of node i. */
static struct name array_of(const struct graph *g, const char *layer, const char *part)
{
    struct name n;
    snprintf(n.text, sizeof n.text, "member.%u.%s.%s", g->member, layer, part);
    return n;
}

static struct name prediction_of(uint32_t member, const char *what)
{
    struct name n;
    snprintf(n.text, sizeof n.text, "member.%u.%s", member, what);
    return n;
}

/* ---- nodes of ours ------------------------------------------------------------------- */

static void put_flatten(struct sb_pb *p, const char *in, const char *out)
{
    size_t node = sb_onnx_begin(p, "Flatten", &in, 1, out);
    sb_onnx_put_integer(p, "axis", 1);
    sb_pb_end(p, node);
}

static void put_linear(const struct graph *g, uint32_t i)
{
    const struct sb_arch_node *d = &g->a->node[i];
    struct name x = value_of(g, d->in, ""), y = value_of(g, i, "");
    struct name weight = array_of(g, d->name, "weight"),
                bias = array_of(g, d->name, "bias");
    if (!g->flat[d->in]) {
        struct name flat = value_of(g, i, ".flat");
        put_flatten(g->p, x.text, flat.text);
        x = flat;
    }
    const char *const in[] = {x.text, weight.text, bias.text};
    size_t node = sb_onnx_begin(g->p, "Gemm", in, d->bias ? 3 : 2, y.text);
    sb_onnx_put_integer(g->p, "transB", 1); /* weights are [out][in] */
    sb_pb_end(g->p, node);
}

static void put_conv(const struct graph *g, uint32_t i)
{
    const struct sb_arch_node *d = &g->a->node[i];
    const struct sb_conv *c = &d->conv;
    struct name x = value_of(g, d->in, ""), y = value_of(g, i, "");
    struct name weight = array_of(g, d->name, "weight"),
                bias = array_of(g, d->name, "bias");
    const char *const in[] = {x.text, weight.text, bias.text};
    size_t node = sb_onnx_begin(g->p, "Conv", in, d->bias ? 3 : 2, y.text);
    sb_onnx_put_integers(g->p, "kernel_shape", (const uint32_t[]){c->kh, c->kw}, 2);
    sb_onnx_put_integers(g->p, "strides", (const uint32_t[]){c->stride, c->stride}, 2);
    sb_onnx_put_integers(g->p, "pads", (const uint32_t[]){c->pad, c->pad, c->pad, c->pad},
                         4);
    sb_pb_end(g->p, node);
}

/* Batch norm, then + other, then ReLU, each where asked for. */
static void put_norm(const struct graph *g, uint32_t i)
{
    const struct sb_arch_node *d = &g->a->node[i];
    bool add = d->other != SB_NODE_NONE;
    struct name x = value_of(g, d->in, "");
    struct name norm = value_of(g, i, add || d->relu ? ".norm" : "");
    struct name part[] = {array_of(g, d->name, "weight"), array_of(g, d->name, "bias"),
                          array_of(g, d->name, "running_mean"),
                          array_of(g, d->name, "running_var")};
    const char *const in[] = {x.text, part[0].text, part[1].text, part[2].text,
                              part[3].text};
    size_t node = sb_onnx_begin(g->p, "BatchNormalization", in, 5, norm.text);
    put_float(g->p, "epsilon", SB_NORM_EPSILON);
    sb_pb_end(g->p, node);
    struct name sum = add ? value_of(g, i, d->relu ? ".sum" : "") : norm;
    if (add)
        sb_onnx_put(g->p, "Add", norm.text, value_of(g, d->other, "").text, sum.text);
    if (d->relu)
        sb_onnx_put(g->p, "Relu", sum.text, NULL, value_of(g, i, "").text);
}

static void put_max_pool(const struct graph *g, uint32_t i)
{
    struct name x = value_of(g, g->a->node[i].in, "");
    const char *in = x.text;
    size_t node = sb_onnx_begin(g->p, "MaxPool", &in, 1, value_of(g, i, "").text);
    sb_onnx_put_integers(g->p, "kernel_shape", (const uint32_t[]){2, 2}, 2);
    sb_onnx_put_integers(g->p, "strides", (const uint32_t[]){2, 2}, 2);
    sb_pb_end(g->p, node);
}

static sb_status put(const struct graph *g, uint32_t i)
{
    const struct sb_arch_node *d = &g->a->node[i];
    struct name x = value_of(g, d->in, ""), y = value_of(g, i, "");
    g->flat[i] = g->flat[d->in];
    switch (d->kind) {
    case SB_NODE_WEIGHT:
        g->flat[i] = d->linear;
        (d->linear ? put_linear : put_conv)(g, i);
        return SB_OK;
    case SB_NODE_NORM:
        put_norm(g, i);
        return SB_OK;
    case SB_NODE_RELU:
        sb_onnx_put(g->p, "Relu", x.text, NULL, y.text);
        return SB_OK;
    case SB_NODE_ADD:
        sb_onnx_put(g->p, "Add", x.text, value_of(g, d->other, "").text, y.text);
        return SB_OK;
    case SB_NODE_MAX_POOL:
        put_max_pool(g, i);
        return SB_OK;
    case SB_NODE_MEAN_POOL:
        sb_onnx_put(g->p, "GlobalAveragePool", x.text, NULL, y.text);
        return SB_OK;
    case SB_NODE_FLATTEN:
        g->flat[i] = true;
        put_flatten(g->p, x.text, y.text);
        return SB_OK;
    case SB_NODE_MASK:
        sb_onnx_put(g->p, "Mul", x.text, array_of(g, "keep", d->name).text, y.text);
        return SB_OK;
    case SB_NODE_INPUT:
    case SB_NODE_SCALE:
        break;
    }
    return sb_fail(SB_EARG,
                   "onnx: a member has a node of kind %d, which only networks "
                   "in training have",
                   (int)d->kind);
}

/* ---- the graph ----------------------------------------------------------------------- */

static void put_softmax(const struct graph *g, const char *logits)
{
    struct name prediction = prediction_of(g->member, "probabilities");
    size_t node = sb_onnx_begin(g->p, "Softmax", &logits, 1, prediction.text);
    sb_onnx_put_integer(g->p, "axis", 1);
    sb_pb_end(g->p, node);
    sb_onnx_put(g->p, "Unsqueeze", prediction.text, "first_axis",
                prediction_of(g->member, "row").text);
}

static sb_status put_member(const struct graph *g, bool outcomes)
{
    sb_status st = SB_OK;
    for (uint32_t i = 1; i < g->a->nodes && st == SB_OK; i++)
        st = put(g, i);
    struct name outputs = value_of(g, g->a->head[0].node, "");
    if (outcomes)
        sb_onnx_put(g->p, "Unsqueeze", outputs.text, "first_axis",
                    prediction_of(g->member, "row").text);
    else
        put_softmax(g, outputs.text);
    return st;
}

void sb_onnx_put_stack(struct sb_pb *p, const struct sb_export *e, const char *what,
                       const char *out)
{
    size_t node = sb_pb_begin(p, GRAPH_NODE);
    for (uint32_t i = 0; i < e->members; i++)
        sb_pb_text(p, NODE_INPUT, prediction_of(e->first + i, what).text);
    sb_pb_text(p, NODE_OUTPUT, out);
    sb_pb_text(p, NODE_NAME, out);
    sb_pb_text(p, NODE_OP, "Concat");
    sb_onnx_put_integer(p, "axis", 0);
    sb_pb_end(p, node);
}

static void put_ensemble(struct sb_pb *p, const struct sb_export *e)
{
    const char *const members = "members";
    sb_onnx_put_stack(p, e, "row", members);
    size_t node = sb_onnx_begin(p, "ReduceMean", &members, 1, "probabilities");
    sb_onnx_put_integers(p, "axes", (const uint32_t[]){0}, 1);
    sb_onnx_put_integer(p, "keepdims", 0);
    sb_pb_end(p, node);
}

bool sb_onnx_rows(const struct sb_model *m)
{
    const struct sb_arch_node *first = &m->arch.node[1];
    return m->info.height * m->info.width == 1 && first->kind == SB_NODE_WEIGHT &&
           first->linear;
}

sb_status sb_onnx_nodes(const struct sb_export *e, struct sb_pb *p)
{
    struct graph g = {.p = p, .a = &e->model->arch};
    bool outcomes = e->model->info.targets > 0;
    sb_status st = SB_OK;
    g.flat = sb_calloc(g.a->nodes, sizeof *g.flat);
    if (!g.flat)
        return sb_fail(SB_ENOMEM, "no memory for %u nodes", g.a->nodes);
    g.flat[0] = sb_onnx_rows(e->model);
    sb_onnx_put(p, "Sub", "input", "input_mean", "centred");
    sb_onnx_put(p, "Div", "centred", "input_sd", "normalised");
    for (uint32_t i = 0; i < e->members && st == SB_OK; i++) {
        g.member = e->first + i;
        st = put_member(&g, outcomes);
    }
    if (outcomes)
        sb_onnx_outcome_nodes(p, e);
    else
        put_ensemble(p, e);
    sb_free(g.flat);
    return st;
}
