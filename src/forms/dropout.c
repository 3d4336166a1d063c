/* dropout - elements are dropped in training and at test (Gal & Ghahramani 2016).
 *
 * Sites (method.md 5.2): what the first convolution of each residual block gives, before its
 * norm; what every hidden layer of an mlp gives; what each linear layer of lenet reads. In
 * training every row has its own mask. A member is a pass with one mask for all examples,
 * keyed by the network's seed and the number of the pass.
 *
 * What a linear layer reads is dropped in its columns, whole channels of a convolution in
 * its rows: then a member is a plain network. Elements of a convolution stay a mask node.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "forms/form.h"
#include "tensor/topology.h"

/* ---- sites --------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The linear layer behind what node i gives, if i is a flattened plane or a hidden layer;
 * SB_NODE_NONE: it is not dropped. */
static uint32_t linear_reader(const struct sb_arch *a, uint32_t i)
{
    enum sb_node_kind kind = a->node[i].kind;
    if (kind != SB_NODE_RELU && kind != SB_NODE_FLATTEN && kind != SB_NODE_MAX_POOL)
        return SB_NODE_NONE;
    for (uint32_t j = i + 1; j < a->nodes; j++)
        if (a->node[j].kind == SB_NODE_WEIGHT && a->node[j].linear && a->node[j].in == i)
            return a->node[i].in == 0 ? SB_NODE_NONE : j; /* images are not dropped */
    return SB_NODE_NONE;
}

static bool residual_site(const struct sb_arch_node *n)
{
    return n->kind == SB_NODE_WEIGHT && strncmp(n->name, "group", 5) == 0 &&
           ends_with(n->name, ".conv1");
}

/* An mlp's site has the name of the layer that gives it, lenet's of the one that reads. */
static void name_site(const struct sb_arch *a, uint32_t i, uint32_t reader,
                      char out[SB_NODE_NAME])
{
    bool lenet = strncmp(a->node[reader].name, "fc", 2) == 0;
    snprintf(out, SB_NODE_NAME, "%s", a->node[lenet ? reader : a->node[i].in].name);
}

/* The mask behind node i of a plain architecture; false: there is none. */
static bool mask_behind(const struct sb_form_spec *s, const struct sb_arch *a, uint32_t i,
                        struct sb_arch_node *out)
{
    const struct sb_arch_node *n = &a->node[i];
    uint32_t reader = linear_reader(a, i);
    bool residual = residual_site(n);
    if (!residual && reader == SB_NODE_NONE)
        return false;
    *out = (struct sb_arch_node){.kind = SB_NODE_MASK,
                                 .other = SB_NODE_NONE,
                                 .mask = {.rate = s->rate, .channels = s->channels},
                                 .channels = n->channels,
                                 .height = n->height,
                                 .width = n->width};
    if (residual)
        memcpy(out->name, n->name, sizeof out->name);
    else
        name_site(a, i, reader, out->name);
    return true;
}

/* Whether a member keeps the mask as a node. */
static bool stays(const struct sb_form_spec *s, const struct sb_arch_node *mask)
{
    return !s->channels && mask->height * mask->width > 1;
}

/* ---- architectures ------------------------------------------------------------------- */

/* Members have the nodes before the first one that a mask changes in common: a mask that
 * stays, the convolution whose rows it is folded into, the linear layer that reads it. */
static uint32_t first_changed(const struct sb_form_spec *s, const struct sb_arch *plain,
                              const uint32_t *moved)
{
    uint32_t first = SB_NODE_NONE;
    for (uint32_t i = 0; i < plain->nodes; i++) {
        struct sb_arch_node mask;
        if (!mask_behind(s, plain, i, &mask))
            continue;
        uint32_t changed =
            moved[residual_site(&plain->node[i]) ? i : linear_reader(plain, i)];
        first = changed < first ? changed : first;
    }
    return first == SB_NODE_NONE ? 0 : first;
}

static sb_status insert_masks(const struct sb_form_spec *s, const struct sb_arch *plain,
                              enum sb_form_role role, uint32_t *moved,
                              struct sb_arch *out)
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; i < plain->nodes && st == SB_OK; i++) {
        struct sb_arch_node n = sb_form_moved(plain, i, moved), mask;
        st = sb_arch_push(out, &n);
        moved[i] = out->nodes - 1;
        if (st != SB_OK || !mask_behind(s, plain, i, &mask) ||
            (role == SB_FORM_MEMBER && !stays(s, &mask)))
            continue;
        mask.in = moved[i];
        mask.mask.given = role == SB_FORM_MEMBER;
        st = sb_arch_push(out, &mask);
        moved[i] = out->nodes - 1;
    }
    return st == SB_OK ? sb_arch_end(out) : st;
}

static sb_status build(const struct sb_form_spec *s, const struct sb_arch_shape *shape,
                       enum sb_form_role role, struct sb_arch *out)
{
    struct sb_arch plain = {0};
    sb_status st = sb_form_plain.build(s, shape, role, &plain);
    uint32_t *moved = NULL;
    if (st == SB_OK) {
        moved = sb_calloc(plain.nodes, sizeof *moved);
        *out = (struct sb_arch){.classes = plain.classes};
        st = moved ? insert_masks(s, &plain, role, moved, out)
                   : sb_fail(SB_ENOMEM, "no memory for %u nodes", plain.nodes);
        if (st == SB_OK && role == SB_FORM_MEMBER)
            out->shared = first_changed(s, &plain, moved);
    }
    if (st == SB_OK && role == SB_FORM_TRAINED && out->masks == 0)
        st = sb_fail(SB_EARG, "%s has no hidden layer to drop elements of", shape->name);
    sb_free(moved);
    sb_arch_fini(&plain);
    return st;
}

/* ---- a member ------------------------------------------------------------------------ */

/* What the elements of site number `index` are multiplied with in a pass: [n]; n: channels
 * or elements. */
static void draw_mask(const struct sb_form_spec *s, uint64_t seed, uint32_t pass,
                      uint32_t index, float *out, size_t n)
{
    struct sb_stream stream = sb_rng_stream(seed, SB_RNG_DROPOUT, 0, pass, index);
    uint32_t least = (uint32_t)((double)s->rate * 4294967296.0), word[4] = {0};
    float keep = 1.0f / (1.0f - s->rate);
    for (size_t i = 0; i < n; i++) {
        if (i % 4 == 0)
            sb_rng_bits(&stream, i / 4, word);
        out[i] = word[i % 4] < least ? 0.0f : keep;
    }
}

struct folding {
    const struct sb_trained *from;
    struct sb_trained *out;
    float *at;   /* memory for what is made */
    float *mask; /* [most] scratch */
};

/* Weights of a layer times a factor of their row or column; the first time, copied. */
static void fold(struct folding *k, uint32_t weight, bool rows)
{
    struct sb_param *mu = &k->out->params.param[k->out->mu[weight]];
    struct sb_param *rho = k->out->gauss ? &k->out->params.param[mu->rho] : NULL;
    const int32_t *position = k->out->position[weight];
    uint32_t cols = sb_param_all(mu) / mu->dim[0];
    float *value = k->at, *deviation = k->at + mu->count;
    k->at += (size_t)mu->count * (rho ? 2 : 1);
    for (uint32_t i = 0; i < mu->count; i++) {
        uint32_t at = position ? (uint32_t)position[i] : i;
        float f = k->mask[rows ? at / cols : at % cols];
        value[i] = mu->value[i] * f;
        if (rho)
            deviation[i] = (float)sb_rho_of_sigma(sb_sigma_of_rho((double)rho->value[i]) *
                                                  (double)f);
    }
    mu->value = value;
    if (rho)
        rho->value = deviation;
}

/* The number of the weight layer that reads node i. */
static uint32_t weight_number(const struct sb_arch *a, uint32_t node)
{
    uint32_t w = 0;
    for (uint32_t i = 0; i < node; i++)
        w += a->node[i].kind == SB_NODE_WEIGHT;
    return w;
}

static uint32_t reader_of(const struct sb_arch *a, uint32_t node)
{
    uint32_t i = node + 1;
    while (i < a->nodes && (a->node[i].kind != SB_NODE_WEIGHT || a->node[i].in != node))
        i++;
    return i;
}

static void apply_masks(const struct sb_form_spec *s, const struct sb_arch *trained,
                        struct folding *k, uint32_t pass)
{
    uint32_t site = 0, kept = 0;
    for (uint32_t i = 0; i < trained->nodes; i++) {
        const struct sb_arch_node *d = &trained->node[i];
        if (d->kind != SB_NODE_MASK)
            continue;
        bool element = stays(s, d), rows = trained->node[d->in].kind == SB_NODE_WEIGHT;
        size_t n = element ? (size_t)d->channels * d->height * d->width : d->channels;
        draw_mask(s, k->from->sample_seed, pass, site++, k->mask, n);
        if (element) { /* the next mask of the member's list */
            while (k->out->params.param[kept].role != SB_PARAM_KEEP)
                kept++;
            k->out->params.param[kept++].value =
                memcpy(k->at, k->mask, n * sizeof(float));
            k->at += n;
        } else if (rows) {
            fold(k, weight_number(trained, d->in), true);
        } else {
            fold(k, weight_number(trained, reader_of(trained, i)), false);
        }
    }
}

static sb_status member(const struct sb_form_spec *s, const struct sb_arch *trained,
                        const struct sb_arch *plain, const struct sb_trained *from,
                        uint32_t m, uint32_t draw, struct sb_trained *out)
{
    uint32_t *active = sb_malloc(plain->weights, sizeof *active);
    size_t extra = 0, most = 1;
    (void)draw;
    if (!active)
        return sb_fail(SB_ENOMEM, "no memory for %u layers", plain->weights);
    sb_trained_active(from, active);
    for (uint32_t i = 0; i < plain->weights; i++)
        extra += 2 * (size_t)active[i];
    for (uint32_t i = 0; i < trained->nodes; i++) {
        const struct sb_arch_node *d = &trained->node[i];
        size_t n = (size_t)d->channels * d->height * d->width;
        most = n > most ? n : most;
        extra += d->kind == SB_NODE_MASK && stays(s, d) ? n : 0;
    }
    sb_status st = sb_form_shell(plain, from, active, extra + most, out);
    sb_free(active);
    if (st != SB_OK)
        return st;
    struct folding k = {from, out, out->memory, (float *)out->memory + extra};
    apply_masks(s, trained, &k, m);
    return SB_OK;
}

const struct sb_form sb_form_dropout = {
    .name = "dropout", .build = build, .member = member};
