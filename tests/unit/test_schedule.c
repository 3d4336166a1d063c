/* train/schedule and train/method: METHOD's numbers. */
#include "train/schedule.h"

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

/* WRN-28-10 on CIFAR as the paper trains it: 45000 images, 352 steps an epoch. */
static struct sb_config paper(uint32_t members, uint32_t explore, uint32_t exploit)
{
    return (struct sb_config){
        .method = {.members = members,
                   .explore_epochs = explore,
                   .exploit_epochs = exploit,
                   .prune_rate = 0.5,
                   .prune_rate_large = 0.8,
                   .delta_t = 1000},
        .train = {.batch = 128,
                  .lr = 0.1,
                  .lr_first = 0.01,
                  .lr_second = 0.001,
                  .lr_rho = 0.01,
                  .milestone_factor = 0.1},
    };
}

static struct sb_schedule make(const struct sb_config *c, const char *method)
{
    const struct sb_method *m;
    assert_int_equal(sb_method_find(method, &m), SB_OK);
    return sb_schedule_make(c, m, 45000);
}

/* ---- the table ---- */

static void rows_are_the_papers(void **state)
{
    (void)state;
    const struct sb_method *m;
    assert_int_equal(sb_method_find("sebays", &m), SB_OK);
    assert_int_equal(m->posterior, SB_POSTERIOR_GAUSS);
    assert_int_equal(m->support, SB_SUPPORT_PRUNE_GROW);
    assert_int_equal(m->schedule, SB_SCHEDULE_SEQUENTIAL);
    assert_int_equal(m->wrapper, SB_WRAPPER_PLAIN);
    assert_int_equal(sb_method_find("dnn-ensemble", &m), SB_OK);
    assert_int_equal(m->posterior, SB_POSTERIOR_POINT);
    assert_int_equal(m->support, SB_SUPPORT_DENSE);
    assert_int_equal(m->schedule, SB_SCHEDULE_PARALLEL);
    assert_string_equal(m->implied[0].key, "method.members");
    assert_string_equal(m->implied[0].value, "4");
    size_t rows = 0;
    while (sb_method_at(rows))
        rows++;
    assert_int_equal(rows, 9);
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

/* ---- epochs and steps ---- */

static void sebays_is_one_run_of_450_epochs(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays");
    assert_int_equal(s.runs, 1);
    assert_int_equal(s.phases, 4);
    assert_int_equal(s.run_epochs, 450);
    assert_int_equal(s.total_epochs, 450);
    assert_int_equal(s.epoch_steps, 352);
    assert_int_equal(s.total_steps, 450 * 352);
    assert_int_equal(sb_schedule_epochs(&s, 0), 150);
    assert_int_equal(sb_schedule_epochs(&s, 3), 100);
    assert_int_equal(sb_schedule_first_epoch(&s, 0), 0);
    assert_int_equal(sb_schedule_first_epoch(&s, 1), 150);
    assert_int_equal(sb_schedule_first_epoch(&s, 3), 350);
    const uint32_t phase_of[][2] = {{0, 0},   {149, 0}, {150, 1}, {249, 1},
                                    {250, 2}, {350, 3}, {449, 3}};
    for (size_t i = 0; i < sizeof phase_of / sizeof *phase_of; i++)
        assert_int_equal(sb_schedule_phase_of(&s, phase_of[i][0]), phase_of[i][1]);
    const uint32_t member_of[] = {0, 0, 1, 2};
    for (uint32_t phase = 0; phase < 4; phase++)
        assert_int_equal(sb_schedule_member(&s, 0, phase), member_of[phase]);

    c = paper(7, 150, 100);
    assert_int_equal(make(&c, "sebays").total_epochs, 850);
}

static void bays_is_three_runs_of_250_epochs(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 125, 125);
    struct sb_schedule s = make(&c, "bays");
    assert_int_equal(s.runs, 3);
    assert_int_equal(s.phases, 2);
    assert_int_equal(s.run_epochs, 250);
    assert_int_equal(s.total_epochs, 750);
    assert_int_equal(s.run_steps, 250 * 352);
    assert_int_equal(s.total_steps, 750 * 352);
    assert_int_equal(sb_schedule_member(&s, 2, 0), 2);
    assert_int_equal(sb_schedule_member(&s, 2, 1), 2);
}

static void one_run_may_skip_exploration(void **state)
{
    (void)state;
    struct sb_config c = paper(1, 0, 3);
    struct sb_schedule s = make(&c, "dnn");
    assert_int_equal(s.runs, 1);
    assert_int_equal(s.run_epochs, 3);
    assert_int_equal(sb_schedule_phase_of(&s, 0), 1);
    assert_near(sb_schedule_lr(&s, 1, 1, 0), 0.01,
                0); /* the first half is the longer one */
    assert_near(sb_schedule_lr(&s, 1, 2, 0), 0.001, 0);
    uint64_t half = s.epoch_steps - s.epoch_steps / 2; /* of the middle epoch */
    assert_near(sb_schedule_lr(&s, 1, 1, half - 1), 0.01, 0);
    assert_near(sb_schedule_lr(&s, 1, 1, half), 0.001, 0);
    assert_near(sb_schedule_lr_rho(&s, 1, 1, half), 0.001, 0);
}

/* ---- rates ---- */

static void sebays_learning_rates(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays");
    assert_near(sb_schedule_lr(&s, 0, 149, 0), 0.1, 0);
    assert_near(sb_schedule_lr_rho(&s, 0, 149, 0), 0.01, 0);
    for (uint32_t phase = 1; phase <= 3; phase++) {
        assert_near(sb_schedule_lr(&s, phase, 0, 0), 0.01, 0);
        assert_near(sb_schedule_lr(&s, phase, 49, 0), 0.01, 0);
        assert_near(sb_schedule_lr(&s, phase, 50, 0), 0.001, 0);
        assert_near(sb_schedule_lr(&s, phase, 99, 0), 0.001, 0);
        assert_near(sb_schedule_lr_rho(&s, phase, 49, 0), 0.01, 0);
        assert_near(sb_schedule_lr_rho(&s, phase, 50, 0), 0.001, 0);
    }
    c.train.rho_rate = SB_CONFIG_RHO_CONSTANT;
    assert_near(sb_schedule_lr_rho(&s, 3, 99, 0), 0.01, 0);
}

/* x0.1 at epochs 125 and 188, said by phases or by milestones. */
static void bays_learning_rates(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 125, 125), milestones = paper(3, 0, 250);
    milestones.train.milestones = (struct sb_config_list){2, {125, 188}};
    struct sb_schedule s = make(&c, "bays"), t = make(&milestones, "bays");
    for (uint32_t e = 0; e < 250; e++) {
        double want = e < 125 ? 0.1 : e < 188 ? 0.01 : 0.001;
        uint32_t phase = sb_schedule_phase_of(&s, e);
        uint32_t epoch = e - sb_schedule_first_epoch(&s, phase);
        assert_near(sb_schedule_lr(&s, phase, epoch, 0), want, 0);
        assert_near(sb_schedule_lr(&t, 1, e, 0), want, 1e-17);
        double want_rho = e < 125 ? 0.01 : want;
        assert_near(sb_schedule_lr_rho(&s, phase, epoch, 0), want_rho, 0);
        assert_near(sb_schedule_lr_rho(&t, 1, e, 0), want_rho, 1e-17);
    }
}

static void kl_annealing(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays");
    assert_near(sb_schedule_beta(&s, 0, 0), 1, 0); /* anneal 0 */
    c.method.kl_anneal_epochs = 150;
    assert_near(sb_schedule_beta(&s, 0, 0), 1.0 / 150, 0);
    assert_near(sb_schedule_beta(&s, 0, 74), 0.5, 0);
    assert_near(sb_schedule_beta(&s, 0, 149), 1, 0);
    assert_near(sb_schedule_beta(&s, 1, 0), 1, 0);
    c.method.kl_anneal_epochs = 300; /* goes on counting over the phases */
    assert_near(sb_schedule_beta(&s, 1, 0), 151.0 / 300, 0);
}

/* ---- the support ---- */

static void updates_come_every_delta_t(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays"), fixed = make(&c, "static"),
                       dense = make(&c, "bnn");
    assert_false(sb_schedule_is_update(&s, 0));
    assert_false(sb_schedule_is_update(&s, 999));
    assert_true(sb_schedule_is_update(&s, 1000));
    assert_false(sb_schedule_is_update(&s, 1001));
    assert_true(sb_schedule_is_update(&s, 158000)); /* the counter never starts again */
    assert_false(sb_schedule_is_update(&fixed, 1000));
    assert_false(sb_schedule_is_update(&dense, 1000));
}

static void large_updates_lie_between_members(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays"), parallel = make(&c, "bays");
    const bool want[] = {false, true, true, false};
    for (uint32_t phase = 0; phase < 4; phase++)
        assert_int_equal(sb_schedule_large_after(&s, phase), want[phase]);
    assert_false(sb_schedule_large_after(&parallel, 0));
    assert_false(sb_schedule_large_after(&parallel, 1));
}

static void prune_rates(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays");
    assert_near(sb_schedule_rate(&s, 100000), 0.5, 0);
    assert_near(sb_schedule_rate_large(&s, 100000), 0.8, 0);
    c.method.rate_decay = SB_CONFIG_DECAY_COSINE;
    assert_near(sb_schedule_rate(&s, 0), 0.5, 0);
    assert_near(sb_schedule_rate(&s, 225 * 352), 0.25, 1e-15);
    assert_near(sb_schedule_rate(&s, 450 * 352), 0, 1e-15);
    assert_near(sb_schedule_rate_large(&s, 250 * 352), 0.3305, 5e-5); /* "80 %" is 33 % */
    assert_near(sb_schedule_rate_large(&s, 350 * 352), 0.0936, 5e-5); /* and 9 % */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_papers),
        cmocka_unit_test(an_unknown_method_names_the_nearest),
        cmocka_unit_test(sebays_is_one_run_of_450_epochs),
        cmocka_unit_test(bays_is_three_runs_of_250_epochs),
        cmocka_unit_test(one_run_may_skip_exploration),
        cmocka_unit_test(sebays_learning_rates),
        cmocka_unit_test(bays_learning_rates),
        cmocka_unit_test(kl_annealing),
        cmocka_unit_test(updates_come_every_delta_t),
        cmocka_unit_test(large_updates_lie_between_members),
        cmocka_unit_test(prune_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
