/* What a comparison says about runs that do not compare: other units of cost, other ways of
 * evaluation, and recipes that look like the paper's rows. */
#include "report/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report_runs.h"

/* Costs count in dense runs of the recipe's own epochs: where these differ, it is said. */
static void units_of_costs_that_differ_have_a_column(void **state)
{
    (void)state;
    struct sb_report_run run[3];
    struct sb_compare c;
    char *text;
    run[0] = runs_make("a", "d", "lenet", "dnn", 1, 0,
                       RUNS_RESULTS(0.8, 0.7, 0.04, 100, ", \"dense_run_epochs\": 6"));
    run[1] = runs_make("b", "d", "lenet", "bnn", 1, 0,
                       RUNS_RESULTS(0.8, 0.7, 0.04, 100, ", \"dense_run_epochs\": 6"));
    run[2] = runs_make("c", "d", "lenet", "dnn-ensemble", 3, 0,
                       RUNS_RESULTS(0.8, 0.6, 0.02, 300, ", \"dense_run_epochs\": 2"));
    assert_int_equal(sb_compare_init(&c, run, 3), SB_OK);
    assert_int_equal(sb_compare_write(&c, SB_COMPARE_TEXT, &text), SB_OK);
    assert_non_null(strstr(text, "  cost  unit  time\n"));
    assert_non_null(strstr(text, "  1.00     6  90 s\n"));
    assert_non_null(strstr(text, "  3.00     2  90 s\n"));
    assert_non_null(
        strstr(text, "\nunit: epochs of that dense run; costs compare where"));
    sb_free(text);
    sb_compare_fini(&c);
    assert_int_equal(sb_compare_init(&c, run, 2), SB_OK);
    assert_int_equal(sb_compare_write(&c, SB_COMPARE_TEXT, &text), SB_OK);
    assert_null(strstr(text, "unit"));
    sb_free(text);
    sb_compare_fini(&c);
    for (int i = 0; i < 3; i++)
        sb_report_run_fini(&run[i]);
}

#define BIN "{\"lo\": 0, \"hi\": 1, \"count\": 9, \"confidence\": 0.5, \"accuracy\": 0.5}"
#define EVALUATED(bins, sampling)                                                        \
    RUNS_RESULTS(0.8, 0.7, 0.04, 100,                                                    \
                 ", \"evaluation\": {\"sampling\": \"" sampling                          \
                 "\", \"test\": {\"n\": 9, \"ensemble\": {\"acc\": 0.5, \"nll\": 1, "    \
                 "\"ece\": 0.1}" bins "}}")

/* Draws of the weights and bins change figures: runs that differ there are named. */
static void runs_that_were_not_evaluated_alike_are_named(void **state)
{
    (void)state;
    struct sb_report_run run[3];
    struct sb_compare c;
    char *text, sentence[SB_COMPARE_UNLIKE];
    run[0] = runs_make("a", "d", "lenet", "dnn", 1, 0, EVALUATED("", "points"));
    run[1] = runs_make("b", "d", "lenet", "sebays", 3, 0.8, EVALUATED("", "draws:20"));
    run[2] = runs_make("c_", "d", "lenet", "sebays", 3, 0.8, EVALUATED("", "draw"));
    assert_int_equal(sb_compare_init(&c, run, 2), SB_OK); /* points have one way only */
    assert_string_equal(sb_compare_unlike(&c, sentence), "");
    sb_compare_fini(&c);
    assert_int_equal(sb_compare_init(&c, run, 3), SB_OK);
    assert_int_equal(sb_compare_write(&c, SB_COMPARE_TEXT, &text), SB_OK);
    assert_non_null(strstr(
        text, "\nnot evaluated alike: b with draws:20 and 15 bins, c_ with draw and 15 "
              "bins; use sebays eval in one way for all before their figures are "
              "compared\n"));
    sb_free(text);
    assert_int_equal(sb_compare_write(&c, SB_COMPARE_LATEX, &text), SB_OK);
    assert_non_null(strstr(text, "\n% not evaluated alike: b with draws:20 and 15 bins, "
                                 "c\\_ with draw"));
    sb_free(text);
    sb_compare_fini(&c);
    sb_report_run_fini(&run[2]);
    run[2] =
        runs_make("c", "d", "lenet", "pf", 3, 0.8,
                  EVALUATED(", \"bins\": {\"ensemble\": [" BIN ", " BIN "]}", "points"));
    assert_int_equal(sb_compare_init(&c, run, 3), SB_OK);
    assert_string_equal(sb_compare_unlike(&c, sentence),
                        "not evaluated alike: a with 15 bins, c with 2 bins; use sebays "
                        "eval in one way for all before their figures are compared");
    sb_compare_fini(&c);
    for (int i = 0; i < 3; i++)
        sb_report_run_fini(&run[i]);
}

#define TASK(task, test, tests)                                                          \
    RUNS_RESULTS(0.8, 0.7, 0.04, 100,                                                    \
                 ", \"task\": \"" task "\", \"data\": {\"test\": \"" test                \
                 "\", \"tests\": " #tests "}")

/* Runs of one file, the first of them twice, as compare sees their data. */
static void told_apart(const char *const results[2], const char *label, const char *group,
                       const char *const heading[2])
{
    struct sb_report_run run[3];
    struct sb_compare c;
    char *text;
    run[0] = runs_make("a", "d.csv", "lenet", "dnn", 1, 0, results[0]);
    run[1] = runs_make("b", "d.csv", "lenet", "bnn", 1, 0, results[0]);
    run[2] = runs_make("c", "d.csv", "lenet", "sebays", 3, 0.8, results[1]);
    snprintf(run[2].recipe.config.data.label, SB_CONFIG_NAME, "%s", label);
    snprintf(run[2].recipe.config.data.group, SB_CONFIG_NAME, "%s", group);
    assert_int_equal(sb_compare_init(&c, run, 3), SB_OK);
    assert_int_equal(c.tables, heading[0] ? 2 : 1);
    assert_true(c.row[0].best[SB_FIGURE_NLL]);
    assert_int_equal(c.row[2].best[SB_FIGURE_NLL], !heading[0]); /* alone in its table */
    const enum sb_compare_format all[] = {SB_COMPARE_TEXT, SB_COMPARE_CSV,
                                          SB_COMPARE_JSON};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(sb_compare_write(&c, all[i], &text), SB_OK);
        assert_non_null(strstr(text, heading[0] ? heading[0] : "d.csv"));
        assert_non_null(strstr(text, heading[0] ? heading[1] : "d.csv"));
        sb_free(text);
    }
    sb_compare_fini(&c);
    for (int i = 0; i < 3; i++)
        sb_report_run_fini(&run[i]);
}

/* One file can be several tasks: whose figures are better, nobody can say. */
static void runs_of_other_labels_and_tests_stand_apart(void **state)
{
    (void)state;
    const char *const same[] = {TASK("classification", "ab", 9),
                                TASK("classification", "ab", 9)};
    const char *const other[] = {same[0], TASK("classification", "cd", 9)};
    const char *const task[] = {same[0], TASK("regression", "ab", 9)};
    const char *const tests[] = {same[0], TASK("classification", "ab", 8)};
    told_apart(same, "", "", (const char *[2]){0});
    told_apart(same, "y", "", (const char *[2]){0}); /* the last column, by its name */
    told_apart(other, "", "", (const char *[2]){0}); /* other columns are left out */
    told_apart(other, "y", "",
               (const char *[]){"d.csv, label in the last column", "d.csv, label y"});
    told_apart(task, "", "",
               (const char *[]){"d.csv, classification", "d.csv, regression"});
    told_apart(same, "", "ward",
               (const char *[]){"d.csv, rows each apart", "d.csv, rows apart by ward"});
    told_apart(tests, "", "",
               (const char *[]){"d.csv, 9 test examples", "d.csv, 8 test examples"});
}

/* Of drawn scales, noise of activations is the draw, whatever older results call it. */
static void noise_of_scales_is_a_draw(void **state)
{
    (void)state;
    struct sb_report_run run[2];
    struct sb_compare c;
    char sentence[SB_COMPARE_UNLIKE];
    run[0] = runs_make("a", "d", "lenet", "sebays", 3, 0.8, EVALUATED("", "draw"));
    run[1] = runs_make("b", "d", "lenet", "rank1-bnn", 4, 0,
                       EVALUATED("", "activation-noise"));
    assert_int_equal(sb_compare_init(&c, run, 2), SB_OK);
    assert_string_equal(sb_compare_unlike(&c, sentence), "");
    sb_compare_fini(&c);
    for (int i = 0; i < 2; i++)
        sb_report_run_fini(&run[i]);
}

/* Whether the paper has figures for such a recipe. */
static bool stands_beside(const char *method, const char *assignment)
{
    struct sb_recipe r;
    sb_recipe_init(&r);
    assert_int_equal(sb_recipe_set(&r, "data.set", "cifar10"), SB_OK);
    assert_int_equal(sb_recipe_set(&r, "model.arch", "wrn-28-10"), SB_OK);
    assert_int_equal(sb_recipe_set(&r, "method.name", method), SB_OK);
    assert_int_equal(sb_recipe_set(&r, "method.passes", "1"), SB_OK);
    assert_int_equal(sb_recipe_assign(&r, assignment), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_OK);
    return sb_paper_find(&r.config) != NULL;
}

/* The same name, members and sparsity, and yet another method: nothing stands beside it. */
static void other_networks_are_not_the_papers(void **state)
{
    (void)state;
    const char *const not_the_papers[][2] = {
        {"mimo", "method.posterior=gauss"},
        {"mimo", "method.support=static"},
        {"mimo", "method.repetitions=3"},
        {"mimo", "method.same_share=0.5"},
        {"mc-dropout", "method.passes=10"},
        {"mc-dropout", "method.dropout_rate=0.5"},
        {"mc-dropout", "method.dropout_mask=channels"},
        {"batch-ensemble", "method.scale_start=signs"},
        {"batch-ensemble", "method.scale_rate=1"},
        {"rank1-bnn", "method.scale_start=normal"},
        {"rank1-bnn", "method.scale_prior_sd=1"},
        {"treenet", "method.branch_at=group2.0"},
    };
    assert_true(stands_beside("mimo", "method.posterior=point"));
    assert_true(stands_beside("mimo", "method.support=dense"));
    assert_true(stands_beside("mimo", "method.dropout_rate=0.5")); /* which it has not */
    assert_true(stands_beside("mc-dropout", "method.passes=1"));
    assert_true(stands_beside("batch-ensemble", "method.scale_sd=1"));
    assert_true(stands_beside("rank1-bnn", "method.scale_spread=1"));
    assert_true(stands_beside("treenet", "method.branch_at=group3.1"));
    for (size_t i = 0; i < sizeof not_the_papers / sizeof *not_the_papers; i++)
        assert_false(stands_beside(not_the_papers[i][0], not_the_papers[i][1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_costs_that_differ_have_a_column),
        cmocka_unit_test(runs_that_were_not_evaluated_alike_are_named),
        cmocka_unit_test(noise_of_scales_is_a_draw),
        cmocka_unit_test(other_networks_are_not_the_papers),
        cmocka_unit_test(runs_of_other_labels_and_tests_stand_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
