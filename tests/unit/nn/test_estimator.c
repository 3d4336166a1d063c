/* The estimator `weights` (docs/method.md): its gradients are those of the loss it samples, by
 * finite differences; their mean is that of `local` where both are exact, a convolution with
 * one output pixel; growth ranks the gradient of the same batch; a step allocates nothing. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "nets.h"

static struct sb_env best_env(void)
{
    struct sb_env env = {.threads = 2};
    assert_int_equal(sb_kernels_choose(NULL, &env.kernels), SB_OK);
    return env;
}

/* Forward, loss and backward of one draw; drho is that of the data term alone. */
static double sampled_loss(const struct sb_env *env, struct sb_net *n,
                           const uint32_t *label, uint32_t step, bool backward)
{
    struct sb_pass pass = {.training = true, .sample = true, .seed = 3, .step = step};
    double loss;
    assert_int_equal(sb_net_forward(env, n, &pass), SB_OK);
    assert_int_equal(sb_net_loss(env, n, &(struct sb_truth){.label = label}, &loss),
                     SB_OK);
    if (backward) {
        assert_int_equal(sb_net_backward(env, n, NULL, NULL), SB_OK);
        sb_net_add_kl(env, n, 0.0f, 1.0f);
    }
    return loss;
}

/* ---- finite differences -------------------------------------------------------------- */

enum { ROWS = 37, CLASSES = 10 };

static void random_batch(struct sb_net *n, uint32_t *label)
{
    size_t size =
        (size_t)n->input.batch * n->input.channels * n->input.height * n->input.width;
    float *images = sb_malloc(size, sizeof *images);
    assert_non_null(images);
    nets_randomise(images, size, 8, 0);
    sb_act_load(&n->input, images);
    sb_free(images);
    for (uint32_t i = 0; i < n->input.batch; i++)
        label[i] = (3 * i + i / 7) % CLASSES;
}

static void drawing_net(const struct sb_env *env, struct sb_net *n, const char *arch,
                        double density, uint32_t group, uint32_t *label)
{
    struct sb_net_options o = nets_options(arch, true);
    o.max_batch = ROWS;
    o.group = group;
    o.lanes = env->kernels->lanes;
    o.threads = env->threads;
    assert_int_equal(nets_make(n, &o, sb_topology_erk, density), SB_OK);
    assert_int_equal(sb_net_start(n, 4, 0, -2.0f), SB_OK);
    sb_net_refresh(env, n);
    random_batch(n, label);
}

/* The loss's slope along a direction of all numbers of one parameter. */
static double slope_along(const struct sb_env *env, struct sb_net *n, float *value,
                          const float *direction, size_t count, const uint32_t *label)
{
    const double h = 2e-3;
    float *kept = sb_malloc(count, sizeof *kept);
    double loss[2];
    assert_non_null(kept);
    memcpy(kept, value, count * sizeof *kept);
    for (int side = 0; side < 2; side++) {
        for (size_t k = 0; k < count; k++)
            value[k] = kept[k] + (float)(side ? -h : h) * direction[k];
        sb_net_refresh(env, n);
        loss[side] = sampled_loss(env, n, label, 1, false);
    }
    memcpy(value, kept, count * sizeof *kept);
    sb_free(kept);
    sb_net_refresh(env, n);
    return (loss[0] - loss[1]) / (2 * h);
}

/* Along the gradient itself, scaled to length 1: the slope is the gradient's length. */
static void differences_of(const struct sb_env *env, struct sb_net *n,
                           const struct sb_param *p, const uint32_t *label)
{
    float *direction = sb_malloc(p->count, sizeof *direction);
    double length = 0.0;
    assert_non_null(direction);
    sampled_loss(env, n, label, 1, true);
    for (size_t k = 0; k < p->count; k++)
        length += (double)p->gradient[k] * (double)p->gradient[k];
    length = sqrt(length);
    for (size_t k = 0; k < p->count; k++)
        direction[k] = (float)((double)p->gradient[k] / length);
    double slope = slope_along(env, n, p->value, direction, p->count, label);
    if (!(fabs(slope - length) <= 5e-3 * length))
        fail_msg("%s.%s: the loss rises by %g, its gradient says %g", p->layer, p->part,
                 slope, length);
    sb_free(direction);
}

static void gradients_are_the_sampled_loss_s(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        double density;
        uint32_t group;
    } nets[] = {{"lenet", 0.2, 16}, {"wrn-10-1", 1.0, 16}, {"resnet-8", 0.3, 32}};
    struct sb_env env = best_env();
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct sb_net n;
        uint32_t label[ROWS];
        drawing_net(&env, &n, nets[i].arch, nets[i].density, nets[i].group, label);
        for (uint32_t k = 0; k < n.params.n; k++) {
            const struct sb_param *p = &n.params.param[k];
            if (p->role == SB_PARAM_MU || p->role == SB_PARAM_RHO)
                differences_of(&env, &n, p, label);
        }
        sb_net_fini(&n);
    }
}

/* ---- the mean of many draws ---------------------------------------------------------- */

enum { SIDE = 3, CHANNELS = 2, OUTS = 4, BATCH = 32, DRAWS = 3000, WEIGHTS = 72 };

/* One convolution that sees the whole image, its outputs the logits. */
static void one_pixel(const struct sb_env *env, struct sb_net *n, uint32_t group,
                      float rho)
{
    struct sb_arch a = {.classes = OUTS};
    struct sb_arch_node input = {.kind = SB_NODE_INPUT,
                                 .name = "input",
                                 .other = SB_NODE_NONE,
                                 .channels = CHANNELS,
                                 .height = SIDE,
                                 .width = SIDE};
    struct sb_arch_node conv = {.kind = SB_NODE_WEIGHT,
                                .name = "conv",
                                .other = SB_NODE_NONE,
                                .channels = OUTS,
                                .height = 1,
                                .width = 1};
    assert_int_equal(
        sb_conv_init(&conv.conv, CHANNELS, OUTS, SIDE, SIDE, 1, 0, SIDE, SIDE), SB_OK);
    assert_int_equal(sb_arch_push(&a, &input), SB_OK);
    assert_int_equal(sb_arch_push(&a, &conv), SB_OK);
    assert_int_equal(sb_arch_set_heads(&a, &(struct sb_arch_head){.node = 1}, 1), SB_OK);
    struct sb_net_options o = {.made = &a,
                               .lanes = env->kernels->lanes,
                               .max_batch = BATCH,
                               .threads = env->threads,
                               .gauss = true,
                               .group = group};
    assert_int_equal(sb_net_init(n, &o), SB_OK);
    assert_int_equal(sb_net_start(n, 2, 0, rho), SB_OK);
    assert_int_equal(n->weight[0].nnz, WEIGHTS);
    sb_net_refresh(env, n);
}

/* Mean and variance of the mean, of the gradients of mu, then rho, then the loss. */
struct draws {
    double mean[2 * WEIGHTS + 1], variance[2 * WEIGHTS + 1];
};

static void average(struct draws *d, uint32_t group, float rho)
{
    struct sb_env env = best_env();
    struct sb_net n;
    uint32_t label[BATCH];
    double sum[2 * WEIGHTS + 1] = {0}, square[2 * WEIGHTS + 1] = {0};
    one_pixel(&env, &n, group, rho);
    random_batch(&n, label);
    for (uint32_t i = 0; i < BATCH; i++)
        label[i] %= OUTS;
    for (uint32_t s = 0; s < DRAWS; s++) {
        double loss = sampled_loss(&env, &n, label, s, true);
        for (size_t k = 0; k < 2 * WEIGHTS + 1; k++) {
            double g = k < WEIGHTS       ? (double)n.weight[0].dmu[k]
                       : k < 2 * WEIGHTS ? (double)n.weight[0].drho[k - WEIGHTS]
                                         : loss;
            sum[k] += g;
            square[k] += g * g;
        }
    }
    for (size_t k = 0; k < 2 * WEIGHTS + 1; k++) {
        d->mean[k] = sum[k] / DRAWS;
        d->variance[k] = (square[k] / DRAWS - d->mean[k] * d->mean[k]) / DRAWS;
    }
    sb_net_fini(&n);
}

/* The largest difference of two means, in standard errors. */
static double apart(const struct draws *a, const struct draws *b)
{
    double most = 0.0;
    for (size_t k = 0; k < 2 * WEIGHTS + 1; k++) {
        double z = fabs(a->mean[k] - b->mean[k]) / sqrt(a->variance[k] + b->variance[k]);
        most = z > most ? z : most;
    }
    return most;
}

/* Of 145 standard normals one beyond 4.5 is a matter of a thousandth; a posterior a third
 * wider, as a check of the check, is far beyond. */
static void both_estimators_have_one_mean(void **state)
{
    (void)state;
    struct draws local, weights, wider;
    average(&local, 0, -0.5f);
    average(&weights, 16, -0.5f);
    average(&wider, 16, -0.1f);
    printf("local and weights: %.2f standard errors; a wider posterior: %.2f\n",
           apart(&local, &weights), apart(&local, &wider));
    assert_true(apart(&local, &weights) < 4.5);
    assert_true(apart(&local, &wider) > 9.0);
}

/* ---- growth, and after a forward that draws nothing ----------------------------------- */

struct seen {
    const struct sb_env *env;
    const struct sb_net *n;
    uint32_t layers;
};

/* The dense gradient is dmu where weights exist: the sum over groups. */
static sb_status compare_growth(void *context, uint32_t layer, const struct sb_act *x,
                                const struct sb_act *dy)
{
    struct seen *s = context;
    const struct sb_weight *w = &s->n->weight[layer];
    uint32_t cols = sb_conv_cols(&w->conv);
    if (w->dense || !w->group)
        return SB_OK;
    float *all = sb_malloc(sb_conv_weights(&w->conv), sizeof *all);
    struct sb_weight_backward b = {.x = x, .dy = dy};
    double most = 0.0, off = 0.0;
    assert_non_null(all);
    assert_int_equal(sb_weight_dense_gradient(s->env, w, &b, all), SB_OK);
    for (uint32_t r = 0; r < w->conv.out; r++)
        for (uint32_t k = w->pattern.row_ptr[r]; k < w->pattern.row_ptr[r + 1]; k++) {
            double want = (double)all[(size_t)r * cols + w->pattern.col[k]];
            most = fmax(most, fabs(want));
            off = fmax(off, fabs(want - (double)w->dmu[k]));
        }
    assert_true(most > 0.0 && off <= 1e-5 * most);
    sb_free(all);
    s->layers++;
    return SB_OK;
}

static void growth_sums_over_groups(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    struct sb_net n;
    uint32_t label[ROWS];
    drawing_net(&env, &n, "resnet-8", 0.3, 16, label);
    struct seen s = {&env, &n, 0};
    sampled_loss(&env, &n, label, 1, false);
    assert_int_equal(sb_net_backward(&env, &n, compare_growth, &s), SB_OK);
    assert_true(s.layers > 3);
    sb_net_fini(&n);
}

static void a_mean_forward_has_no_gradient_of_rho(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    struct sb_net n;
    struct sb_pass pass = {.training = true};
    uint32_t label[ROWS];
    double loss;
    drawing_net(&env, &n, "lenet", 0.2, 16, label);
    sampled_loss(&env, &n, label, 1, true);
    assert_int_equal(sb_net_forward(&env, &n, &pass), SB_OK);
    assert_int_equal(sb_net_loss(&env, &n, &(struct sb_truth){.label = label}, &loss),
                     SB_OK);
    assert_int_equal(sb_net_backward(&env, &n, NULL, NULL), SB_OK);
    for (uint32_t k = 0; k < n.weight[0].nnz; k++)
        assert_true(n.weight[0].drho[k] == 0.0f);
    sb_net_fini(&n);
}

/* ---- memory -------------------------------------------------------------------------- */

static void it_takes_less_memory_and_none_in_a_step(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    struct sb_net local, drawn;
    uint32_t label[ROWS];
    drawing_net(&env, &local, "wrn-10-1", 0.2, 0, label);
    drawing_net(&env, &drawn, "wrn-10-1", 0.2, 16, label);
    assert_true(sb_net_bytes(&drawn) < sb_net_bytes(&local));
    assert_true(sb_net_work(&drawn) < 0.51 * sb_net_work(&local));
    assert_true(sb_net_macs(&drawn, false) == sb_net_macs(&local, false));
    size_t count = sb_mem_count();
    sampled_loss(&env, &drawn, label, 1, true);
    sb_net_step(&env, &drawn,
                &(struct sb_step_rates){{0.1f, 0.9f, 0.0f, 0}, 0.1f, 0.0f, 0.0f});
    assert_int_equal(sb_mem_count(), count);
    sb_net_fini(&local);
    sb_net_fini(&drawn);
}

static void odd_groups_are_refused(void **state)
{
    (void)state;
    struct sb_net n;
    struct sb_net_options o = nets_options("lenet", true);
    o.group = 24;
    assert_int_equal(nets_make(&n, &o, sb_topology_erk, 0.5), SB_EARG);
    assert_string_equal(sb_message(),
                        "weights drawn for groups of 24 rows: want a multiple of 16");
    sb_net_fini(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_the_sampled_loss_s),
        cmocka_unit_test(both_estimators_have_one_mean),
        cmocka_unit_test(growth_sums_over_groups),
        cmocka_unit_test(a_mean_forward_has_no_gradient_of_rho),
        cmocka_unit_test(it_takes_less_memory_and_none_in_a_step),
        cmocka_unit_test(odd_groups_are_refused),
    };
    return cmocka_run_group_tests_name("nn/estimator", tests, NULL, NULL);
}
