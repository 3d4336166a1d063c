/* eval/ood: scores, figures against brute force, thinned curves, histograms, refusals. */
#include "figures/ood.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "refused.h"

static void assert_near(double have, double want, double tolerance)
{
    if (!(fabs(have - want) <= tolerance))
        fail_msg("have %.17g, want %.17g", have, want);
}

static sb_status detect(const double *in, size_t n_in, const double *out, size_t n_out,
                        struct sb_ood *o)
{
    struct sb_ood_sides s = {in, out, n_in, n_out};
    return sb_ood_detect(&s, o);
}

static void two_scores(void **state)
{
    (void)state;
    const float a[] = {0.75f, 0.25f, 0.25f, 0.75f}, b[] = {0.5f, 0.5f, 1.0f, 0.0f};
    const float *const member[] = {a, b};
    const struct sb_probs p = {member, 2, 2, 2};
    double top[2], mean[2];
    assert_int_equal(sb_ood_scores(&p, top, mean), SB_OK);
    assert_near(top[0], 1 - 0.625, 1e-15);
    assert_near(top[1], 1 - 0.625, 1e-15);
    assert_near(mean[0], (0.25 + 0.5) / 2, 1e-15);
    assert_near(mean[1], (0.25 + 0.0) / 2, 1e-15);
}

/* ---- out-of-distribution detection ---- */

enum { N_IN = 60, N_OUT = 45 };

static double brute_auroc(const double *in, const double *out)
{
    double wins = 0;
    for (int i = 0; i < N_IN; i++)
        for (int j = 0; j < N_OUT; j++)
            wins += out[j] > in[i] ? 1 : out[j] == in[i] ? 0.5 : 0;
    return wins / (N_IN * N_OUT);
}

static int at_least(const double *score, int n, double threshold)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += score[i] >= threshold;
    return count;
}

/* Every score as a threshold; average precision as a sum over positives. */
static void brute_curves(const double *in, const double *out, double *aupr, double *fpr)
{
    *aupr = 0;
    *fpr = 1;
    for (int j = 0; j < N_OUT; j++) {
        double hits = at_least(out, N_OUT, out[j]), alarms = at_least(in, N_IN, out[j]);
        *aupr += hits / (hits + alarms) / N_OUT;
        if (hits >= 0.95 * N_OUT && alarms / N_IN < *fpr)
            *fpr = alarms / N_IN;
    }
}

static void ood_agrees_with_brute_force(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 10; round++) {
        struct sb_stream s = sb_rng_stream(1, SB_RNG_TEST, 0, round, 0);
        double in[N_IN], out[N_OUT], aupr, fpr;
        for (uint32_t i = 0; i < N_IN; i++) /* even rounds have many ties */
            in[i] = round % 2 ? (double)sb_rng_uniform(&s, i) : sb_rng_below(&s, i, 7);
        for (uint32_t j = 0; j < N_OUT; j++)
            out[j] = round % 2 ? (double)sb_rng_uniform(&s, 100 + j) + 0.3
                               : 2 + sb_rng_below(&s, 100 + j, 7);
        struct sb_ood have;
        assert_int_equal(detect(in, N_IN, out, N_OUT, &have), SB_OK);
        brute_curves(in, out, &aupr, &fpr);
        assert_near(have.auroc, brute_auroc(in, out), 1e-14);
        assert_near(have.aupr, aupr, 1e-14);
        assert_near(have.fpr95, fpr, 1e-14);
    }
}

static void ood_extremes(void **state)
{
    (void)state;
    const double low[] = {0, 0.1, 0.2}, high[] = {0.5, 0.6};
    struct sb_ood o;
    assert_int_equal(detect(low, 3, high, 2, &o), SB_OK);
    assert_true(o.auroc == 1 && o.aupr == 1 && o.fpr95 == 0);
    assert_int_equal(detect(high, 2, low, 3, &o), SB_OK);
    assert_true(o.auroc == 0 && o.fpr95 == 1);
    assert_int_equal(detect(low, 1, low, 1, &o), SB_OK);
    assert_true(o.auroc == 0.5 && o.aupr == 0.5 && o.fpr95 == 1);
}

/* ---- curves ---- */

enum { MANY = 3000 };

static void roc_is_thin_and_exact(void **state)
{
    (void)state;
    static double in[MANY], out[MANY];
    struct sb_roc_point p[SB_ROC_POINTS];
    struct sb_ood o;
    size_t n;
    for (int ties = 0; ties < 2; ties++) {
        struct sb_stream s = sb_rng_stream(1, SB_RNG_TEST, 0, (uint32_t)ties, 1);
        for (uint32_t i = 0; i < MANY; i++) {
            in[i] = (double)sb_rng_uniform(&s, i);
            out[i] = sqrt((double)sb_rng_uniform(&s, MANY + i));
            in[i] = ties ? floor(in[i] * 9) : in[i];
            out[i] = ties ? floor(out[i] * 9) : out[i];
        }
        struct sb_ood_sides sides = {in, out, MANY, MANY - 10};
        assert_int_equal(sb_ood_roc(&sides, p, &n), SB_OK);
        assert_true(n <= SB_ROC_POINTS && n >= (ties ? 9 : 100));
        assert_true(p[0].fpr == 0 && p[0].tpr == 0);
        assert_true(p[n - 1].fpr == 1 && p[n - 1].tpr == 1);
        double area = 0;
        for (size_t i = 1; i < n; i++) {
            assert_true(p[i].fpr >= p[i - 1].fpr && p[i].tpr >= p[i - 1].tpr);
            area += (p[i].fpr - p[i - 1].fpr) * (p[i].tpr + p[i - 1].tpr) / 2;
        }
        assert_int_equal(sb_ood_detect(&sides, &o), SB_OK);
        assert_near(area, o.auroc, ties ? 1e-12 : 1e-3);
    }
}

static void histogram_counts(void **state)
{
    (void)state;
    const double in[] = {0, 0.1, 0.5, 0.99}, out[] = {1, 0.25, 0.75};
    const double bad[] = {1.5};
    struct sb_ood_sides s = {in, out, 4, 3}, t = {in, bad, 4, 1};
    size_t a[4], b[4];
    const size_t want_a[] = {2, 0, 1, 1}, want_b[] = {0, 1, 0, 2};
    assert_int_equal(sb_ood_histogram(&s, 4, a, b), SB_OK);
    assert_memory_equal(a, want_a, sizeof a);
    assert_memory_equal(b, want_b, sizeof b);
    refused(sb_ood_histogram(&t, 4, a, b), SB_ENUMERIC, "score 0 is 1.5, not in 0 .. 1");
    refused(sb_ood_histogram(&s, 0, a, b), SB_EARG, "a histogram of 0 bins");
}

/* ---- refusals ---- */

static void bad_scores_are_refused(void **state)
{
    (void)state;
    const double in[] = {0, (double)NAN}, out[] = {1, (double)INFINITY};
    struct sb_ood o;
    refused(detect(in, 1, out, 0, &o), SB_EARG,
            "1 in- and 0 out-of-distribution examples: neither may be 0");
    refused(detect(in, 2, out, 2, &o), SB_ENUMERIC,
            "score 1 of the in-distribution examples is nan");
    refused(detect(in, 1, out, 2, &o), SB_ENUMERIC,
            "score 1 of the out-of-distribution examples is inf");
}

static void allocation_failures_are_survived(void **state)
{
    (void)state;
    const double in[] = {0, 1}, out[] = {1, 2};
    struct sb_ood o;
    size_t live = sb_mem_live();
    sb_mem_fail_after(0);
    sb_status st = detect(in, 2, out, 2, &o);
    sb_mem_fail_after(-1);
    assert_int_equal(st, SB_ENOMEM);
    assert_string_equal(sb_message(), "no memory to sort 4 scores");
    assert_int_equal(detect(in, 2, out, 2, &o), SB_OK);
    assert_int_equal(sb_mem_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_scores),
        cmocka_unit_test(ood_agrees_with_brute_force),
        cmocka_unit_test(ood_extremes),
        cmocka_unit_test(roc_is_thin_and_exact),
        cmocka_unit_test(histogram_counts),
        cmocka_unit_test(bad_scores_are_refused),
        cmocka_unit_test(allocation_failures_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
