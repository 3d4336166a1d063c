/* Run directories: nothing finished is lost, and one process at a time trains in one. */
#include "data_fixture.h"

#include <sys/stat.h>

#include "base/lock.h"
#include "runs.h"

static const char *const few[] = {"method.members=1", NULL};
static const char *const other[] = {"method.members=1", "train.seed=2", NULL};

static void remove_checkpoints(const char *run)
{
    char path[512];
    DIR *d = opendir(run);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (strncmp(e->d_name, "checkpoint-", 11) == 0) {
            snprintf(path, sizeof path, "%s/%s", run, e->d_name);
            assert_int_equal(unlink(path), 0);
        }
    closedir(d);
}

static void a_finished_run_is_not_begun_anew(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(few, "whole", false, run_never), SEBAYS_OK);
    assert_int_equal(run_train(few, "run", false, run_never), SEBAYS_OK);
    remove_checkpoints("run");
    refused(
        (int)run_train(few, "run", true, run_never), SEBAYS_EARG,
        "run holds a finished run (model.safetensors), but no checkpoint to go on from; "
        "choose another --out, or remove it to train it anew");
    refused(
        (int)run_train(other, "run", true, run_never), SEBAYS_EARG,
        "run holds a finished run (model.safetensors), but no checkpoint to go on from; "
        "choose another --out, or remove it to train it anew");
    same_models("whole", "run");
    same_files("whole", "run", "recipe.ini");
    assert_int_equal(unlink("run/model.safetensors"), 0);
    assert_int_equal(run_train(few, "run", true, run_never), SEBAYS_EARG);
    assert_non_null(strstr(sebays_message(), "(results.json)"));
    assert_false(sb_file_exists("run/train.lock"));
}

/* Killed before its first checkpoint: it begins again, but not as another run. */
static void a_run_that_was_begun_stays_what_it_is(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(few, "whole", false, run_never), SEBAYS_OK);
    assert_true(run_killed(few, "run", false, 1));
    assert_false(sb_file_exists("run/checkpoint-1.safetensors"));
    refused((int)run_train(other, "run", true, run_never), SEBAYS_EARG,
            "run/recipe.ini: belongs to another recipe: \"seed = 1\" then, \"seed = 2\" "
            "now, in [train]; go on with the same recipe, or start anew in another "
            "directory");
    assert_int_equal(run_train(few, "run", true, run_never), SEBAYS_OK);
    same_models("whole", "run");
    assert_int_equal(run_train(few, "new", true, run_never), SEBAYS_OK);
    refused(
        (int)run_train(few, "run", false, run_never), SEBAYS_EARG,
        "run already holds a run (recipe.ini); go on with --resume, or choose another "
        "--out");
}

/* ---- one at a time ---- */

static sebays_status second = SEBAYS_OK;
static char said[512];

/* In the middle of a run, another one asks for the same directory. */
static bool another(void *context, const struct sebays_progress *p)
{
    (void)p;
    int *reports = context;
    if (++*reports == 3) {
        second = run_train(other, "run", true, run_never);
        snprintf(said, sizeof said, "%s", sebays_message());
    }
    return true;
}

static void twins_are_refused(void **state)
{
    (void)state;
    int reports = 0;
    char want[128];
    struct sebays_result *result;
    struct sebays_run_options o = {
        .out = "run", .progress = another, .progress_context = &reports};
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(few, "whole", false, run_never), SEBAYS_OK);
    struct sebays_recipe *r = run_recipe(few);
    assert_int_equal(sebays_train(r, &o, &result), SEBAYS_OK);
    sebays_result_free(result);
    sebays_recipe_free(r);
    snprintf(want, sizeof want,
             "process %ld is training in run; wait for it, or choose another --out",
             (long)getpid());
    assert_int_equal(second, SEBAYS_EARG);
    assert_string_equal(said, want);
    same_models("whole", "run");
    assert_false(sb_file_exists("run/train.lock"));
}

static void locks_end_with_their_process(void **state)
{
    (void)state;
    struct sb_lock a, b;
    long owner = 1;
    assert_int_equal(sb_lock_take(&a, "lock", &owner), SB_OK);
    assert_int_equal(owner, 0);
    assert_int_equal(sb_lock_take(&b, "lock", &owner), SB_OK);
    assert_int_equal(owner, getpid());
    sb_lock_release(&b);
    sb_lock_release(&a);
    assert_false(sb_file_exists("lock"));
    put("lock", "999999\n", 7); /* what a killed process leaves */
    assert_int_equal(sb_lock_take(&a, "lock", &owner), SB_OK);
    assert_int_equal(owner, 0);
    assert_int_equal(sb_lock_take(&b, "lock", &owner), SB_OK);
    assert_int_equal(owner, getpid());
    sb_lock_release(&a);
    assert_int_equal(sb_lock_take(&a, "none/lock", &owner), SB_EIO);
    sb_lock_release(NULL);
    sb_lock_release(&a);
    sb_mem_fail_after(0);
    assert_int_equal(sb_lock_take(&a, "lock", &owner), SB_ENOMEM);
    sb_mem_fail_after(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_finished_run_is_not_begun_anew, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_run_that_was_begun_stays_what_it_is, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(twins_are_refused, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(locks_end_with_their_process, run_set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
