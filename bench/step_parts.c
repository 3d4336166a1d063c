/* step_parts - the parts of a step that are not apart in time: see step.h.
 *
 * Noise is drawn and mixed in while a tile's sums are in cache, so it is measured by what
 * leaving it out saves: a copy of the kernel table whose `normal` and `mix` do nothing.
 * Products run that same copy, layer by layer with the layer's own numbers and buffers,
 * forward in the order of the network and the gradients in reverse. Weights that are drawn
 * for groups are drawn all the same, as a part of the forward product; gradients run on their
 * means.
 */
#include <string.h>

#include "base/mem.h"
#include "bench.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "nn/rows.h"
#include "step.h"

static void no_normal(const struct sb_stream *s, uint32_t image, uint32_t quad,
                      uint32_t step, size_t n, float *out)
{
    (void)s, (void)image, (void)quad, (void)step, (void)n, (void)out;
}

static void no_mix8(const float *mean, const float *var, const float *eps, float *y,
                    float *slope, size_t vectors)
{
    (void)eps;
    memcpy(y, mean, vectors * 8 * sizeof *y);
    memcpy(slope, var, vectors * 8 * sizeof *slope);
}

static void no_mix16(const float *mean, const float *var, const float *eps, float *y,
                     float *slope, size_t vectors)
{
    no_mix8(mean, var, eps, y, slope, 2 * vectors);
}

/* One of the three products of node i, if it is a weight's. */
static sb_status product(const struct sb_env *env, struct sb_net *n, uint32_t i,
                         enum step_time op)
{
    const struct sb_arch_node *d = &n->arch.node[i];
    if (d->kind != SB_NODE_WEIGHT)
        return SB_OK;
    struct sb_net_node *node = &n->node[i], *in = &n->node[d->in];
    struct sb_weight *w = &n->weight[node->param];
    struct sb_noise noise = {0};
    struct sb_weight_forward f = {
        .x = &in->y, .noise = &noise, .y = &node->y, .slope = &node->slope};
    if (op == STEP_PRODUCT_FORWARD)
        return sb_weight_forward(env, w, &f, n->scratch);
    struct sb_backward b = {
        .dy = &node->dy, .dv = w->gauss && !w->group ? &node->slope : NULL, .x = &in->y};
    if (op == STEP_PRODUCT_WEIGHT)
        return w->dense ? sb_dense_weight_gradient(env, &w->conv, &b, w->dmu, w->drho,
                                                   n->scratch)
                        : sb_sparse_weight_gradient(env, &w->kernel, &b, w->dmu, w->drho,
                                                    n->scratch);
    if (!node->in_wanted)
        return SB_OK;
    return w->dense ? sb_dense_input_gradient(env, &w->conv, &b, w->mu_t, w->s2_t,
                                              &in->dy, node->add_in, n->scratch)
                    : sb_sparse_input_gradient(env, &w->kernel, &b, w->mu_t, w->s2_t,
                                               &in->dy, node->add_in, n->scratch);
}

/* Forward and backward of all scales and masks. */
static sb_status run_rows(const struct sb_env *env, struct sb_net *n)
{
    const struct sb_pass pass = {.training = true, .sample = true};
    sb_status st = SB_OK;
    for (uint32_t i = 1; i < n->arch.nodes && st == SB_OK; i++) {
        if (n->arch.node[i].kind == SB_NODE_SCALE) {
            st = sb_scale_forward(env, n, i, &pass);
            sb_scale_backward(env, n, i);
        } else if (n->arch.node[i].kind == SB_NODE_MASK) {
            st = sb_mask_forward(env, n, i, &pass);
            sb_mask_backward(env, n, i);
        }
    }
    return st;
}

static int draws_weights(const struct sb_net *n)
{
    int found = 0;
    for (uint32_t i = 0; i < n->arch.weights; i++)
        found |= n->weight[i].group > 0;
    return found;
}

static void keep_best(double *best, double seconds)
{
    *best = seconds < *best ? seconds : *best;
}

sb_status step_parts(const struct sb_env *env, struct sb_net *n, double *best)
{
    struct sb_kernels silent = *env->kernels;
    struct sb_env quiet = *env;
    struct sb_pass pass = {.training = true, .sample = true};
    double input = 0.0, weight = 0.0, start = 0.0;
    sb_status st = SB_OK;
    if (!draws_weights(n))
        silent.normal = no_normal;
    silent.mix = silent.lanes == 16 ? no_mix16 : no_mix8;
    quiet.kernels = &silent;
    for (uint32_t i = n->arch.nodes - 1; i > 0 && st == SB_OK; i--) {
        start = bench_now();
        st = product(&quiet, n, i, STEP_PRODUCT_INPUT);
        double between = bench_now();
        if (st == SB_OK)
            st = product(&quiet, n, i, STEP_PRODUCT_WEIGHT);
        input += between - start;
        weight += bench_now() - between;
    }
    start = bench_now();
    for (uint32_t i = 1; i < n->arch.nodes && st == SB_OK; i++)
        st = product(&quiet, n, i, STEP_PRODUCT_FORWARD);
    keep_best(&best[STEP_PRODUCT_FORWARD], bench_now() - start);
    keep_best(&best[STEP_PRODUCT_INPUT], input);
    keep_best(&best[STEP_PRODUCT_WEIGHT], weight);
    start = bench_now();
    if (st == SB_OK)
        st = sb_net_forward(&quiet, n, &pass);
    keep_best(&best[STEP_SILENT], bench_now() - start);
    start = bench_now();
    if (st == SB_OK)
        st = run_rows(env, n);
    keep_best(&best[STEP_ROWS], bench_now() - start);
    return st;
}

/* ---- one prune-grow update ----------------------------------------------------------- */

struct growth {
    const struct sb_env *env;
    struct sb_net *n;
    float **gradient; /* [weights], NULL where the layer is dense */
    double seconds;
};

static sb_status dense_gradient(void *context, uint32_t weight, const struct sb_act *x,
                                const struct sb_act *dy)
{
    struct growth *g = context;
    const struct sb_weight *w = &g->n->weight[weight];
    double start = bench_now();
    if (w->dense)
        return SB_OK;
    size_t all = sb_conv_weights(&w->conv);
    uint32_t places = sb_tree_places(0, sb_shards_of(&g->n->shards, x->batch));
    g->gradient[weight] = sb_malloc(places, all * sizeof(float));
    if (!g->gradient[weight])
        return sb_fail(SB_ENOMEM, "no memory for the gradient of %zu weights", all);
    struct sb_weight_backward b = {.x = x,
                                   .dy = dy,
                                   .shards = &g->n->shards,
                                   .sums = g->gradient[weight] + all,
                                   .stride = all};
    sb_status st = sb_weight_dense_gradient(g->env, w, &b, g->gradient[weight]);
    g->seconds += bench_now() - start;
    return st;
}

sb_status step_update(const struct sb_env *env, struct sb_net *n, struct step_update *out)
{
    const double rate = 0.3;
    struct growth g = {.env = env, .n = n};
    g.gradient = sb_calloc(n->arch.weights, sizeof *g.gradient);
    if (!g.gradient)
        return sb_fail(SB_ENOMEM, "no memory for %u gradients", n->arch.weights);
    sb_status st = sb_net_backward(env, n, dense_gradient, &g);
    double start = bench_now();
    for (uint32_t i = 0; i < n->arch.weights && st == SB_OK; i++)
        if (g.gradient[i])
            st = sb_weight_update(&n->weight[i], g.gradient[i], rate, SB_PRUNE_SNR, NULL);
    if (st == SB_OK)
        sb_net_refresh(env, n);
    *out = (struct step_update){g.seconds, bench_now() - start};
    for (uint32_t i = 0; i < n->arch.weights; i++)
        sb_free(g.gradient[i]);
    sb_free(g.gradient);
    return st;
}
