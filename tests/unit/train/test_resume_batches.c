/* A run that was stopped or killed and taken up again gives the model of one that was not,
 * byte for byte: for every method, after every batch, and while growth gradients are being
 * averaged over several batches. No clock decides where a run ends. */
#include "data_fixture.h"

#include "recipe/config.h"
#include "recipe/method.h"
#include "runs.h"

/* The options of a method's short run; list is filled and returned. */
static const char *const *options_of(const struct sb_method *m, bool averaged,
                                     const char *list[RUN_OPTIONS],
                                     char name[SB_CONFIG_NAME])
{
    size_t n = 0;
    snprintf(name, SB_CONFIG_NAME, "method.name=%s", m->name);
    list[n++] = name;
    if (m->schedule != SB_SCHEDULE_ONE)
        list[n++] = "method.members=2";
    if (m->support != SB_SUPPORT_DENSE)
        list[n++] = "method.sparsity=0.5";
    if (m->support == SB_SUPPORT_DENSE && m->schedule == SB_SCHEDULE_SEQUENTIAL)
        list[n++] = "method.explore_epochs=0";
    if (m->support == SB_SUPPORT_FINE_TUNE)
        list[n++] = "method.tune_epochs=1";
    if (averaged)
        list[n++] = "method.grow_batches=3";
    list[n] = NULL;
    return list;
}

/* Stopped after every single batch. */
static void stop_everywhere(const char *const *options)
{
    long stops = 0;
    sebays_status st;
    assert_int_equal(run_train(options, "whole", false, run_never), SEBAYS_OK);
    do {
        st = run_train(options, "stopped", stops > 0, (struct run_stop){.after = 0});
        stops++;
        assert_true(st == SEBAYS_OK || st == SEBAYS_ECANCELED);
        assert_true(stops < 1000);
    } while (st == SEBAYS_ECANCELED);
    assert_true(stops > 9); /* at least so many batches: three epochs of three */
    same_models("whole", "stopped");
    assert_true(sb_file_remove_tree("whole") && sb_file_remove_tree("stopped"));
}

static void every_method_stops_anywhere(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    const struct sb_method *m;
    for (size_t i = 0; (m = sb_method_at(i)); i++)
        for (int averaged = 0; averaged < 2; averaged++) {
            const char *list[RUN_OPTIONS];
            char name[SB_CONFIG_NAME];
            if (averaged && m->support != SB_SUPPORT_PRUNE_GROW)
                continue;
            print_message("%s%s\n", m->name, averaged ? ", averaged" : "");
            stop_everywhere(options_of(m, averaged, list, name));
        }
}

/* What is counted besides weights: epochs without a better one, the best so far, scores of a
 * calibration part; of classes and of continuous targets. */
static void counts_stop_anywhere(void **state)
{
    (void)state;
    static const char *const kind[][2] = {{"data.task=classification", "data.label="},
                                          {"data.task=regression", "data.label=1"}};
    put_table("train.csv", RUN_ROWS);
    for (int i = 0; i < 2; i++) {
        const char *const options[] = {"method.name=sebays",
                                       "method.members=2",
                                       "method.sparsity=0.5",
                                       "data.validation=0.25",
                                       "data.calibration=0.2",
                                       "train.patience=1",
                                       "train.lr=0.5",
                                       kind[i][0],
                                       kind[i][1],
                                       "method.exploit_epochs=4",
                                       NULL};
        stop_everywhere(options);
    }
}

/* Killed after so many batches, with checkpoints after each epoch and member: they must hold
 * all that the next batches need. */
static void kills_at_any_batch(void **state)
{
    (void)state;
    static const char *const sequential[] = {"method.name=sebays",
                                             "method.members=2",
                                             "method.sparsity=0.5",
                                             "method.grow_batches=3",
                                             "method.delta_t=4",
                                             "train.checkpoint_epochs=1",
                                             NULL};
    static const char *const apart[] = {"method.name=dst",
                                        "method.members=2",
                                        "method.sparsity=0.5",
                                        "method.grow_batches=2",
                                        "method.delta_t=4",
                                        "train.checkpoint_epochs=1",
                                        NULL};
    const char *const *const options[] = {sequential, apart};
    put_table("train.csv", RUN_ROWS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_train(options[i], "whole", false, run_never), SEBAYS_OK);
        for (long after = 0; run_killed(options[i], "killed", false, after); after++) {
            assert_int_equal(run_train(options[i], "killed", true, run_never), SEBAYS_OK);
            same_models("whole", "killed");
            assert_true(sb_file_remove_tree("killed"));
        }
        assert_true(sb_file_remove_tree("killed") && sb_file_remove_tree("whole"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_method_stops_anywhere, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(counts_stop_anywhere, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(kills_at_any_batch, run_set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
