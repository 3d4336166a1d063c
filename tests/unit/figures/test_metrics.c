/* eval/metrics: hand-made cases with known answers, brute force on random ones, refusals. */
#include "figures/metrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* In double; cmocka's own compares floats. */
static void assert_near(double have, double want, double tolerance)
{
    if (!(fabs(have - want) <= tolerance))
        fail_msg("have %.17g, want %.17g", have, want);
}

/* Two members, three examples, two classes; the mean is .75 .25 | .5 .5 | .375 .625. */
static const float first[] = {0.75f, 0.25f, 0.25f, 0.75f, 0.5f, 0.5f};
static const float second[] = {0.75f, 0.25f, 0.75f, 0.25f, 0.25f, 0.75f};
static const float *const both[] = {first, second};
static const struct sb_probs three = {both, 2, 3, 2};

static void scores_of_a_small_set(void **state)
{
    (void)state;
    const int32_t label[] = {0, 1, 1};
    struct sb_scores s;
    assert_int_equal(sb_metrics_of(&three, label, 10, &s), SB_OK);
    assert_near(s.accuracy, 2.0 / 3, 1e-15); /* equal halves mean class 0 */
    assert_near(s.nll, -(log(0.75) + log(0.5) + log(0.625)) / 3, 1e-15);
    assert_near(s.brier, (2 * 0.0625 + 2 * 0.25 + 2 * 0.140625) / 3, 1e-15);
    assert_near(s.ece, (0.25 + 0.5 + 0.375) / 3, 1e-15); /* three bins of their own */
    assert_int_equal(sb_metrics_of(&three, label, 1, &s), SB_OK);
    assert_near(s.ece, (0.25 - 0.5 + 0.375) / 3, 1e-15); /* one bin: gaps cancel */
}

static void bins_are_closed_on_the_right(void **state)
{
    (void)state;
    /* confidences .5 and .75: with 2 bins (0, .5] and (.5, 1], with 4 neighbours too */
    const float p[] = {0.5f, 0.5f, 0.75f, 0.25f};
    const float *const member[] = {p};
    const struct sb_probs probs = {member, 1, 2, 2};
    const int32_t label[] = {0, 1};
    struct sb_scores s;
    assert_int_equal(sb_metrics_of(&probs, label, 2, &s), SB_OK);
    assert_near(s.ece, (0.5 + 0.75) / 2, 1e-15);
    assert_int_equal(sb_metrics_of(&probs, label, 4, &s), SB_OK);
    assert_near(s.ece, (0.5 + 0.75) / 2, 1e-15);
    assert_int_equal(sb_metrics_of(&probs, label, 1, &s), SB_OK);
    assert_near(s.ece, (0.75 - 0.5) / 2, 1e-15);
}

static void certainty_is_the_last_bin(void **state)
{
    (void)state;
    const float p[] = {1, 0, 0, 1};
    const float *const member[] = {p};
    const struct sb_probs probs = {member, 1, 2, 2};
    const int32_t label[] = {0, 0};
    struct sb_scores s;
    assert_int_equal(sb_metrics_of(&probs, label, SB_METRICS_BINS, &s), SB_OK);
    assert_near(s.ece, 0.5, 1e-15);
    assert_near(s.brier, 1, 1e-15);
    assert_true(isinf(s.nll));
}

static void batches_add_up(void **state)
{
    (void)state;
    const int32_t label[] = {1, 0, 1};
    struct sb_metrics m;
    struct sb_scores whole, parts;
    assert_int_equal(sb_metrics_of(&three, label, 15, &whole), SB_OK);
    assert_int_equal(sb_metrics_init(&m, 15), SB_OK);
    for (size_t i = 0; i < 3; i++) {
        const float *const member[] = {first + 2 * i, second + 2 * i};
        const struct sb_probs one = {member, 2, 1, 2};
        assert_int_equal(sb_metrics_add(&m, &one, label + i), SB_OK);
    }
    assert_int_equal(sb_metrics_scores(&m, &parts), SB_OK);
    assert_memory_equal(&whole, &parts, sizeof whole);
}

static void mean_of_members(void **state)
{
    (void)state;
    float mean[6];
    const float want[] = {0.75f, 0.25f, 0.5f, 0.5f, 0.375f, 0.625f};
    assert_int_equal(sb_metrics_mean(&three, mean), SB_OK);
    assert_memory_equal(mean, want, sizeof want);
}

/* ---- between members ---- */

static void pairs_of_members(void **state)
{
    (void)state;
    const float p[] = {0.5f, 0.5f, 1, 0}, q[] = {0.25f, 0.75f, 0.5f, 0.5f};
    const float *const member[] = {p, q, p};
    const struct sb_probs probs = {member, 3, 2, 2};
    double pq = (0.5 * log(2) + 0.5 * log(0.5 / 0.75) + log(2)) / 2, kl, disagreement;
    assert_int_equal(sb_metrics_kl(&probs, 0, 1, &kl), SB_OK);
    assert_near(kl, pq, 1e-15); /* 0 log 0 counts as 0 */
    assert_int_equal(sb_metrics_kl(&probs, 1, 0, &kl), SB_OK);
    assert_true(isinf(kl)); /* p excludes what q allows */
    assert_int_equal(sb_metrics_kl(&probs, 0, 2, &kl), SB_OK);
    assert_true(kl == 0);
    assert_int_equal(sb_metrics_disagreement(&probs, 0, 1, &disagreement), SB_OK);
    assert_near(disagreement, 0.5, 0);
    struct sb_diversity d;
    assert_int_equal(sb_metrics_diversity(&three, &d), SB_OK);
    double forward, backward;
    assert_int_equal(sb_metrics_kl(&three, 0, 1, &forward), SB_OK);
    assert_int_equal(sb_metrics_kl(&three, 1, 0, &backward), SB_OK);
    assert_near(d.kl, (forward + backward) / 2, 1e-15);
    assert_near(d.disagreement, 2.0 / 3, 1e-15);
    assert_int_equal(sb_metrics_diversity(&probs, &d), SB_OK);
    assert_near(d.disagreement, (0.5 + 0 + 0.5) / 3, 1e-15);
}

/* ---- refusals ---- */

static void assert_refused(sb_status have, sb_status want, const char *sentence)
{
    assert_int_equal(have, want);
    assert_string_equal(sb_message(), sentence);
}

static void empty_sets_are_refused(void **state)
{
    (void)state;
    const struct sb_probs none = {both, 2, 0, 2}, alone = {both, 1, 3, 2};
    const int32_t label[] = {0};
    struct sb_scores s;
    struct sb_metrics m;
    struct sb_diversity d;
    double x;
    const char *const zero =
        "metrics: 2 members, 0 examples and 2 classes: none may be 0";
    assert_refused(sb_metrics_of(&none, label, 15, &s), SB_EARG, zero);
    assert_refused(sb_metrics_kl(&none, 0, 1, &x), SB_EARG, zero);
    assert_refused(sb_metrics_mean(&none, NULL), SB_EARG, zero);
    assert_int_equal(sb_metrics_init(&m, 15), SB_OK);
    assert_refused(sb_metrics_scores(&m, &s), SB_EARG, "metrics: no examples");
    assert_refused(sb_metrics_diversity(&alone, &d), SB_EARG,
                   "metrics: diversity needs two members, there is 1");
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    const int32_t high[] = {0, 2, 0}, negative[] = {0, 1, -1};
    float p[] = {0.5f, 0.5f, 0.25f, NAN};
    const float *const member[] = {p};
    const struct sb_probs bad = {member, 1, 2, 2};
    struct sb_scores s;
    double x;
    assert_refused(sb_metrics_of(&three, high, 15, &s), SB_EARG,
                   "metrics: example 1 has label 2 of 2 classes");
    assert_refused(sb_metrics_of(&three, negative, 15, &s), SB_EARG,
                   "metrics: example 2 has label -1 of 2 classes");
    assert_refused(sb_metrics_of(&three, high, 0, &s), SB_EARG,
                   "metrics: 0 bins; 1 to 100 are possible");
    assert_refused(sb_metrics_disagreement(&three, 0, 2, &x), SB_EARG,
                   "metrics: members 0 and 2 of 2");
    assert_refused(sb_metrics_of(&bad, negative, 15, &s), SB_ENUMERIC,
                   "metrics: member 0 gives example 1, class 1 the probability nan");
    p[3] = -0.5f;
    assert_refused(sb_metrics_of(&bad, negative, 15, &s), SB_ENUMERIC,
                   "metrics: member 0 gives example 1, class 1 the probability -0.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_of_a_small_set),
        cmocka_unit_test(bins_are_closed_on_the_right),
        cmocka_unit_test(certainty_is_the_last_bin),
        cmocka_unit_test(batches_add_up),
        cmocka_unit_test(mean_of_members),
        cmocka_unit_test(pairs_of_members),
        cmocka_unit_test(empty_sets_are_refused),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
