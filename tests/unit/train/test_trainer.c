/* A whole training, each of whose allocations fails once: a sentence, nothing leaked, and a
 * directory in which the run can be taken up to the model it would have given. And updates
 * whose batch also takes a step. */
#include "data_fixture.h"

#include "base/mem.h"
#include "runs.h"

static const char *const options[] = {
    "method.name=sebays",      "method.members=2",
    "method.sparsity=0.5",     "method.grow_batches=2",
    "method.explore_epochs=1", "method.exploit_epochs=1",
    "train.trajectory=yes",    NULL};

/* As run_train, but only the training itself runs out of memory, at its n-th request. */
static sebays_status train_with(long n, const char *out, bool resume)
{
    struct sebays_recipe *r = run_recipe(options);
    struct sebays_result *result = NULL;
    struct sebays_run_options o = {.out = out, .resume = resume};
    size_t before = sb_mem_live();
    sb_mem_fail_after(n);
    sebays_status st = sebays_train(r, &o, &result);
    sb_mem_fail_after(-1);
    sebays_result_free(result);
    assert_int_equal(sb_mem_live(), before);
    sebays_recipe_free(r);
    return st;
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    enum {
        RESUMES = 16, /* one in so many is taken up again, which takes time */
        STRIDE = FEW ? 5 : 1,
    };
    sebays_status st = SEBAYS_ENOMEM;
    long n = 0;
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(options, "whole", false, run_never), SEBAYS_OK);
    for (; st != SEBAYS_OK; n += STRIDE) {
        st = train_with(n, "failed", false);
        if (st != SEBAYS_OK && st != SEBAYS_ENOMEM)
            fail_msg("allocation %ld: %s", n, sebays_message());
        if (st != SEBAYS_OK)
            assert_string_not_equal(sebays_message(), "");
        if (st != SEBAYS_OK && n % RESUMES == 0)
            assert_int_equal(run_train(options, "failed", true, run_never), SEBAYS_OK);
        if (st == SEBAYS_OK || n % RESUMES == 0)
            same_models("whole", "failed");
        if (sb_file_exists("failed"))
            assert_true(sb_file_remove_tree("failed"));
    }
    print_message("%ld allocations\n", n);
    assert_true(n > 100);
}

/* A batch that moves the support takes an optimiser step only where that is asked for. */
static void updates_take_a_step_if_told(void **state)
{
    (void)state;
    static const char *const no[] = {"method.name=sebays", "method.sparsity=0.5",
                                     "method.step_on_update=no", NULL};
    static const char *const yes[] = {"method.name=sebays", "method.sparsity=0.5",
                                      "method.step_on_update=yes", NULL};
    struct sb_map a, b;
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(no, "no", false, run_never), SEBAYS_OK);
    assert_int_equal(run_train(yes, "yes", false, run_never), SEBAYS_OK);
    assert_int_equal(sb_map_open(&a, "no/updates.jsonl"), SB_OK);
    assert_int_equal(sb_map_open(&b, "yes/updates.jsonl"), SB_OK);
    assert_true(a.size > 0 && b.size > 0); /* there were updates */
    assert_true(a.size != b.size || memcmp(a.data, b.data, a.size) != 0);
    sb_map_close(&a);
    sb_map_close(&b);
    sebays_status st = SEBAYS_ECANCELED; /* and it is resumed to the same bits */
    for (int stops = 0; st == SEBAYS_ECANCELED; stops++)
        st = run_train(yes, "stopped", stops > 0, (struct run_stop){.after = 0});
    assert_int_equal(st, SEBAYS_OK);
    same_models("yes", "stopped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_allocation_fails_once, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(updates_take_a_step_if_told, run_set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("train/trainer", tests, NULL, NULL);
}
