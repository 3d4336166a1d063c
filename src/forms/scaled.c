/* scaled - BatchEnsemble (Wen et al. 2020) and rank-1 BNNs (Dusenberry et al. 2020): members
 * share the weights of a network and have scales of their own around each layer,
 *
 *     y = s_m o (W * (r_m o x)) + b_m
 *
 * which for one member is the plain network with weights W o (s_m r_m^T). A batch is given
 * to every member: its rows are the examples once for each, the first member's first. Of
 * rank-1, r and s have a posterior; every row draws its own while training, a member has one
 * draw.
 */
#include <string.h>

#include "base/fmath.h"
#include "base/mem.h"
#include "base/rng.h"
#include "forms/form.h"

/* ---- the architecture ---------------------------------------------------------------- */

/* A scale of what node `in` gives. */
static struct sb_arch_node scale_of(const struct sb_form_spec *s, const struct sb_arch *a,
                                    uint32_t in, char part,
                                    const struct sb_arch_node *weight)
{
    struct sb_arch_node n = {.kind = SB_NODE_SCALE,
                             .in = in,
                             .other = SB_NODE_NONE,
                             .bias = part == 's' && weight->bias,
                             .channels = a->node[in].channels,
                             .height = a->node[in].height,
                             .width = a->node[in].width};
    n.scale = (struct sb_arch_scale){.members = s->members,
                                     .part = part,
                                     .gauss = s->kind == SB_FORM_RANK_1,
                                     .spread = s->spread,
                                     .sd = s->scale_sd,
                                     .fan_in = sb_conv_cols(&weight->conv),
                                     .prior_sd = s->scale_prior_sd};
    memcpy(n.name, weight->name, sizeof n.name);
    return n;
}

/* The layer between its two scales. */
static sb_status push_scaled(const struct sb_form_spec *s, struct sb_arch *out,
                             const struct sb_arch_node *weight)
{
    struct sb_arch_node r = scale_of(s, out, weight->in, 'r', weight), w = *weight;
    sb_status st = sb_arch_push(out, &r);
    if (st != SB_OK)
        return st;
    w.in = out->nodes - 1;
    w.bias = false;
    st = sb_arch_push(out, &w);
    if (st != SB_OK)
        return st;
    struct sb_arch_node last = scale_of(s, out, out->nodes - 1, 's', weight);
    return sb_arch_push(out, &last);
}

static sb_status surround(const struct sb_form_spec *s, const struct sb_arch *plain,
                          uint32_t *moved, struct sb_arch *out)
{
    sb_status st = SB_OK;
    for (uint32_t i = 0; i < plain->nodes && st == SB_OK; i++) {
        struct sb_arch_node n = sb_form_moved(plain, i, moved);
        st = n.kind == SB_NODE_WEIGHT ? push_scaled(s, out, &n) : sb_arch_push(out, &n);
        moved[i] = out->nodes - 1;
    }
    return st == SB_OK ? sb_arch_end(out) : st;
}

static sb_status build(const struct sb_form_spec *s, const struct sb_arch_shape *shape,
                       enum sb_form_role role, struct sb_arch *out)
{
    struct sb_arch plain = {0};
    sb_status st = sb_form_plain.build(s, shape, role, &plain);
    if (st != SB_OK || role == SB_FORM_MEMBER) {
        *out = plain;
        return st;
    }
    uint32_t *moved = sb_calloc(plain.nodes, sizeof *moved);
    *out = (struct sb_arch){.classes = plain.classes};
    st = moved ? surround(s, &plain, moved, out)
               : sb_fail(SB_ENOMEM, "no memory for %u nodes", plain.nodes);
    sb_free(moved);
    sb_arch_fini(&plain);
    return st;
}

/* ---- a batch ------------------------------------------------------------------------- */

static uint32_t rows(const struct sb_form_spec *s, uint32_t batch)
{
    return batch * s->members;
}

static void copy_row(const struct sb_act *x, uint32_t i, struct sb_act *to, uint32_t row)
{
    size_t pixels = (size_t)x->height * x->width;
    for (uint32_t c = 0; c < x->channels; c++) {
        const float *from = sb_act_image(x, i, c);
        float *out = sb_act_image(to, row, c);
        for (size_t p = 0; p < pixels; p++)
            out[p * to->lanes] = from[p * x->lanes];
    }
}

static void feed(const struct sb_form_spec *s, const struct sb_form_batch *b)
{
    uint32_t batch = b->x->batch;
    sb_act_set_batch(b->rows, batch * s->members);
    for (uint32_t m = 0; m < s->members; m++)
        for (uint32_t i = 0; i < batch; i++) {
            copy_row(b->x, i, b->rows, m * batch + i);
            b->example[m * batch + i] = i;
        }
}

/* ---- a member ------------------------------------------------------------------------ */

/* Member m's factors of a scale node: row m of the means, or a draw. out: [channels]. */
static void factors(const struct sb_trained *from, uint32_t node, uint32_t index,
                    uint32_t m, uint32_t draw, float *out)
{
    const struct sb_param *mu = sb_trained_find(from, node, SB_PARAM_SCALE);
    const struct sb_param *rho = sb_trained_find(from, node, SB_PARAM_SCALE_RHO);
    uint32_t channels = mu->dim[1];
    struct sb_stream s = sb_rng_stream(from->sample_seed, SB_RNG_SCALE, m, draw, index);
    memcpy(out, mu->value + (size_t)m * channels, channels * sizeof *out);
    for (uint32_t c = 0; rho && draw != SB_FORM_MEAN && c < channels; c++) {
        float z[4];
        sb_rng_normal4(&s, c / 4, z);
        out[c] += sb_softplus(rho->value[(size_t)m * channels + c]) * z[c % 4];
    }
}

static uint32_t most_channels(const struct sb_arch *a)
{
    uint32_t most = 1;
    for (uint32_t i = 0; i < a->nodes; i++)
        most = a->node[i].channels > most ? a->node[i].channels : most;
    return most;
}

/* W o (s r^T): a weight's scales are the nodes around it. */
void sb_form_draw_layer(const struct sb_arch *trained, const struct sb_trained *from,
                        uint32_t m, uint32_t layer, uint32_t draw, float *out,
                        float *scratch)
{
    const struct sb_param *w = &from->params.param[from->mu[layer]];
    const int32_t *position = from->position[layer];
    uint32_t cols = sb_param_all(w) / w->dim[0], kernel = cols / w->dim[1];
    float *r = scratch, *s = scratch + most_channels(trained);
    factors(from, w->node - 1, 2 * layer, m, draw, r);
    factors(from, w->node + 1, 2 * layer + 1, m, draw, s);
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t at = position ? (uint32_t)position[i] : i;
        out[i] = w->value[i] * (s[at / cols] * r[at % cols / kernel]);
    }
}

static sb_status member(const struct sb_form_spec *spec, const struct sb_arch *trained,
                        const struct sb_arch *plain, const struct sb_trained *from,
                        uint32_t m, uint32_t draw, struct sb_trained *out)
{
    size_t weights = 0, most = most_channels(trained);
    uint32_t *active = sb_malloc(plain->weights, sizeof *active);
    (void)spec;
    if (!active)
        return sb_fail(SB_ENOMEM, "no memory for %u layers", plain->weights);
    sb_trained_active(from, active);
    for (uint32_t i = 0; i < plain->weights; i++)
        weights += active[i];
    sb_status st = sb_form_shell(plain, from, active, weights + 2 * most, out);
    sb_free(active);
    if (st != SB_OK)
        return st;
    float *at = out->memory, *scratch = at + weights;
    for (uint32_t i = 0; i < plain->weights; i++) {
        struct sb_param *mu = &out->params.param[out->mu[i]];
        uint32_t node = from->params.param[from->mu[i]].node;
        const struct sb_param *bias =
            sb_trained_find(from, node + 1, SB_PARAM_SCALE_BIAS);
        sb_form_draw_layer(trained, from, m, i, draw, at, scratch);
        mu->value = at;
        at += mu->count;
        out->position[i] = from->position[i];
        if (bias)
            sb_trained_find(out, mu->node, SB_PARAM_BIAS)->value =
                bias->value + (size_t)m * mu->dim[0];
    }
    return SB_OK;
}

const struct sb_form sb_form_batch_ensemble = {.name = "batch-ensemble",
                                               .build = build,
                                               .rows = rows,
                                               .feed = feed,
                                               .member = member};

const struct sb_form sb_form_rank_1 = {
    .name = "rank-1", .build = build, .rows = rows, .feed = feed, .member = member};
