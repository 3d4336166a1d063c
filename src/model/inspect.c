/* inspect - see inspect.h. */
#include "model/inspect.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/numeric.h"
#include "tensor/select.h"
#include "tensor/topology.h"

enum { LINE_BYTES = 256, NUMBER_BYTES = 24, KEY_BITS = 64 };

/* ---- figures ----------------------------------------------------------------------- */

static void set_shape(struct sb_inspect_layer *l, const struct sb_arch_node *n)
{
    const struct sb_conv *c = &n->conv;
    l->name = n->name;
    if (n->linear)
        snprintf(l->shape, sizeof l->shape, "%u x %u", c->out, c->in);
    else
        snprintf(l->shape, sizeof l->shape, "%u x %u x %u x %u", c->out, c->in, c->kh,
                 c->kw);
}

/* Adds one member's weights; key, if not NULL, receives |mu| / sigma of each. */
static void add_weights(struct sb_inspect_layer *l, const struct sb_trained *m,
                        uint32_t layer, uint32_t all, uint64_t *key)
{
    const struct sb_param *w = &m->params.param[m->mu[layer]];
    const float *rho = m->gauss ? m->params.param[w->rho].value : NULL;
    const struct sb_param *bias = sb_trained_find(m, w->node, SB_PARAM_BIAS);
    for (uint32_t k = 0; k < w->count; k++) {
        double mu = fabs((double)w->value[k]);
        l->mean_mu += mu;
        if (!rho || !key)
            continue;
        double sigma = sb_sigma_of_rho((double)rho[k]);
        double ratio = mu > 0 ? fmin(mu / sigma, DBL_MAX) : 0.0;
        l->mean_sigma += sigma;
        key[k] = sb_key_of_double(ratio);
    }
    uint64_t arrays = 1u + (m->position[layer] ? 1u : 0u) + (rho ? 1u : 0u);
    l->active += w->count;
    l->all += all;
    l->bytes += (arrays * w->count + (bias ? bias->count : 0)) * sizeof(float);
}

/* The ratio that a share of the weights do not exceed, as SNR, which grows with it. */
static double quantile(const uint64_t *key, size_t n, double share)
{
    size_t rank = (size_t)ceil(share * (double)n); /* from the smallest, from 1 */
    struct sb_cut cut = sb_select_largest(key, n, n - rank + 1, KEY_BITS);
    double ratio;
    memcpy(&ratio, &cut.key, sizeof ratio);
    return sb_snr_abs(ratio, 1.0);
}

static sb_status inspect_layer(const struct sb_model *m, uint32_t i, uint32_t all,
                               struct sb_inspect_layer *l)
{
    size_t count = 0, at = 0;
    for (uint32_t j = 0; j < m->networks; j++)
        count += m->network[j].params.param[m->network[j].mu[i]].count;
    uint64_t *key = m->info.gauss ? sb_malloc(count, sizeof *key) : NULL;
    if (m->info.gauss && !key)
        return sb_fail(SB_ENOMEM, "inspect: no memory for %zu weights of layer %s", count,
                       l->name);
    for (uint32_t j = 0; j < m->networks; j++) {
        add_weights(l, &m->network[j], i, all, key ? key + at : NULL);
        at += m->network[j].params.param[m->network[j].mu[i]].count;
    }
    l->mean_mu /= (double)count;
    l->mean_sigma = key ? l->mean_sigma / (double)count : NAN;
    for (int q = 0; q < 3; q++)
        l->snr[q] = key ? quantile(key, count, 0.25 * (q + 1)) : NAN;
    sb_free(key);
    return SB_OK;
}

sb_status sb_inspect_layers(const struct sb_model *m, struct sb_inspect_layer *out)
{
    sb_status st = SB_OK;
    uint32_t i = 0;
    for (uint32_t k = 0; st == SB_OK && m->networks > 0 && k < m->trained.nodes; k++) {
        const struct sb_arch_node *n = &m->trained.node[k];
        if (n->kind != SB_NODE_WEIGHT)
            continue;
        out[i] = (struct sb_inspect_layer){0};
        set_shape(&out[i], n);
        st = inspect_layer(m, i, sb_conv_weights(&n->conv), &out[i]);
        i++;
    }
    return st;
}

/* ---- lines ------------------------------------------------------------------------- */

struct lines {
    sb_inspect_fn *line;
    void *context;
};

static void say(const struct lines *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(const struct lines *to, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n >= 0)
        to->line(to->context, line);
}

/* A number with so many digits, or "-" where there is none. */
static const char *fixed(char *out, int digits, double x)
{
    snprintf(out, NUMBER_BYTES, "%.*f", digits, x);
    return isnan(x) ? "-" : out;
}

static const char *general(char *out, int digits, double x)
{
    snprintf(out, NUMBER_BYTES, "%.*g", digits, x);
    return isnan(x) ? "-" : out;
}

static void say_members(const struct lines *to, const struct sb_model *m)
{
    const struct sb_figure_list *list = m->network[0].figures.of.list;
    enum { SHOWN = 3, HEAD_BYTES = 16 };
    char head[SHOWN][HEAD_BYTES];
    for (int k = 0; k < SHOWN; k++)
        snprintf(head[k], HEAD_BYTES, "val %s", list->kind[k].name);
    say(to, "network epoch %8s %8s %8s  sample seed", head[0], head[1], head[2]);
    for (uint32_t i = 0; i < m->networks; i++) {
        const struct sb_trained_figures *g = &m->network[i].figures;
        char text[SHOWN][NUMBER_BYTES];
        say(to, "%7u  %5llu  %7s  %7s  %7s  %llu", i, (unsigned long long)g->epoch,
            fixed(text[0], 4, g->of.value[0]), fixed(text[1], 4, g->of.value[1]),
            fixed(text[2], 4, g->of.value[2]),
            (unsigned long long)m->network[i].sample_seed);
    }
}

static int widest(const struct sb_inspect_layer *l, uint32_t layers, bool shape)
{
    size_t most = 5;
    for (uint32_t i = 0; i < layers; i++) {
        size_t length = strlen(shape ? l[i].shape : l[i].name);
        most = length > most ? length : most;
    }
    return (int)most;
}

static void say_layers(const struct lines *to, const struct sb_model *m,
                       const struct sb_inspect_layer *l)
{
    uint32_t layers = m->trained.weights, members = m->networks;
    int name = widest(l, layers, false), shape = widest(l, layers, true);
    say(to, "%-*s  %-*s  %10s  %10s  %7s  %9s  %10s  %8s  %8s  %8s  %11s", name, "layer",
        shape, "shape", "active", "of", "density", "mean |mu|", "mean sigma", "SNR 25%",
        "SNR 50%", "SNR 75%", "bytes");
    for (uint32_t i = 0; i < layers; i++) {
        char sigma[NUMBER_BYTES], snr[3][NUMBER_BYTES];
        say(to, "%-*s  %-*s  %10llu  %10llu  %7.4f  %9.3g  %10s  %8s  %8s  %8s  %11llu",
            name, l[i].name, shape, l[i].shape, (unsigned long long)l[i].active / members,
            (unsigned long long)l[i].all / members,
            (double)l[i].active / (double)l[i].all, l[i].mean_mu,
            general(sigma, 3, l[i].mean_sigma), general(snr[0], 4, l[i].snr[0]),
            general(snr[1], 4, l[i].snr[1]), general(snr[2], 4, l[i].snr[2]),
            (unsigned long long)l[i].bytes);
    }
}

/* ---- scales of members ------------------------------------------------------------- */

static bool has_scales(const struct sb_model *m)
{
    return m->info.form.kind == SB_FORM_RANK_1 ||
           m->info.form.kind == SB_FORM_BATCH_ENSEMBLE;
}

/* Mean of |x|, or of the deviations that rho gives; NAN: there is no such record. */
static double mean_of(const struct sb_param *p, bool rho)
{
    double sum = 0;
    for (uint32_t i = 0; p && i < p->count; i++)
        sum += rho ? sb_sigma_of_rho((double)p->value[i]) : fabs((double)p->value[i]);
    return p ? sum / p->count : NAN;
}

/* Factors of one weight's inputs (r) or outputs (s), with the members' own biases. */
static void say_scale(const struct lines *to, const struct sb_trained *t, uint32_t i,
                      int width)
{
    const struct sb_param *mu = &t->params.param[i], *rho = NULL, *bias = NULL;
    if (mu->rho != SB_NODE_NONE)
        rho = &t->params.param[mu->rho];
    bias = sb_trained_find(t, mu->node, SB_PARAM_SCALE_BIAS);
    uint64_t count = mu->count + (rho ? rho->count : 0) + (bias ? bias->count : 0);
    char name[LINE_BYTES], shape[NUMBER_BYTES], sigma[NUMBER_BYTES], b[NUMBER_BYTES];
    snprintf(name, sizeof name, "%s.%c", mu->layer, mu->part[0]);
    snprintf(shape, sizeof shape, "%u x %u", mu->dim[0], mu->dim[1]);
    say(to, "%-*s  %-12s  %9.3g  %10s  %11s  %11llu", width, name, shape,
        mean_of(mu, false), general(sigma, 3, mean_of(rho, true)),
        general(b, 3, mean_of(bias, false)), (unsigned long long)(count * sizeof(float)));
}

/* What makes members of the one network that both forms train. */
static void say_scales(const struct lines *to, const struct sb_model *m)
{
    const struct sb_param_list *l = &m->network[0].params;
    size_t most = 5;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->param[i].role == SB_PARAM_SCALE && strlen(l->param[i].layer) + 2 > most)
            most = strlen(l->param[i].layer) + 2;
    say(to, "%s", "");
    say(to, "%-*s  %-12s  %9s  %10s  %11s  %11s", (int)most, "scale", "of members",
        "mean |mu|", "mean sigma", "mean |bias|", "bytes");
    for (uint32_t i = 0; i < l->n; i++)
        if (l->param[i].role == SB_PARAM_SCALE)
            say_scale(to, &m->network[0], i, (int)most);
}

/* ---- all of it --------------------------------------------------------------------- */

static const char *posterior_of(const struct sb_model *m)
{
    return m->info.gauss                         ? "Gaussian posterior"
           : m->info.form.kind == SB_FORM_RANK_1 ? "point weights, Gaussian scales"
           : has_scales(m)                       ? "point weights and scales"
                                                 : "point weights";
}

static void say_summary(const struct lines *to, const struct sb_model *m,
                        uint64_t file_bytes, const struct sb_inspect_layer *l)
{
    const struct sb_model_info *o = &m->info;
    uint64_t active = 0, all = 0;
    for (uint32_t i = 0; i < m->trained.weights; i++) {
        active += l[i].active;
        all += l[i].all;
    }
    char takes[64];
    if (o->height == 1 && o->width == 1)
        snprintf(takes, sizeof takes, "%u features", o->channels);
    else
        snprintf(takes, sizeof takes, "images %u x %u x %u", o->channels, o->height,
                 o->width);
    say(to, "network   %s, %s, %u %s", o->arch, takes,
        o->targets > 0 ? o->targets : o->classes,
        o->targets == 1  ? "target"
        : o->targets > 1 ? "targets"
                         : "classes");
    for (uint32_t t = 0; t < o->targets; t++)
        say(to, "target    %s, mean %.6g, sd %.6g, %s", o->target_name[t],
            (double)o->target_mean[t], (double)o->target_sd[t],
            sb_likelihood_row(o->likelihood)->name);
    for (uint32_t t = 0; o->target_width && t < o->targets; t++)
        say(to, "width     %s, deviations times %.4g", o->target_name[t],
            (double)o->target_width[t]);
    if (o->scores > 0)
        say(to, "conformal %u scores of a calibration part", o->scores);
    if (m->far.members > 0)
        say(to, "far       %zu numbers about where training rows were",
            sb_far_floats(&m->far));
    say(to, "method    %s, %u member%s, %s", o->method, m->members,
        m->members == 1 ? "" : "s", posterior_of(m));
    say(to, "weights   %llu of %llu a network, density %.4f",
        (unsigned long long)active / m->networks, (unsigned long long)all / m->networks,
        (double)active / (double)all);
    if (file_bytes > 0)
        say(to, "file      %llu bytes", (unsigned long long)file_bytes);
}

sb_status sb_inspect_model(const struct sb_model *m, uint64_t file_bytes,
                           sb_inspect_fn *line, void *context)
{
    struct lines to = {line, context};
    if (m->members == 0)
        return sb_fail(SB_EARG, "inspect: the model has no members");
    struct sb_inspect_layer *l = sb_calloc(m->trained.weights, sizeof *l);
    if (!l)
        return sb_fail(SB_ENOMEM, "inspect: no memory for %u layers", m->trained.weights);
    sb_status st = sb_inspect_layers(m, l);
    locale_t before = sb_numeric_begin();
    if (st == SB_OK) {
        say_summary(&to, m, file_bytes, l);
        say(&to, "%s", "");
        say_members(&to, m);
        say(&to, "%s", "");
        say_layers(&to, m, l);
        if (has_scales(m))
            say_scales(&to, m);
    }
    sb_numeric_end(before);
    sb_free(l);
    return st;
}
