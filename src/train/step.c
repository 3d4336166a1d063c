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
#include "kernels/spread.h"

void sb_growth_fini(struct sb_growth *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; g->sum && i < g->layers; i++)
        sb_free(g->sum[i]);
    sb_free(g->sum);
    sb_free(g->weights);
    *g = (struct sb_growth){0};
}

struct update {
    const struct sb_env *env;
    struct sb_net *n;
    const struct sb_step_options *o;
    struct sb_growth *growth;
    float *gradient; /* [places of shards' sums][most] */
    size_t most;     /* weights of the largest layer that is not dense */
};

static struct sb_step_rates rates_of(const struct sb_step_options *o)
{
    return (struct sb_step_rates){o->sgd, o->lr_rho, o->lr_scale, o->clip};
}

/* ---- averaging over batches ---------------------------------------------------------- */

sb_status sb_growth_start(struct sb_growth *g, const struct sb_net *n)
{
    uint32_t layers = n->arch.weights;
    if (g->sum)
        return SB_OK;
    g->sum = sb_calloc(layers, sizeof *g->sum);
    g->weights = sb_calloc(layers, sizeof *g->weights);
    g->layers = layers;
    if (!g->sum || !g->weights)
        return sb_fail(SB_ENOMEM, "no memory for %u layers", layers);
    for (uint32_t i = 0; i < layers; i++) {
        const struct sb_weight *w = &n->weight[i];
        if (w->dense)
            continue;
        g->weights[i] = sb_conv_weights(&w->conv);
        g->sum[i] = sb_calloc(g->weights[i], sizeof(float));
        if (!g->sum[i])
            return sb_fail(SB_ENOMEM,
                           "no memory to average growth gradients over batches");
    }
    return SB_OK;
}

static void add_gradient(float *sum, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += x[i];
}

/* ---- one layer ----------------------------------------------------------------------- */

static void step_weight(const struct update *u, uint32_t layer)
{
    struct sb_step_rates r = rates_of(u->o);
    sb_net_step_weight(u->env, u->n, layer, &r, u->o->kl_factor, u->o->prior_sd);
}

static sb_status move_support(const struct update *u, uint32_t layer)
{
    struct sb_weight *w = &u->n->weight[layer];
    struct sb_topology_stats stats = {0};
    if (u->o->step_on_update) /* its gradients are in the order of the old support */
        step_weight(u, layer);
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
        if (u->o->step_on_update && u->o->rate >= 0.0)
            step_weight(u, layer);
        return SB_OK;
    }
    struct sb_weight_backward b = {.x = x,
                                   .dy = dy,
                                   .shards = &u->n->shards,
                                   .sums = u->gradient + u->most,
                                   .stride = u->most};
    sb_status st = sb_weight_dense_gradient(u->env, w, &b, u->gradient);
    if (st != SB_OK)
        return st;
    if (u->growth->sum) {
        add_gradient(u->growth->sum[layer], u->gradient, all);
        memcpy(u->gradient, u->growth->sum[layer], all * sizeof(float));
    }
    return u->o->rate >= 0.0 ? move_support(u, layer) : SB_OK;
}

/* ---- the step ------------------------------------------------------------------------ */

static sb_status allocate_gradients(struct update *u)
{
    const struct sb_net *n = u->n;
    uint32_t shards = sb_shards_of(&n->shards, n->input.batch);
    for (uint32_t i = 0; i < n->arch.weights; i++) {
        size_t all = sb_conv_weights(&n->weight[i].conv);
        u->most = !n->weight[i].dense && all > u->most ? all : u->most;
    }
    if (n->spread) {
        sb_status st = sb_spread_reserve(n->spread, 0, u->most);
        if (st != SB_OK)
            return st;
    }
    u->gradient =
        sb_malloc(sb_tree_places(n->shards.first, shards), u->most * sizeof(float));
    return u->gradient
               ? SB_OK
               : sb_fail(SB_ENOMEM, "no memory for a dense gradient of %zu weights",
                         u->most);
}

/* Backward with a look at every dense gradient. */
static sb_status backward_with_gradients(struct update *u)
{
    struct sb_net *n = u->n;
    sb_status st = u->o->batches > 1 ? sb_growth_start(u->growth, n) : SB_OK;
    if (st == SB_OK)
        st = allocate_gradients(u);
    u->growth->dropped = u->growth->returned = 0;
    if (st == SB_OK)
        st = sb_net_backward(u->env, n, visit, u);
    sb_free(u->gradient);
    u->growth->count++;
    if (st == SB_OK && u->o->rate >= 0.0) {
        struct sb_step_rates r = rates_of(u->o);
        if (u->o->step_on_update)
            sb_net_step_others(u->env, n, &r, u->o->kl_factor);
        struct sb_growth moved = {.dropped = u->growth->dropped,
                                  .returned = u->growth->returned};
        sb_growth_fini(u->growth);
        *u->growth = moved;
        sb_net_refresh(u->env, n);
    }
    return st;
}

sb_status sb_train_step(const struct sb_env *env, struct sb_net *n,
                        const struct sb_act *x, const struct sb_truth *truth,
                        const struct sb_step_options *o, struct sb_growth *growth,
                        double *loss)
{
    struct sb_pass pass = {.training = true,
                           .sample = true,
                           .seed = o->seed,
                           .member = o->run,
                           .step = o->number,
                           .eps = o->eps,
                           .weight_eps = o->weight_eps,
                           .scale_eps = o->scale_eps,
                           .drop = o->drop};
    sb_net_set_input(n, x);
    if (o->rows > 0)
        sb_net_set_rows(n, o->rows);
    pass.image = sb_shards_row(&n->shards);
    sb_status st = sb_net_forward(env, n, &pass);
    if (st == SB_OK)
        st = sb_net_loss(env, n, truth, loss);
    if (st == SB_OK && !isfinite(*loss))
        st =
            sb_fail(SB_ENUMERIC, "the loss of step %u is not a finite number", o->number);
    if (st != SB_OK)
        return st;
    if (o->rate >= 0.0 || o->collect) {
        struct update u = {env, n, o, growth, NULL, 0};
        st = backward_with_gradients(&u);
        if (st != SB_OK || o->rate >= 0.0)
            return st;
    } else {
        st = sb_net_backward(env, n, NULL, NULL);
        if (st != SB_OK)
            return st;
    }
    sb_net_add_kl(env, n, o->kl_factor, o->prior_sd);
    struct sb_step_rates r = rates_of(o);
    sb_net_step(env, n, &r);
    return SB_OK;
}
