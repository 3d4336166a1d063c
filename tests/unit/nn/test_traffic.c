/* nn/traffic: bytes and operations of a step, counted by hand; kernels/speed. */
#include "nn/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "kernels/speed.h"

/* Images of 2 x 6 x 6, 3 classes. */
static void plan(struct sb_net *n, const char *arch, bool gauss, const uint32_t *active)
{
    struct sb_net_options o = {.shape.name = arch,
                               .shape.channels = 2,
                               .shape.height = 6,
                               .shape.width = 6,
                               .shape.classes = 3,
                               .lanes = 8,
                               .max_batch = 8,
                               .threads = 1,
                               .gauss = gauss,
                               .active = active};
    assert_int_equal(sb_net_init(n, &o), SB_OK);
}

static void same(double have, double floats)
{
    assert_int_equal((int64_t)have, (int64_t)(4 * floats));
}

/* 72 features, flattened; 5 hidden ones with ReLU; 3 out. The image has no gradient. */
static void a_point_network(void **state)
{
    (void)state;
    const double rows = 8, w0 = 72 * 5, w1 = 5 * 3, numbers = w0 + 5 + w1 + 3;
    struct sb_net n;
    plan(&n, "mlp-5", false, NULL);
    struct sb_traffic t = sb_net_traffic(&n, 8);
    same(t.forward, rows * ((72 + 5) + 2 * 5 + (5 + 3)) + w0 + w1);
    same(t.backward, rows * ((72 + 5) + 3 * 5 + ((3 + 5) + (5 + 3))) + 2 * (w0 + w1));
    same(t.update, 5 * numbers);
    assert_true(sb_net_step_flops(&n, 8) == 6 * rows * (w0 + w1));
    sb_net_fini(&n);
}

/* The same with 20 and 4 weights that exist, and variances. */
static void a_sparse_gaussian_one(void **state)
{
    (void)state;
    const double rows = 8, weights = 20 + 4, numbers = 2 * weights + 5 + 3;
    struct sb_net n;
    plan(&n, "mlp-5", true, (const uint32_t[]){20, 4});
    struct sb_traffic t = sb_net_traffic(&n, 8);
    same(t.forward, rows * ((72 + 2 * 5) + 2 * 5 + (5 + 2 * 3)) + 2 * weights);
    same(t.backward,
         rows * ((3 * 5 + 72 + 2 * 5) + 3 * 5 + (3 * 3 + (2 * 3 + 2 * 5) + (5 + 2 * 3))) +
             4 * weights);
    same(t.update, 5 * numbers + 8 * weights);
    assert_true(sb_net_step_flops(&n, 8) == 6 * rows * 2 * weights);
    sb_net_fini(&n);
}

/* Activations of networks with every other kind of node grow with the rows, numbers do not. */
static void rows_count(void **state)
{
    (void)state;
    const char *const archs[] = {"resnet-8", "wrn-10-1"};
    for (size_t i = 0; i < 2; i++) {
        struct sb_net n;
        plan(&n, archs[i], true, NULL);
        struct sb_traffic a = sb_net_traffic(&n, 1), b = sb_net_traffic(&n, 2),
                          c = sb_net_traffic(&n, 3);
        assert_true(c.forward - b.forward == b.forward - a.forward);
        assert_true(c.backward - b.backward == b.backward - a.backward);
        assert_true(b.forward > a.forward && a.backward > a.forward);
        assert_true(a.update == c.update && a.update > 0);
        assert_true(sb_traffic_bytes(&a) == a.forward + a.backward + a.update);
        assert_true(sb_net_step_flops(&n, 3) == 3 * sb_net_step_flops(&n, 1));
        sb_net_fini(&n);
    }
}

/* They are what the machine gives; only that they are numbers can be told. */
static void speeds_are_measured(void **state)
{
    (void)state;
    struct sb_env env = {.threads = 2};
    double memory = 0;
    assert_int_equal(sb_kernels_choose("auto", &env.kernels), SB_OK);
    assert_true(sb_speed_arithmetic(&env) > 1e6);
    size_t live = sb_mem_live();
    assert_int_equal(sb_speed_memory(&env, &memory), SB_OK);
    assert_true(memory > 1e6);
    for (long i = 0; i < 2; i++) {
        sb_mem_fail_after(i);
        sb_status st = sb_speed_memory(&env, &memory);
        sb_mem_fail_after(-1);
        assert_int_equal(st, SB_ENOMEM);
    }
    assert_int_equal(sb_mem_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_network),
        cmocka_unit_test(a_sparse_gaussian_one),
        cmocka_unit_test(rows_count),
        cmocka_unit_test(speeds_are_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
