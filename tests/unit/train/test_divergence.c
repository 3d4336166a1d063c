/* Numbers that leave the finite: a sentence with advice that works, or the epoch again at
 * half the learning rate, with the same bits wherever the run was interrupted. */
#include "data_fixture.h"

#include "base/json.h"
#include "runs.h"

/* Weight decay times the learning rate is far above 2: weights grow with every step, until
 * the rate is small enough. */
#define WILD                                                                             \
    "train.lr=64", "train.weight_decay=1", "train.momentum=0", "train.batch=4",          \
        "model.arch=mlp-8-8"

static const char *const stop[] = {WILD, "method.name=dnn", NULL};
static const char *const halve[] = {WILD, "method.name=dnn", "train.on_divergence=halve",
                                    NULL};
static const char *const sparse[] = {WILD,
                                     "method.name=sebays",
                                     "method.members=2",
                                     "method.sparsity=0.5",
                                     "method.grow_batches=2",
                                     "method.exploit_epochs=1",
                                     "train.on_divergence=halve",
                                     "train.checkpoint_epochs=1",
                                     NULL};

static void stopping_says_what_helps(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(stop, "run", false, run_never), SEBAYS_ENUMERIC);
    assert_ptr_equal(strstr(sebays_message(), "training diverged at step "),
                     sebays_message());
    assert_non_null(strstr(sebays_message(), "start anew in another --out with a smaller "
                                             "train.lr or train.lr_rho, a longer "
                                             "method.kl_anneal_epochs, or "
                                             "train.on_divergence = halve"));
    assert_int_equal(run_train(halve, "halved", false, run_never), SEBAYS_OK);
}

/* How often the rates were halved, by the last line; each line has its rate. */
static json_int_t halvings(const char *run)
{
    char path[256];
    struct sb_map m;
    json_int_t last = 0;
    snprintf(path, sizeof path, "%s/metrics.jsonl", run);
    assert_int_equal(sb_map_open(&m, path), SB_OK);
    const char *at = (const char *)m.data, *end = at + m.size;
    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        json_t *line;
        double lr;
        assert_non_null(next);
        assert_int_equal(sb_json_parse(path, at, (size_t)(next - at), &line), SB_OK);
        last = json_integer_value(json_object_get(line, "halved"));
        assert_int_equal(sb_json_number(line, path, "lr", &lr), SB_OK);
        bool explore =
            strcmp(json_string_value(json_object_get(line, "phase")), "explore") == 0;
        if (explore)
            assert_true(lr == 64.0 / (double)(1 << last));
        json_decref(line);
        at = next + 1;
    }
    sb_map_close(&m);
    return last;
}

static void halving_is_written_down(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(halve, "run", false, run_never), SEBAYS_OK);
    assert_true(halvings("run") > 0);
    assert_false(sb_file_exists("run/epoch.safetensors"));
}

/* Interrupted after every batch, those of attempts that fail among them. */
static void interruptions_do_not_matter(const char *const *options)
{
    long stops = 0;
    sebays_status st;
    assert_int_equal(run_train(options, "whole", false, run_never), SEBAYS_OK);
    assert_true(halvings("whole") > 0);
    do {
        st = run_train(options, "stopped", stops > 0, (struct run_stop){.after = 0});
        assert_true(st == SEBAYS_OK || st == SEBAYS_ECANCELED);
        assert_true(stops++ < 1000);
    } while (st == SEBAYS_ECANCELED);
    same_models("whole", "stopped");
    assert_int_equal(halvings("whole"), halvings("stopped"));
    for (long after = 0; run_killed(options, "killed", false, after); after++) {
        assert_int_equal(run_train(options, "killed", true, run_never), SEBAYS_OK);
        same_models("whole", "killed");
        assert_true(sb_file_remove_tree("killed"));
    }
}

static void interruptions_of_one_network(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    interruptions_do_not_matter(halve);
}

static void interruptions_of_a_sparse_ensemble(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    interruptions_do_not_matter(sparse);
}

/* A run that does not diverge is the same with either. */
static void nothing_to_halve(void **state)
{
    (void)state;
    static const char *const calm[] = {"train.on_divergence=halve", NULL};
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(NULL, "plain", false, run_never), SEBAYS_OK);
    assert_int_equal(run_train(calm, "calm", false, run_never), SEBAYS_OK);
    same_files("plain", "calm", "updates.jsonl");
    struct sebays_result *a, *b;
    assert_int_equal(sebays_result_load("plain", &a), SEBAYS_OK);
    assert_int_equal(sebays_result_load("calm", &b), SEBAYS_OK);
    assert_true(sebays_result_ensemble(a).nll == sebays_result_ensemble(b).nll);
    sebays_result_free(a);
    sebays_result_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stopping_says_what_helps, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(halving_is_written_down, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(interruptions_of_one_network, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(interruptions_of_a_sparse_ensemble, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(nothing_to_halve, run_set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
