/* step - see step.h.
 *
 * An update sees one dense gradient at a time: as soon as a layer's backward is done its
 * support moves, and the gradient's memory serves the next layer. Only an average over
 * several batches has to keep them all.
 */
#include "train/step.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

void sb_growth_fini(struct sb_growth *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; g->sum && i < g->layers; i++)
        sb_free(g->sum[i]);
    sb_free(g->sum);
    *g = (struct sb_growth){0};
}

struct update {
    const struct sb_env *env;
    struct sb_net *n;
    const struct sb_step_options *o;
    struct sb_growth *growth;
    float *gradient; /* [largest layer's weights] */
};

/* ---- averaging over batches ---------------------------------------------------------- */

static sb_status start_sums(const struct update *u)
{
    struct sb_growth *g = u->growth;
    uint32_t layers = u->n->arch.weights;
    if (g->sum)
        return SB_OK;
    g->sum = sb_calloc(layers, sizeof *g->sum);
    g->layers = layers;
    for (uint32_t i = 0; g->sum && i < layers; i++) {
        const struct sb_weight *w = &u->n->weight[i];
        if (w->dense)
            continue;
        g->sum[i] = sb_calloc(sb_conv_weights(&w->conv), sizeof(float));
        if (!g->sum[i])
            return sb_fail(SB_ENOMEM,
                           "no memory to average growth gradients over batches");
    }
    return g->sum ? SB_OK : sb_fail(SB_ENOMEM, "no memory for %u layers", layers);
}

static void add_gradient(float *sum, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += x[i];
}

/* ---- one layer ----------------------------------------------------------------------- */

static sb_status move_support(const struct update *u, uint32_t layer)
{
    struct sb_weight *w = &u->n->weight[layer];
    struct sb_topology_stats stats = {0};
    if (u->o->step_on_update) { /* its gradients are in the order of the old support */
        sb_weight_add_kl(u->env, w, u->o->kl_factor, u->o->prior_sd);
        sb_weight_step(u->env, w, &u->o->sgd, u->o->lr_rho);
    }
    sb_status st = sb_weight_update(w, u->gradient, u->o->rate, u->o->criterion, &stats);
    u->growth->dropped += stats.dropped;
    u->growth->returned += stats.returned;
    return st;
}

static sb_status visit(void *context, uint32_t layer, const struct sb_act *x,
                       const struct sb_act *dy)
{
    const struct update *u = context;
    struct sb_weight *w = &u->n->weight[layer];
    size_t all = sb_conv_weights(&w->conv);
    if (w->dense) {
        if (u->o->step_on_update && u->o->rate >= 0.0) {
            sb_weight_add_kl(u->env, w, u->o->kl_factor, u->o->prior_sd);
            sb_weight_step(u->env, w, &u->o->sgd, u->o->lr_rho);
        }
        return SB_OK;
    }
    sb_status st = sb_weight_dense_gradient(u->env, w, x, dy, u->gradient);
    if (st != SB_OK)
        return st;
    if (u->growth->sum) {
        add_gradient(u->growth->sum[layer], u->gradient, all);
        memcpy(u->gradient, u->growth->sum[layer], all * sizeof(float));
    }
    return u->o->rate >= 0.0 ? move_support(u, layer) : SB_OK;
}

/* ---- the step ------------------------------------------------------------------------ */

/* Backward with a look at every dense gradient. */
static sb_status backward_with_gradients(struct update *u)
{
    struct sb_net *n = u->n;
    size_t most = 0;
    sb_status st = u->o->batches > 1 ? start_sums(u) : SB_OK;
    for (uint32_t i = 0; i < n->arch.weights; i++) {
        size_t all = sb_conv_weights(&n->weight[i].conv);
        most = !n->weight[i].dense && all > most ? all : most;
    }
    u->gradient = sb_malloc(most, sizeof(float));
    if (st == SB_OK && !u->gradient)
        st = sb_fail(SB_ENOMEM, "no memory for a dense gradient of %zu weights", most);
    u->growth->dropped = u->growth->returned = 0;
    if (st == SB_OK)
        st = sb_net_backward(u->env, n, visit, u);
    sb_free(u->gradient);
    u->growth->count++;
    if (st == SB_OK && u->o->rate >= 0.0) {
        if (u->o->step_on_update)
            sb_net_step_norms(u->env, n, &u->o->sgd);
        for (uint32_t i = 0; u->growth->sum && i < u->growth->layers; i++)
            sb_free(u->growth->sum[i]);
        sb_free(u->growth->sum);
        u->growth->sum = NULL;
        u->growth->count = 0;
        sb_net_refresh(u->env, n);
    }
    return st;
}

sb_status sb_train_step(const struct sb_env *env, struct sb_net *n,
                        const struct sb_act *x, const uint32_t *label,
                        const struct sb_step_options *o, struct sb_growth *growth,
                        double *loss)
{
    struct sb_pass pass = {.training = true,
                           .sample = true,
                           .seed = o->seed,
                           .member = o->run,
                           .step = o->number};
    sb_net_set_input(n, x);
    sb_status st = sb_net_forward(env, n, &pass);
    if (st == SB_OK)
        st = sb_net_loss(env, n, label, loss);
    if (st == SB_OK && !isfinite(*loss))
        st =
            sb_fail(SB_ENUMERIC, "the loss of step %u is not a finite number", o->number);
    if (st != SB_OK)
        return st;
    if (o->rate >= 0.0 || o->collect) {
        struct update u = {env, n, o, growth, NULL};
        st = backward_with_gradients(&u);
        if (st != SB_OK || o->rate >= 0.0)
            return st;
    } else {
        st = sb_net_backward(env, n, NULL, NULL);
        if (st != SB_OK)
            return st;
    }
    sb_net_add_kl(env, n, o->kl_factor, o->prior_sd);
    sb_net_step(env, n, &o->sgd, o->lr_rho);
    return SB_OK;
}
