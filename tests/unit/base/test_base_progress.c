/* base/progress: what is reported, how often, and cancelling; on a clock of the test. */
#include "base/progress.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

struct listener {
    double time;
    int looks;     /* at the clock */
    int reports;   /* so far */
    int cancel_at; /* the report that says stop; 0: none */
    struct sb_progress_report last;
};

static double read_clock(void *context)
{
    struct listener *l = context;
    l->looks++;
    return l->time;
}

static bool listen(void *context, const struct sb_progress_report *report)
{
    struct listener *l = context;
    l->last = *report;
    return ++l->reports != l->cancel_at;
}

static struct sb_progress progress_for(struct listener *l, double interval)
{
    return (struct sb_progress){
        .report = listen, .context = l, .interval = interval, .clock = read_clock};
}

static void report_has_rate_and_time_left(void **state)
{
    (void)state;
    struct listener l = {.time = 100.0};
    struct sb_progress p = progress_for(&l, 1.0);
    sb_progress_begin(&p, "explore", 0, 1000);
    sb_progress_place(&p, 1, 3, 7, 20);
    sb_progress_measure(&p, 0.5, 0.875);
    assert_int_equal(l.reports, 0);
    l.time = 104.0;
    assert_int_equal(sb_progress_update(&p, 200), SB_OK);
    assert_int_equal(l.reports, 1);
    assert_string_equal(l.last.phase, "explore");
    assert_int_equal(l.last.done, 200);
    assert_int_equal(l.last.total, 1000);
    assert_int_equal(l.last.member, 1);
    assert_int_equal(l.last.members, 3);
    assert_int_equal(l.last.epoch, 7);
    assert_int_equal(l.last.epochs, 20);
    assert_true(l.last.seconds == 4.0);
    assert_true(l.last.rate == 50.0);
    assert_true(l.last.seconds_left == 16.0);
    assert_true(l.last.loss == 0.5 && l.last.accuracy == 0.875);
    assert_false(l.last.ended);
}

static void reports_keep_the_interval(void **state)
{
    (void)state;
    struct listener l = {0};
    struct sb_progress p = progress_for(&l, 1.0);
    sb_progress_begin(&p, "explore", 0, 1000);
    int looks = l.looks;
    size_t allocations = sb_mem_count();
    for (uint64_t i = 1; i <= 1000; i++) { /* eight a second */
        l.time = (double)i / 8.0;
        assert_int_equal(sb_progress_update(&p, i), SB_OK);
    }
    assert_int_equal(l.reports, 1 + 999 / 8);
    assert_int_equal(l.looks - looks, 1000);
    assert_int_equal(sb_mem_count(), allocations);
    assert_int_equal(sb_progress_end(&p), SB_OK); /* not due, and reported all the same */
    assert_int_equal(l.reports, 2 + 999 / 8);
    assert_true(l.last.ended);
    assert_int_equal(l.last.done, 1000);
    assert_true(l.last.seconds_left == 0.0);
}

static void resumed_phase_counts_only_its_own_work(void **state)
{
    (void)state;
    struct listener l = {.time = 10.0};
    struct sb_progress p = progress_for(&l, 0.0);
    sb_progress_begin(&p, "exploit", 600, 1000);
    assert_int_equal(sb_progress_update(&p, 600), SB_OK);
    assert_true(l.last.rate == 0.0 && l.last.seconds_left < 0.0);
    l.time = 12.0;
    assert_int_equal(sb_progress_update(&p, 800), SB_OK);
    assert_true(l.last.rate == 100.0 && l.last.seconds_left == 2.0);
    assert_int_equal(sb_progress_update(&p, 500), SB_OK); /* going back is no progress */
    assert_true(l.last.rate == 0.0 && l.last.seconds_left < 0.0);
}

static void unknowns_are_said(void **state)
{
    (void)state;
    struct listener l = {0};
    struct sb_progress p = progress_for(&l, 0.0);
    sb_progress_measure(&p, 1.0, 1.0);
    sb_progress_place(&p, 1, 2, 3, 4);
    sb_progress_begin(&p, "fetch", 0, 0);
    l.time = 1.0;
    assert_int_equal(sb_progress_update(&p, 10), SB_OK);
    assert_true(l.last.rate == 10.0);
    assert_true(l.last.seconds_left < 0.0);
    assert_true(isnan(l.last.loss) && isnan(l.last.accuracy));
    assert_int_equal(l.last.members, 0);
    assert_int_equal(l.last.epochs, 0);
}

static void callback_cancels(void **state)
{
    (void)state;
    struct listener l = {.cancel_at = 2};
    struct sb_progress p = progress_for(&l, 0.0);
    sb_progress_begin(&p, "explore", 0, 10);
    assert_int_equal(sb_progress_update(&p, 1), SB_OK);
    assert_int_equal(sb_progress_update(&p, 2), SB_ECANCELED);
    assert_string_equal(sb_message(), "explore: canceled on request");
    l.cancel_at = 3;
    assert_int_equal(sb_progress_end(&p), SB_ECANCELED);
}

static void nobody_listens(void **state)
{
    (void)state;
    struct sb_progress none = {0}, *p[] = {NULL, &none};
    for (int i = 0; i < 2; i++) {
        sb_progress_begin(p[i], "explore", 0, 10);
        sb_progress_place(p[i], 0, 1, 0, 1);
        sb_progress_measure(p[i], 0.0, 0.0);
        assert_int_equal(sb_progress_update(p[i], 5), SB_OK);
        assert_int_equal(sb_progress_end(p[i]), SB_OK);
    }
}

static void system_clock_runs(void **state)
{
    (void)state;
    struct listener l = {0};
    struct sb_progress p = {.report = listen, .context = &l, .interval = 1e9};
    sb_progress_begin(&p, "explore", 0, 10);
    for (uint64_t i = 1; i <= 10; i++)
        assert_int_equal(sb_progress_update(&p, i), SB_OK);
    assert_int_equal(l.reports, 1);
    assert_int_equal(sb_progress_end(&p), SB_OK);
    assert_int_equal(l.reports, 2);
    assert_true(l.last.seconds >= 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_has_rate_and_time_left),
        cmocka_unit_test(reports_keep_the_interval),
        cmocka_unit_test(resumed_phase_counts_only_its_own_work),
        cmocka_unit_test(unknowns_are_said),
        cmocka_unit_test(callback_cancels),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(system_clock_runs),
    };
    return cmocka_run_group_tests_name("base/progress", tests, NULL, NULL);
}
