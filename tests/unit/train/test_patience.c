/* Phases that end early, runs without validation or test part, and rows that count more. */
#include "data_fixture.h"

#include <math.h>

#include "base/json.h"
#include "runs.h"

#define PATIENT                                                                          \
    "data.validation=0.3", "method.explore_epochs=9", "method.exploit_epochs=8",         \
        "method.members=2", "train.patience=1", "train.choose=accuracy"

static const char *const patient[] = {PATIENT, NULL};
static const char *const averaged[] = {PATIENT, "method.grow_batches=3", NULL};
static const char *const rewound[] = {PATIENT, "method.name=ltr", "method.rewind_epoch=6",
                                      NULL};

/* A number of results.json. */
static double result_of(const char *run, const char *key)
{
    char path[256];
    snprintf(path, sizeof path, "%s/results.json", run);
    json_t *j = json_load_file(path, 0, NULL);
    assert_non_null(j);
    json_t *value = json_object_get(j, key);
    double x = json_is_number(value) ? json_number_value(value) : -1;
    json_decref(j);
    return x;
}

static void stop_everywhere(const char *const *options, double all)
{
    sebays_status st;
    long stops = 0;
    assert_int_equal(run_train(options, "whole", false, run_never), SEBAYS_OK);
    assert_true(result_of("whole", "epochs") < all); /* some were left out */
    do {
        st = run_train(options, "stopped", stops > 0, (struct run_stop){.after = 0});
        assert_true(st == SEBAYS_OK || st == SEBAYS_ECANCELED);
        assert_true(stops++ < 1000);
    } while (st == SEBAYS_ECANCELED);
    same_models("whole", "stopped");
    assert_true(result_of("stopped", "epochs") == result_of("whole", "epochs"));
    assert_true(sb_file_remove_tree("whole") && sb_file_remove_tree("stopped"));
}

/* What patience counted is in the checkpoint: stopped after every batch, the same model. */
static void impatience_survives_stops(void **state)
{
    (void)state;
    put_table("train.csv", RUN_ROWS);
    stop_everywhere(patient, 9 + 2 * 8);
    stop_everywhere(averaged, 9 + 2 * 8);
    stop_everywhere(rewound, 3 * (9 + 8));
}

static bool holds(const struct sb_map *m, const char *text)
{
    size_t n = strlen(text);
    for (size_t i = 0; i + n <= m->size; i++)
        if (memcmp((const char *)m->data + i, text, n) == 0)
            return true;
    return false;
}

/* Without a validation part the last epoch is the member. */
static void the_last_epoch_is_taken(void **state)
{
    (void)state;
    static const char *const two[] = {"data.validation=0", "method.members=1", NULL};
    static const char *const rare[] = {"data.validation=0", "method.members=1",
                                       "train.choose=nll", "train.validate_every=2",
                                       NULL};
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(two, "two", false, run_never), SEBAYS_OK);
    assert_int_equal(run_train(rare, "rare", false, run_never), SEBAYS_OK);
    same_files("two", "rare", "updates.jsonl");
    struct sb_map m;
    assert_int_equal(sb_map_open(&m, "two/model.safetensors"), SB_OK);
    assert_true(holds(&m, "\\\"epoch\\\":2"));
    sb_map_close(&m);
}

static void nothing_need_be_tested(void **state)
{
    (void)state;
    static const char *const untested[] = {"data.test_share=0", "method.members=1", NULL};
    put_table("train.csv", RUN_ROWS);
    assert_int_equal(run_train(untested, "run", false, run_never), SEBAYS_OK);
    struct sebays_result *r;
    assert_int_equal(sebays_result_load("run", &r), SEBAYS_OK);
    assert_true(isnan(sebays_result_ensemble(r).accuracy));
    sebays_result_free(r);
    char *text;
    refused((int)sebays_eval("run", NULL, &text), SEBAYS_EARG,
            "run has no test part (data.test_share = 0); name a set with --test");
}

/* ---- weights ---- */

/* The table with a fourth column, written by format from the row's number. */
static void put_weights(double (*weight)(uint32_t row))
{
    FILE *f = fopen("train.csv", "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < RUN_ROWS; i++)
        fprintf(f, "%u,%u,%g,c%u\n", i * 7 % 23, i * i % 11 + i % 3, weight(i), i % 3);
    assert_int_equal(fclose(f), 0);
}

static double twos(uint32_t row)
{
    (void)row;
    return 2;
}

static double first_class(uint32_t row)
{
    return row % 3 == 0 ? 5 : 0.5;
}

static double bad(uint32_t row)
{
    return row == 9 ? -1 : 1;
}

static double nothing(uint32_t row)
{
    (void)row;
    return 0;
}

#define WEIGHED "data.weight=3", "method.members=1"
static const char *const weighed[] = {WEIGHED, NULL};

static void weights_are_relative(void **state)
{
    (void)state;
    static const char *const plain[] = {"data.ignore=3", "method.members=1", NULL};
    put_weights(twos);
    assert_int_equal(run_train(weighed, "weighed", false, run_never), SEBAYS_OK);
    assert_int_equal(run_train(plain, "plain", false, run_never), SEBAYS_OK);
    same_files("weighed", "plain", "updates.jsonl");
    struct sebays_result *a, *b;
    assert_int_equal(sebays_result_load("weighed", &a), SEBAYS_OK);
    assert_int_equal(sebays_result_load("plain", &b), SEBAYS_OK);
    assert_true(sebays_result_ensemble(a).nll == sebays_result_ensemble(b).nll);
    sebays_result_free(a);
    sebays_result_free(b);
}

/* A class that counts ten times is answered more often: its rows' likelihood is better. */
static void weights_pull(void **state)
{
    (void)state;
    static const char *const balanced[] = {WEIGHED, "train.class_weights=balanced",
                                           "method.explore_epochs=20", NULL};
    static const char *const pulled[] = {WEIGHED, "method.explore_epochs=20", NULL};
    put_weights(first_class);
    assert_int_equal(run_train(pulled, "pulled", false, run_never), SEBAYS_OK);
    assert_int_equal(run_train(balanced, "balanced", false, run_never), SEBAYS_OK);
    struct sebays_result *a, *b;
    assert_int_equal(sebays_result_load("pulled", &a), SEBAYS_OK);
    assert_int_equal(sebays_result_load("balanced", &b), SEBAYS_OK);
    /* Balanced takes the pull away: all classes of the test part are as likely as they are. */
    assert_true(sebays_result_ensemble(b).nll < sebays_result_ensemble(a).nll);
    sebays_result_free(a);
    sebays_result_free(b);
}

static void weights_that_are_none(void **state)
{
    (void)state;
    static const char *const mimo[] = {"method.name=mimo", NULL};
    put_weights(bad);
    refused((int)run_train(weighed, "bad", false, run_never), SEBAYS_EFORMAT,
            "train.csv: line 10, column 3: the weight is '-1'; want a number from 0");
    put_weights(nothing);
    refused((int)run_train(weighed, "none", false, run_never), SEBAYS_EARG,
            "train.csv: all weights are 0; no row is left");
    struct sebays_recipe *r = run_recipe(mimo);
    assert_int_equal(sebays_recipe_set(r, "train.class_weights", "balanced"), SEBAYS_OK);
    assert_int_equal(sebays_recipe_check(r), SEBAYS_EARG);
    sebays_recipe_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(impatience_survives_stops, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_last_epoch_is_taken, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_need_be_tested, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(weights_are_relative, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(weights_pull, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(weights_that_are_none, run_set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
