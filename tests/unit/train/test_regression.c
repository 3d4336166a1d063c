/* Regression from a table to answers: killed and resumed runs and any number of threads give
 * the same model, for every form and both kinds of noise; the epoch is chosen by nll; answers
 * are those of the mixture of the members, whoever asks and how; conformal prediction. */
#include <math.h>

#include "data_fixture.h"
#include "runs.h"

enum { ROWS = 90, TARGETS = 2, FEATURES = 3 };

static float truth(uint32_t i, uint32_t k)
{
    static const float slope[TARGETS] = {30.0f, -0.5f};
    struct sb_stream s = sb_rng_stream(7, SB_RNG_TEST, 0, 0, 0);
    float z[4];
    sb_rng_normal4(&s, i, z);
    return slope[k] * (z[0] + 0.3f * z[1] * z[2] + 0.2f * z[3]);
}

static void feature(uint32_t i, float out[FEATURES])
{
    struct sb_stream s = sb_rng_stream(7, SB_RNG_TEST, 0, 0, 0);
    float z[4];
    sb_rng_normal4(&s, i, z);
    memcpy(out, z, FEATURES * sizeof *out);
}

/* Three numbers, a group and two outcomes of very different size. */
static void put_outcomes(const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "a,b,c,g,big,small\n");
    for (uint32_t i = 0; i < ROWS; i++) {
        float x[FEATURES];
        feature(i, x);
        fprintf(f, "%.7g,%.7g,%.7g,%u,%.7g,%.7g\n", (double)x[0], (double)x[1],
                (double)x[2], i % 30, (double)truth(i, 0), (double)truth(i, 1));
    }
    assert_int_equal(fclose(f), 0);
}

/* ---- runs ---- */

#define COMMON                                                                           \
    "data.label=big,small", "data.group=g", "method.sparsity=0.4", "train.lr=0.02",      \
        "train.checkpoint_seconds=1e-9"
#define DENSE                                                                            \
    "data.label=big,small", "data.ignore=g", "train.lr=0.02",                            \
        "train.checkpoint_seconds=1e-9"

static const char *const runs[][14] = {
    {COMMON, "method.name=sebays", "method.members=2", "data.calibration=0.2",
     "model.noise=shared", NULL},
    {COMMON, "method.name=sebays", "method.members=2", "model.noise=per-example",
     "train.clip=0.5", NULL},
    {COMMON, "method.name=edst", "method.members=2", "method.step_on_update=yes",
     "model.noise=shared", NULL},
    {DENSE, "method.name=ltr", "method.members=2", "method.sparsity=0.4",
     "model.noise=shared", NULL},
    {DENSE, "method.name=mimo", "method.members=2", "model.noise=per-example", NULL},
    {DENSE, "method.name=treenet", "method.members=2", "model.noise=shared", NULL},
    {DENSE, "method.name=batch-ensemble", "method.members=2", "model.noise=per-example",
     NULL},
    {DENSE, "method.name=rank1-bnn", "method.members=2", "model.noise=shared", NULL},
    {DENSE, "method.name=mc-dropout", "method.passes=3", "model.noise=shared", NULL},
};
enum { RUNS = sizeof runs / sizeof *runs };

/* The assignments of a run and one more. */
static const char *const *with(const char *const *run, const char *more,
                               const char *out[16])
{
    size_t n = 0;
    for (; run[n]; n++)
        out[n] = run[n];
    out[n] = more;
    out[n + 1] = NULL;
    return out;
}

static void any_threads_and_any_kill_give_the_same_model(void **state)
{
    (void)state;
    const char *all[16];
    put_outcomes("train.csv");
    for (int i = 0; i < RUNS; i++) {
        char whole[32], threads[32], killed[32];
        snprintf(whole, sizeof whole, "whole%d", i);
        snprintf(threads, sizeof threads, "threads%d", i);
        snprintf(killed, sizeof killed, "killed%d", i);
        assert_false(run_killed(runs[i], whole, false, -1));
        assert_false(
            run_killed(with(runs[i], "train.threads=3", all), threads, false, -1));
        same_models(whole, threads);
        assert_true(run_killed(runs[i], killed, false, 4));
        assert_true(run_killed(with(runs[i], "train.threads=2", all), killed, true, 3));
        assert_false(run_killed(runs[i], killed, true, -1));
        same_models(whole, killed);
    }
}

/* Of those that may be chosen, the member's epoch has the least validation nll. */
static void the_epoch_is_chosen_by_nll(void **state)
{
    (void)state;
    static const char *const settings[] = {"data.label=big,small",    "data.ignore=g",
                                           "method.name=dnn",         "train.lr=0.05",
                                           "method.exploit_epochs=8", NULL};
    struct sb_map map;
    double least = INFINITY, chosen = NAN;
    long best = 0, epoch;
    put_outcomes("train.csv");
    assert_false(run_killed(settings, "run", false, -1));
    assert_int_equal(sb_map_open(&map, "run/metrics.jsonl"), SB_OK);
    char *text = calloc(map.size + 1, 1);
    assert_non_null(text);
    memcpy(text, map.data, map.size);
    sb_map_close(&map);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        const char *nll = strstr(line, "\"val_nll\":"), *at = strstr(line, "\"epoch\":");
        assert_true(nll && at && strstr(line, "\"val_rmse\":"));
        if (!strstr(line, "\"exploit\""))
            continue;
        double x = strtod(nll + strlen("\"val_nll\":"), NULL);
        epoch = strtol(at + strlen("\"epoch\":"), NULL, 10);
        best = x < least ? epoch : best;
        least = x < least ? x : least;
    }
    free(text);
    char *inspected;
    assert_int_equal(sebays_inspect("run", &inspected), SEBAYS_OK);
    const char *row = strstr(inspected, "sample seed\n");
    assert_non_null(row);
    assert_int_equal(
        sscanf(row + strlen("sample seed\n"), "%*u %ld %lf", &epoch, &chosen), 2);
    assert_int_equal(epoch, best);
    assert_true(fabs(chosen - least) < 1e-3);
    sebays_text_free(inspected);
}

/* Rows count as their weights say; there are no classes to be balanced. */
static void rows_have_weights(void **state)
{
    (void)state;
    static const char *const plain[] = {"data.label=big,small", "data.ignore=g", NULL};
    static const char *const weighted[] = {"data.label=big,small", "data.weight=g", NULL};
    static const char *const balanced[] = {"data.label=big,small", "data.ignore=g",
                                           "train.class_weights=balanced", NULL};
    struct sb_map m, n;
    put_outcomes("train.csv");
    assert_false(run_killed(plain, "plain", false, -1));
    assert_false(run_killed(weighted, "weighted", false, -1));
    assert_int_equal(sb_map_open(&m, "plain/metrics.jsonl"), SB_OK);
    assert_int_equal(sb_map_open(&n, "weighted/metrics.jsonl"), SB_OK);
    assert_true(m.size != n.size || memcmp(m.data, n.data, m.size) != 0);
    sb_map_close(&m);
    sb_map_close(&n);
    refused((int)run_train(balanced, "balanced", false, run_never), SEBAYS_EARG,
            "train.class_weights = balanced: train.csv has continuous targets and no "
            "classes; leave it out, or weigh rows with data.weight");
}

/* ---- answers ---- */

struct predicted {
    float mean[ROWS * TARGETS], sd[ROWS * TARGETS];
    float aleatoric[ROWS * TARGETS], epistemic[ROWS * TARGETS];
    float quantile[ROWS * TARGETS * 3];
    float means[2 * ROWS * TARGETS], variances[2 * ROWS * TARGETS];
};

static const double levels[3] = {0.05, 0.5, 0.95};

static void ask(const struct sebays_model *model, uint32_t max_batch, uint32_t threads,
                struct predicted *a)
{
    float x[ROWS * FEATURES];
    struct sebays_predictor *p;
    struct sebays_predictor_options o = {.max_batch = max_batch, .threads = threads};
    for (uint32_t i = 0; i < ROWS; i++)
        feature(i, x + (size_t)i * FEATURES);
    struct sebays_examples e = {.data = x, .count = ROWS};
    struct sebays_outcomes out = {.mean = a->mean,
                                  .sd = a->sd,
                                  .aleatoric = a->aleatoric,
                                  .epistemic = a->epistemic,
                                  .levels = levels,
                                  .level_count = 3,
                                  .quantiles = a->quantile,
                                  .member_means = a->means,
                                  .member_variances = a->variances};
    memset(a, 0, sizeof *a);
    assert_int_equal(sebays_predictor_new(model, &o, &p), SEBAYS_OK);
    assert_int_equal(sebays_predict_outcomes(p, &e, &out), SEBAYS_OK);
    sebays_predictor_free(p);
}

static double phi(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* One target of one example is the mixture of its two members, drawn apart by the width. */
static void check_mixture(const struct predicted *a, size_t at, double width)
{
    double m[2], v[2];
    for (size_t k = 0; k < 2; k++) {
        m[k] = (double)a->means[k * ROWS * TARGETS + at];
        v[k] = (double)a->variances[k * ROWS * TARGETS + at];
    }
    double mean = (m[0] + m[1]) / 2;
    for (size_t k = 0; k < 2; k++) {
        m[k] = mean + width * (m[k] - mean);
        v[k] *= width * width;
    }
    double data = (v[0] + v[1]) / 2;
    double apart = (m[0] - m[1]) * (m[0] - m[1]) / 4, sd = sqrt(data + apart);
    assert_true(fabs((double)a->mean[at] - mean) <= 1e-5 * sd + 1e-6 * fabs(mean));
    assert_true(fabs((double)a->sd[at] - sd) <= 1e-5 * sd);
    assert_true(fabs((double)a->aleatoric[at] - sqrt(data)) <= 1e-5 * sd);
    assert_true(fabs((double)a->epistemic[at] - sqrt(apart)) <= 1e-4 * sd);
    for (int k = 0; k < 3; k++) {
        double x = (double)a->quantile[at * 3 + (size_t)k];
        double below = (phi((x - m[0]) / sqrt(v[0])) + phi((x - m[1]) / sqrt(v[1]))) / 2;
        assert_true(fabs(below - levels[k]) < 1e-4);
    }
}

static void answers_are_the_mixture_of_the_members(void **state)
{
    (void)state;
    put_outcomes("train.csv");
    for (int i = 0; i < 2; i++) { /* both kinds of noise */
        struct sebays_model *model;
        static struct predicted a, b;
        const char *out = i == 0 ? "shared" : "own";
        assert_false(run_killed(runs[i], out, false, -1));
        assert_int_equal(sebays_model_open(out, &model), SEBAYS_OK);
        assert_true(sebays_model_targets(model) == 2 && sebays_model_classes(model) == 0);
        assert_string_equal(sebays_model_target_name(model, 0), "big");
        assert_string_equal(sebays_model_target_name(model, 1), "small");
        assert_null(sebays_model_target_name(model, 2));
        ask(model, 64, 1, &a);
        for (size_t k = 0; k < (size_t)ROWS * TARGETS; k++)
            check_mixture(&a, k,
                          sebays_model_target_width(model, (uint32_t)(k % TARGETS)));
        for (size_t k = 1; k < ROWS; k++) /* one variance for all, or each its own */
            assert_int_equal(a.variances[0] == a.variances[k * TARGETS], i == 0);
        ask(model, 7, 3, &b);
        assert_memory_equal(&a, &b, sizeof a);
        ask(model, 1, 1, &b);
        assert_memory_equal(&a, &b, sizeof a);
        sebays_model_free(model);
    }
}

/* The figures of results.json are those of the answers, in the units of the table. */
static void results_have_named_figures(void **state)
{
    (void)state;
    struct sebays_result *r;
    put_outcomes("train.csv");
    assert_false(run_killed(runs[0], "run", false, -1));
    assert_int_equal(sebays_result_load("run", &r), SEBAYS_OK);
    static const char *const names[] = {"nll", "rmse", "mae", "crps"};
    assert_int_equal(sebays_result_figures(r), 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(sebays_result_figure_name(r, i), names[i]);
        assert_false(sebays_result_figure_rises(r, i));
        assert_true(isfinite(sebays_result_figure(r, 2, i)));
        assert_true(isnan(sebays_result_figure(r, 3, i)));
    }
    assert_null(sebays_result_figure_name(r, 4));
    double rmse = sebays_result_figure(r, 2, 1);
    assert_true(rmse > 1.0 && rmse < 60.0); /* of big and small together */
    assert_true(sebays_result_ensemble(r).nll == sebays_result_figure(r, 2, 0));
    assert_true(isnan(sebays_result_ensemble(r).accuracy));
    sebays_result_free(r);
}

static void conformal_factors_come_from_the_calibration_part(void **state)
{
    (void)state;
    struct sebays_model *model;
    double narrow, wide;
    put_outcomes("train.csv");
    assert_false(run_killed(runs[0], "run", false, -1));
    assert_int_equal(sebays_model_open("run", &model), SEBAYS_OK);
    uint32_t n = sebays_model_calibrated(model);
    assert_true(n >= 12 && n <= 18); /* whole groups, a fifth of what is not tested */
    for (uint32_t t = 0; t < TARGETS; t++) {
        assert_int_equal(sebays_model_conformal(model, t, 0.5, &narrow), SEBAYS_OK);
        assert_int_equal(sebays_model_conformal(model, t, 0.8, &wide), SEBAYS_OK);
        assert_true(narrow > 0 && narrow < wide && isfinite(wide));
    }
    assert_int_equal(sebays_model_conformal(model, 0, 0.999, &wide), SEBAYS_OK);
    assert_true(isinf(wide)); /* too few examples for so much */
    refused(sebays_model_conformal(model, 2, 0.5, &wide), SEBAYS_EARG,
            "conformal: target 2 of 2");
    refused(sebays_model_conformal(model, 0, 1.5, &wide), SEBAYS_EARG,
            "conformal: a coverage of 1.5; want one in (0, 1)");
    sebays_model_free(model);
    assert_false(run_killed(runs[1], "without", false, -1));
    assert_int_equal(sebays_model_open("without", &model), SEBAYS_OK);
    assert_int_equal(sebays_model_calibrated(model), 0);
    refused(sebays_model_conformal(model, 0, 0.9, &wide), SEBAYS_EARG,
            "the model was trained without a calibration part, which conformal "
            "prediction needs; train it with data.calibration, such as 0.15");
    sebays_model_free(model);
}

static void the_wrong_question_is_refused(void **state)
{
    (void)state;
    struct sebays_model *model;
    struct sebays_predictor *p;
    const float x[FEATURES] = {0};
    float out[4];
    struct sebays_examples e = {.data = x, .count = 1};
    put_outcomes("train.csv");
    assert_false(run_killed(runs[1], "run", false, -1));
    assert_int_equal(sebays_model_open("run", &model), SEBAYS_OK);
    assert_int_equal(sebays_predictor_new(model, NULL, &p), SEBAYS_OK);
    refused(sebays_predict(p, &e, &(struct sebays_prediction){.probabilities = out}),
            SEBAYS_EARG,
            "the model predicts continuous targets, which have no probabilities; ask for "
            "outcomes");
    const double outside[] = {1.0};
    struct sebays_outcomes o = {.quantiles = out, .level_count = 1};
    refused(sebays_predict_outcomes(p, &e, &o), SEBAYS_EARG,
            "outcomes: quantiles are wanted, but levels is NULL");
    o.levels = outside;
    refused(sebays_predict_outcomes(p, &e, &o), SEBAYS_EARG,
            "outcomes: level 0 is 1; want one in (0, 1)");
    sebays_predictor_free(p);
    sebays_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_threads_and_any_kill_give_the_same_model,
                                        run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_epoch_is_chosen_by_nll, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(rows_have_weights, run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(answers_are_the_mixture_of_the_members,
                                        run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(results_have_named_figures, run_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(conformal_factors_come_from_the_calibration_part,
                                        run_set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_wrong_question_is_refused, run_set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("train/regression", tests, NULL, NULL);
}
