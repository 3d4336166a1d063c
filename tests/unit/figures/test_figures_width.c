/* figures/width and mixtures that have a width: closed forms beside the definition, a width
 * that is known, few examples, extremes, refusals. */
#include "figures/width.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "figures/regression.h"
#include "refused.h"

static void assert_near(double have, double want, double tolerance)
{
    if (!(fabs(have - want) <= tolerance))
        fail_msg("have %.17g, want %.17g", have, want);
}

/* Three members, two examples, two targets. */
static const float mean_a[] = {0.5f, -1, 10, 0}, var_a[] = {1, 0.25f, 0.01f, 4};
static const float mean_b[] = {1.5f, 1, -10, 0}, var_b[] = {4, 0.5f, 0.01f, 4};
static const float mean_c[] = {-0.25f, 0, 0, 0}, var_c[] = {0.25f, 2, 25, 4};
static const float *const means[] = {mean_a, mean_b, mean_c};
static const float *const vars[] = {var_a, var_b, var_c};
static const float widths[] = {0.4f, 2.5f};
static const struct sb_mixture base = {means, vars, 3, 2, 2, NULL};
static const struct sb_mixture wide = {means, vars, 3, 2, 2, widths};

static double centre(size_t i, size_t t)
{
    return sb_mixture_moments(&base, i, t).mean;
}

/* y, undone. */
static double before(size_t i, size_t t, double y)
{
    return centre(i, t) + (y - centre(i, t)) / (double)widths[t];
}

static void a_width_draws_the_mixture_apart(void **state)
{
    const double y[] = {-3, 0.3, 2}, p[] = {0.01, 0.5, 0.95};
    (void)state;
    for (size_t at = 0; at < 4; at++)
        for (size_t k = 0; k < 3; k++) {
            size_t i = at / 2, t = at % 2;
            double s = (double)widths[t], x = before(i, t, y[k]);
            struct sb_moments a = sb_mixture_moments(&base, i, t);
            struct sb_moments b = sb_mixture_moments(&wide, i, t);
            assert_true(b.mean == a.mean);
            assert_near(b.aleatoric, s * s * a.aleatoric, 1e-14 * b.aleatoric);
            assert_near(b.epistemic, s * s * a.epistemic, 1e-14 * b.epistemic);
            assert_near(sb_mixture_log_density_of(&wide, i, t, y[k]),
                        sb_mixture_log_density_of(&base, i, t, x) - log(s), 1e-11);
            assert_near(sb_mixture_cdf(&wide, i, t, y[k]), sb_mixture_cdf(&base, i, t, x),
                        1e-13);
            assert_near(sb_mixture_crps(&wide, i, t, y[k]),
                        s * sb_mixture_crps(&base, i, t, x), 1e-12);
            assert_near(before(i, t, sb_mixture_quantile(&wide, i, t, p[k])),
                        sb_mixture_quantile(&base, i, t, p[k]), 1e-11);
        }
}

static void the_joint_density_has_a_width_a_target(void **state)
{
    const float y[] = {0.25f, 0.5f};
    const float x[] = {(float)before(0, 0, 0.25), (float)before(0, 1, 0.5)};
    (void)state;
    assert_near(sb_mixture_log_density(&wide, 0, y),
                sb_mixture_log_density(&base, 0, x) - log(0.4) - log(2.5), 1e-6);
}

/* The integral of the density, and of y and y^2 times it, by the trapezoid rule. */
static void densities_are_densities(void **state)
{
    enum { STEPS = 200000 };
    const double low = -60, dx = 120.0 / STEPS;
    struct sb_moments m = sb_mixture_moments(&wide, 0, 1);
    double one = 0, first = 0, second = 0;
    (void)state;
    for (int k = 0; k <= STEPS; k++) {
        double y = low + dx * k, p = exp(sb_mixture_log_density_of(&wide, 0, 1, y));
        one += p * dx;
        first += y * p * dx;
        second += (y - m.mean) * (y - m.mean) * p * dx;
    }
    assert_near(one, 1, 1e-9);
    assert_near(first, m.mean, 1e-9);
    assert_near(second, m.aleatoric + m.epistemic, 1e-8);
}

static void a_width_of_1_changes_nothing_else(void **state)
{
    static const float ones[] = {1, 1};
    const struct sb_mixture same = {means, vars, 3, 2, 2, ones};
    (void)state;
    for (size_t at = 0; at < 4; at++) {
        size_t i = at / 2, t = at % 2;
        assert_near(sb_mixture_quantile(&same, i, t, 0.9),
                    sb_mixture_quantile(&base, i, t, 0.9), 1e-13);
        assert_near(sb_mixture_crps(&same, i, t, 0.7), sb_mixture_crps(&base, i, t, 0.7),
                    1e-13);
    }
}

static void bad_widths_are_refused(void **state)
{
    static const float zero[] = {1, 0}, infinite[] = {INFINITY, 1};
    const struct sb_mixture a = {means, vars, 3, 2, 2, zero};
    const struct sb_mixture b = {means, vars, 3, 2, 2, infinite};
    (void)state;
    refused(sb_mixture_check(&a), SB_ENUMERIC, "mixture: target 1 has the width 0");
    refused(sb_mixture_check(&b), SB_ENUMERIC, "mixture: target 0 has the width inf");
}

/* ---- fitting ---- */

enum { N = 4000, MEMBERS = 2 };

struct sample {
    float mean[MEMBERS][N], var[MEMBERS][N], y[N];
    const float *means[MEMBERS], *vars[MEMBERS];
    struct sb_mixture m;
};

/* Outcomes of the mixture drawn apart by `width`; every third example has members that are
 * far apart. */
static void draw(struct sample *s, size_t n, double width)
{
    struct sb_stream stream = sb_rng_stream(5, SB_RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n; i++) {
        float z[4];
        sb_rng_normal4(&stream, i, z);
        double apart = i % 3 == 0 ? 2 : 0.3, at = 3 * (double)z[0];
        size_t k = (double)z[2] > 0;
        for (int m = 0; m < MEMBERS; m++) {
            s->mean[m][i] = (float)(at + (m == 0 ? apart : -apart));
            s->var[m][i] = m == 0 ? 0.25f : 1.0f;
        }
        double from = (double)s->mean[k][i] + sqrt((double)s->var[k][i]) * (double)z[1];
        double c = ((double)s->mean[0][i] + (double)s->mean[1][i]) / 2;
        s->y[i] = (float)(c + width * (from - c));
    }
    for (int m = 0; m < MEMBERS; m++) {
        s->means[m] = s->mean[m];
        s->vars[m] = s->var[m];
    }
    s->m = (struct sb_mixture){s->means, s->vars, MEMBERS, n, 1, NULL};
}

static double fitted(const struct sample *s)
{
    double out;
    assert_int_equal(sb_width_fit(&s->m, s->y, 0, &out), SB_OK);
    return out;
}

/* What is minimised, by the functions of mixture.h. */
static double objective(const struct sample *s, double width)
{
    const float w[] = {(float)width};
    struct sb_mixture m = s->m;
    double nll;
    m.width = w;
    assert_int_equal(sb_regression_nll(&m, s->y, &nll), SB_OK);
    width = (double)w[0];
    return nll * (double)m.n + 2 * (log(width) + 1 / (2 * width * width));
}

static void a_known_width_is_found(void **state)
{
    static struct sample s;
    const double width[] = {0.3, 0.6, 1, 1.5, 4};
    (void)state;
    for (size_t k = 0; k < sizeof width / sizeof *width; k++) {
        draw(&s, N, width[k]);
        double have = fitted(&s);
        assert_near(have / width[k], 1, 0.05);
        assert_true(objective(&s, have) <= objective(&s, have * 1.001));
        assert_true(objective(&s, have) <= objective(&s, have / 1.001));
    }
}

/* Of one Gaussian it is the root of (squares + 2) / (examples + 2). */
static void few_examples_leave_it_near_1(void **state)
{
    static const float mean[] = {0, 1, 2}, var[] = {1, 4, 0.25f}, y[] = {3, 5, 2};
    const float *const m[] = {mean}, *const v[] = {var};
    const struct sb_mixture one = {m, v, 1, 3, 1, NULL}, first = {m, v, 1, 1, 1, NULL};
    double width;
    (void)state;
    assert_int_equal(sb_width_fit(&one, y, 0, &width), SB_OK);
    assert_near(width, sqrt((9 + 4 + 0 + 2) / 5.0), 1e-9);
    assert_int_equal(sb_width_fit(&first, y, 0, &width), SB_OK);
    assert_near(width, sqrt((9 + 2) / 3.0), 1e-9);
    /* the width that it has does not count */
    const float has[] = {3};
    struct sb_mixture again = one;
    again.width = has;
    double other;
    assert_int_equal(sb_width_fit(&one, y, 0, &width), SB_OK);
    assert_int_equal(sb_width_fit(&again, y, 0, &other), SB_OK);
    assert_true(width == other);
}

static void extremes_end_at_the_bounds(void **state)
{
    static struct sample s;
    static float mean[N], var[N], y[N];
    const float *const m[] = {mean}, *const v[] = {var};
    const struct sb_mixture one = {m, v, 1, N, 1, NULL};
    double width;
    (void)state;
    draw(&s, N, 100);
    assert_near(fitted(&s), SB_WIDTH_MOST, 1e-6);
    draw(&s, N, 1e-5);
    assert_near(fitted(&s), SB_WIDTH_LEAST, 1e-6);
    for (size_t i = 0; i < N; i++) {
        mean[i] = i % 2 ? 1e30f : -1e30f;
        var[i] = i % 2 ? 1e-38f : 1e38f;
        y[i] = i % 3 ? 3e38f : -3e38f;
    }
    assert_int_equal(sb_width_fit(&one, y, 0, &width), SB_OK);
    assert_near(width, SB_WIDTH_MOST, 1e-6);
}

static void members_of_fewer_rows_only_narrow(void **state)
{
    (void)state;
    assert_true(sb_width_of_fewer(0.5) == 0.5 && sb_width_of_fewer(1) == 1);
    assert_near(sb_width_of_fewer(1.44), 1.2, 1e-15);
}

static void what_cannot_be_fitted_is_refused(void **state)
{
    static const float y[] = {1, NAN, 0, 0};
    const struct sb_mixture none = {means, vars, 3, 0, 2, NULL};
    double width;
    (void)state;
    refused(sb_width_fit(&base, y, 2, &width), SB_EARG, "width: target 2 of 2");
    refused(sb_width_fit(&base, y, 1, &width), SB_ENUMERIC,
            "width: example 0, target 1 is nan");
    refused(sb_width_fit(&none, y, 0, &width), SB_EARG,
            "mixture: 3 members, 0 examples and 2 targets: none may be 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_width_draws_the_mixture_apart),
        cmocka_unit_test(the_joint_density_has_a_width_a_target),
        cmocka_unit_test(densities_are_densities),
        cmocka_unit_test(a_width_of_1_changes_nothing_else),
        cmocka_unit_test(bad_widths_are_refused),
        cmocka_unit_test(a_known_width_is_found),
        cmocka_unit_test(few_examples_leave_it_near_1),
        cmocka_unit_test(extremes_end_at_the_bounds),
        cmocka_unit_test(members_of_fewer_rows_only_narrow),
        cmocka_unit_test(what_cannot_be_fitted_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
