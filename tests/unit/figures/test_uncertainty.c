/* eval/uncertainty: entropies and votes against figures worked out by hand. */
#include "figures/uncertainty.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "refused.h"

enum { N = 4, CLASSES = 2 };
#define LOG2 0.69314718055994530942

/* agree and sure; agree and unsure; sure and disagree; one of each */
static const float a[N * CLASSES] = {1, 0, 0.5f, 0.5f, 1, 0, 1, 0};
static const float b[N * CLASSES] = {1, 0, 0.5f, 0.5f, 0, 1, 0.5f, 0.5f};
static const float *const members[] = {a, b};
static const struct sb_probs probs = {members, 2, N, CLASSES};

static void entropies_are_those_of_the_book(void **state)
{
    (void)state;
    float mean[(N + 1) * CLASSES] = {-1}, total[N + 1] = {-1}, aleatoric[N + 1] = {-1},
                         epistemic[N + 1] = {-1};
    uint32_t votes[(N + 1) * CLASSES] = {9};
    struct sb_uncertainty out = {mean, total, aleatoric, epistemic, votes};
    assert_int_equal(sb_uncertainty_of(&probs, 1, &out), SB_OK);
    double h = -0.75 * log(0.75) - 0.25 * log(0.25);
    const double want_total[N] = {0, LOG2, LOG2, h},
                 want_within[N] = {0, LOG2, 0, LOG2 / 2};
    const uint32_t want_votes[N * CLASSES] = {2, 0, 2, 0,
                                              1, 1, 2, 0};         /* first of equals */
    assert_true(mean[0] == -1 && total[0] == -1 && votes[0] == 9); /* not its examples */
    for (int i = 0; i < N; i++) {
        assert_true(fabs((double)total[i + 1] - want_total[i]) < 1e-7);
        assert_true(fabs((double)aleatoric[i + 1] - want_within[i]) < 1e-7);
        assert_true(fabs((double)epistemic[i + 1] - (want_total[i] - want_within[i])) <
                    1e-7);
        for (int c = 0; c < CLASSES; c++) {
            int k = i * CLASSES + c;
            assert_true(mean[CLASSES + k] == (a[k] + b[k]) / 2);
            assert_int_equal(votes[CLASSES + k], want_votes[k]);
        }
    }
}

static void what_is_not_wanted_is_left_out(void **state)
{
    (void)state;
    float epistemic[N];
    struct sb_uncertainty none = {0}, one = {.epistemic = epistemic};
    assert_int_equal(sb_uncertainty_of(&probs, 0, &none), SB_OK);
    assert_int_equal(sb_uncertainty_of(&probs, 0, &one), SB_OK);
    assert_true(fabs((double)epistemic[2] - LOG2) < 1e-7);
}

/* A mean of equal members may round to an entropy below theirs. */
static void disagreement_is_never_negative(void **state)
{
    (void)state;
    float p[3] = {0.1f, 0.2f, 0.7f}, epistemic;
    const float *same[] = {p, p, p};
    struct sb_probs three = {same, 3, 1, 3};
    struct sb_uncertainty out = {.epistemic = &epistemic};
    for (int i = 1; i < 300; i++) {
        p[0] = (float)i * 1e-3f;
        p[1] = 0.3f - p[0];
        assert_int_equal(sb_uncertainty_of(&three, 0, &out), SB_OK);
        assert_true(epistemic >= 0 && epistemic < 1e-6f);
    }
}

static void what_is_no_probability_is_refused(void **state)
{
    (void)state;
    const float bad[2] = {NAN, 1};
    const float *one[] = {bad};
    struct sb_probs p = {one, 1, 1, 2};
    struct sb_uncertainty out = {0};
    assert_int_equal(sb_uncertainty_of(&p, 0, &out), SB_ENUMERIC);
    p.n = 0;
    assert_int_equal(sb_uncertainty_of(&p, 0, &out), SB_EARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entropies_are_those_of_the_book),
        cmocka_unit_test(what_is_not_wanted_is_left_out),
        cmocka_unit_test(disagreement_is_never_negative),
        cmocka_unit_test(what_is_no_probability_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
