/* base/fmath: worst errors against libm in double. */
#include "base/fmath.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const double PI = 3.14159265358979323846;

static double worse(double worst, double error)
{
    return error > worst || isnan(error) ? error : worst;
}

static void log_is_within_2e_7(void **state)
{
    (void)state;
    double worst = 0.0;
    for (uint32_t u = 0x00800000u; u < 0x7f800000u;
         u += 4099) { /* all positive normals */
        double x = (double)sb_bits_float(u), want = log(x);
        double scale = fabs(want) > 1.0 ? fabs(want) : 1.0;
        worst = worse(worst, fabs((double)sb_log((float)x) - want) / scale);
    }
    for (uint32_t u = 0x3f000000u; u <= 0x40000000u; u += 67) { /* around 1 */
        double x = (double)sb_bits_float(u);
        worst = worse(worst, fabs((double)sb_log((float)x) - log(x)));
    }
    assert_true(worst < 2e-7);
    assert_true(sb_log(1.0f) == 0.0f);
}

static void exp_is_within_2e_7(void **state)
{
    (void)state;
    double worst = 0.0;
    for (int i = -870000; i <= 880000; i += 3) {
        float x = (float)i * 1e-4f;
        double want = exp((double)x);
        worst = worse(worst, fabs((double)sb_exp(x) - want) / want);
    }
    assert_true(worst < 2e-7);
    assert_true(sb_exp(0.0f) == 1.0f);
    assert_true(sb_exp(-1e30f) == sb_exp(-87.0f));
    assert_true(sb_exp(1e30f) == sb_exp(88.0f) && isfinite(sb_exp(1e30f)));
}

static void softplus_is_within_4e_7(void **state)
{
    (void)state;
    double worst = 0.0;
    for (int i = -870000; i <= 1000000; i += 7) {
        float x = (float)i * 1e-4f;
        double want = (double)x > 40.0 ? (double)x : log1p(exp((double)x));
        worst = worse(worst, fabs((double)sb_softplus(x) - want) / want);
    }
    assert_true(worst < 4e-7);
}

static void sincos_is_within_3e_7(void **state)
{
    (void)state;
    double worst = 0.0;
    for (uint64_t turn = 0; turn < 1ull << 32; turn += 9973) {
        double angle = (double)turn * 2.0 * PI / 4294967296.0;
        float s, c;
        sb_sincos_turn((uint32_t)turn, &s, &c);
        worst = worse(worst, fabs((double)s - sin(angle)));
        worst = worse(worst, fabs((double)c - cos(angle)));
    }
    assert_true(worst < 3e-7);
}

static void sincos_is_exact_at_quarter_turns(void **state)
{
    (void)state;
    const float sines[] = {0, 1, 0, -1}, cosines[] = {1, 0, -1, 0};
    for (uint32_t q = 0; q < 4; q++) {
        float s, c;
        sb_sincos_turn(q << 30, &s, &c);
        assert_true(s == sines[q] && c == cosines[q]);
    }
}

static void box_muller_is_close_and_finite(void **state)
{
    (void)state;
    const uint32_t words[] = {0u,          1u,          255u,        256u,
                              0x12345678u, 0x7fffffffu, 0x80000000u, 0xdeadbeefu,
                              0xffffff00u, 0xffffffffu};
    enum { N = sizeof words / sizeof *words };
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            float z0, z1;
            sb_box_muller(words[i], words[j], &z0, &z1);
            double u = ((double)(words[i] >> 8) + 0.5) / 16777216.0;
            u = (double)(float)u; /* rounded as in the float version */
            double r = sqrt(-2.0 * log(u)), angle = (double)words[j] * PI / 2147483648.0;
            assert_true(fabs((double)z0 - r * cos(angle)) < 3e-6);
            assert_true(fabs((double)z1 - r * sin(angle)) < 3e-6);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_is_within_2e_7),
        cmocka_unit_test(exp_is_within_2e_7),
        cmocka_unit_test(softplus_is_within_4e_7),
        cmocka_unit_test(sincos_is_within_3e_7),
        cmocka_unit_test(sincos_is_exact_at_quarter_turns),
        cmocka_unit_test(box_muller_is_close_and_finite),
    };
    return cmocka_run_group_tests_name("base/fmath", tests, NULL, NULL);
}
