/* nn/likelihood: losses beside their formula in double, gradients beside finite differences,
 * predictions, clamped variances, padding lanes, the record of the shared noise, how variances
 * start, and the same bits on every kernel table. */
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
#include "refused.h"

enum { ROWS = 19, TARGETS = 2, MOST = 2 * TARGETS, TABLES = 8 };

static const struct sb_kernels *best(void)
{
    const struct sb_kernels *k;
    assert_int_equal(sb_kernels_choose(NULL, &k), SB_OK);
    return k;
}

/* ---- a head by itself ---- */

struct head {
    enum sb_likelihood_kind kind;
    uint32_t outputs;
    float output[ROWS * MOST], target[ROWS * TARGETS], noise[TARGETS];
};

static struct head make_head(enum sb_likelihood_kind kind)
{
    struct head h = {.kind = kind,
                     .outputs = TARGETS * sb_likelihood_row(kind)->outputs,
                     .noise = {-0.7f, 0.4f}};
    nets_randomise(h.output, ROWS * (size_t)h.outputs, 3, 0);
    nets_randomise(h.target, ROWS * (size_t)TARGETS, 4, 0);
    return h;
}

/* What running it gives. */
struct run {
    double loss;
    float gradient[ROWS * MOST], dnoise[TARGETS], prediction[ROWS * MOST];
    bool padding_clear;
};

/* shards: of the batch; NULL: one. */
static struct run run_shards(const struct head *h, const struct sb_kernels *kernels,
                             const struct sb_shards *shards)
{
    struct sb_env env = {.kernels = kernels, .threads = 1};
    struct sb_act output, d, prediction;
    struct run r = {.padding_clear = true};
    assert_int_equal(sb_act_init(&output, kernels->lanes, ROWS, h->outputs, 1, 1), SB_OK);
    assert_int_equal(sb_act_init(&d, kernels->lanes, ROWS, h->outputs, 1, 1), SB_OK);
    assert_int_equal(sb_act_init(&prediction, kernels->lanes, ROWS, MOST, 1, 1), SB_OK);
    sb_act_load(&output, h->output);
    for (size_t i = 0; i < sb_act_size(&d); i++)
        d.data[i] = 9.0f;
    struct sb_likelihood_head head = {
        &output, h->kind == SB_LIKELIHOOD_GAUSS_SHARED ? h->noise : NULL, &prediction};
    struct sb_truth truth = {.target = h->target};
    assert_int_equal(sb_likelihood_row(h->kind)->loss(&env, shards, &head, &truth,
                                                      &r.loss, &d, r.dnoise),
                     SB_OK);
    for (uint32_t c = 0; c < d.channels; c++)
        for (uint32_t l = sb_act_lanes(&d, d.blocks - 1); l < d.lanes; l++)
            r.padding_clear &= sb_act_plane(&d, d.blocks - 1, c)[l] == 0.0f;
    sb_act_store(&d, r.gradient);
    sb_act_store(&prediction, r.prediction);
    sb_act_fini(&output);
    sb_act_fini(&d);
    sb_act_fini(&prediction);
    return r;
}

static struct run run_head(const struct head *h, const struct sb_kernels *kernels)
{
    return run_shards(h, kernels, NULL);
}

/* The formula of likelihood.h. */
static double exact(const struct head *h)
{
    bool shared = h->kind == SB_LIKELIHOOD_GAUSS_SHARED;
    double sum = 0;
    for (int i = 0; i < ROWS; i++)
        for (int t = 0; t < TARGETS; t++) {
            const float *row = h->output + (size_t)i * h->outputs;
            double lv = shared ? (double)h->noise[t] : (double)row[TARGETS + t];
            double miss = (double)h->target[i * TARGETS + t] - (double)row[t];
            lv = fmin(fmax(lv, -12), 12);
            sum += 0.5 * (log(2 * acos(-1.0)) + lv + miss * miss / exp(lv));
        }
    return sum / ROWS;
}

static const enum sb_likelihood_kind gaussians[] = {SB_LIKELIHOOD_GAUSS_SHARED,
                                                    SB_LIKELIHOOD_GAUSS_PER_EXAMPLE};

static void losses_are_the_formula(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct head h = make_head(gaussians[k]);
        struct run r = run_head(&h, best());
        assert_true(fabs(r.loss - exact(&h)) < 1e-6 * fabs(exact(&h)));
        assert_true(r.padding_clear);
        for (int i = 0; i < ROWS; i++)
            for (int t = 0; t < TARGETS; t++) {
                double lv = k == 0 ? (double)h.noise[t]
                                   : (double)h.output[i * MOST + TARGETS + t];
                assert_true(r.prediction[i * MOST + t] ==
                            h.output[(uint32_t)i * h.outputs + (uint32_t)t]);
                assert_true(fabs((double)r.prediction[i * MOST + TARGETS + t] - exp(lv)) <
                            1e-6 * exp(lv));
            }
    }
}

/* Of the formula in double, at one number. */
static double slope(struct head *h, float *at)
{
    const float step = 1e-3f;
    float x = *at;
    *at = x + step;
    double right = exact(h), far = (double)*at;
    *at = x - step;
    double left = exact(h), near = (double)*at;
    *at = x;
    return (right - left) / (far - near);
}

static void gradients_are_finite_differences(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct head h = make_head(gaussians[k]);
        struct run r = run_head(&h, best());
        for (size_t i = 0; i < ROWS * (size_t)h.outputs; i++)
            assert_true(fabs((double)r.gradient[i] - slope(&h, &h.output[i])) < 2e-6);
        for (int t = 0; t < TARGETS; t++) {
            double want = k == 0 ? slope(&h, &h.noise[t]) : 0.0;
            assert_true(fabs((double)r.dnoise[t] - want) < 2e-5);
        }
    }
}

/* Beyond the bounds an output's gradient is 0; that of a shared one leads back only. */
static void variances_are_clamped(void **state)
{
    (void)state;
    struct head h = make_head(SB_LIKELIHOOD_GAUSS_PER_EXAMPLE);
    h.output[TARGETS] = 13.0f;
    h.output[MOST + TARGETS] = -12.5f;
    struct run r = run_head(&h, best());
    assert_true(r.gradient[TARGETS] == 0.0f && r.gradient[MOST + TARGETS] == 0.0f);
    assert_true(r.gradient[0] != 0.0f && r.gradient[TARGETS + 1] != 0.0f);
    assert_true(fabs(r.loss - exact(&h)) < 1e-6 * fabs(exact(&h)));
    h = make_head(SB_LIKELIHOOD_GAUSS_SHARED);
    h.noise[0] = -14.0f; /* too sure of itself: the way back is up */
    h.noise[1] = 14.0f;
    r = run_head(&h, best());
    assert_true(r.dnoise[0] < 0.0f && r.dnoise[1] > 0.0f);
    h.noise[0] = 13.0f;
    for (int i = 0; i < ROWS; i++)
        h.target[i * TARGETS] = 1e4f; /* wants more variance still */
    assert_true(run_head(&h, best()).dnoise[0] == 0.0f);
}

static void every_table_gives_the_same_bits(void **state)
{
    (void)state;
    const struct sb_kernels *table[TABLES];
    size_t n = sb_kernels_list(table, TABLES);
    for (int k = 0; k < 2; k++) {
        struct head h = make_head(gaussians[k]);
        struct run first = run_head(&h, table[0]);
        for (size_t i = 1; i < n; i++) {
            struct run other = run_head(&h, table[i]);
            assert_true(other.loss == first.loss);
            assert_memory_equal(other.gradient, first.gradient, sizeof first.gradient);
            assert_memory_equal(other.dnoise, first.dnoise, sizeof first.dnoise);
            assert_memory_equal(other.prediction, first.prediction,
                                sizeof first.prediction);
        }
    }
}

/* Rows in shards: the same but for rounding, and the same bits on every table. */
static void sums_go_over_shards(void **state)
{
    (void)state;
    const struct sb_shards shards = {.width = SB_PARTIALS};
    const struct sb_kernels *table[TABLES];
    size_t n = sb_kernels_list(table, TABLES);
    for (int k = 0; k < 2; k++) {
        struct head h = make_head(gaussians[k]);
        struct run first = run_shards(&h, table[0], &shards);
        assert_true(fabs(first.loss - exact(&h)) < 1e-6 * fabs(exact(&h)));
        for (size_t i = 1; i < n; i++) {
            struct run other = run_shards(&h, table[i], &shards);
            assert_true(other.loss == first.loss);
            assert_memory_equal(other.gradient, first.gradient, sizeof first.gradient);
            assert_memory_equal(other.dnoise, first.dnoise, sizeof first.dnoise);
        }
    }
}

/* ---- in a network ---- */

static sb_status make_net(struct sb_net *net, enum sb_likelihood_kind kind)
{
    struct sb_net_options o = {.shape.name = "mlp-9",
                               .shape.channels = 5,
                               .shape.height = 1,
                               .shape.width = 1,
                               .shape.classes =
                                   TARGETS * sb_likelihood_row(kind)->outputs,
                               .shape.likelihood = kind,
                               .lanes = best()->lanes,
                               .max_batch = ROWS,
                               .threads = 1,
                               .gauss = true};
    return nets_make(net, &o, sb_topology_erk, 0.6);
}

static void the_shared_noise_is_a_record(void **state)
{
    (void)state;
    struct sb_net net;
    assert_int_equal(make_net(&net, SB_LIKELIHOOD_GAUSS_SHARED), SB_OK);
    const struct sb_param *p = &net.params.param[net.params.n - 1];
    assert_string_equal(p->layer, "noise");
    assert_string_equal(p->part, "log_variance");
    assert_true(p->count == TARGETS && p->node == SB_NODE_NONE && !p->decays);
    assert_true(p->rate == SB_RATE_MU && p->rho == SB_NODE_NONE);
    sb_net_fini(&net);
    assert_int_equal(make_net(&net, SB_LIKELIHOOD_GAUSS_PER_EXAMPLE), SB_OK);
    assert_true(net.params.param[net.params.n - 1].role != SB_PARAM_NOISE);
    sb_net_fini(&net);
}

/* It moves with the others, by steps of either kind. */
static void the_shared_noise_is_trained(void **state)
{
    (void)state;
    struct sb_net net;
    struct sb_env env = {.kernels = best(), .threads = 1};
    struct sb_step_rates rates = {.sgd = {.rate = 0.5f}};
    struct head h = make_head(SB_LIKELIHOOD_GAUSS_SHARED);
    float x[ROWS * 5];
    double loss;
    assert_int_equal(make_net(&net, SB_LIKELIHOOD_GAUSS_SHARED), SB_OK);
    assert_int_equal(sb_net_start(&net, 5, 0, -6.0f), SB_OK);
    sb_net_refresh(&env, &net);
    assert_true(net.noise.value[0] == 0.0f && net.noise.value[1] == 0.0f);
    nets_randomise(x, ROWS * 5, 8, 0);
    sb_act_load(&net.input, x);
    assert_int_equal(sb_net_forward(&env, &net, &(struct sb_pass){.training = true}),
                     SB_OK);
    assert_int_equal(
        sb_net_loss(&env, &net, &(struct sb_truth){.target = h.target}, &loss), SB_OK);
    float want[TARGETS];
    for (int t = 0; t < TARGETS; t++) {
        assert_true(net.noise.gradient[t] != 0.0f);
        want[t] = -0.5f * net.noise.gradient[t];
    }
    sb_net_step_others(&env, &net, &rates, 0.0f);
    for (int t = 0; t < TARGETS; t++)
        assert_true(fabsf(net.noise.value[t] - want[t]) < 1e-7f);
    refused(sb_net_loss(&env, &net, &(struct sb_truth){0}, &loss), SB_EARG,
            "loss: outcomes need targets, and there are none");
    sb_net_fini(&net);
}

static void outputs_of_variances_start_at_zero(void **state)
{
    (void)state;
    struct sb_net net;
    struct sb_env env = {.kernels = best(), .threads = 1};
    float x[ROWS * 5], out[ROWS * MOST];
    bool means = false;
    assert_int_equal(make_net(&net, SB_LIKELIHOOD_GAUSS_PER_EXAMPLE), SB_OK);
    assert_int_equal(sb_net_start(&net, 5, 0, -6.0f), SB_OK);
    sb_net_refresh(&env, &net);
    nets_randomise(x, ROWS * 5, 8, 0);
    sb_act_load(&net.input, x);
    assert_int_equal(sb_net_forward(&env, &net, &(struct sb_pass){0}), SB_OK);
    sb_act_store(&net.head[0].logits, out);
    for (int i = 0; i < ROWS; i++)
        for (int t = 0; t < TARGETS; t++) {
            means |= out[i * MOST + t] != 0.0f;
            assert_true(out[i * MOST + TARGETS + t] == 0.0f);
        }
    assert_true(means);
    sb_net_fini(&net);
}

static void outputs_must_fit(void **state)
{
    (void)state;
    struct sb_arch a;
    const struct sb_arch_shape shape = {"mlp-4", 3, 1, 1, 1, SB_LIKELIHOOD_GAUSS_SHARED};
    assert_int_equal(sb_arch_init(&a, &shape), SB_OK);
    refused(sb_arch_set_likelihood(&a, SB_LIKELIHOOD_CATEGORICAL), SB_EARG,
            "a network with 1 outputs for 1 classes; want at least 2");
    refused(sb_arch_set_likelihood(&a, SB_LIKELIHOOD_GAUSS_PER_EXAMPLE), SB_EARG,
            "a network with 1 outputs for 0 targets; want at least 1");
    assert_int_equal(sb_arch_set_likelihood(&a, SB_LIKELIHOOD_GAUSS_SHARED), SB_OK);
    sb_arch_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_are_the_formula),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(variances_are_clamped),
        cmocka_unit_test(every_table_gives_the_same_bits),
        cmocka_unit_test(sums_go_over_shards),
        cmocka_unit_test(the_shared_noise_is_a_record),
        cmocka_unit_test(the_shared_noise_is_trained),
        cmocka_unit_test(outputs_of_variances_start_at_zero),
        cmocka_unit_test(outputs_must_fit),
    };
    return cmocka_run_group_tests_name("nn/likelihood", tests, NULL, NULL);
}
