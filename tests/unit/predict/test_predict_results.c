/* What a trained model answers through include/sebays.h gives the figures that training
 * reported for it, bit for bit: images as bytes with every way of sampling, tables as
 * floats. */
#include "data_fixture.h"

#include "figures/metrics.h"
#include "sebays.h"

enum { TRAIN = 64, TEST = 37, SIDE = 28, PIXELS = SIDE * SIDE, CLASSES = 3, MEMBERS = 2 };

/* ---- data ---- */

/* Images whose class is where they are bright, with noise. */
static void write_images(const char *images, const char *labels, uint32_t n,
                         uint8_t *pixels, uint8_t *label)
{
    static unsigned char file[16 + TRAIN * PIXELS];
    const unsigned char image_head[16] = {0, 0, 8, 3,    0, 0, 0, (unsigned char)n,
                                          0, 0, 0, SIDE, 0, 0, 0, SIDE};
    const unsigned char label_head[8] = {0, 0, 8, 1, 0, 0, 0, (unsigned char)n};
    struct sb_stream s = sb_rng_stream(n, SB_RNG_TEST, 0, 0, 0);
    for (uint32_t i = 0; i < n; i++) {
        label[i] = (uint8_t)(i % CLASSES);
        for (uint32_t k = 0; k < PIXELS; k++) {
            bool bright = k / SIDE / 10 == label[i];
            pixels[i * PIXELS + k] =
                (uint8_t)(sb_rng_uniform(&s, i * PIXELS + k) * 128 + (bright ? 60 : 0));
        }
    }
    memcpy(file, image_head, 16);
    memcpy(file + 16, pixels, (size_t)n * PIXELS);
    put(images, file, 16 + (size_t)n * PIXELS);
    memcpy(file, label_head, 8);
    memcpy(file + 8, label, n);
    put(labels, file, 8 + (size_t)n);
}

static uint8_t pixels[TRAIN * PIXELS], label[TRAIN]; /* in the end the test set's */

static void write_set(void)
{
    write_images("train-images-idx3-ubyte", "train-labels-idx1-ubyte", TRAIN, pixels,
                 label);
    write_images("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", TEST, pixels, label);
}

/* ---- training and predicting ---- */

static struct sebays_result *train(const char *const *assignments, const char *out)
{
    struct sebays_recipe *recipe;
    struct sebays_result *result;
    struct sebays_run_options o = {.out = out};
    static const char *const common[] = {"train.batch=10",          "method.members=2",
                                         "method.explore_epochs=2", "train.threads=2",
                                         "method.exploit_epochs=2", NULL};
    assert_int_equal(sebays_recipe_new(&recipe), SEBAYS_OK);
    for (size_t i = 0; common[i]; i++)
        assert_int_equal(sebays_recipe_assign(recipe, common[i]), SEBAYS_OK);
    for (size_t i = 0; assignments[i]; i++)
        assert_int_equal(sebays_recipe_assign(recipe, assignments[i]), SEBAYS_OK);
    assert_int_equal(sebays_recipe_check(recipe), SEBAYS_OK);
    sebays_status st = sebays_train(recipe, &o, &result);
    if (st != SEBAYS_OK)
        print_error("%s\n", sebays_message());
    assert_int_equal(st, SEBAYS_OK);
    sebays_recipe_free(recipe);
    return result;
}

static void same(struct sebays_scores have, const struct sb_scores *want)
{
    assert_true(have.accuracy == want->accuracy && have.nll == want->nll &&
                have.ece == want->ece && have.brier == want->brier);
}

/* Figures of what the model in `run` says about the examples, and the run's own. */
static void compare(const char *run, const struct sebays_result *result,
                    const struct sebays_predictor_options *o,
                    const struct sebays_examples *e, const int32_t *labels)
{
    static float p[MEMBERS * TRAIN * CLASSES];
    struct sebays_model *m;
    struct sebays_predictor *predictor;
    struct sebays_prediction out = {.members = p};
    const float *member[MEMBERS] = {p, p + e->count * CLASSES};
    struct sb_probs probs = {member, MEMBERS, e->count, CLASSES};
    struct sb_scores s;
    assert_int_equal(sebays_model_open(run, &m), SEBAYS_OK);
    assert_int_equal(sebays_model_members(m), MEMBERS);
    assert_int_equal(sebays_predictor_new(m, o, &predictor), SEBAYS_OK);
    assert_int_equal(sebays_predict(predictor, e, &out), SEBAYS_OK);
    assert_int_equal(sb_metrics_of(&probs, labels, 15, &s), SB_OK);
    same(sebays_result_ensemble(result), &s);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        struct sb_probs one = {&member[i], 1, e->count, CLASSES};
        assert_int_equal(sb_metrics_of(&one, labels, 15, &s), SB_OK);
        same(sebays_result_member(result, i), &s);
    }
    sebays_predictor_free(predictor);
    sebays_model_free(m);
}

static void images_get_the_figures_of_training(void **state)
{
    (void)state;
    static const struct {
        const char *set;
        struct sebays_predictor_options o;
    } ways[] = {
        {"eval.sampling=draw", {.max_batch = 1}},
        {"eval.sampling=draws", {.sampling = SEBAYS_DRAWS, .draws = 3}},
        {"eval.sampling=mean", {.sampling = SEBAYS_MEAN, .max_batch = 8, .threads = 1}},
        {"eval.sampling=activation-noise", {.sampling = SEBAYS_NOISE, .max_batch = 7}},
    };
    int32_t labels[TEST];
    write_set();
    for (int i = 0; i < TEST; i++)
        labels[i] = label[i];
    struct sebays_examples e = {.data = pixels, .count = TEST, .type = SEBAYS_U8};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        char run[16];
        const char *const recipe[] = {"data.set=.",         "data.validation=10",
                                      "method.name=sebays", "method.sparsity=0.8",
                                      "model.arch=lenet",   "eval.draws=3",
                                      ways[w].set,          NULL};
        snprintf(run, sizeof run, "run%zu", w);
        struct sebays_result *r = train(recipe, run);
        compare(run, r, &ways[w].o, &e, labels);
        sebays_result_free(r);
    }
}

/* Dense networks train on other products than those they are judged and used with. */
static void dense_networks_do_too(void **state)
{
    (void)state;
    int32_t labels[TEST];
    const char *const recipe[] = {"data.set=.", "data.validation=10",
                                  "method.name=dnn-ensemble", "model.arch=lenet", NULL};
    struct sebays_predictor_options o = {.max_batch = 5};
    write_set();
    for (int i = 0; i < TEST; i++)
        labels[i] = label[i];
    struct sebays_examples e = {.data = pixels, .count = TEST, .type = SEBAYS_U8};
    struct sebays_result *r = train(recipe, "run");
    compare("run", r, &o, &e, labels);
    sebays_result_free(r);
}

static void tables_do_too(void **state)
{
    (void)state;
    enum { ROWS = 30, FEATURES = 4 };
    static float x[ROWS * FEATURES];
    int32_t labels[ROWS];
    struct sb_stream s = sb_rng_stream(4, SB_RNG_TEST, 0, 0, 0);
    FILE *train_file = fopen("train.csv", "w"), *test_file = fopen("test.csv", "w");
    assert_true(train_file && test_file);
    for (int i = 0; i < 3 * ROWS; i++) {
        float row[FEATURES];
        for (int k = 0; k < FEATURES; k++)
            row[k] =
                0.25f * (float)(int)(40 * sb_rng_uniform(&s, (uint64_t)(4 * i + k))) +
                (float)(3 * (i % CLASSES));
        fprintf(i < 2 * ROWS ? train_file : test_file, "%g,%g,%g,%g,c%d\n",
                (double)row[0], (double)row[1], (double)row[2], (double)row[3],
                i % CLASSES);
        if (i < 2 * ROWS)
            continue;
        memcpy(x + (i - 2 * ROWS) * FEATURES, row, sizeof row);
        labels[i - 2 * ROWS] = i % CLASSES;
    }
    assert_int_equal(fclose(train_file) | fclose(test_file), 0);
    const char *const recipe[] = {"data.set=train.csv",
                                  "data.test=test.csv",
                                  "data.split=stratified",
                                  "method.name=sebays",
                                  "method.sparsity=0.5",
                                  "model.arch=mlp-30-20",
                                  NULL};
    struct sebays_predictor_options o = {.max_batch = 4};
    struct sebays_examples e = {.data = x, .count = ROWS, .type = SEBAYS_F32};
    struct sebays_result *r = train(recipe, "run");
    compare("run", r, &o, &e, labels);
    sebays_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(images_get_the_figures_of_training, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(dense_networks_do_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables_do_too, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
