/* eval/tsne: clusters stay clusters, the same bits for any threads, odd inputs, refusals.
 * How good embeddings are beside scikit-learn's is tests/tsne/compare's to say. */
#include "figures/tsne.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "refused.h"

enum { N = 60, DIMENSIONS = 10, CLUSTERS = 3 };

static const struct sb_env one_thread = {.threads = 1};
static const struct sb_tsne_options standard = {0};

/* Point i belongs to cluster i % 3; centres are 10 apart, points 1 around them. */
static void make(float x[N][DIMENSIONS])
{
    struct sb_stream s = sb_rng_stream(1, SB_RNG_TEST, 0, 0, 0);
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t c = 0; c < DIMENSIONS; c++)
            x[i][c] = 2 * sb_rng_uniform(&s, i * DIMENSIONS + c) +
                      (c == i % CLUSTERS ? 10.0f : 0.0f);
}

static double apart(double y[N][2], size_t i, size_t k)
{
    return hypot(y[i][0] - y[k][0], y[i][1] - y[k][1]);
}

static void clusters_stay_apart(void **state)
{
    (void)state;
    static float x[N][DIMENSIONS];
    static double y[N][2];
    double widest = 0, nearest = INFINITY;
    make(x);
    assert_int_equal(sb_tsne(&one_thread, &x[0][0], N, DIMENSIONS, &standard, &y[0][0]),
                     SB_OK);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < i; k++) {
            bool same = i % CLUSTERS == k % CLUSTERS;
            widest = same ? fmax(widest, apart(y, i, k)) : widest;
            nearest = same ? nearest : fmin(nearest, apart(y, i, k));
        }
    if (!(nearest > widest))
        fail_msg("clusters are %g wide and %g apart", widest, nearest);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static float x[N][DIMENSIONS];
    static double y[3][N][2];
    const struct sb_tsne_options few = {.steps = 50};
    make(x);
    for (int threads = 1; threads <= 3; threads++) {
        struct sb_env env = {.threads = threads};
        assert_int_equal(
            sb_tsne(&env, &x[0][0], N, DIMENSIONS, &few, &y[threads - 1][0][0]), SB_OK);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_memory_equal(y[0], y[2], sizeof y[0]);
}

/* Equal points, points on a line, the fewest: finite numbers come out. */
static void odd_points(void **state)
{
    (void)state;
    float x[8];
    double y[8][2];
    for (int kind = 0; kind < 3; kind++) {
        size_t n = kind == 2 ? SB_TSNE_LEAST : 8;
        for (size_t i = 0; i < n; i++)
            x[i] = kind == 0 ? 3.0f : (float)i;
        assert_int_equal(sb_tsne(&one_thread, x, n, 1, &standard, &y[0][0]), SB_OK);
        for (size_t i = 0; i < n; i++)
            assert_true(isfinite(y[i][0]) && isfinite(y[i][1]));
    }
}

static void refusals(void **state)
{
    (void)state;
    float x[8] = {0, 1, 2, 3, 4, 5, NAN, 7};
    double y[8][2];
    const struct sb_tsne_options wide = {.perplexity = 7};
    refused(sb_tsne(&one_thread, x, 3, 1, &standard, &y[0][0]), SB_EARG,
            "t-SNE of 3 points in 1 dimensions: want 4 to 10000");
    refused(sb_tsne(&one_thread, x, 8, 1, &wide, &y[0][0]), SB_EARG,
            "t-SNE of 8 points: a perplexity of 7 is not in 1 .. 6");
    refused(sb_tsne(&one_thread, x, 4, 2, &standard, &y[0][0]), SB_ENUMERIC,
            "t-SNE: number 0 of point 3 is nan");
    size_t live = sb_mem_live();
    sb_mem_fail_after(0);
    sb_status st = sb_tsne(&one_thread, x, 6, 1, &standard, &y[0][0]);
    sb_mem_fail_after(-1);
    assert_int_equal(st, SB_ENOMEM);
    assert_int_equal(sb_mem_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters_stay_apart),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(odd_points),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
