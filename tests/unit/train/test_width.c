/* train/width: where the width of a mixture comes from; a run that needs one before it gives
 * the same model for any number of threads and whenever it is killed; conformal intervals do
 * not depend on it; members that are trained apart have the same one; what is refused. */
#include <math.h>

#include "data_fixture.h"
#include "runs.h"

enum { ROWS = 90, LEVELS = 2, ASKED = 8 };

/* Three numbers, a group, and an outcome that two of them say but for a tenth. */
static void put_outcomes(const char *path, uint32_t rows, uint32_t groups)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "a,b,c,g,y\n");
    for (uint32_t i = 0; i < rows; i++) {
        struct sb_stream s = sb_rng_stream(7, SB_RNG_TEST, 0, 0, 0);
        float z[4];
        sb_rng_normal4(&s, i, z);
        fprintf(f, "%.7g,%.7g,%.7g,%u,%.7g\n", (double)z[0], (double)z[1], (double)z[2],
                i % groups, (double)(20 * z[0] - 10 * z[1] + 2 * z[3]));
    }
    assert_int_equal(fclose(f), 0);
}

#define COMMON                                                                           \
    "data.label=y", "method.name=sebays", "method.members=2", "method.sparsity=0.4",     \
        "model.noise=per-example", "train.lr=0.02"
#define NONE   COMMON, "data.ignore=g", "model.width=none"
#define FITTED COMMON, "data.ignore=g", "model.width=fitted"

static double width_of(const char *run)
{
    struct sebays_model *model;
    assert_int_equal(sebays_model_open(run, &model), SEBAYS_OK);
    double width = sebays_model_target_width(model, 0);
    assert_true(isnan(sebays_model_target_width(model, 1)));
    sebays_model_free(model);
    return width;
}

static bool has(const char *run, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", run, name);
    return sb_file_exists(path);
}

struct answers {
    float mean[ASKED], sd[ASKED], aleatoric[ASKED], epistemic[ASKED];
    float quantile[ASKED * LEVELS], means[2 * ASKED], variances[2 * ASKED];
    double factor; /* NAN: no conformal intervals */
};

static struct answers ask(const char *run)
{
    static const double levels[LEVELS] = {0.05, 0.95};
    struct answers a = {.factor = NAN};
    struct sebays_model *model;
    struct sebays_predictor *p;
    float x[ASKED * 3];
    for (int i = 0; i < ASKED * 3; i++)
        x[i] = (float)(i % 7) - 3;
    struct sebays_examples e = {.data = x, .count = ASKED};
    struct sebays_outcomes o = {.mean = a.mean,
                                .sd = a.sd,
                                .aleatoric = a.aleatoric,
                                .epistemic = a.epistemic,
                                .levels = levels,
                                .level_count = LEVELS,
                                .quantiles = a.quantile,
                                .member_means = a.means,
                                .member_variances = a.variances};
    assert_int_equal(sebays_model_open(run, &model), SEBAYS_OK);
    assert_int_equal(sebays_predictor_new(model, NULL, &p), SEBAYS_OK);
    assert_int_equal(sebays_predict_outcomes(p, &e, &o), SEBAYS_OK);
    if (sebays_model_calibrated(model) > 0)
        assert_int_equal(sebays_model_conformal(model, 0, 0.5, &a.factor), SEBAYS_OK);
    sebays_predictor_free(p);
    sebays_model_free(model);
    return a;
}

/* b is a drawn apart by the width. */
static void check_drawn_apart(const struct answers *a, const struct answers *b,
                              double width)
{
    assert_memory_equal(a->means, b->means, sizeof a->means);
    assert_memory_equal(a->variances, b->variances, sizeof a->variances);
    assert_memory_equal(a->mean, b->mean, sizeof a->mean);
    for (int i = 0; i < ASKED; i++) {
        double sd = (double)a->sd[i], mean = (double)a->mean[i];
        assert_true(fabs((double)b->sd[i] - width * sd) < 1e-5 * sd);
        assert_true(fabs((double)b->aleatoric[i] - width * (double)a->aleatoric[i]) <
                    1e-5 * sd);
        assert_true(fabs((double)b->epistemic[i] - width * (double)a->epistemic[i]) <
                    1e-5 * sd);
        for (int k = 0; k < LEVELS; k++) {
            double was = (double)a->quantile[i * LEVELS + k] - mean;
            double is = (double)b->quantile[i * LEVELS + k] - mean;
            assert_true(fabs(is - width * was) < 1e-5 * (sd + fabs(mean)));
        }
    }
}

/* ---- where it comes from ---- */

static void all_rows_are_trained_on_all_the_same(void **state)
{
    static const char *const none[] = {NONE, "data.validation=0", NULL};
    static const char *const fitted[] = {FITTED, "data.validation=0", NULL};
    (void)state;
    put_outcomes("train.csv", ROWS, 30);
    assert_int_equal(run_train(none, "none", false, run_never), SEBAYS_OK);
    assert_int_equal(run_train(fitted, "fitted", false, run_never), SEBAYS_OK);
    assert_true(has("fitted/width", "model.safetensors") && !has("none", "width"));
    double width = width_of("fitted"), first = width_of("fitted/width");
    assert_true(width_of("none") == 1 && width != 1);
    assert_true(fabs(width - (first > 1 ? sqrt(first) : first)) < 1e-6);
    struct answers a = ask("none"), b = ask("fitted");
    check_drawn_apart(&a, &b, width);
}

static void validation_rows_tell_it_without_another_run(void **state)
{
    static const char *const none[] = {NONE, NULL}, *const fitted[] = {FITTED, NULL};
    (void)state;
    put_outcomes("train.csv", ROWS, 30);
    assert_int_equal(run_train(none, "none", false, run_never), SEBAYS_OK);
    assert_int_equal(run_train(fitted, "fitted", false, run_never), SEBAYS_OK);
    assert_true(!has("fitted", "width") && width_of("fitted") != 1);
    struct answers a = ask("none"), b = ask("fitted");
    check_drawn_apart(&a, &b, width_of("fitted"));
}

/* Deviations are other ones, and scores with them. */
static void conformal_intervals_do_not_depend_on_it(void **state)
{
    static const char *const none[] = {NONE, "data.calibration=0.2", NULL};
    static const char *const fitted[] = {FITTED, "data.calibration=0.2", NULL};
    (void)state;
    put_outcomes("train.csv", ROWS, 30);
    assert_int_equal(run_train(none, "none", false, run_never), SEBAYS_OK);
    assert_int_equal(run_train(fitted, "fitted", false, run_never), SEBAYS_OK);
    assert_true(!has("fitted", "width") && width_of("fitted") != 1);
    struct answers a = ask("none"), b = ask("fitted");
    check_drawn_apart(&a, &b, width_of("fitted"));
    for (int i = 0; i < ASKED; i++) {
        double was = a.factor * (double)a.sd[i], is = b.factor * (double)b.sd[i];
        assert_true(fabs(was - is) < 1e-5 * was);
    }
}

/* ---- the same bits ---- */

static void any_kill_gives_the_same_model(void **state)
{
    static const char *const run[] = {FITTED, "data.validation=0",
                                      "train.checkpoint_seconds=1e-9", NULL};
    static const char *const threads[] = {FITTED, "data.validation=0", "train.threads=3",
                                          NULL};
    bool killed = true;
    long after = 0;
    (void)state;
    put_outcomes("train.csv", ROWS, 30);
    assert_false(run_killed(run, "whole", false, -1));
    assert_false(run_killed(threads, "threads", false, -1));
    same_models("whole", "threads");
    for (; killed; after++) {
        char out[32];
        snprintf(out, sizeof out, "killed%ld", after);
        killed = run_killed(run, out, false, after);
        if (killed)
            run_killed(run, out, true, after / 2);
        if (killed)
            assert_false(run_killed(run, out, true, -1));
        same_models("whole", out);
        snprintf(out, sizeof out, "killed%ld/width", after);
        same_models("whole/width", out);
    }
    assert_in_range(after, 30, 60);
}

/* Asked to stop while the width is looked for, and when it is known. */
static void a_run_that_was_stopped_goes_on(void **state)
{
    static const char *const run[] = {FITTED, "data.validation=0", NULL};
    (void)state;
    put_outcomes("train.csv", ROWS, 30);
    assert_int_equal(run_train(run, "whole", false, run_never), SEBAYS_OK);
    assert_int_equal(run_train(run, "run", false, (struct run_stop){.after = 4}),
                     SEBAYS_ECANCELED);
    assert_true(has("run/width", "recipe.ini") && !has("run/width", "model.safetensors"));
    assert_int_equal(run_train(run, "run", true, (struct run_stop){.after = 20}),
                     SEBAYS_ECANCELED);
    assert_true(has("run/width", "model.safetensors") &&
                !has("run", "model.safetensors"));
    assert_int_equal(run_train(run, "run", true, run_never), SEBAYS_OK);
    same_models("whole", "run");
    assert_int_equal(run_train(run, "run", true, run_never), SEBAYS_OK);
    same_models("whole", "run");
}

static void members_trained_apart_have_the_same(void **state)
{
    static const char *const bays[] = {
        "data.label=y",       "data.ignore=g",     "method.name=bays",
        "method.members=2",   "method.sparsity=0", "model.noise=per-example",
        "model.width=fitted", "train.lr=0.02",     NULL};
    static const char *const directories[] = {"member-1", "member-0"};
    struct sebays_result *result;
    (void)state;
    put_outcomes("train.csv", ROWS, 30);
    assert_int_equal(run_train(bays, "whole", false, run_never), SEBAYS_OK);
    assert_true(width_of("whole") != 1);
    for (uint32_t k = 0; k < 2; k++) {
        struct sebays_recipe *r = run_recipe(bays);
        struct sebays_run_options o = {
            .out = directories[1 - k], .one_member = true, .member = k};
        assert_int_equal(sebays_train(r, &o, &result), SEBAYS_OK);
        sebays_result_free(result);
        sebays_recipe_free(r);
    }
    struct sebays_recipe *r = run_recipe(bays);
    struct sebays_run_options o = {.out = "merged"};
    assert_int_equal(sebays_merge(r, &o, directories, 2, &result), SEBAYS_OK);
    sebays_result_free(result);
    sebays_recipe_free(r);
    same_models("whole", "merged");
}

/* Of a run that is trained and then only concluded, with the one before it. */
static void failed_allocations_are_survived(void **state)
{
    static const char *const run[] = {FITTED, "data.validation=0", NULL};
    (void)state;
    put_outcomes("train.csv", ROWS, 30);
    assert_int_equal(run_train(run, "whole", false, run_never), SEBAYS_OK);
    assert_int_equal(run_train(run, "run", false, run_never), SEBAYS_OK);
    struct sebays_recipe *r = run_recipe(run);
    struct sebays_run_options o = {.out = "run", .resume = true};
    size_t live = sb_mem_live();
    sebays_status st = SEBAYS_ENOMEM;
    long n = 0;
    for (; st != SEBAYS_OK && n < 100000; n += 1 + n / 30) {
        struct sebays_result *result;
        sb_mem_fail_after(n);
        st = sebays_train(r, &o, &result);
        sb_mem_fail_after(-1);
        sebays_result_free(result);
        assert_true(st == SEBAYS_OK || st == SEBAYS_ENOMEM);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_in_range(n, 500, 99999);
    sebays_recipe_free(r);
    same_models("whole", "run");
}

/* ---- odd data, refusals ---- */

static void one_group_cannot_be_cut(void **state)
{
    static const char *const run[] = {COMMON,
                                      "data.group=g",
                                      "data.test_share=0",
                                      "data.validation=0",
                                      "model.width=fitted",
                                      NULL};
    (void)state;
    put_outcomes("train.csv", ROWS, 1);
    assert_int_equal(run_train(run, "one", false, run_never), SEBAYS_OK);
    assert_true(width_of("one") == 1);
    put_outcomes("train.csv", ROWS, 9);
    assert_int_equal(run_train(run, "nine", false, run_never), SEBAYS_OK);
    assert_true(width_of("nine") != 1);
}

static void what_cannot_be_is_refused(void **state)
{
    static const char *const classes[] = {"model.width=fitted", NULL};
    static const char *const apart[] = {"data.label=y",      "data.ignore=g",
                                        "method.name=bays",  "model.width=fitted",
                                        "data.validation=0", NULL};
    static const char *const few[] = {FITTED, "data.validation=0", NULL};
    (void)state;
    put_table("train.csv", RUN_ROWS);
    refused((int)run_train(classes, "run", false, run_never), SEBAYS_EARG,
            "model.width = fitted is for regression: it makes the intervals of "
            "continuous targets wider or narrower; leave it out");
    put_outcomes("train.csv", ROWS, 30);
    refused((int)run_train(apart, "run", false, run_never), SEBAYS_EARG,
            "model.width = fitted: bays trains its members apart, and on all rows; hold "
            "some out with data.validation or data.calibration, or leave it out");
    put_outcomes("train.csv", 20, 4);
    refused((int)run_train(few, "run", false, run_never), SEBAYS_EARG,
            "model.width = fitted: there are 16 rows to train on, of which 15 % are too "
            "few to tell; want at least 20, or leave it out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_rows_are_trained_on_all_the_same, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(validation_rows_tell_it_without_another_run,
                                        run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(conformal_intervals_do_not_depend_on_it,
                                        run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_kill_gives_the_same_model, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_run_that_was_stopped_goes_on, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(members_trained_apart_have_the_same, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(failed_allocations_are_survived, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(one_group_cannot_be_cut, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_refused, run_set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
