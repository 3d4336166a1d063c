/* figures/classes, adaptive calibration and temperature: known cases, properties, refusals. */
#include "figures/classes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "figures/calibration.h"
#include "figures/temperature.h"

static void assert_near(double have, double want, double tolerance)
{
    if (!(fabs(have - want) <= tolerance))
        fail_msg("have %.17g, want %.17g", have, want);
}

/* Six examples of classes 0 0 0 0 1 1 of four: called 0 0 0 1 1 2; class 3 has none. */
static const float six[] = {0.7f, 0.1f, 0.1f, 0.1f, 0.6f, 0.2f, 0.1f, 0.1f,
                            0.5f, 0.2f, 0.2f, 0.1f, 0.3f, 0.4f, 0.2f, 0.1f,
                            0.1f, 0.8f, 0.1f, 0.0f, 0.2f, 0.2f, 0.5f, 0.1f};
static const float *const member[] = {six};
static const struct sb_probs probs = {member, 1, 6, 4};
static const int32_t label[] = {0, 0, 0, 0, 1, 1};

static void confusion_counts(void **state)
{
    (void)state;
    const size_t want[] = {3, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    size_t have[16];
    assert_int_equal(sb_classes_confusion(&probs, label, have), SB_OK);
    assert_memory_equal(have, want, sizeof want);
}

static void figures_of_classes(void **state)
{
    (void)state;
    struct sb_class_figures row[4];
    struct sb_class_means m;
    assert_int_equal(sb_classes_of(&probs, label, row, &m), SB_OK);
    assert_int_equal(row[0].n, 4);
    assert_near(row[0].recall, 0.75, 0);
    assert_near(row[0].precision, 1, 0);
    assert_near(row[0].f1, 6.0 / 7, 1e-15);
    assert_near(row[1].recall, 0.5, 0);
    assert_near(row[1].precision, 0.5, 0);
    assert_near(row[1].f1, 0.5, 0);
    /* class 0: .7 .6 .5 .3 against .1 .2; class 1: .8 .2 against .1 .2 .2 .4 */
    assert_near(row[0].auc, 1, 0);
    assert_near(row[1].auc, (4 + 1 + 2 * 0.5) / 8, 1e-15);
    assert_near(row[1].nll, -(log(0.8f) + log(0.2f)) / 2, 1e-7);
    assert_near(row[2].f1, 0, 0); /* called, never so */
    assert_true(isnan(row[2].recall) && isnan(row[2].auc) && isnan(row[2].nll));
    assert_true(isnan(row[3].f1) && isnan(row[3].precision));
    assert_near(m.balanced_accuracy, 0.625, 0);
    assert_near(m.f1, (6.0 / 7 + 0.5 + 0) / 3, 1e-15);
    assert_near(m.auc, (1 + 0.75) / 2, 1e-15);
    assert_int_equal(m.most_frequent, 0);
    assert_near(m.most_frequent_of, 4.0 / 6, 1e-15);
}

static void wrong_labels_are_refused(void **state)
{
    (void)state;
    const int32_t wrong[] = {0, 0, 0, 0, 1, 4};
    struct sb_class_figures row[4];
    struct sb_class_means m;
    assert_int_equal(sb_classes_of(&probs, wrong, row, &m), SB_EARG);
    assert_string_equal(sb_message(), "metrics: example 5 has label 4 of 4 classes");
}

static void memory_may_fail(void **state)
{
    (void)state;
    struct sb_class_figures row[4];
    struct sb_class_means m;
    sb_status st = SB_ENOMEM;
    int n = 0;
    for (; st != SB_OK && n < 100; n++) {
        sb_mem_fail_after(n);
        st = sb_classes_of(&probs, label, row, &m);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
    }
    assert_in_range(n, 3, 99);
}

/* ---- adaptive ece ---- */

static void bins_of_as_many_examples(void **state)
{
    (void)state;
    /* tops .7 .6 .5 .4 .8 .5, right: 1 1 1 0 1 0; sorted .4 .5 .5 .6 .7 .8: 0 1 0 1 1 1 */
    double ece;
    assert_int_equal(sb_calibration_adaptive(&probs, label, 3, &ece), SB_OK);
    assert_near(ece, (fabs(1 - 0.9) + fabs(1 - 1.1) + fabs(2 - 1.5)) / 6, 1e-7);
    assert_int_equal(sb_calibration_adaptive(&probs, label, 1, &ece), SB_OK);
    assert_near(ece, fabs(4 - 3.5) / 6, 1e-7);
    assert_int_equal(sb_calibration_adaptive(&probs, label, 100, &ece), SB_OK);
    assert_near(ece, (0.4 + 0.5 + 0.5 + 0.4 + 0.3 + 0.2) / 6, 1e-7);
    assert_int_equal(sb_calibration_adaptive(&probs, label, 0, &ece), SB_EARG);
}

/* ---- temperature ---- */

enum { N = 3000, CLASSES = 3 };

static float normal(const struct sb_stream *s, uint64_t element)
{
    float out[4];
    sb_rng_normal4(s, element, out);
    return out[0];
}

/* Labels drawn by softmax(z), probabilities softmax(z / by): T should be 1 / by. */
static void draw_set(double by, float *p, int32_t *labels)
{
    struct sb_stream s = sb_rng_stream(3, SB_RNG_TEST, 0, 0, 0);
    for (uint32_t i = 0; i < N; i++) {
        double z[CLASSES], all = 0, soft = 0, u = 0;
        for (uint32_t c = 0; c < CLASSES; c++) {
            z[c] = 2 * (double)normal(&s, i * 8 + c);
            all += exp(z[c]);
            soft += exp(z[c] / by);
        }
        u = 0.5 * erfc(-(double)normal(&s, i * 8 + 5) / sqrt(2)) * all;
        labels[i] = u < exp(z[0]) ? 0 : u < exp(z[0]) + exp(z[1]) ? 1 : 2;
        for (uint32_t c = 0; c < CLASSES; c++)
            p[i * CLASSES + c] = (float)(exp(z[c] / by) / soft);
    }
}

static void temperature_is_found(void **state)
{
    (void)state;
    static float p[N * CLASSES], scaled[N * CLASSES];
    static int32_t labels[N];
    const float *const one[] = {p}, *const two[] = {scaled};
    const struct sb_probs raw = {one, 1, N, CLASSES}, cool = {two, 1, N, CLASSES};
    const double by[] = {0.5, 1, 3};
    for (int k = 0; k < 3; k++) {
        struct sb_temperature t;
        struct sb_scores before, after;
        draw_set(by[k], p, labels);
        assert_int_equal(sb_temperature_fit(&raw, labels, &t), SB_OK);
        assert_near(t.t * by[k], 1, 0.08);
        sb_temperature_apply(p, N, CLASSES, t.t, scaled);
        assert_int_equal(sb_metrics_of(&raw, labels, 15, &before), SB_OK);
        assert_int_equal(sb_metrics_of(&cool, labels, 15, &after), SB_OK);
        assert_near(before.nll, t.before, 1e-6);
        assert_near(after.nll, t.after, 1e-6);
        assert_true(t.after <= t.before);
        assert_near(after.accuracy, before.accuracy, 0);
        if (k != 1)
            assert_true(after.ece < before.ece / 2);
    }
}

static void temperature_has_ends(void **state)
{
    (void)state;
    const float p[] = {0.6f, 0.4f, 0.0f, 1.0f};
    const float *const one[] = {p};
    const struct sb_probs two = {one, 1, 2, 2};
    const int32_t right[] = {0, 1}, wrong[] = {1, 0};
    struct sb_temperature t;
    assert_int_equal(sb_temperature_fit(&two, right, &t), SB_OK);
    assert_near(t.t, SB_TEMPERATURE_LEAST, 1e-9);
    assert_int_equal(sb_temperature_fit(&two, wrong, &t), SB_OK);
    assert_near(t.t, SB_TEMPERATURE_MOST, 1e-9);
    assert_true(isfinite(t.before) && isfinite(t.after));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(confusion_counts),
        cmocka_unit_test(figures_of_classes),
        cmocka_unit_test(wrong_labels_are_refused),
        cmocka_unit_test(memory_may_fail),
        cmocka_unit_test(bins_of_as_many_examples),
        cmocka_unit_test(temperature_is_found),
        cmocka_unit_test(temperature_has_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
