/* nn/trained: copies of networks, bit for bit, draws that repeat, and every allocation
 * failed once. */
#include "nn/trained.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/fmath.h"
#include "base/mem.h"
#include "nets.h"
#include "refused.h"

static const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};

static const struct {
    const char *arch;
    double density;
    bool gauss;
} kinds[] = {{"lenet", 0.1, true},
             {"wrn-10-1", 0.2, true},
             {"wrn-10-1", 0.2, false},
             {"mlp-7", 1.0, true},
             {"mlp-7", 1.0, false}};

enum { KINDS = sizeof kinds / sizeof *kinds };

static void make(struct sb_net *net, size_t kind, uint64_t seed)
{
    assert_int_equal(
        nets_init(net, kinds[kind].arch, kinds[kind].density, kinds[kind].gauss), SB_OK);
    assert_int_equal(nets_fill(&env, net, seed), SB_OK);
}

static void save(struct sb_trained *m, const struct sb_net *net)
{
    assert_int_equal(sb_trained_init(m, net), SB_OK);
    assert_int_equal(sb_trained_save(m, net), SB_OK);
}

/* ---- copies ---- */

static void numbers_restore_a_network(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    for (size_t i = 0; i < KINDS; i++) {
        struct sb_net a, b;
        struct sb_trained m, copy;
        make(&a, i, 1);
        make(&b, i, 2);
        save(&m, &a);
        assert_false(nets_same(&a, &b, false));
        assert_int_equal(sb_trained_copy(&m, &copy), SB_OK);
        sb_trained_fini(&m);
        assert_int_equal(sb_trained_load(&copy, &env, &b), SB_OK);
        assert_true(nets_same(&a, &b, false));
        assert_false(nets_same(&a, &b, true)); /* momenta are not part of a member */
        for (uint32_t k = 0; k < b.weight[0].nnz; k++)
            assert_true(b.weight[0].mu_momentum[k] == 0.0f);
        sb_trained_fini(&copy);
        sb_net_fini(&a);
        sb_net_fini(&b);
    }
    sb_trained_fini(NULL);
    assert_int_equal(sb_mem_live(), live);
}

/* Its weights are in the order of its kernels; a member's never are. */
static void a_network_for_inference_gives_back_what_it_took(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        struct sb_net a, b;
        struct sb_trained m, back;
        make(&a, i, 1);
        assert_int_equal(
            nets_init_inference(&b, kinds[i].arch, kinds[i].density, kinds[i].gauss),
            SB_OK);
        save(&m, &a);
        assert_int_equal(sb_trained_load(&m, &env, &b), SB_OK);
        if (kinds[i].density < 1.0)
            assert_memory_not_equal(a.weight[1].mu, b.weight[1].mu,
                                    a.weight[1].nnz * sizeof(float));
        save(&back, &b);
        assert_int_equal(m.bytes, back.bytes);
        assert_memory_equal(m.memory, back.memory, m.bytes);
        sb_trained_fini(&m);
        sb_trained_fini(&back);
        sb_net_fini(&a);
        sb_net_fini(&b);
    }
}

static void saving_allocates_nothing(void **state)
{
    (void)state;
    struct sb_net net;
    struct sb_trained m;
    make(&net, 0, 1);
    assert_int_equal(sb_trained_init(&m, &net), SB_OK);
    size_t count = sb_mem_count();
    assert_int_equal(sb_trained_save(&m, &net), SB_OK);
    assert_int_equal(sb_mem_count(), count);
    sb_trained_fini(&m);
    sb_net_fini(&net);
}

/* The block holds existing weights only: 3 numbers each, and the point parameters. */
static void numbers_are_compact(void **state)
{
    (void)state;
    struct sb_net net;
    struct sb_trained m;
    make(&net, 0, 1);
    assert_int_equal(sb_trained_init(&m, &net), SB_OK);
    size_t numbers = 500 + 10 + 4 * (20 + 50);
    for (uint32_t i = 0; i < net.arch.weights; i++)
        numbers += (net.weight[i].dense ? 2 : 3) * (size_t)net.weight[i].nnz;
    assert_int_equal(m.bytes, numbers * sizeof(float));
    sb_trained_fini(&m);
    sb_net_fini(&net);
}

static void a_point_network_takes_the_means(void **state)
{
    (void)state;
    struct sb_net gauss, point;
    struct sb_trained m;
    make(&gauss, 0, 1);
    assert_int_equal(nets_init(&point, "lenet", 0.1, false), SB_OK);
    save(&m, &gauss);
    assert_int_equal(sb_trained_load(&m, &env, &point), SB_OK);
    for (uint32_t i = 0; i < point.arch.weights; i++) {
        assert_null(point.weight[i].rho);
        assert_memory_equal(point.weight[i].mu, gauss.weight[i].mu,
                            point.weight[i].nnz * sizeof(float));
    }
    sb_trained_fini(&m);
    sb_net_fini(&gauss);
    sb_net_fini(&point);
}

/* ---- draws ---- */

static void a_draw_is_a_function_of_its_seed(void **state)
{
    (void)state;
    struct sb_net from, net;
    struct sb_trained m;
    make(&from, 0, 1);
    save(&m, &from);
    m.sample_seed = 77;
    assert_int_equal(nets_init(&net, "lenet", 0.1, false), SB_OK);
    for (uint32_t draw = 0; draw < 2; draw++) {
        assert_int_equal(sb_trained_draw(&m, &env, &net, draw), SB_OK);
        for (uint32_t i = 0; i < net.arch.weights; i++) {
            struct sb_stream s = sb_rng_stream(77, SB_RNG_SAMPLE, 0, draw, i);
            for (uint32_t k = 0; k < net.weight[i].nnz; k++) {
                float z[4], want;
                sb_rng_normal4(&s, k / 4, z);
                want =
                    nets_mu(&m, i)->value[k] + sb_softplus(nets_rho(&m, i)[k]) * z[k % 4];
                assert_true(net.weight[i].mu[k] == want);
            }
        }
    }
    sb_trained_fini(&m);
    sb_net_fini(&from);
    sb_net_fini(&net);
}

/* Over many weights, (theta - mu) / sigma has mean 0 and variance 1. */
static void a_draw_has_the_posterior_s_moments(void **state)
{
    (void)state;
    struct sb_net net;
    struct sb_trained m;
    make(&net, 0, 1);
    save(&m, &net);
    assert_int_equal(sb_trained_draw(&m, &env, &net, 0), SB_OK);
    double sum = 0, square = 0, n = 0;
    for (uint32_t i = 0; i < m.weights; i++)
        for (uint32_t k = 0; k < nets_mu(&m, i)->count; k++) {
            double z = (double)(net.weight[i].mu[k] - nets_mu(&m, i)->value[k]) /
                       (double)sb_softplus(nets_rho(&m, i)[k]);
            sum += z;
            square += z * z;
            n++;
        }
    assert_true(fabs(sum / n) < 5 / sqrt(n));
    assert_true(fabs(square / n - 1) < 5 * sqrt(2 / n));
    sb_trained_fini(&m);
    sb_net_fini(&net);
}

/* A Gaussian network that forgets its noise and a point network agree on a draw, and the
 * input's gradient is there too: derived values are refreshed. */
static void a_draw_runs_as_a_point_network(void **state)
{
    (void)state;
    struct sb_net gauss, point;
    struct sb_trained m;
    struct sb_pass pass = {0};
    make(&gauss, 0, 1);
    save(&m, &gauss);
    assert_int_equal(nets_init(&point, "lenet", 0.1, false), SB_OK);
    assert_int_equal(sb_trained_draw(&m, &env, &point, 3), SB_OK);
    assert_int_equal(sb_trained_draw(&m, &env, &gauss, 3), SB_OK);
    size_t n = sb_act_size(&point.input);
    nets_randomise(point.input.data, n, 5, 0);
    memcpy(gauss.input.data, point.input.data, n * sizeof(float));
    assert_int_equal(sb_net_forward(&env, &gauss, &pass), SB_OK);
    assert_int_equal(sb_net_forward(&env, &point, &pass), SB_OK);
    assert_memory_equal(point.head[0].logits.data, gauss.head[0].logits.data,
                        sb_act_size(&point.head[0].logits) * sizeof(float));
    for (uint32_t i = 0; i < point.arch.weights; i++)
        assert_memory_equal(point.weight[i].mu_t, gauss.weight[i].mu_t,
                            point.weight[i].nnz * sizeof(float));
    sb_trained_fini(&m);
    sb_net_fini(&gauss);
    sb_net_fini(&point);
}

static void a_point_member_has_one_draw(void **state)
{
    (void)state;
    struct sb_net a, b;
    struct sb_trained m;
    make(&a, 2, 1);
    make(&b, 2, 2);
    save(&m, &a);
    assert_int_equal(sb_trained_draw(&m, &env, &b, 9), SB_OK);
    assert_true(nets_same(&a, &b, false));
    sb_trained_fini(&m);
    sb_net_fini(&a);
    sb_net_fini(&b);
}

/* ---- layouts ---- */

static void layouts_are_compared(void **state)
{
    (void)state;
    struct sb_net net[KINDS];
    struct sb_trained m[KINDS];
    for (size_t i = 0; i < KINDS; i++) {
        make(&net[i], i, 1);
        save(&m[i], &net[i]);
    }
    for (size_t i = 0; i < KINDS; i++)
        for (size_t j = 0; j < KINDS; j++)
            assert_int_equal(nets_alike(&m[i], &m[j]), i == j);
    uint32_t active[NETS_LAYERS];
    sb_trained_active(&m[0], active);
    for (uint32_t i = 0; i < m[0].weights; i++)
        assert_int_equal(active[i], net[0].weight[i].nnz);
    struct sb_trained other;
    active[1]--;
    assert_int_equal(sb_trained_plan(&other, &net[0].arch, active, true), SB_OK);
    assert_false(nets_alike(&m[0], &other));
    refused(
        sb_trained_load(&other, &env, &net[0]), SB_EARG,
        "the numbers are not those of this network: conv2.mu with 2177 numbers is not "
        "where it belongs");
    sb_trained_fini(&other);
    for (size_t i = 0; i < KINDS; i++) {
        sb_trained_fini(&m[i]);
        sb_net_fini(&net[i]);
    }
}

static void misfits_are_refused(void **state)
{
    (void)state;
    struct sb_net lenet, wrn, point;
    struct sb_trained m, p;
    make(&lenet, 0, 1);
    make(&wrn, 1, 1);
    make(&point, 2, 1);
    save(&m, &wrn);
    save(&p, &point);
    refused(sb_trained_load(&m, &env, &lenet), SB_EARG,
            "the numbers are not those of this network: conv1.mu with 500 numbers is not "
            "where it belongs");
    refused(sb_trained_save(&m, &lenet), SB_EARG,
            "the numbers are not those of this network: conv1.mu with 500 numbers is not "
            "where it belongs");
    refused(sb_trained_save(&m, &point), SB_EARG,
            "the numbers are Gaussian, the network's weights are points");
    refused(sb_trained_load(&p, &env, &wrn), SB_EARG,
            "the numbers are points, the network's weights are Gaussian");
    uint32_t active[NETS_LAYERS] = {0};
    sb_trained_fini(&m);
    refused(sb_trained_plan(&m, &lenet.arch, active, true), SB_EARG,
            "layer conv1 has 0 of 500 weights; must be 1 to all");
    sb_trained_fini(&m);
    sb_trained_fini(&p);
    sb_net_fini(&lenet);
    sb_net_fini(&wrn);
    sb_net_fini(&point);
}

/* ---- memory ---- */

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    struct sb_net net;
    make(&net, 0, 1);
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 100; n++) {
        struct sb_trained m, copy = {0};
        sb_mem_fail_after(n);
        st = sb_trained_init(&m, &net);
        if (st == SB_OK)
            st = sb_trained_save(&m, &net);
        if (st == SB_OK)
            st = sb_trained_copy(&m, &copy);
        if (st == SB_OK)
            st = sb_trained_draw(&copy, &env, &net, 0);
        sb_mem_fail_after(-1);
        sb_trained_fini(&m);
        sb_trained_fini(&copy);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(st, SB_OK);
    assert_in_range(n, 8, 99);
    sb_net_fini(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_restore_a_network),
        cmocka_unit_test(a_network_for_inference_gives_back_what_it_took),
        cmocka_unit_test(saving_allocates_nothing),
        cmocka_unit_test(numbers_are_compact),
        cmocka_unit_test(a_point_network_takes_the_means),
        cmocka_unit_test(a_draw_is_a_function_of_its_seed),
        cmocka_unit_test(a_draw_has_the_posterior_s_moments),
        cmocka_unit_test(a_draw_runs_as_a_point_network),
        cmocka_unit_test(a_point_member_has_one_draw),
        cmocka_unit_test(layouts_are_compared),
        cmocka_unit_test(misfits_are_refused),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
