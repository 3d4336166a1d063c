/* train/rates: method.md's numbers. */
#include "train/rates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "schedules.h"

static double lr(const struct sb_schedule *s, uint32_t stage, uint32_t epoch,
                 uint64_t batch)
{
    struct sb_place at = {&s->stage[stage], epoch, batch};
    return sb_rates_lr(s, &at);
}

static double lr_rho(const struct sb_schedule *s, uint32_t stage, uint32_t epoch,
                     uint64_t batch)
{
    struct sb_place at = {&s->stage[stage], epoch, batch};
    return sb_rates_lr_rho(s, &at);
}

static double beta(const struct sb_schedule *s, uint32_t stage, uint32_t epoch,
                   uint64_t batch)
{
    struct sb_place at = {&s->stage[stage], epoch, batch};
    return sb_rates_beta(s, &at);
}

/* ---- learning rates ---- */

static void sebays_learning_rates(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays");
    assert_near(lr(&s, 0, 149, 0), 0.1, 0);
    assert_near(lr_rho(&s, 0, 149, 0), 0.01, 0);
    for (uint32_t stage = 1; stage <= 3; stage++) {
        assert_near(lr(&s, stage, 0, 0), 0.01, 0);
        assert_near(lr(&s, stage, 49, 0), 0.01, 0);
        assert_near(lr(&s, stage, 50, 0), 0.001, 0);
        assert_near(lr(&s, stage, 99, 0), 0.001, 0);
        assert_near(lr_rho(&s, stage, 49, 0), 0.01, 0);
        assert_near(lr_rho(&s, stage, 50, 0), 0.001, 0);
    }
    c.train.rho_rate = SB_CONFIG_RHO_CONSTANT;
    assert_near(lr_rho(&s, 3, 99, 0), 0.01, 0);
    sb_schedule_fini(&s);
}

static void halves_are_halves_of_the_batches(void **state)
{
    (void)state;
    struct sb_config c = paper(1, 0, 3);
    struct sb_schedule s = make(&c, "dnn");
    assert_near(lr(&s, 0, 1, 0), 0.01, 0); /* the first half is the longer one */
    assert_near(lr(&s, 0, 2, 0), 0.001, 0);
    uint64_t half = s.epoch_steps - s.epoch_steps / 2; /* of the middle epoch */
    assert_near(lr(&s, 0, 1, half - 1), 0.01, 0);
    assert_near(lr(&s, 0, 1, half), 0.001, 0);
    assert_near(lr_rho(&s, 0, 1, half), 0.001, 0);
    sb_schedule_fini(&s);
}

/* x0.1 at epochs 125 and 188: said by stages, by milestones, or as shares of the run. A run
 * that is one stage has the rates of one that is two. */
static void a_run_of_250_epochs(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 125, 125), given = paper(3, 0, 250), share = given;
    given.train.milestones = (struct sb_config_list){2, {125, 188}};
    share.train.milestones = (struct sb_config_list){2, {0.5, 0.75}};
    struct sb_schedule s = make(&c, "bays"), t = make(&given, "bays"),
                       u = make(&share, "bays"), w = make(&c, "ltr");
    for (uint32_t e = 0; e < 250; e++) {
        double want = e < 125 ? 0.1 : e < 188 ? 0.01 : 0.001;
        double want_rho = e < 125 ? 0.01 : want;
        uint32_t epoch;
        uint32_t stage = (uint32_t)(sb_schedule_at(&s, e, &epoch) - s.stage);
        assert_near(lr(&s, stage, epoch, 0), want, 0);
        assert_near(lr(&t, 0, e, 0), want, 1e-17);
        assert_near(lr(&u, 0, e, 0), want, 1e-17);
        assert_near(lr(&w, 0, e, 0), want, 0);
        assert_near(lr(&w, 3, e, 0), want, 0);
        assert_near(lr_rho(&s, stage, epoch, 0), want_rho, 0);
        assert_near(lr_rho(&t, 0, e, 0), want_rho, 1e-17);
        assert_near(lr_rho(&w, 1, e, 0), want_rho, 0);
    }
    assert_near(lr(&u, 0, 187, 175), 0.01, 1e-17); /* 187.5 epochs */
    assert_near(lr(&u, 0, 187, 176), 0.001, 1e-17);
    struct sb_schedule *all[] = {&s, &t, &u, &w};
    for (size_t i = 0; i < 4; i++)
        sb_schedule_fini(all[i]);
}

static void fine_tuning_has_a_rate_of_its_own(void **state)
{
    (void)state;
    struct sb_config c = paper(2, 125, 125);
    c.train.lr_tune = 0.003;
    c.train.milestones = (struct sb_config_list){1, {0.5}};
    struct sb_schedule s = make(&c, "pf");
    assert_near(lr(&s, 0, 124, 351), 0.1, 0);
    assert_near(lr(&s, 0, 125, 0), 0.01, 1e-17); /* a share of the dense run */
    for (uint32_t e = 0; e < 250; e++)
        assert_near(lr(&s, 1, e, 0), 0.003, 0);
    sb_schedule_fini(&s);
}

static void a_cosine_falls_with_every_step(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    c.train.lr_shape = SB_CONFIG_COSINE;
    c.train.lr_first = 0.05;
    c.train.lr_second = 0.001;
    struct sb_schedule s = make(&c, "sebays");
    assert_near(lr(&s, 0, 149, 0), 0.1, 0);
    for (uint32_t stage = 1; stage <= 3; stage++) {
        assert_near(lr(&s, stage, 0, 0), 0.05, 0);
        assert_near(lr(&s, stage, 50, 0), 0.0255, 1e-15);
        assert_true(lr(&s, stage, 50, 1) < lr(&s, stage, 50, 0));
        assert_near(lr(&s, stage, 99, 351), 0.001, 1e-9);
        assert_near(lr_rho(&s, stage, 50, 0), 0.0255, 1e-15);
    }
    sb_schedule_fini(&s);
}

static void a_snapshots_cycle_begins_at_the_top(void **state)
{
    (void)state;
    struct sb_config c = paper(5, 0, 50);
    struct sb_schedule s = make(&c, "snapshot");
    for (uint32_t stage = 0; stage < 5; stage++) {
        assert_near(lr(&s, stage, 0, 0), 0.1, 0);
        assert_near(lr(&s, stage, 25, 0), 0.05, 1e-15);
        assert_near(lr(&s, stage, 49, 351), 0, 1e-9);
        assert_true(lr(&s, stage, 49, 351) > 0);
    }
    sb_schedule_fini(&s);
}

static void a_run_warms_up_from_its_first_step(void **state)
{
    (void)state;
    struct sb_config c = paper(2, 5, 5);
    c.train.warmup_epochs = 2;
    struct sb_schedule s = make(&c, "bays"), pf = make(&c, "pf");
    for (uint32_t run = 0; run < 2; run++) {
        assert_near(lr(&s, 2 * run, 0, 0), 0.1 / 704, 1e-18);
        assert_near(lr(&s, 2 * run, 1, 0), 0.1 * 353 / 704, 1e-17);
        assert_near(lr_rho(&s, 2 * run, 1, 0), 0.01 * 353 / 704, 1e-17);
        assert_near(lr(&s, 2 * run, 1, 351), 0.1, 0);
        assert_near(lr(&s, 2 * run, 2, 0), 0.1, 0);
        assert_near(lr(&s, 2 * run + 1, 0, 0), 0.01, 0);
    }
    assert_near(lr(&pf, 1, 0, 0), 0.001, 0); /* a run that goes on is warm */
    sb_schedule_fini(&s);
    sb_schedule_fini(&pf);
}

/* ---- the KL term ---- */

static void kl_annealing(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays");
    assert_near(beta(&s, 0, 0, 0), 1, 0); /* anneal 0 */
    c.method.kl_anneal_epochs = 150;
    assert_near(beta(&s, 0, 0, 200), 1.0 / 150, 0);
    assert_near(beta(&s, 0, 74, 0), 0.5, 0);
    assert_near(beta(&s, 0, 149, 0), 1, 0);
    assert_near(beta(&s, 1, 0, 0), 1, 0);
    c.method.kl_anneal_epochs = 300; /* goes on counting over the stages */
    assert_near(beta(&s, 1, 0, 0), 151.0 / 300, 0);
    c.method.kl_anneal_by = SB_CONFIG_ANNEAL_STEP;
    assert_near(beta(&s, 0, 0, 0), 1.0 / (300 * 352), 0);
    assert_near(beta(&s, 0, 149, 351), 0.5, 0);
    assert_near(beta(&s, 1, 0, 0), (150.0 * 352 + 1) / (300 * 352), 0);
    assert_near(beta(&s, 2, 49, 351), 1, 0);
    c.method.kl_anneal_epochs = 0;
    assert_near(beta(&s, 0, 0, 0), 1, 0);
    sb_schedule_fini(&s);
}

/* ---- the support ---- */

static void updates_come_every_delta_t(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays"), fixed = make(&c, "static"),
                       dense = make(&c, "bnn"), pf = make(&c, "pf");
    assert_false(sb_rates_is_update(&s, 0));
    assert_false(sb_rates_is_update(&s, 999));
    assert_true(sb_rates_is_update(&s, 1000));
    assert_false(sb_rates_is_update(&s, 1001));
    assert_true(sb_rates_is_update(&s, 158000)); /* the counter never starts again */
    assert_false(sb_rates_is_update(&fixed, 1000));
    assert_false(sb_rates_is_update(&dense, 1000));
    assert_false(sb_rates_is_update(&pf, 1000));
    struct sb_schedule *all[] = {&s, &fixed, &dense, &pf};
    for (size_t i = 0; i < 4; i++)
        sb_schedule_fini(all[i]);
}

static void prune_rates(void **state)
{
    (void)state;
    struct sb_config c = paper(3, 150, 100);
    struct sb_schedule s = make(&c, "sebays");
    assert_near(sb_rates_prune(&s, 100000), 0.5, 0);
    assert_near(sb_rates_prune_large(&s, 100000), 0.8, 0);
    c.method.rate_decay = SB_CONFIG_DECAY_COSINE;
    assert_near(sb_rates_prune(&s, 0), 0.5, 0);
    assert_near(sb_rates_prune(&s, 225 * 352), 0.25, 1e-15);
    assert_near(sb_rates_prune(&s, 450 * 352), 0, 1e-15);
    assert_near(sb_rates_prune_large(&s, 250 * 352), 0.3305, 5e-5); /* "80 %" is 33 % */
    assert_near(sb_rates_prune_large(&s, 350 * 352), 0.0936, 5e-5); /* and 9 % */
    sb_schedule_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sebays_learning_rates),
        cmocka_unit_test(halves_are_halves_of_the_batches),
        cmocka_unit_test(a_run_of_250_epochs),
        cmocka_unit_test(fine_tuning_has_a_rate_of_its_own),
        cmocka_unit_test(a_cosine_falls_with_every_step),
        cmocka_unit_test(a_snapshots_cycle_begins_at_the_top),
        cmocka_unit_test(a_run_warms_up_from_its_first_step),
        cmocka_unit_test(kl_annealing),
        cmocka_unit_test(updates_come_every_delta_t),
        cmocka_unit_test(prune_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
