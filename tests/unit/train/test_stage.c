/* train/stage and recipe/method: which stages each method has. */
#include "train/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "schedules.h"

/* ---- the table of methods ---- */

static void rows_are_the_papers(void **state)
{
    (void)state;
    const struct sb_method *m;
    assert_int_equal(sb_method_find("sebays", &m), SB_OK);
    assert_int_equal(m->posterior, SB_POSTERIOR_GAUSS);
    assert_int_equal(m->support, SB_SUPPORT_PRUNE_GROW);
    assert_int_equal(m->schedule, SB_SCHEDULE_SEQUENTIAL);
    assert_int_equal(m->form, SB_FORM_PLAIN);
    assert_int_equal(sb_method_find("dnn-ensemble", &m), SB_OK);
    assert_int_equal(m->posterior, SB_POSTERIOR_POINT);
    assert_int_equal(m->support, SB_SUPPORT_DENSE);
    assert_int_equal(m->schedule, SB_SCHEDULE_PARALLEL);
    assert_string_equal(m->implied[0].key, "method.members");
    assert_string_equal(m->implied[0].value, "4");
    size_t rows = 0;
    while (sb_method_at(rows))
        rows++;
    assert_int_equal(rows, 17);
}

static void an_unknown_method_names_the_nearest(void **state)
{
    (void)state;
    const struct sb_method *m;
    assert_int_equal(sb_method_find("sebay", &m), SB_EARG);
    assert_null(m);
    assert_string_equal(sb_message(),
                        "there is no method 'sebay'; the nearest is 'sebays'");
}

/* ---- lists ---- */

/* A stage without its rates. */
struct row {
    const char *name;
    uint32_t run, member, epochs, first_epoch;
    int begin, leaves, support;
    uint32_t keep_epoch, choose_from;
};

static void assert_stages(struct sb_schedule *s, const struct row *want, uint32_t n)
{
    assert_int_equal(s->stages, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct sb_stage *have = &s->stage[i];
        const struct row *w = &want[i];
        assert_string_equal(have->name, w->name);
        assert_int_equal(have->run, w->run);
        assert_int_equal(have->member, w->member);
        assert_int_equal(have->epochs, w->epochs);
        assert_int_equal(have->first_epoch, w->first_epoch);
        assert_int_equal(have->begin, w->begin);
        assert_int_equal(have->leaves, w->leaves);
        assert_int_equal(have->support, w->support);
        assert_int_equal(have->keep_epoch, w->keep_epoch);
        assert_int_equal(have->choose_from, w->choose_from);
    }
}

enum {
    FRESH = SB_STAGE_FRESH,
    GO_ON = SB_STAGE_GO_ON,
    LARGE = SB_STAGE_LARGE_UPDATE,
    PRUNE = SB_STAGE_GLOBAL_PRUNE,
    REWIND = SB_STAGE_REWIND,
    NOTHING = SB_STAGE_NOTHING,
    MEMBER = SB_STAGE_MEMBER,
    KEPT = SB_STAGE_KEPT,
    DENSE = SB_STAGE_DENSE,
    SHARED = SB_STAGE_SHARED,
    PRUNED = SB_STAGE_PRUNED
};

#define LIST(list) list, sizeof(list) / sizeof *(list)

/* clang-format off */
static void sebays_is_algorithm_1(void **state)
{
    (void)state;
    static const struct row want[] = {
        /* name, run, member, epochs, first, begin, leaves, support, keep, choose from */
        {"explore", 0, 0, 150, 0, FRESH, NOTHING, SHARED, 0, 0},
        {"exploit", 0, 0, 100, 150, GO_ON, MEMBER, SHARED, 0, 0},
        {"exploit", 0, 1, 100, 250, LARGE, MEMBER, SHARED, 0, 0},
        {"exploit", 0, 2, 100, 350, LARGE, MEMBER, SHARED, 0, 0},
    };
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays");
    assert_stages(&s, LIST(want));
    assert_int_equal(s.run_epochs, 450);
    assert_int_equal(s.total_epochs, 450);
    assert_int_equal(s.epoch_steps, 352);
    assert_int_equal(s.run_steps, 450 * 352);
    assert_int_equal(s.total_steps, 450 * 352);
    assert_int_equal(s.dense_epochs, 250);
    assert_int_equal(s.trainings, 1);
    sb_schedule_fini(&s);
}

static void bays_is_a_run_a_member(void **state)
{
    (void)state;
    static const struct row want[] = {
        {"explore", 0, 0, 125, 0, FRESH, NOTHING, SHARED, 0, 0},
        {"exploit", 0, 0, 125, 125, GO_ON, MEMBER, SHARED, 0, 0},
        {"explore", 1, 1, 125, 0, FRESH, NOTHING, SHARED, 0, 0},
        {"exploit", 1, 1, 125, 125, GO_ON, MEMBER, SHARED, 0, 0},
    };
    struct sb_config c = paper(2, 125, 125);
    struct sb_schedule s = make(&c, "bays");
    assert_stages(&s, LIST(want));
    assert_int_equal(s.run_epochs, 250);
    assert_int_equal(s.run_steps, 250 * 352);
    assert_int_equal(s.total_epochs, 500);
    assert_int_equal(s.total_steps, 500 * 352);
    assert_int_equal(s.trainings, 2);
    sb_schedule_fini(&s);
}

static void exploration_may_be_left_out(void **state)
{
    (void)state;
    static const struct row one[] = {
        {"exploit", 0, 0, 3, 0, FRESH, MEMBER, DENSE, 0, 0},
    };
    static const struct row two[] = {
        {"exploit", 0, 0, 3, 0, FRESH, MEMBER, SHARED, 0, 0},
        {"exploit", 0, 1, 3, 3, LARGE, MEMBER, SHARED, 0, 0},
    };
    struct sb_config c = paper(1, 0, 3);
    struct sb_schedule s = make(&c, "dnn");
    assert_stages(&s, LIST(one));
    sb_schedule_fini(&s);
    c = paper(2, 0, 3);
    s = make(&c, "edst");
    assert_stages(&s, LIST(two));
    sb_schedule_fini(&s);
}

static void snapshot_is_cycles_that_end_in_a_member(void **state)
{
    (void)state;
    static const struct row want[] = {
        {"cycle", 0, 0, 50, 0, FRESH, MEMBER, DENSE, 0, 49},
        {"cycle", 0, 1, 50, 50, GO_ON, MEMBER, DENSE, 0, 49},
    };
    struct sb_config c = paper(2, 0, 50);
    struct sb_schedule s = make(&c, "snapshot");
    assert_stages(&s, LIST(want));
    assert_int_equal(s.dense_epochs, 50);
    assert_int_equal(s.trainings, 1);
    sb_schedule_fini(&s);
}

static void pf_prunes_each_dense_run(void **state)
{
    (void)state;
    static const struct row want[] = {
        {"dense", 0, 0, 250, 0, FRESH, NOTHING, DENSE, 0, 125},
        {"fine-tune", 0, 0, 250, 250, PRUNE, MEMBER, PRUNED, 0, 0},
        {"dense", 1, 1, 250, 0, FRESH, NOTHING, DENSE, 0, 125},
        {"fine-tune", 1, 1, 250, 250, PRUNE, MEMBER, PRUNED, 0, 0},
    };
    struct sb_config c = paper(2, 125, 125);
    struct sb_schedule s = make(&c, "pf");
    assert_stages(&s, LIST(want));
    assert_int_equal(s.run_epochs, 500);
    assert_int_equal(s.dense_epochs, 250);
    assert_int_equal(s.trainings, 4); /* the paper's six are those of three members */
    sb_schedule_fini(&s);
}

static void ltr_rewinds_to_one_dense_run(void **state)
{
    (void)state;
    static const struct row want[] = {
        {"dense", 0, 0, 250, 0, FRESH, KEPT, DENSE, 5, 125},
        {"retrain", 1, 0, 250, 0, REWIND, MEMBER, PRUNED, 0, 125},
        {"retrain", 2, 1, 250, 0, REWIND, MEMBER, PRUNED, 0, 125},
        {"retrain", 3, 2, 250, 0, REWIND, MEMBER, PRUNED, 0, 125},
    };
    struct sb_config c = paper(3, 125, 125);
    struct sb_schedule s = make(&c, "ltr");
    assert_stages(&s, LIST(want));
    assert_int_equal(s.run_epochs, 250);
    assert_int_equal(s.total_epochs, 1000);
    assert_int_equal(s.trainings, 4); /* as in the paper */
    sb_schedule_fini(&s);
    const uint32_t want_epoch[][2] = {{0, 5}, {1, 1}, {250, 250}};
    for (size_t i = 0; i < 3; i++) {
        c.method.rewind_epoch = want_epoch[i][0];
        s = make(&c, "ltr");
        assert_int_equal(s.stage[0].keep_epoch, want_epoch[i][1]);
        sb_schedule_fini(&s);
    }
    c = paper(3, 1, 2);
    s = make(&c, "ltr");
    assert_int_equal(s.stage[0].keep_epoch, 1);
    sb_schedule_fini(&s);
}
/* clang-format on */

static void an_epoch_of_all_has_its_stage(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays");
    const uint32_t want[][3] = {{0, 0, 0},    {149, 0, 149}, {150, 1, 0},
                                {249, 1, 99}, {250, 2, 0},   {449, 3, 99}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        uint32_t epoch;
        assert_ptr_equal(sb_schedule_at(&s, want[i][0], &epoch), &s.stage[want[i][1]]);
        assert_int_equal(epoch, want[i][2]);
    }
    sb_schedule_fini(&s);
}

static void without_memory_there_is_no_list(void **state)
{
    (void)state;
    const struct sb_method *m = sb_method_at(0);
    struct sb_config c = paper(1, 1, 1);
    struct sb_schedule s;
    size_t live = sb_mem_live();
    sb_mem_fail_after(0);
    sb_status st = sb_schedule_init(&s, &c, m, 10);
    sb_mem_fail_after(-1);
    sb_schedule_fini(&s);
    sb_schedule_fini(NULL);
    assert_int_equal(st, SB_ENOMEM);
    assert_int_equal(sb_mem_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_papers),
        cmocka_unit_test(an_unknown_method_names_the_nearest),
        cmocka_unit_test(sebays_is_algorithm_1),
        cmocka_unit_test(bays_is_a_run_a_member),
        cmocka_unit_test(exploration_may_be_left_out),
        cmocka_unit_test(snapshot_is_cycles_that_end_in_a_member),
        cmocka_unit_test(pf_prunes_each_dense_run),
        cmocka_unit_test(ltr_rewinds_to_one_dense_run),
        cmocka_unit_test(an_epoch_of_all_has_its_stage),
        cmocka_unit_test(without_memory_there_is_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
