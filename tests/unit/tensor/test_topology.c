/* tensor/topology: how many weights each layer gets, and what a weight is worth. */
#include "tensor/topology.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* In double; cmocka's own compares floats. */
static void assert_near(double have, double want, double tolerance)
{
    if (!(fabs(have - want) <= tolerance))
        fail_msg("have %.17g, want %.17g", have, want);
}

/* ---- allocation ---- */

static void erk_of_equal_layers_is_uniform(void **state)
{
    (void)state;
    const struct sb_weight_shape shape[] = {{4, {64, 64, 3, 3}}, {4, {64, 64, 3, 3}}};
    struct sb_allocation a[2];
    assert_int_equal(sb_topology_erk(shape, 2, 0.25, a), SB_OK);
    for (int l = 0; l < 2; l++) {
        assert_near(a[l].density, 0.25, 1e-15);
        assert_int_equal(a[l].active, 64 * 64 * 9 / 4);
        assert_false(a[l].dense);
    }
}

static void erk_makes_small_layers_dense(void **state)
{
    (void)state;
    const struct sb_weight_shape shape[] = {
        {4, {16, 3, 3, 3}}, {4, {64, 64, 3, 3}}, {2, {500, 300}}, {2, {10, 64}}};
    const double n[] = {432, 36864, 150000, 640};
    struct sb_allocation a[4];
    assert_int_equal(sb_topology_erk(shape, 4, 0.1, a), SB_OK);
    double total = 0;
    for (int l = 0; l < 4; l++)
        total += a[l].density * n[l];
    assert_near(total, 0.1 * (432 + 36864 + 150000 + 640), 1e-6);
    assert_true(a[0].dense && a[3].dense);
    assert_false(a[1].dense || a[2].dense);
    assert_int_equal(a[0].active, 432);
    /* the two sparse ones share one eps; only the convolution has kernel terms */
    double conv = 36864 / (64.0 + 64 + 3 + 3), linear = 150000 / (500.0 + 300);
    assert_near(a[1].density * conv, a[2].density * linear, 1e-9);
}

static void density_one_is_dense(void **state)
{
    (void)state;
    const struct sb_weight_shape shape[] = {
        {4, {16, 3, 3, 3}}, {4, {7, 16, 3, 3}}, {2, {10, 77}}};
    struct sb_allocation a[3];
    assert_int_equal(sb_topology_erk(shape, 3, 1.0, a), SB_OK);
    assert_true(a[0].dense && a[1].dense && a[2].dense);
    assert_int_equal(sb_topology_uniform(shape, 3, 1.0, a), SB_OK);
    assert_true(a[0].dense && a[1].dense && a[2].dense);
}

static void uniform_keeps_the_first_layer_dense(void **state)
{
    (void)state;
    const struct sb_weight_shape shape[] = {{4, {16, 3, 3, 3}}, {2, {10, 77}}};
    struct sb_allocation a[2];
    assert_int_equal(sb_topology_uniform(shape, 2, 0.1, a), SB_OK);
    assert_true(a[0].dense);
    assert_int_equal(a[0].active, 432);
    assert_int_equal(a[1].active, 770 - 693); /* floor(0.9 * 770) = 693 are absent */
    assert_false(a[1].dense);
}

static void bad_allocations_are_refused(void **state)
{
    (void)state;
    const struct sb_weight_shape good = {2, {3, 4}}, huge = {4, {65536, 256, 16, 16}},
                                 flat = {3, {3, 4, 5}}, none = {2, {0, 4}};
    struct sb_allocation a;
    assert_int_equal(sb_topology_erk(&good, 0, 0.5, &a), SB_EARG);
    assert_string_equal(sb_message(), "topology: a network without layers");
    assert_int_equal(sb_topology_erk(&good, 1, 0, &a), SB_EARG);
    assert_string_equal(sb_message(), "topology: density 0 is not in (0, 1]");
    assert_int_equal(sb_topology_uniform(&good, 1, (double)NAN, &a), SB_EARG);
    assert_int_equal(sb_topology_uniform(&good, 1, 1.5, &a), SB_EARG);
    assert_int_equal(sb_topology_erk(&huge, 1, 0.5, &a), SB_EARG);
    assert_string_equal(sb_message(),
                        "topology: layer 0 has no or more than 2^32 - 1 weights");
    assert_int_equal(sb_topology_erk(&none, 1, 0.5, &a), SB_EARG);
    assert_int_equal(sb_topology_uniform(&flat, 1, 0.5, &a), SB_EARG);
    assert_string_equal(sb_message(), "topology: layer 0 has 3 dimensions, not 2 or 4");
}

/* ---- sigma and SNR ---- */

static void snr_is_right_at_both_ends(void **state)
{
    (void)state;
    const double least = 1.3236080968; /* sqrt(2 / (pi - 2)) */
    assert_near(sb_snr_abs(0, 1e-4), least, 1e-7);
    assert_near(sb_snr_abs(0, 0), least, 1e-7);
    assert_near(sb_snr_abs(1e-9, 1), least, 1e-7);
    assert_true(sb_snr_abs(-3e7, 1e-3) == 3e7 / 1e-3);
    assert_true(sb_snr_abs(50, 1) == 50);
    assert_true(isinf(sb_snr_abs(1, 0)));
    double last = 0;
    for (double t = 0.02; t < 60; t += 0.01) {
        double snr = sb_snr_abs(t, 1);
        assert_true(snr > last && snr >= t);
        assert_true(snr == sb_snr_abs(-t, 1));
        last = snr;
    }
}

static void rho_and_sigma_are_inverse(void **state)
{
    (void)state;
    assert_near(sb_sigma_of_rho(-6), 0.0024756852, 1e-9);
    for (double rho = -600; rho <= 800; rho += 7.3)
        assert_near(sb_rho_of_sigma(sb_sigma_of_rho(rho)), rho, 1e-9 * (1 + fabs(rho)));
    assert_true(isfinite(sb_rho_of_sigma(0)));
    assert_true(sb_sigma_of_rho(-2000) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(erk_of_equal_layers_is_uniform),
        cmocka_unit_test(erk_makes_small_layers_dense),
        cmocka_unit_test(density_one_is_dense),
        cmocka_unit_test(uniform_keeps_the_first_layer_dense),
        cmocka_unit_test(bad_allocations_are_refused),
        cmocka_unit_test(snr_is_right_at_both_ends),
        cmocka_unit_test(rho_and_sigma_are_inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
