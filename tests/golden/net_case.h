/* net_case - the network of a golden case, read by the names of its records. Part of
 * ops_net.c. */
#ifndef GOLDEN_NET_CASE_H
#define GOLDEN_NET_CASE_H

#include <stdio.h>
#include <string.h>

#include "case.h"
#include "forms/form.h"
#include "kernels/kernels.h"
#include "masks.h"
#include "nn/net.h"
#include "tensor/pattern.h"

struct net_case {
    struct golden_case *c;
    struct sb_form_spec form;
    struct sb_net net;
    uint32_t examples, channels; /* of x, before the form makes rows of them */
    bool gauss;
    const struct sb_act **list; /* [weights] noise, NULL: points */
    const float **weight_list;  /* [weights] noise of weights that are drawn, or NULL */
    const struct sb_act **scale_list; /* [scales] */
    const struct sb_act **drop_list;  /* [masks] */
    double prior_sd, n_train;
    double tolerance;
};

/* "<prefix><layer>.<part>" */
static const char *join(char out[128], const char *prefix, const char *layer,
                        const char *part)
{
    snprintf(out, 128, "%s%.60s%s%.20s", prefix, layer, *part ? "." : "", part);
    return out;
}

/* The name of a record, that of the shared noise as the cases have it. */
static const char *name_of(char out[128], const char *prefix, const struct sb_param *p)
{
    return p->role == SB_PARAM_NOISE ? join(out, prefix, "log_noise", "")
                                     : join(out, prefix, p->layer, p->part);
}

/* ---- reading ------------------------------------------------------------------------- */

/* Existing weights per layer, from the masks. */
static uint32_t *count_active(struct golden_case *c, const struct sb_arch *a)
{
    uint32_t *active = golden_alloc(c, a->weights, sizeof *active);
    char name[128];
    for (uint32_t i = 0, w = 0; active && i < a->nodes; i++) {
        if (a->node[i].kind != SB_NODE_WEIGHT)
            continue;
        size_t n = sb_conv_weights(&a->node[i].conv);
        join(name, "", a->node[i].name, "mask");
        const uint8_t *mask =
            golden_input_optional(c, name) ? golden_mask(c, name, n) : NULL;
        if (!mask && golden_input_optional(c, name))
            return NULL;
        active[w] = mask ? 0 : (uint32_t)n;
        for (size_t p = 0; mask && p < n; p++)
            active[w] += mask[p];
        w++;
    }
    return active;
}

static bool read_form(struct net_case *k)
{
    struct golden_case *c = k->c;
    struct sb_form_spec *f = &k->form;
    const char *name = sb_st_meta(&c->file, "wrapper");
    const char *at = sb_st_meta(&c->file, "branch_at");
    double members = 1, rate = 0, prior = 1;
    if (!name)
        return true;
    if (!golden_ok(c, sb_form_find(name, &f->kind)))
        return false;
    const char *share = sb_st_meta(&c->file, "dropout_rate") ? "dropout_rate" : "rate";
    if (f->kind == SB_FORM_DROPOUT ? !golden_number(c, share, 0, 1, &rate)
                                   : !golden_number(c, "members", 1, 100, &members))
        return false;
    if (f->kind == SB_FORM_RANK_1 && !golden_number(c, "prior_std", 1e-6, 1e6, &prior))
        return false;
    f->members = (uint32_t)members;
    f->rate = (float)rate;
    f->scale_prior_sd = (float)prior;
    f->repetitions = 1;
    if (at)
        snprintf(f->branch_at, sizeof f->branch_at, "%s", at);
    return true;
}

static bool has_rho(struct golden_case *c, const struct sb_arch *a)
{
    char name[128];
    uint32_t i = 0;
    while (a->node[i].kind != SB_NODE_WEIGHT)
        i++;
    return golden_input_optional(c, join(name, "", a->node[i].name, "rho"));
}

static bool plan_net(struct net_case *k, const struct sb_arch_shape *shape)
{
    struct golden_case *c = k->c;
    struct sb_arch a;
    bool ok = golden_ok(c, sb_form_build(&k->form, shape, SB_FORM_TRAINED, &a));
    k->gauss = ok && has_rho(c, &a);
    const char *estimator = sb_st_meta(&c->file, "estimator");
    double usual = estimator && strcmp(estimator, "weights") == 0 ? 16 : 0, group;
    ok = ok && golden_number_or(c, "group", 16, 1e6, usual, &group);
    struct sb_net_options o = {
        .made = &a,
        .lanes = c->env->kernels->lanes,
        .max_batch = sb_form_rows(&k->form, k->examples),
        .threads = c->env->threads,
        .gauss = k->gauss,
        .group = ok ? (uint32_t)group : 0,
        .active = ok ? count_active(c, &a) : NULL,
    };
    ok = o.active && golden_ok(c, sb_net_init(&k->net, &o));
    sb_arch_fini(&a);
    k->list = golden_alloc(c, k->net.arch.weights + 1, sizeof *k->list);
    k->weight_list = golden_alloc(c, k->net.arch.weights + 1, sizeof *k->weight_list);
    k->scale_list = golden_alloc(c, k->net.arch.scales + 1, sizeof *k->scale_list);
    k->drop_list = golden_alloc(c, k->net.arch.masks + 1, sizeof *k->drop_list);
    return ok && k->list && k->weight_list && k->scale_list && k->drop_list;
}

/* Classes, or targets with one of two kinds of noise; and how many outputs that takes. */
static bool read_likelihood(struct golden_case *c, enum sb_likelihood_kind *kind,
                            double *outputs)
{
    const char *task = sb_st_meta(&c->file, "task"),
               *noise = sb_st_meta(&c->file, "noise");
    *kind = SB_LIKELIHOOD_CATEGORICAL;
    if (!task || strcmp(task, "regression") != 0)
        return golden_number(c, "classes", 2, 1e6, outputs);
    bool shared = noise && strcmp(noise, "shared") == 0;
    *kind = shared ? SB_LIKELIHOOD_GAUSS_SHARED : SB_LIKELIHOOD_GAUSS_PER_EXAMPLE;
    if (!shared && (!noise || strcmp(noise, "per-example") != 0)) {
        golden_fail(c, "metadata \"noise\" is \"%s\", want shared or per-example",
                    noise ? noise : "");
        return false;
    }
    if (!golden_number(c, "targets", 1, 1e6, outputs))
        return false;
    *outputs *= sb_likelihood_row(*kind)->outputs;
    return true;
}

static bool init_net(struct net_case *k, const char *x_name)
{
    struct golden_case *c = k->c;
    const char *arch = golden_text(c, "arch");
    double outputs;
    enum sb_likelihood_kind likelihood;
    if (!read_form(k))
        return false;
    char name[64];
    snprintf(name, sizeof name, "%.40s%s", x_name,
             k->form.kind == SB_FORM_MIMO ? ".0" : "");
    const struct sb_st_tensor *x = golden_input(c, name);
    if (!x || !arch || !read_likelihood(c, &likelihood, &outputs))
        return false;
    if (x->ndim != 2 && x->ndim != 4) {
        golden_fail(c, "%s must have 2 or 4 dimensions", x_name);
        return false;
    }
    k->examples = (uint32_t)x->shape[0];
    k->channels = (uint32_t)x->shape[1];
    struct sb_arch_shape shape = {arch,
                                  k->channels,
                                  x->ndim == 4 ? (uint32_t)x->shape[2] : 1,
                                  x->ndim == 4 ? (uint32_t)x->shape[3] : 1,
                                  (uint32_t)outputs,
                                  likelihood};
    return plan_net(k, &shape);
}

/* A dense array's numbers at the weights that exist. */
static void gather(const struct sb_weight *w, const float *full, float *out)
{
    uint32_t cols = sb_conv_cols(&w->conv);
    for (uint32_t r = 0; !w->dense && r < w->pattern.rows; r++)
        for (uint32_t k = w->pattern.row_ptr[r]; k < w->pattern.row_ptr[r + 1]; k++)
            out[k] = full[(size_t)r * cols + w->pattern.col[k]];
    if (w->dense)
        memcpy(out, full, w->nnz * sizeof *out);
}

static void scatter(const struct sb_weight *w, const float *value, float *full)
{
    uint32_t cols = sb_conv_cols(&w->conv);
    for (uint32_t r = 0; !w->dense && r < w->pattern.rows; r++)
        for (uint32_t k = w->pattern.row_ptr[r]; k < w->pattern.row_ptr[r + 1]; k++)
            full[(size_t)r * cols + w->pattern.col[k]] = value[k];
    if (w->dense)
        memcpy(full, value, w->nnz * sizeof *full);
}

static bool read_pattern(struct net_case *k, uint32_t i)
{
    struct golden_case *c = k->c;
    struct sb_weight *w = &k->net.weight[i];
    char s[128];
    struct sb_pattern p;
    const uint8_t *mask =
        golden_mask(c, join(s, "", k->net.arch.node[k->net.weight_node[i]].name, "mask"),
                    sb_conv_weights(&w->conv));
    bool ok =
        mask &&
        golden_ok(c, pattern_of_mask(&p, w->conv.out, sb_conv_cols(&w->conv), mask)) &&
        golden_ok(c, sb_weight_set_pattern(w, &p));
    if (mask)
        sb_pattern_fini(&p);
    return ok;
}

static bool read_net(struct net_case *k)
{
    char s[128];
    for (uint32_t i = 0; i < k->net.arch.weights; i++)
        if (!k->net.weight[i].dense && !read_pattern(k, i))
            return false;
    for (uint32_t i = 0; i < k->net.params.n; i++) {
        const struct sb_param *p = &k->net.params.param[i];
        const float *from = golden_f32(k->c, name_of(s, "", p), sb_param_all(p));
        if (!from)
            return false;
        if (p->weight != SB_NODE_NONE)
            gather(&k->net.weight[p->weight], from, p->value);
        else
            memcpy(p->value, from, p->count * sizeof *from);
    }
    sb_net_refresh(k->c->env, &k->net);
    return true;
}

static size_t elements(const struct sb_act *a)
{
    return (size_t)a->batch * a->channels * a->height * a->width;
}

/* An input shaped like an act, in memory of its own. */
static struct sb_act *read_act(struct net_case *k, const char *name,
                               const struct sb_act *like)
{
    struct sb_act *a = golden_alloc(k->c, 1, sizeof *a);
    const float *from = golden_f32(k->c, name, elements(like));
    if (!a || !from)
        return NULL;
    *a = *like;
    a->data = golden_alloc(k->c, sb_act_size(a), sizeof(float));
    if (!a->data)
        return NULL;
    sb_act_load(a, from);
    return a;
}

/* Noise of a layer that draws its weights, [groups][out][in][kh][kw], where they exist. */
static bool read_weight_noise(struct net_case *k, const char *name, uint32_t weight)
{
    const struct sb_weight *w = &k->net.weight[weight];
    size_t groups = (k->net.input.batch + w->group - 1) / w->group,
           all = sb_conv_weights(&w->conv);
    const float *from = golden_f32(k->c, name, groups * all);
    float *to = golden_alloc(k->c, groups * w->nnz, sizeof *to);
    for (size_t g = 0; from && to && g < groups; g++)
        gather(w, from + g * all, to + g * w->nnz);
    k->weight_list[weight] = to;
    return from && to;
}

/* Noise of weights and scales and what masks multiply with, with a prefix ("" or "3."). */
static bool read_noise(struct net_case *k, const char *prefix)
{
    char s[128], eps[64], keep[64];
    snprintf(eps, sizeof eps, "%.40seps.", prefix);
    snprintf(keep, sizeof keep, "%.40skeep.", prefix);
    for (uint32_t i = 0; i < k->net.arch.nodes; i++) {
        const struct sb_arch_node *d = &k->net.arch.node[i];
        struct sb_net_node *node = &k->net.node[i];
        const char part[] = {d->scale.part, '\0'};
        struct sb_act *a = NULL;
        if (d->kind == SB_NODE_WEIGHT && k->gauss && k->net.weight[node->param].group) {
            if (!read_weight_noise(k, join(s, eps, d->name, ""), node->param))
                return false;
            continue;
        }
        if (d->kind == SB_NODE_WEIGHT && k->gauss)
            k->list[node->param] = a = read_act(k, join(s, eps, d->name, ""), &node->y);
        else if (d->kind == SB_NODE_SCALE && d->scale.gauss)
            k->scale_list[node->param] = a =
                read_act(k, join(s, eps, d->name, part), &k->net.scale[node->param].eps);
        else if (d->kind == SB_NODE_MASK)
            k->drop_list[node->param] = a =
                read_act(k, join(s, keep, d->name, ""), &node->y);
        else
            continue;
        if (!a)
            return false;
        for (size_t j = 0; d->kind == SB_NODE_MASK && j < sb_act_size(a); j++)
            a->data[j] /= 1.0f - d->mask.rate;
    }
    return true;
}

/* Examples of input slice m, [examples][channels][...], into the rows they belong to. */
static void place(struct net_case *k, const float *x, uint32_t m, float *rows)
{
    const struct sb_act *in = &k->net.input;
    size_t plane = (size_t)in->height * in->width, mine = k->channels * plane;
    bool copies =
        k->form.kind == SB_FORM_BATCH_ENSEMBLE || k->form.kind == SB_FORM_RANK_1;
    for (uint32_t i = 0; i < k->examples; i++) {
        size_t row = copies ? m * k->examples + i : i;
        memcpy(rows + row * in->channels * plane + (copies ? 0 : m * mine), x + i * mine,
               mine * sizeof *x);
    }
}

/* Examples as rows; one: the first of several inputs to all of them. */
static bool read_examples(struct net_case *k, const char *prefix, bool one)
{
    struct golden_case *c = k->c;
    const struct sb_act *in = &k->net.input;
    bool mimo = k->form.kind == SB_FORM_MIMO, tree = k->form.kind == SB_FORM_TREE;
    uint32_t slices = tree ? 1 : sb_form_members(&k->form);
    size_t each = (size_t)k->examples * k->channels * in->height * in->width;
    float *rows = golden_alloc(c, elements(in), sizeof *rows);
    for (uint32_t m = 0; rows && m < slices; m++) {
        char s[64];
        snprintf(s, sizeof s, mimo ? "%.40sx.%u" : "%.40sx", prefix, one ? 0 : m);
        const float *x = golden_f32(c, s, each);
        if (!x)
            return false;
        place(k, x, m, rows);
    }
    if (rows)
        sb_act_load(&k->net.input, rows);
    return rows;
}

/* What is right by the name of head h: label, y; of mimo's heads label.0, y.0, ... */
static const char *truth_name(const struct net_case *k, char out[64], const char *prefix,
                              const char *name, uint32_t h)
{
    snprintf(out, 64, k->form.kind == SB_FORM_MIMO ? "%.40s%s.%u" : "%.40s%s", prefix,
             name, h);
    return out;
}

/* Labels of every head: [heads][rows]. */
static uint32_t *read_labels(struct net_case *k, const char *prefix)
{
    struct golden_case *c = k->c;
    uint32_t rows = k->net.input.batch, heads = k->net.arch.heads;
    uint32_t *out = golden_alloc(c, (size_t)rows * heads, sizeof *out);
    for (uint32_t h = 0; out && h < heads; h++) {
        char s[64];
        const int32_t *label =
            golden_i32(c, truth_name(k, s, prefix, "label", h), k->examples);
        for (uint32_t i = 0; label && i < rows; i++)
            out[(size_t)h * rows + i] = (uint32_t)label[i % k->examples];
        if (!label)
            return NULL;
    }
    return out;
}

/* Targets of every head: [heads][rows][targets]. */
static float *read_targets(struct net_case *k, const char *prefix)
{
    struct golden_case *c = k->c;
    const struct sb_arch *a = &k->net.arch;
    uint32_t rows = k->net.input.batch,
             targets = sb_likelihood_count(a->likelihood, a->classes);
    float *out = golden_alloc(c, (size_t)rows * a->heads * targets, sizeof *out);
    for (uint32_t h = 0; out && h < a->heads; h++) {
        char s[64];
        const float *y = golden_f32(c, truth_name(k, s, prefix, "y", h),
                                    (size_t)k->examples * targets);
        for (uint32_t i = 0; y && i < rows; i++)
            memcpy(out + ((size_t)h * rows + i) * targets,
                   y + (size_t)(i % k->examples) * targets, targets * sizeof *y);
        if (!y)
            return NULL;
    }
    return out;
}

static bool read_batch(struct net_case *k, const char *prefix, struct sb_truth *truth)
{
    const struct sb_arch *a = &k->net.arch;
    *truth = (struct sb_truth){0};
    if (!read_examples(k, prefix, false) || !read_noise(k, prefix))
        return false;
    if (a->likelihood == SB_LIKELIHOOD_CATEGORICAL)
        truth->label = read_labels(k, prefix);
    else
        truth->target = read_targets(k, prefix);
    return truth->label || truth->target;
}

#endif
