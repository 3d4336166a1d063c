/* figures/mixture, regression and conformal: closed forms beside brute force, known cases,
 * refusals. */
#include "figures/regression.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "figures/conformal.h"

static void assert_near(double have, double want, double tolerance)
{
    if (!(fabs(have - want) <= tolerance))
        fail_msg("have %.17g, want %.17g", have, want);
}

static void assert_refused(sb_status have, sb_status want, const char *sentence)
{
    assert_int_equal(have, want);
    assert_string_equal(sb_message(), sentence);
}

/* Three members, two examples, two targets; far apart in the second example. */
static const float mean_a[] = {0.5f, -1, 100, 0}, var_a[] = {1, 0.25f, 0.01f, 4};
static const float mean_b[] = {1.5f, 1, -100, 0}, var_b[] = {4, 0.5f, 0.01f, 4};
static const float mean_c[] = {-0.25f, 0, 0, 0}, var_c[] = {0.25f, 2, 25, 4};
static const float *const means[] = {mean_a, mean_b, mean_c};
static const float *const vars[] = {var_a, var_b, var_c};
static const struct sb_mixture three = {means, vars, 3, 2, 2, NULL};

static double phi(double x, double mean, double var)
{
    return exp(-(x - mean) * (x - mean) / (2 * var)) / sqrt(2 * acos(-1) * var);
}

static void moments_of_a_mixture(void **state)
{
    (void)state;
    struct sb_moments p = sb_mixture_moments(&three, 0, 0);
    double mean = (0.5 + 1.5 - 0.25) / 3;
    assert_near(p.mean, mean, 1e-15);
    assert_near(p.aleatoric, 5.25 / 3, 1e-15);
    assert_near(p.epistemic, (0.25 + 2.25 + 0.0625) / 3 - mean * mean, 1e-15);
    p = sb_mixture_moments(&three, 1, 1);
    assert_near(p.epistemic, 0, 0);
    assert_near(p.aleatoric, 4, 1e-15);
}

static void densities_of_a_mixture(void **state)
{
    (void)state;
    const float y[] = {0.25f, 0.5f};
    double joint = 0, alone = 0;
    for (int k = 0; k < 3; k++) {
        double first = phi(0.25, (double)means[k][0], (double)vars[k][0]);
        joint += first * phi(0.5, (double)means[k][1], (double)vars[k][1]) / 3;
        alone += first / 3;
    }
    assert_near(sb_mixture_log_density(&three, 0, y), log(joint), 1e-14);
    assert_near(sb_mixture_log_density_of(&three, 0, 0, 0.25), log(alone), 1e-14);
    /* far away, where a density is 0 in a double */
    assert_near(sb_mixture_log_density_of(&three, 1, 1, 400),
                -0.5 * log(8 * acos(-1)) - 400.0 * 400 / 8, 1e-8);
}

static void quantiles_invert_the_cdf(void **state)
{
    (void)state;
    const double p[] = {1e-6, 0.025, 0.2, 0.5, 0.62, 0.9, 0.999999};
    for (size_t i = 0; i < 2; i++)
        for (size_t t = 0; t < 2; t++)
            for (size_t k = 0; k < sizeof p / sizeof *p; k++) {
                double x = sb_mixture_quantile(&three, i, t, p[k]);
                assert_near(sb_mixture_cdf(&three, i, t, x), p[k], 1e-13);
            }
    const float mean[] = {3}, var[] = {4};
    const float *const m[] = {mean}, *const v[] = {var};
    const struct sb_mixture one = {m, v, 1, 1, 1, NULL};
    assert_near(sb_mixture_quantile(&one, 0, 0, 0.975), 3 + 2 * 1.959963984540054, 1e-12);
    assert_near(sb_mixture_quantile(&one, 0, 0, 0.5), 3, 1e-15);
}

/* The integral of (F(x) - [x >= y])^2 by the trapezoid rule. */
static double crps_by_hand(size_t i, size_t t, double y, double low, double high)
{
    enum { STEPS = 400000 };
    double sum = 0, dx = (high - low) / STEPS;
    for (int k = 0; k <= STEPS; k++) {
        double x = low + dx * k;
        double miss = sb_mixture_cdf(&three, i, t, x) - (x >= y);
        sum += miss * miss * (k == 0 || k == STEPS ? 0.5 : 1);
    }
    return sum * dx;
}

static void crps_is_the_integral(void **state)
{
    (void)state;
    assert_near(sb_mixture_crps(&three, 0, 0, 2.5), crps_by_hand(0, 0, 2.5, -30, 30),
                1e-4);
    assert_near(sb_mixture_crps(&three, 0, 1, -1), crps_by_hand(0, 1, -1, -30, 30), 1e-4);
    assert_near(sb_mixture_crps(&three, 1, 0, 7), crps_by_hand(1, 0, 7, -160, 160), 2e-3);
}

static void scores_of_one_gaussian(void **state)
{
    (void)state;
    const float mean[] = {0, 0, 0, 0}, var[] = {1, 1, 1, 1}, y[] = {0, 0.5f, -1, 3};
    const float *const m[] = {mean}, *const v[] = {var};
    const struct sb_mixture one = {m, v, 1, 4, 1, NULL};
    struct sb_regression r;
    double joint;
    assert_int_equal(sb_regression_of(&one, y, 0, &r), SB_OK);
    assert_near(r.rmse, sqrt(10.25 / 4), 1e-15);
    assert_near(r.mae, 4.5 / 4, 1e-15);
    assert_near(r.nll, 0.5 * (log(2 * acos(-1)) + 10.25 / 4), 1e-14);
    assert_near(r.nll_matched, r.nll, 1e-14);
    assert_int_equal(sb_regression_nll(&one, y, &joint), SB_OK);
    assert_near(joint, r.nll, 1e-14);
    const double covered[] = {0.5, 0.75, 0.75, 0.75}; /* .674 1.282 1.645 1.960 */
    const double half[] = {0.6744897501960817, 1.2815515655446004, 1.6448536269514722,
                           1.959963984540054};
    for (int k = 0; k < SB_INTERVALS; k++) {
        assert_near(r.coverage[k], covered[k], 0);
        assert_near(r.width[k], 2 * half[k], 1e-12);
    }
}

static void calibration_of_quantiles(void **state)
{
    (void)state;
    enum { N = 2000 };
    static float mean[N], var[N], y[N];
    const float *const m[] = {mean}, *const v[] = {var};
    const struct sb_mixture one = {m, v, 1, N, 1, NULL};
    const double level[] = {0.1, 0.5, 0.9};
    double share[3], error;
    for (int i = 0; i < N;
         i++) { /* outcomes at the quantiles (i + .5) / N of twice the sd */
        mean[i] = 0;
        var[i] = 4;
        y[i] = (float)sb_mixture_quantile(&one, 0, 0, (i + 0.5) / N);
    }
    assert_int_equal(sb_regression_calibration(&one, y, 0, level, 3, share, &error),
                     SB_OK);
    for (int k = 0; k < 3; k++)
        assert_near(share[k], level[k], 1.0 / N);
    assert_near(error, 0, 1.0 / N);
    for (int i = 0; i < N; i++)
        var[i] = 1; /* too sure */
    assert_int_equal(sb_regression_calibration(&one, y, 0, level, 3, share, &error),
                     SB_OK);
    assert_true(share[0] > 0.2 && share[2] < 0.8 && error > 0.1);
}

/* ---- conformal ---- */

static void conformal_takes_the_right_rank(void **state)
{
    (void)state;
    double s[] = {5, 1, 4, 2, 3, 9, 8, 6, 7}, q;
    assert_int_equal(sb_conformal_quantile(s, 9, 0.9, &q), SB_OK);
    assert_near(q, 9, 0); /* ceil(10 * .9) = 9 */
    assert_int_equal(sb_conformal_quantile(s, 9, 0.7, &q), SB_OK);
    assert_near(q, 7, 0); /* .7 * 10 is 7, not a little more */
    assert_int_equal(sb_conformal_quantile(s, 9, 0.71, &q), SB_OK);
    assert_near(q, 8, 0);
    assert_int_equal(sb_conformal_quantile(s, 9, 0.91, &q), SB_OK);
    assert_true(isinf(q)); /* nine examples cannot promise that */
    assert_refused(sb_conformal_quantile(s, 0, 0.9, &q), SB_EARG,
                   "conformal: no examples to calibrate with");
    assert_refused(sb_conformal_quantile(s, 9, 1, &q), SB_EARG,
                   "conformal: a coverage of 1; want one in (0, 1)");
    s[2] = NAN;
    assert_refused(sb_conformal_quantile(s, 9, 0.5, &q), SB_ENUMERIC,
                   "conformal: the score of example 2 is nan");
}

static float normal(const struct sb_stream *s, uint64_t element)
{
    float out[4];
    sb_rng_normal4(s, element, out);
    return out[0];
}

/* A model that is three times too sure: its own interval fails, the conformal one holds. */
static void conformal_intervals_hold(void **state)
{
    (void)state;
    enum { N = 4000 };
    static float mean[N], var[N], y[N];
    static double score[N / 2];
    struct sb_stream s = sb_rng_stream(7, SB_RNG_TEST, 0, 0, 0);
    for (uint32_t i = 0; i < N; i++) {
        mean[i] = (float)i;
        var[i] = 1.0f + (float)(i % 5);
        y[i] = mean[i] + 3 * sqrtf(var[i]) * normal(&s, i);
    }
    const float *const m[] = {mean}, *const v[] = {var};
    const float *const m2[] = {mean + N / 2}, *const v2[] = {var + N / 2};
    const struct sb_mixture fit = {m, v, 1, N / 2, 1, NULL},
                            other = {m2, v2, 1, N / 2, 1, NULL};
    struct sb_regression own;
    struct sb_conformal c;
    double q;
    assert_int_equal(sb_conformal_outcomes(&fit, y, 0, score), SB_OK);
    assert_int_equal(sb_conformal_quantile(score, N / 2, 0.9, &q), SB_OK);
    assert_int_equal(sb_conformal_intervals(&other, y + N / 2, 0, q, &c), SB_OK);
    assert_int_equal(sb_regression_of(&other, y + N / 2, 0, &own), SB_OK);
    assert_true(own.coverage[2] < 0.5);
    assert_near(c.coverage, 0.9, 0.02); /* sd .0067, and the quantile's own */
    assert_near(q, 3 * 1.645, 0.3);
    assert_true(c.size > 2.5 * own.width[2]);
}

static void conformal_sets(void **state)
{
    (void)state;
    const float p[] = {0.7f, 0.2f, 0.1f, 0.4f, 0.35f, 0.25f, 0.05f, 0.05f, 0.9f};
    const float *const member[] = {p};
    const struct sb_probs probs = {member, 1, 3, 3};
    const int32_t label[] = {0, 1, 0};
    double score[3], q;
    struct sb_conformal c;
    assert_int_equal(sb_conformal_classes(&probs, label, score), SB_OK);
    assert_near(score[0], 0.3, 1e-7);
    assert_near(score[1], 0.65, 1e-7);
    assert_near(score[2], 0.95, 1e-7);
    assert_int_equal(sb_conformal_quantile(score, 3, 0.5, &q), SB_OK);
    assert_near(q, 0.65, 1e-7);
    assert_int_equal(sb_conformal_sets(&probs, label, q, &c), SB_OK);
    assert_near(c.coverage, 2.0 / 3, 1e-15); /* {0} {0 1} {2} */
    assert_near(c.size, 4.0 / 3, 1e-15);
    const int32_t wrong[] = {0, 3, 0};
    assert_refused(sb_conformal_classes(&probs, wrong, score), SB_EARG,
                   "conformal: example 1 has label 3 of 3 classes");
}

/* ---- refusals ---- */

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    float mean[] = {0, 1}, var[] = {1, 0}, y[] = {0, INFINITY};
    const float *const m[] = {mean}, *const v[] = {var};
    const struct sb_mixture one = {m, v, 1, 2, 1, NULL}, none = {m, v, 1, 0, 1, NULL};
    const double falling[] = {0.5, 0.25};
    struct sb_regression r;
    double x, share[2];
    assert_refused(sb_regression_of(&none, y, 0, &r), SB_EARG,
                   "mixture: 1 members, 0 examples and 1 targets: none may be 0");
    assert_refused(sb_regression_of(&one, y, 0, &r), SB_ENUMERIC,
                   "mixture: member 0 gives example 1, target 0 the mean 1 and the "
                   "variance 0");
    var[1] = 1;
    assert_refused(sb_regression_of(&one, y, 0, &r), SB_ENUMERIC,
                   "regression: example 1, target 0 is inf");
    assert_refused(sb_regression_nll(&one, y, &x), SB_ENUMERIC,
                   "regression: example 1, target 0 is inf");
    y[1] = 2;
    assert_refused(sb_regression_of(&one, y, 1, &r), SB_EARG,
                   "regression: target 1 of 1");
    assert_refused(sb_regression_calibration(&one, y, 0, falling, 2, share, NULL),
                   SB_EARG, "regression: level 1 is 0.25; want rising ones in (0, 1)");
    mean[0] = NAN;
    assert_refused(sb_conformal_outcomes(&one, y, 0, share), SB_ENUMERIC,
                   "mixture: member 0 gives example 0, target 0 the mean nan and the "
                   "variance 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_of_a_mixture),
        cmocka_unit_test(densities_of_a_mixture),
        cmocka_unit_test(quantiles_invert_the_cdf),
        cmocka_unit_test(crps_is_the_integral),
        cmocka_unit_test(scores_of_one_gaussian),
        cmocka_unit_test(calibration_of_quantiles),
        cmocka_unit_test(conformal_takes_the_right_rank),
        cmocka_unit_test(conformal_intervals_hold),
        cmocka_unit_test(conformal_sets),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
