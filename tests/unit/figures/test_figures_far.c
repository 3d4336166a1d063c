/* figures/far: the distance against one worked out by hand, a row left out against a Gaussian
 * fitted without it, shares of quantiles. */
#include "figures/far.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

enum { N = 200, WIDTH = 3 };

static float rows[N][SB_FAR_WIDTH];
static float mean[WIDTH], factor[WIDTH * (WIDTH + 1) / 2];

/* Numbers that depend on each other. */
static int set_up(void **state)
{
    uint32_t x = 1;
    (void)state;
    for (int i = 0; i < N; i++) {
        float u[WIDTH];
        for (int k = 0; k < WIDTH; k++) {
            x = x * 1664525u + 1013904223u;
            u[k] = (float)(x >> 8) / (float)(1 << 24) - 0.5f;
        }
        rows[i][0] = 3.0f + u[0];
        rows[i][1] = 2.0f * u[0] + u[1];
        rows[i][2] = u[2] - u[1];
    }
    return 0;
}

static void a_line_has_the_distance_of_the_book(void **state)
{
    (void)state;
    float z[4][SB_FAR_WIDTH] = {{1}, {3}, {1}, {3}}, at[1] = {5}, m, l;
    assert_int_equal(sb_far_fit(z[0], 4, 1, &m, &l), SB_OK);
    assert_true(m == 2.0f);                                  /* variance 1, and ... */
    assert_true(fabs((double)l * (double)l - 1.001) < 1e-6); /* ... a thousandth */
    assert_true(fabs(sb_far_distance(at, 1, &m, &l) - 9 / 1.001) < 1e-5);
}

static void rows_are_at_distance_one_and_order_counts(void **state)
{
    double sum = 0.0;
    (void)state;
    assert_int_equal(sb_far_fit(rows[0], N, WIDTH, mean, factor), SB_OK);
    for (int i = 0; i < N; i++)
        sum += sb_far_distance(rows[i], WIDTH, mean, factor) / N;
    assert_true(fabs(sum - 1.0) < 0.02);
    /* against the correlation, no number of it unusual by itself */
    const float odd[WIDTH] = {3.4f, -0.8f, 0.0f}, usual[WIDTH] = {3.4f, 0.8f, 0.0f};
    assert_true(sb_far_distance(odd, WIDTH, mean, factor) >
                10 * sb_far_distance(usual, WIDTH, mean, factor));
}

/* Against a fit of the others; the sphere is a thousandth of another trace there. */
static void a_row_left_out_is_as_if_it_had_not_been_there(void **state)
{
    static float others[N - 1][SB_FAR_WIDTH];
    (void)state;
    rows[7][1] = 9.0f; /* it pulls */
    assert_int_equal(sb_far_fit(rows[0], N, WIDTH, mean, factor), SB_OK);
    double with = sb_far_distance(rows[7], WIDTH, mean, factor);
    memcpy(others[0], rows[0], 7 * sizeof *rows);
    memcpy(others[7], rows[8], (N - 8) * sizeof *rows);
    assert_int_equal(sb_far_fit(others[0], N - 1, WIDTH, mean, factor), SB_OK);
    double want = sb_far_distance(rows[7], WIDTH, mean, factor);
    double have = sb_far_left_out(with, WIDTH, N);
    assert_true(want > 1.5 * with);
    assert_true(fabs(have / want - 1.0) < 0.05);
    (void)set_up(NULL);
}

static void one_number_that_never_changes_is_no_trouble(void **state)
{
    float z[5][SB_FAR_WIDTH] = {{0}}, m[2], l[3];
    (void)state;
    assert_int_equal(sb_far_fit(z[0], 5, 2, m, l), SB_OK);
    assert_true(l[0] > 0 && l[2] > 0);
    assert_true(sb_far_distance(z[0], 2, m, l) == 0.0);
    assert_true(isfinite(sb_far_distance((const float[]){1, 1}, 2, m, l)));
}

static void a_share_rises_from_0_to_1(void **state)
{
    (void)state;
    double score[] = {4, 1, 3, 2};
    float q[SB_FAR_QUANTILES];
    assert_int_equal(sb_far_quantiles(score, 4, q), 4);
    assert_true(q[0] == 1 && q[3] == 4);
    assert_true(sb_far_share(q, 4, 0) == 0.0);
    assert_true(fabs(sb_far_share(q, 4, 2.5) - 0.5) < 1e-12);
    assert_true(fabs(sb_far_share(q, 4, 4) - 0.8) < 1e-12);
    assert_true(sb_far_share(q, 4, INFINITY) == 1.0);
    assert_true(sb_far_share(q, 4, NAN) == 1.0);
    double before = 0.0;
    for (int i = 1; i < 2000; i++) {
        double now = sb_far_share(q, 4, i / 100.0);
        assert_true(now > before && now < 1.0);
        before = now;
    }
}

static void many_scores_become_their_quantiles(void **state)
{
    static double score[10001];
    float q[SB_FAR_QUANTILES];
    (void)state;
    for (int i = 0; i <= 10000; i++)
        score[i] = (i * 7919) % 10001;
    assert_int_equal(sb_far_quantiles(score, 10001, q), SB_FAR_QUANTILES);
    assert_true(q[0] == 0.0f && q[SB_FAR_QUANTILES - 1] == 10000.0f);
    assert_true(fabs(sb_far_share(q, SB_FAR_QUANTILES, 9000) - 0.9) < 0.01);
}

static void no_memory_is_said(void **state)
{
    (void)state;
    sb_mem_fail_after(0);
    assert_int_equal(sb_far_fit(rows[0], N, WIDTH, mean, factor), SB_ENOMEM);
    sb_mem_fail_after(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_the_distance_of_the_book),
        cmocka_unit_test(rows_are_at_distance_one_and_order_counts),
        cmocka_unit_test(a_row_left_out_is_as_if_it_had_not_been_there),
        cmocka_unit_test(one_number_that_never_changes_is_no_trouble),
        cmocka_unit_test(a_share_rises_from_0_to_1),
        cmocka_unit_test(many_scores_become_their_quantiles),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
