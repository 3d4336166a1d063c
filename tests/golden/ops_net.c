/* ops_net - golden cases of nn/: a whole network, one pass or a training run. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "case.h"
#include "nn/net.h"
#include "tensor/pattern.h"

struct net_case {
    struct golden_case *c;
    struct sb_net net;
    uint32_t batch;
    struct sb_act *eps;         /* [weights] */
    const struct sb_act **list; /* [weights] */
    double prior_sd, n_train;
    double tolerance;
};

static const char *weight_name(const struct net_case *k, uint32_t i)
{
    return k->net.arch.node[k->net.weight_node[i]].name;
}

static const char *norm_name(const struct net_case *k, uint32_t i)
{
    return k->net.arch.node[k->net.norm_node[i]].name;
}

/* "<prefix><layer>.<part>" */
static const char *join(char *out, size_t size, const char *prefix, const char *layer,
                        const char *part)
{
    snprintf(out, size, "%s%s%s%s", prefix, layer, *part ? "." : "", part);
    return out;
}

/* ---- reading ------------------------------------------------------------------------- */

/* Existing weights per layer, from the masks. */
static uint32_t *count_active(struct golden_case *c, const struct sb_arch *a)
{
    uint32_t *active = golden_alloc(c, a->weights, sizeof *active);
    char name[96];
    for (uint32_t i = 0, w = 0; active && i < a->nodes; i++) {
        if (a->node[i].kind != SB_NODE_WEIGHT)
            continue;
        size_t n = sb_conv_weights(&a->node[i].conv);
        const uint8_t *mask =
            golden_mask(c, join(name, sizeof name, "", a->node[i].name, "mask"), n);
        if (!mask)
            return NULL;
        for (size_t p = 0; p < n; p++)
            active[w] += mask[p];
        w++;
    }
    return active;
}

static bool init_net(struct net_case *k, const char *x_name)
{
    struct golden_case *c = k->c;
    const struct sb_st_tensor *x = golden_input(c, x_name);
    const char *arch = golden_text(c, "arch");
    double classes;
    if (!x || !arch || !golden_number(c, "classes", 2, 1e6, &classes))
        return false;
    if (x->ndim != 2 && x->ndim != 4) {
        golden_fail(c, "%s must have 2 or 4 dimensions", x_name);
        return false;
    }
    k->batch = (uint32_t)x->shape[0];
    struct sb_net_options o = {
        .arch = arch,
        .channels = (uint32_t)x->shape[1],
        .height = x->ndim == 4 ? (uint32_t)x->shape[2] : 1,
        .width = x->ndim == 4 ? (uint32_t)x->shape[3] : 1,
        .classes = (uint32_t)classes,
        .max_batch = k->batch,
        .threads = c->env->threads,
        .gauss = true,
    };
    struct sb_arch shape;
    bool ok = golden_ok(
        c, sb_arch_init(&shape, arch, o.channels, o.height, o.width, o.classes));
    o.active = ok ? count_active(c, &shape) : NULL;
    sb_arch_fini(&shape);
    if (!o.active || !golden_ok(c, sb_net_init(&k->net, &o)))
        return false;
    k->eps = golden_alloc(c, k->net.arch.weights, sizeof *k->eps);
    k->list = golden_alloc(c, k->net.arch.weights, sizeof *k->list);
    return k->eps && k->list;
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

static bool read_weight(struct net_case *k, uint32_t i)
{
    struct golden_case *c = k->c;
    struct sb_weight *w = &k->net.weight[i];
    const char *layer = weight_name(k, i);
    size_t n = sb_conv_weights(&w->conv);
    char s[96];
    const float *mu = golden_f32(c, join(s, sizeof s, "", layer, "mu"), n);
    const float *rho = golden_f32(c, join(s, sizeof s, "", layer, "rho"), n);
    const uint8_t *mask = golden_mask(c, join(s, sizeof s, "", layer, "mask"), n);
    const float *bias =
        w->bias ? golden_f32(c, join(s, sizeof s, "", layer, "bias"), w->conv.out) : NULL;
    if (!mu || !rho || !mask || (w->bias && !bias))
        return false;
    if (!w->dense) {
        struct sb_pattern p;
        bool ok = golden_ok(c, sb_pattern_from_mask(&p, w->conv.out,
                                                    sb_conv_cols(&w->conv), mask)) &&
                  golden_ok(c, sb_weight_set_pattern(w, &p));
        sb_pattern_fini(&p);
        if (!ok)
            return false;
    }
    gather(w, mu, w->mu);
    gather(w, rho, w->rho);
    if (bias)
        memcpy(w->bias, bias, w->conv.out * sizeof *bias);
    return true;
}

static bool read_norm(struct net_case *k, uint32_t i)
{
    struct sb_norm *m = &k->net.norm[i].norm;
    struct {
        const char *part;
        float *to;
    } array[] = {{"weight", m->gamma},
                 {"bias", m->beta},
                 {"running_mean", m->running_mean},
                 {"running_var", m->running_var}};
    for (size_t j = 0; j < 4; j++) {
        char s[96];
        const float *from = golden_f32(
            k->c, join(s, sizeof s, "", norm_name(k, i), array[j].part), m->channels);
        if (!from)
            return false;
        memcpy(array[j].to, from, m->channels * sizeof *from);
    }
    return true;
}

static bool read_net(struct net_case *k)
{
    for (uint32_t i = 0; i < k->net.arch.weights; i++)
        if (!read_weight(k, i))
            return false;
    for (uint32_t i = 0; i < k->net.arch.norms; i++)
        if (!read_norm(k, i))
            return false;
    sb_net_refresh(k->c->env, &k->net);
    return true;
}

static size_t elements(const struct sb_act *a)
{
    return (size_t)a->batch * a->channels * a->height * a->width;
}

/* Batch, labels and noise with a prefix ("" or "3."). */
static uint32_t *read_batch(struct net_case *k, const char *prefix)
{
    struct golden_case *c = k->c;
    char s[96];
    snprintf(s, sizeof s, "%sx", prefix);
    const float *x = golden_f32(c, s, elements(&k->net.input));
    snprintf(s, sizeof s, "%slabel", prefix);
    const int32_t *label = golden_i32(c, s, k->batch);
    if (!x || !label)
        return NULL;
    sb_act_load(&k->net.input, x);
    for (uint32_t i = 0; i < k->net.arch.weights; i++) {
        struct sb_act *e = &k->eps[i];
        const struct sb_act *y = &k->net.node[k->net.weight_node[i]].y;
        snprintf(s, sizeof s, "%seps.%s", prefix, weight_name(k, i));
        const float *from = golden_f32(c, s, elements(y));
        if (!from)
            return NULL;
        *e = *y;
        e->data = golden_alloc(c, sb_act_size(e), sizeof(float));
        if (!e->data)
            return NULL;
        sb_act_load(e, from);
        k->list[i] = e;
    }
    uint32_t *out = golden_alloc(c, k->batch, sizeof *out);
    for (uint32_t i = 0; out && i < k->batch; i++)
        out[i] = (uint32_t)label[i];
    return out;
}

/* ---- checking ------------------------------------------------------------------------ */

static void check_logits(struct net_case *k, const char *name)
{
    size_t n = elements(&k->net.logits);
    float *flat = golden_alloc(k->c, n, sizeof *flat);
    if (!flat)
        return;
    sb_act_store(&k->net.logits, flat);
    golden_check_f32(k->c, name, flat, n, k->tolerance);
}

static void check_scattered(struct net_case *k, uint32_t i, const char *prefix,
                            const char *part, const float *value)
{
    struct sb_weight *w = &k->net.weight[i];
    size_t n = sb_conv_weights(&w->conv);
    float *full = golden_alloc(k->c, n, sizeof *full);
    char s[96];
    if (!full)
        return;
    scatter(w, value, full);
    golden_check_f32(k->c, join(s, sizeof s, prefix, weight_name(k, i), part), full, n,
                     k->tolerance);
}

static void check_parameters(struct net_case *k, bool gradient)
{
    const char *prefix = gradient ? "grad." : "";
    char s[96];
    for (uint32_t i = 0; i < k->net.arch.weights; i++) {
        struct sb_weight *w = &k->net.weight[i];
        check_scattered(k, i, prefix, "mu", gradient ? w->dmu : w->mu);
        check_scattered(k, i, prefix, "rho", gradient ? w->drho : w->rho);
        if (w->bias)
            golden_check_f32(k->c, join(s, sizeof s, prefix, weight_name(k, i), "bias"),
                             gradient ? w->dbias : w->bias, w->conv.out, k->tolerance);
    }
    for (uint32_t i = 0; i < k->net.arch.norms; i++) {
        struct sb_net_norm *m = &k->net.norm[i];
        golden_check_f32(k->c, join(s, sizeof s, prefix, norm_name(k, i), "weight"),
                         gradient ? m->dgamma : m->norm.gamma, m->norm.channels,
                         k->tolerance);
        golden_check_f32(k->c, join(s, sizeof s, prefix, norm_name(k, i), "bias"),
                         gradient ? m->dbeta : m->norm.beta, m->norm.channels,
                         k->tolerance);
    }
}

static void check_state(struct net_case *k)
{
    char s[96];
    for (uint32_t i = 0; i < k->net.arch.weights; i++) {
        const struct sb_weight *w = &k->net.weight[i];
        size_t n = sb_conv_weights(&w->conv);
        float *one = golden_alloc(k->c, w->nnz, sizeof *one);
        float *full = golden_alloc(k->c, n, sizeof *full);
        int32_t *mask = golden_alloc(k->c, n, sizeof *mask);
        if (!one || !full || !mask)
            return;
        for (uint32_t j = 0; j < w->nnz; j++)
            one[j] = 1.0f;
        scatter(w, one, full);
        for (size_t j = 0; j < n; j++)
            mask[j] = full[j] != 0.0f;
        golden_check_i32(k->c, join(s, sizeof s, "", weight_name(k, i), "mask"), mask, n);
    }
    for (uint32_t i = 0; i < k->net.arch.norms; i++) {
        const struct sb_norm *m = &k->net.norm[i].norm;
        golden_check_f32(k->c, join(s, sizeof s, "", norm_name(k, i), "running_mean"),
                         m->running_mean, m->channels, k->tolerance);
        golden_check_f32(k->c, join(s, sizeof s, "", norm_name(k, i), "running_var"),
                         m->running_var, m->channels, k->tolerance);
    }
}

/* ---- the ops ------------------------------------------------------------------------- */

static void network(struct net_case *k)
{
    struct golden_case *c = k->c;
    const struct sb_env *env = c->env;
    double anneal, loss, kl;
    uint32_t *label;
    if (!init_net(k, "x") || !read_net(k) || !(label = read_batch(k, "")) ||
        !golden_number(c, "prior_std", 1e-6, 1e6, &k->prior_sd) ||
        !golden_number(c, "n_train", 1, 1e12, &k->n_train) ||
        !golden_number(c, "anneal", 0, 1, &anneal))
        return;
    struct sb_pass train = {.training = true, .sample = true, .eps = k->list};
    struct sb_pass eval = {0};
    if (!golden_ok(c, sb_net_forward(env, &k->net, &train)))
        return;
    check_logits(k, "logits");
    if (!golden_ok(c, sb_net_loss(env, &k->net, label, &loss)) ||
        !golden_ok(c, sb_net_backward(env, &k->net, NULL, NULL)))
        return;
    kl = sb_net_kl(env, &k->net, (float)k->prior_sd);
    loss += anneal * kl / k->n_train;
    sb_net_add_kl(env, &k->net, (float)(anneal / k->n_train), (float)k->prior_sd);
    golden_check_f64(c, "kl", &kl, 1, k->tolerance);
    golden_check_f64(c, "loss", &loss, 1, k->tolerance);
    check_parameters(k, true);
    if (golden_ok(c, sb_net_forward(env, &k->net, &eval)))
        check_logits(k, "logits_eval_mean");
}

/* The dense gradients of an update's batch, one a layer. */
struct growth {
    struct net_case *k;
    float **gradient; /* [weights] */
};

static sb_status grow_visit(void *context, uint32_t i, const struct sb_act *x,
                            const struct sb_act *dy)
{
    struct growth *g = context;
    return sb_weight_dense_gradient(g->k->c->env, &g->k->net.weight[i], x, dy,
                                    g->gradient[i]);
}

struct trace {
    double steps, delta_t, rate, lr_mu, lr_rho, momentum, decay, anneal_steps;
};

static bool read_trace(struct net_case *k, struct trace *t)
{
    struct golden_case *c = k->c;
    return golden_number(c, "steps", 1, 1e6, &t->steps) &&
           golden_number(c, "delta_t", 1, 1e9, &t->delta_t) &&
           golden_number(c, "rate", 0, 1, &t->rate) &&
           golden_number(c, "lr_mu", 0, 1e3, &t->lr_mu) &&
           golden_number(c, "lr_rho", 0, 1e3, &t->lr_rho) &&
           golden_number(c, "momentum", 0, 1, &t->momentum) &&
           golden_number(c, "weight_decay", 0, 1, &t->decay) &&
           golden_number(c, "anneal_steps", 1, 1e9, &t->anneal_steps) &&
           golden_number(c, "n_train", 1, 1e12, &k->n_train) &&
           golden_number(c, "prior_std", 1e-6, 1e6, &k->prior_sd);
}

/* Step s: an optimiser step or, every delta_t, a prune-grow update instead. */
static bool trace_step(struct net_case *k, const struct trace *t, uint32_t s,
                       struct growth *g, double *loss)
{
    struct golden_case *c = k->c;
    const struct sb_env *env = c->env;
    char prefix[24];
    snprintf(prefix, sizeof prefix, "%u.", s);
    const uint32_t *label = read_batch(k, prefix);
    struct sb_pass pass = {.training = true, .sample = true, .eps = k->list};
    bool update = s % (uint32_t)t->delta_t == 0;
    double beta = s / t->anneal_steps < 1.0 ? s / t->anneal_steps : 1.0;
    if (!label || !golden_ok(c, sb_net_forward(env, &k->net, &pass)) ||
        !golden_ok(c, sb_net_loss(env, &k->net, label, loss)) ||
        !golden_ok(c, sb_net_backward(env, &k->net, update ? grow_visit : NULL, g)))
        return false;
    *loss += beta * sb_net_kl(env, &k->net, (float)k->prior_sd) / k->n_train;
    sb_net_add_kl(env, &k->net, (float)(beta / k->n_train), (float)k->prior_sd);
    if (!update) {
        struct sb_sgd o = {(float)t->lr_mu, (float)t->momentum, (float)t->decay, 0};
        sb_net_step(env, &k->net, &o, (float)t->lr_rho);
        return true;
    }
    for (uint32_t i = 0; i < k->net.arch.weights; i++)
        if (!k->net.weight[i].dense &&
            !golden_ok(c, sb_weight_update(&k->net.weight[i], g->gradient[i], t->rate,
                                           SB_PRUNE_SNR, NULL)))
            return false;
    sb_net_refresh(env, &k->net);
    return true;
}

static void trace(struct net_case *k)
{
    struct golden_case *c = k->c;
    struct trace t;
    struct growth g = {.k = k};
    if (!read_trace(k, &t) || !init_net(k, "1.x") || !read_net(k))
        return;
    g.gradient = golden_alloc(c, k->net.arch.weights, sizeof *g.gradient);
    for (uint32_t i = 0; g.gradient && i < k->net.arch.weights; i++)
        g.gradient[i] =
            golden_alloc(c, sb_conv_weights(&k->net.weight[i].conv), sizeof(float));
    double *losses = golden_alloc(c, (size_t)t.steps, sizeof *losses);
    if (!g.gradient || !losses)
        return;
    for (uint32_t s = 1; s <= (uint32_t)t.steps; s++)
        if (!trace_step(k, &t, s, &g, &losses[s - 1]))
            return;
    golden_check_f64(c, "loss", losses, (size_t)t.steps, k->tolerance);
    check_parameters(k, false);
    check_state(k);
}

static void run_network(struct golden_case *c)
{
    struct net_case k = {.c = c, .tolerance = GOLDEN_TOL_NETWORK};
    network(&k);
    sb_net_fini(&k.net);
}

static void run_trace(struct golden_case *c)
{
    struct net_case k = {.c = c, .tolerance = GOLDEN_TOL_TRACE};
    trace(&k);
    sb_net_fini(&k.net);
}

const struct golden_op golden_net_ops[] = {
    {"network", run_network}, {"trace", run_trace}, {NULL, NULL}};
