/* ops_net - golden cases of nn/ and forms/: a whole network, one pass or a training run.
 *
 * The network is what its metadata says: arch, classes and, for a form, wrapper with members,
 * rate, branch_at. A missing mask means dense, a missing rho a point weight. Its records (see
 * nn/param.h) are read and checked by their names.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "net_case.h"
#include "train/step.h"

/* ---- checking ------------------------------------------------------------------------ */

static void check_act(struct net_case *k, const char *name, const struct sb_act *a)
{
    size_t n = elements(a);
    float *flat = golden_alloc(k->c, n, sizeof *flat);
    if (!flat)
        return;
    sb_act_store(a, flat);
    golden_check_f32(k->c, name, flat, n, k->tolerance);
}

/* What the case has of the heads' answers: of all together, or one by one. */
static void check_logits(struct net_case *k, const char *name)
{
    const struct sb_net *n = &k->net;
    char s[64];
    if (golden_wants(k->c, name))
        check_act(k, name, &n->node[n->arch.head[0].node].y);
    for (uint32_t h = 0; h < n->arch.heads; h++) {
        snprintf(s, sizeof s, "%.40s.%u", name, h);
        if (golden_wants(k->c, s))
            check_act(k, s, &n->head[h].logits);
    }
}

static void check_parameters(struct net_case *k, bool gradient)
{
    char s[128];
    for (uint32_t i = 0; i < k->net.params.n; i++) {
        const struct sb_param *p = &k->net.params.param[i];
        size_t all = sb_param_all(p);
        const float *have = gradient ? p->gradient : p->value;
        float *full = golden_alloc(k->c, all, sizeof *full);
        if (!full || !p->gradient)
            continue;
        if (p->weight != SB_NODE_NONE)
            scatter(&k->net.weight[p->weight], have, full);
        else
            memcpy(full, have, all * sizeof *full);
        golden_check_f32(k->c, name_of(s, gradient ? "grad." : "", p), full, all,
                         k->tolerance);
    }
}

static void check_mask(struct net_case *k, uint32_t i)
{
    const struct sb_weight *w = &k->net.weight[i];
    size_t n = sb_conv_weights(&w->conv);
    float *one = golden_alloc(k->c, w->nnz, sizeof *one);
    float *full = golden_alloc(k->c, n, sizeof *full);
    int32_t *mask = golden_alloc(k->c, n, sizeof *mask);
    char s[128];
    join(s, "", k->net.arch.node[k->net.weight_node[i]].name, "mask");
    if (!one || !full || !mask || (w->dense && !golden_wants(k->c, s)))
        return;
    for (uint32_t j = 0; j < w->nnz; j++)
        one[j] = 1.0f;
    scatter(w, one, full);
    for (size_t j = 0; j < n; j++)
        mask[j] = full[j] != 0.0f;
    golden_check_i32(k->c, s, mask, n);
}

static void check_state(struct net_case *k)
{
    char s[128];
    for (uint32_t i = 0; i < k->net.arch.weights; i++)
        check_mask(k, i);
    for (uint32_t i = 0; i < k->net.params.n; i++) {
        const struct sb_param *p = &k->net.params.param[i];
        if (p->role == SB_PARAM_RUNNING_MEAN || p->role == SB_PARAM_RUNNING_VAR)
            golden_check_f32(k->c, join(s, "", p->layer, p->part), p->value, p->count,
                             k->tolerance);
    }
}

/* ---- the ops ------------------------------------------------------------------------- */

static bool read_priors(struct net_case *k, double *anneal)
{
    bool has_kl = k->gauss || k->form.kind == SB_FORM_RANK_1;
    k->prior_sd = k->n_train = 1;
    *anneal = 0;
    return !has_kl || (golden_number(k->c, "prior_std", 1e-6, 1e6, &k->prior_sd) &&
                       golden_number(k->c, "n_train", 1, 1e12, &k->n_train) &&
                       golden_number(k->c, "anneal", 0, 1, anneal));
}

/* Forward without batch statistics: the posterior's mean; dropout's masks as given, with the
 * given averages; mimo's first image in all inputs, answers averaged. */
static void check_inference(struct net_case *k)
{
    struct golden_case *c = k->c;
    struct sb_net *n = &k->net;
    struct sb_pass pass = {.drop = k->drop_list};
    bool mimo = golden_wants(c, "prob_eval");
    size_t size = (size_t)k->examples * n->arch.classes;
    float *mean = golden_alloc(c, size, sizeof *mean), *one = golden_alloc(c, size, 4);
    if (!mean || !one || (mimo && !read_examples(k, "", true)) ||
        (golden_wants(c, "logits_eval") && !read_net(k)) ||
        !golden_ok(c, sb_net_forward(c->env, n, &pass)))
        return;
    check_logits(k, "logits_eval_mean");
    check_logits(k, "output_eval_mean");
    check_logits(k, "logits_eval");
    sb_net_predict(c->env, n);
    for (uint32_t h = 0; mimo && h < n->arch.heads; h++) {
        sb_act_store(&n->head[h].prediction, one);
        for (size_t i = 0; i < size; i++)
            mean[i] += one[i] / (float)n->arch.heads;
    }
    if (mimo)
        golden_check_f32(c, "prob_eval", mean, size, k->tolerance);
}

static void network(struct net_case *k)
{
    struct golden_case *c = k->c;
    const struct sb_env *env = c->env;
    double anneal, loss, kl;
    struct sb_truth truth;
    if (!init_net(k, "x") || !read_net(k) || !read_batch(k, "", &truth) ||
        !read_priors(k, &anneal))
        return;
    struct sb_pass train = {.training = true,
                            .sample = true,
                            .eps = k->list,
                            .weight_eps = k->weight_list,
                            .scale_eps = k->scale_list,
                            .drop = k->drop_list};
    if (!golden_ok(c, sb_net_forward(env, &k->net, &train)))
        return;
    check_logits(k, "logits");
    check_logits(k, "output");
    if (!golden_ok(c, sb_net_loss(env, &k->net, &truth, &loss)) ||
        !golden_ok(c, sb_net_backward(env, &k->net, NULL, NULL)))
        return;
    kl = sb_net_kl(env, &k->net, (float)k->prior_sd);
    loss += anneal * kl / k->n_train;
    sb_net_add_kl(env, &k->net, (float)(anneal / k->n_train), (float)k->prior_sd);
    if (golden_wants(c, "kl"))
        golden_check_f64(c, "kl", &kl, 1, k->tolerance);
    golden_check_f64(c, "loss", &loss, 1, k->tolerance);
    check_parameters(k, true);
    check_inference(k);
}

struct trace {
    double steps, delta_t, rate, lr_mu, lr_rho, momentum, decay, anneal_steps;
    double nesterov, grow_batches, step_on_update, lr_scale;
    enum sb_criterion criterion;
};

/* What not every case says; scales move at the share of lr_mu that their form has. */
static bool read_trace_options(struct net_case *k, struct trace *t)
{
    struct golden_case *c = k->c;
    double share = k->form.kind == SB_FORM_RANK_1 ? 1.0 : 0.5;
    return golden_criterion(c, &t->criterion) &&
           golden_number_or(c, "nesterov", 0, 1, 0, &t->nesterov) &&
           golden_number_or(c, "grow_batches", 1, 1e6, 1, &t->grow_batches) &&
           golden_number_or(c, "lr_scale", 0, 1e3, share * t->lr_mu, &t->lr_scale) &&
           golden_number_or(c, "step_on_update", 0, 1, 0, &t->step_on_update) &&
           golden_number_or(c, "delta_t", 0, 1e9, 0, &t->delta_t) &&
           golden_number_or(c, "rate", 0, 1, 0, &t->rate);
}

/* What Gaussian weights and scales need, and points do without. */
static bool read_posterior(struct net_case *k, struct trace *t)
{
    struct golden_case *c = k->c;
    bool need = k->gauss || k->form.kind == SB_FORM_RANK_1;
    t->lr_rho = t->anneal_steps = 0;
    k->n_train = k->prior_sd = 1;
    return !need || (golden_number(c, "lr_rho", 0, 1e3, &t->lr_rho) &&
                     golden_number(c, "anneal_steps", 0, 1e9, &t->anneal_steps) &&
                     golden_number(c, "n_train", 1, 1e12, &k->n_train) &&
                     golden_number(c, "prior_std", 1e-6, 1e6, &k->prior_sd));
}

static bool read_trace(struct net_case *k, struct trace *t)
{
    struct golden_case *c = k->c;
    return golden_number(c, "steps", 1, 1e6, &t->steps) &&
           golden_number(c, "lr_mu", 0, 1e3, &t->lr_mu) &&
           golden_number(c, "momentum", 0, 1, &t->momentum) &&
           golden_number(c, "weight_decay", 0, 1, &t->decay) && read_posterior(k, t) &&
           read_trace_options(k, t);
}

static bool updates(const struct trace *t, uint32_t s)
{
    return t->delta_t >= 1 && s % (uint32_t)t->delta_t == 0;
}

/* Whether the gradient of step s is one of those that the next update averages. */
static bool collects(const struct trace *t, uint32_t s)
{
    uint32_t ahead = 1;
    while (ahead < (uint32_t)t->grow_batches && !updates(t, s + ahead))
        ahead++;
    return ahead < (uint32_t)t->grow_batches;
}

/* The last batch of an epoch may have fewer examples than the first, for which the network is
 * planned. */
static bool size_batch(struct net_case *k, const char *prefix)
{
    char name[64];
    snprintf(name, sizeof name, k->form.kind == SB_FORM_MIMO ? "%.40sx.0" : "%.40sx",
             prefix);
    const struct sb_st_tensor *x = golden_input(k->c, name);
    if (!x)
        return false;
    uint32_t rows = sb_form_rows(&k->form, (uint32_t)x->shape[0]);
    if (rows == 0 || rows > k->net.max_batch) {
        golden_fail(k->c, "%s has more examples than the first batch, or none", name);
        return false;
    }
    k->examples = (uint32_t)x->shape[0];
    sb_net_set_rows(&k->net, rows);
    return true;
}

/* Step s, the trainer's own: an optimiser step or, every delta_t, a prune-grow update. */
static bool trace_step(struct net_case *k, const struct trace *t, uint32_t s,
                       struct sb_growth *growth, double *loss)
{
    char prefix[24];
    snprintf(prefix, sizeof prefix, "%u.", s);
    struct sb_truth truth;
    bool read = size_batch(k, prefix) && read_batch(k, prefix, &truth);
    double beta = s >= t->anneal_steps ? 1.0 : s / t->anneal_steps;
    double kl = sb_net_kl(k->c->env, &k->net, (float)k->prior_sd);
    struct sb_step_options o = {
        .number = s,
        .eps = k->list,
        .weight_eps = k->weight_list,
        .scale_eps = k->scale_list,
        .drop = k->drop_list,
        .sgd = {(float)t->lr_mu, (float)t->momentum, (float)t->decay, t->nesterov > 0},
        .lr_rho = (float)t->lr_rho,
        .lr_scale = (float)t->lr_scale,
        .kl_factor = (float)(beta / k->n_train),
        .prior_sd = (float)k->prior_sd,
        .rate = updates(t, s) ? t->rate : -1.0,
        .criterion = t->criterion,
        .step_on_update = t->step_on_update > 0,
        .collect = collects(t, s),
        .batches = (uint32_t)t->grow_batches,
    };
    struct sb_act x = k->net.input;
    if (!read ||
        !golden_ok(k->c, sb_train_step(k->c->env, &k->net, &x, &truth, &o, growth, loss)))
        return false;
    *loss += beta * kl / k->n_train;
    return true;
}

static void trace(struct net_case *k)
{
    struct golden_case *c = k->c;
    struct trace t = {0};
    struct sb_growth growth = {0};
    if (!init_net(k, "1.x") || !read_trace(k, &t) || !read_net(k))
        return;
    double *losses = golden_alloc(c, (size_t)t.steps, sizeof *losses);
    bool ok = losses != NULL;
    for (uint32_t s = 1; ok && s <= (uint32_t)t.steps; s++)
        ok = trace_step(k, &t, s, &growth, &losses[s - 1]);
    sb_growth_fini(&growth);
    if (!ok)
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
