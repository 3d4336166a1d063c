/* train/network: what a stage begins with, and every allocation on the way failed once. */
#include "recipe/options.h"
#include "small_images.h"
#include "train/state.h"

static const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
static const struct sb_run_options options = {.out = "run"};

/* A trainer on small images, its network started; resolved into r, which it borrows. */
static void begin(struct sb_trainer *t, struct sb_recipe *r, const char *method)
{
    write_small_images(20, 10);
    sb_recipe_init(r);
    const char *const settings[] = {"data.set=.",
                                    "data.validation=4",
                                    "model.arch=wrn-10-1",
                                    "train.batch=4",
                                    "method.members=2",
                                    "method.explore_epochs=1",
                                    "method.exploit_epochs=1"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_int_equal(sb_recipe_assign(r, settings[i]), SB_OK);
    assert_int_equal(sb_recipe_set(r, "method.name", method), SB_OK);
    assert_int_equal(sb_recipe_resolve(r), SB_OK);
    assert_int_equal(sb_trainer_open(t, &env, r, &options), SB_OK);
    t->at.step = 99;
    assert_int_equal(sb_trainer_enter(t, &t->schedule.stage[0]), SB_OK);
    assert_int_equal(t->at.step, 0);
}

/* Momenta as a step would leave them. */
static void shake(struct sb_net *n)
{
    for (uint32_t i = 0; i < n->arch.weights; i++)
        for (uint32_t k = 0; k < n->weight[i].nnz; k++)
            n->weight[i].mu_momentum[k] = 1;
}

static bool at_rest(const struct sb_net *n)
{
    for (uint32_t i = 0; i < n->arch.weights; i++)
        for (uint32_t k = 0; k < n->weight[i].nnz; k++)
            if (n->weight[i].mu_momentum[k] != 0)
                return false;
    return true;
}

static void pf_prunes_and_the_next_run_is_dense(void **state)
{
    (void)state;
    struct sb_trainer t;
    struct sb_recipe r;
    begin(&t, &r, "pf");
    uint64_t all = sb_net_weights(&t.net);
    assert_int_equal(sb_net_active(&t.net), all);
    shake(&t.net);
    t.at.step = 30;
    assert_int_equal(sb_trainer_enter(&t, &t.schedule.stage[1]), SB_OK);
    assert_int_equal(sb_net_active(&t.net), all - (uint64_t)(0.8 * (double)all));
    assert_int_equal(t.at.step, 30); /* the run goes on */
    assert_true(at_rest(&t.net));
    assert_int_equal(sb_trainer_enter(&t, &t.schedule.stage[2]), SB_OK);
    assert_int_equal(sb_net_active(&t.net), all);
    assert_int_equal(t.at.step, 0);
    sb_trainer_close(&t);
}

/* Every member begins with the same weights, which are the early ones at the late places. */
static void ltr_rewinds_to_what_was_kept(void **state)
{
    (void)state;
    struct sb_trainer t;
    struct sb_recipe r;
    struct sb_trained first, second;
    begin(&t, &r, "ltr");
    assert_int_equal(sb_trainer_keep(&t), SB_OK);
    float early = t.net.weight[0].mu[0];
    shake(&t.net);
    t.net.weight[0].mu[0] = 1e6f; /* it stays, as what it was early on */
    assert_int_equal(sb_trainer_mask_kept(&t), SB_OK);
    assert_int_equal(sb_trainer_enter(&t, &t.schedule.stage[1]), SB_OK);
    assert_true(at_rest(&t.net));
    assert_int_equal(sb_trained_init(&first, &t.net), SB_OK);
    assert_int_equal(sb_trained_save(&first, &t.net), SB_OK);
    assert_int_equal(first.position[0][0], 0);
    assert_true(first.params.param[first.mu[0]].value[0] == early);
    t.net.weight[1].mu[0] += 1;
    t.at.step = 30;
    assert_int_equal(sb_trainer_enter(&t, &t.schedule.stage[2]), SB_OK);
    assert_int_equal(t.at.step, 0);
    assert_int_equal(sb_trained_init(&second, &t.net), SB_OK);
    assert_int_equal(sb_trained_save(&second, &t.net), SB_OK);
    assert_int_equal(first.bytes, second.bytes);
    assert_memory_equal(first.memory, second.memory, first.bytes);
    sb_trained_fini(&first);
    sb_trained_fini(&second);
    sb_trainer_close(&t);
}

static sb_status keep_and_rewind(struct sb_trainer *t)
{
    sb_status st = sb_trainer_keep(t);
    if (st == SB_OK)
        st = sb_trainer_mask_kept(t);
    return st == SB_OK ? sb_trainer_enter(t, &t->schedule.stage[1]) : st;
}

static sb_status prune_and_start(struct sb_trainer *t)
{
    sb_status st = sb_trainer_enter(t, &t->schedule.stage[1]);
    return st == SB_OK ? sb_trainer_enter(t, &t->schedule.stage[2]) : st;
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        sb_status (*run)(struct sb_trainer *t);
    } ways[] = {{"ltr", keep_and_rewind}, {"pf", prune_and_start}};
    for (size_t k = 0; k < 2; k++) {
        sb_status st = SB_ENOMEM;
        long n = 0;
        for (; st != SB_OK && n < 1000; n++) {
            struct sb_trainer t;
            struct sb_recipe r;
            begin(&t, &r, ways[k].method);
            sb_mem_fail_after(n);
            st = ways[k].run(&t);
            sb_mem_fail_after(-1);
            assert_true(st == SB_OK || st == SB_ENOMEM);
            sb_trainer_close(&t);
        }
        assert_int_equal(st, SB_OK);
        assert_in_range(n, 20, 999);
    }
}

#define TEST_CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CASE(pf_prunes_and_the_next_run_is_dense),
        TEST_CASE(ltr_rewinds_to_what_was_kept),
        TEST_CASE(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
