/* prediction of files through include/sebays.h: the bits of sebays_predict whatever the file,
 * images that are made to fit, names, cancelling, and every failure survived. */
#include "data_fixture.h"

#include "data/adapt.h"
#include "models.h"
#include "sebays.h"

enum { IMAGES = 20, SIDE = 28, CLASSES = 10, MEMBERS = 2, FEATURES = 2, ROWS = 30 };

static uint8_t pixels[IMAGES * SIDE * SIDE];

/* IMAGES grey ones of that size. */
static void write_images(const char *path, uint32_t side)
{
    static unsigned char file[16 + sizeof pixels];
    const unsigned char head[16] = {0, 0, 8, 3,
                                    0, 0, 0, IMAGES,
                                    0, 0, 0, (unsigned char)side,
                                    0, 0, 0, (unsigned char)side};
    models_pixels(pixels, sizeof pixels);
    memcpy(file, head, 16);
    memcpy(file + 16, pixels, (size_t)IMAGES * side * side);
    put(path, file, 16 + (size_t)IMAGES * side * side);
}

static struct sebays_model *image_model(void)
{
    struct sebays_model *m;
    assert_int_equal(models_write("model", "lenet", 0.2, true, MEMBERS), SB_OK);
    assert_int_equal(sebays_model_open("model", &m), SEBAYS_OK);
    assert_int_equal(sebays_model_height(m), SIDE);
    return m;
}

struct answers {
    float p[ROWS * CLASSES], members[MEMBERS * ROWS * CLASSES];
};

/* What a feed says, taken `most` at a time; returns how many there are. */
static size_t ask(const struct sebays_model *m, const char *path, size_t most,
                  const struct sebays_predictor_options *o, struct answers *a)
{
    struct sebays_feed *feed;
    struct sebays_predictor *p;
    size_t all = 0, got = 1, classes = sebays_model_classes(m);
    sebays_status st = sebays_feed_open(m, path, NULL, &feed);
    if (st != SEBAYS_OK)
        print_message("%s\n", sebays_message());
    assert_int_equal(st, SEBAYS_OK);
    assert_int_equal(sebays_predictor_new(m, o, &p), SEBAYS_OK);
    while (got > 0) {
        float part[MEMBERS * ROWS * CLASSES];
        struct sebays_prediction out = {.probabilities = a->p + all * classes,
                                        .members = part};
        assert_int_equal(sebays_feed_predict(feed, p, most, &out, &got), SEBAYS_OK);
        assert_true(got <= most && all + got <= ROWS);
        for (size_t k = 0; k < MEMBERS; k++)
            memcpy(a->members + (k * ROWS + all) * classes, part + k * got * classes,
                   got * classes * sizeof *part);
        all += got;
    }
    assert_int_equal(
        sebays_feed_predict(feed, p, most, &(struct sebays_prediction){0}, &got),
        SEBAYS_OK);
    assert_int_equal(got, 0);
    sebays_predictor_free(p);
    sebays_feed_free(feed);
    return all;
}

/* What sebays_predict says about n examples in memory. */
static void want_of(const struct sebays_model *m, const struct sebays_examples *e,
                    const struct sebays_predictor_options *o, struct answers *a)
{
    struct sebays_predictor *p;
    size_t row = sebays_model_classes(m) * e->count;
    float part[MEMBERS * ROWS * CLASSES];
    struct sebays_prediction out = {.probabilities = a->p, .members = part};
    assert_int_equal(sebays_predictor_new(m, o, &p), SEBAYS_OK);
    assert_int_equal(sebays_predict(p, e, &out), SEBAYS_OK);
    for (size_t k = 0; k < MEMBERS; k++)
        memcpy(a->members + k * ROWS * sebays_model_classes(m), part + k * row,
               row * sizeof *part);
    sebays_predictor_free(p);
}

static void images_in_place_and_made_to_fit(void **state)
{
    (void)state;
    static struct answers want, have;
    static uint8_t fit[sizeof pixels];
    const struct sebays_predictor_options o = {.sampling = SEBAYS_NOISE, .threads = 2};
    const struct sb_image_shape shape = {1, SIDE, SIDE};
    struct sebays_model *m = image_model();
    struct sebays_examples e = {.data = pixels, .count = IMAGES, .type = SEBAYS_U8};
    write_images("t10k-images-idx3-ubyte", SIDE);
    write_images("train-images-idx3-ubyte", 9);
    want_of(m, &e, &o, &want);
    for (size_t most = 1; most < 25; most += 6) {
        memset(&have, 0, sizeof have);
        assert_int_equal(ask(m, "./t10k-images-idx3-ubyte", most, &o, &have), IMAGES);
        assert_memory_equal(&have, &want, sizeof want);
    }
    struct sb_dataset small, view;
    const struct sb_open_options open = {.unlabelled = true};
    assert_int_equal(sb_dataset_open_with(&small, "train-images-idx3-ubyte", &open),
                     SB_OK);
    assert_int_equal(sb_adapt(&view, &small, &shape), SB_OK);
    for (uint32_t i = 0; i < IMAGES; i++)
        assert_int_equal(view.fetch(&view, i, fit + i * SIDE * SIDE), SB_OK);
    sb_dataset_fini(&small);
    e.data = fit;
    want_of(m, &e, &o, &want);
    assert_int_equal(ask(m, "./train-images-idx3-ubyte", 7, &o, &have), IMAGES);
    assert_memory_equal(&have, &want, sizeof want);
    sebays_model_free(m);
}

/* A table model, trained for a moment. */
static struct sebays_model *table_model(float x[ROWS * FEATURES])
{
    static const char *const recipe[] = {
        "data.set=train.csv",      "data.split=stratified",   "train.batch=10",
        "method.members=2",        "method.explore_epochs=1", "train.threads=1",
        "method.exploit_epochs=1", "method.name=sebays",      "model.arch=mlp-8",
        "method.delta_t=1"};
    struct sebays_recipe *r;
    struct sebays_result *result;
    struct sebays_model *m;
    FILE *f = fopen("train.csv", "w");
    assert_non_null(f);
    fprintf(f, "size,colour,class\n");
    for (int i = 0; i < ROWS; i++) {
        fprintf(f, "%g,%s,c%d\n", 0.25 * i, i % 2 ? "red" : "green", i % 3);
        x[i * FEATURES] = 0.25f * (float)i;
        x[i * FEATURES + 1] = (float)(i % 2); /* green, red */
    }
    assert_int_equal(fclose(f), 0);
    assert_int_equal(sebays_recipe_new(&r), SEBAYS_OK);
    for (size_t i = 0; i < sizeof recipe / sizeof *recipe; i++)
        assert_int_equal(sebays_recipe_assign(r, recipe[i]), SEBAYS_OK);
    assert_int_equal(sebays_recipe_check(r), SEBAYS_OK);
    assert_int_equal(sebays_train(r, &(struct sebays_run_options){.out = "run"}, &result),
                     SEBAYS_OK);
    sebays_result_free(result);
    sebays_recipe_free(r);
    assert_int_equal(sebays_model_open("run", &m), SEBAYS_OK);
    return m;
}

static void tables_row_by_row(void **state)
{
    (void)state;
    static struct answers want, have;
    float x[ROWS * FEATURES];
    struct sebays_feed *feed;
    struct sebays_model *m = table_model(x);
    struct sebays_examples e = {.data = x, .count = ROWS};
    want_of(m, &e, NULL, &want);
    for (size_t most = 1; most < 40; most += 9) {
        memset(&have, 0, sizeof have);
        assert_int_equal(ask(m, "./train.csv", most, NULL, &have), ROWS);
        assert_memory_equal(&have, &want, sizeof want);
    }
    assert_int_equal(sebays_feed_open(m, "./train.csv", NULL, &feed), SEBAYS_OK);
    assert_int_equal(sebays_feed_count(feed), 0);
    assert_null(sebays_feed_name(feed, 0));
    sebays_feed_free(feed);
    write_images("t10k-images-idx3-ubyte", SIDE);
    refused(
        (int)sebays_feed_open(m, "./t10k-images-idx3-ubyte", NULL, &feed), SEBAYS_EARG,
        "./t10k-images-idx3-ubyte has images of 1 x 28 x 28, but the model takes rows "
        "of 2 features");
    assert_null(feed);
    sebays_model_free(m);
}

/* [ROWS][FEATURES] floats as an array of NumPy. */
static void write_rows(const char *path, const float *x)
{
    char head[129];
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    snprintf(head, sizeof head, "%-117s\n",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (30, 2)}");
    assert_int_equal(fwrite("\x93NUMPY\1\0\x76\0", 10, 1, f), 1);
    assert_int_equal(fwrite(head, 118, 1, f), 1);
    assert_int_equal(fwrite(x, FEATURES * sizeof *x, ROWS, f), ROWS);
    assert_int_equal(fclose(f), 0);
}

/* What a feed says of all its rows at its end. */
static void assert_note(const struct sebays_model *m, const char *path, const char *want)
{
    static float probabilities[ROWS * CLASSES];
    struct sebays_prediction out = {.probabilities = probabilities};
    struct sebays_feed *feed;
    struct sebays_predictor *p;
    size_t got = 1;
    assert_int_equal(sebays_feed_open(m, path, NULL, &feed), SEBAYS_OK);
    assert_int_equal(sebays_predictor_new(m, NULL, &p), SEBAYS_OK);
    while (got > 0)
        assert_int_equal(sebays_feed_predict(feed, p, 7, &out, &got), SEBAYS_OK);
    if (want)
        assert_string_equal(sebays_feed_note(feed), want);
    else
        assert_null(sebays_feed_note(feed));
    sebays_predictor_free(p);
    sebays_feed_free(feed);
}

/* Text, an array in a file and one in memory: the same mean counts, and it is told of. */
static void missing_numbers_are_the_mean_and_told_of(void **state)
{
    (void)state;
    static struct answers want, have;
    float x[ROWS * FEATURES], p[ROWS * CLASSES];
    struct sebays_predictor *predictor;
    struct sebays_prediction out = {.probabilities = p};
    struct sebays_model *m = table_model(x);
    struct sebays_examples e = {.data = x, .count = ROWS};
    FILE *f = fopen("lacks.csv", "w");
    assert_non_null(f);
    write_rows("x.npy", x);
    assert_note(m, "./x.npy", NULL);
    assert_int_equal(sebays_predictor_new(m, NULL, &predictor), SEBAYS_OK);
    assert_int_equal(sebays_predict(predictor, &e, &out), SEBAYS_OK);
    assert_null(sebays_predictor_note(predictor));
    fprintf(f, "size,colour,class\n");
    for (int i = 0; i < ROWS; i++) {
        const char *colour = i % 2 ? "red" : "green";
        if (i > 3 && i % 9 == 4) {
            x[i * FEATURES] = NAN;
            fprintf(f, ",%s,c%d\n", colour, i % 3);
        } else
            fprintf(f, "%g,%s,c%d\n", 0.25 * i, colour, i % 3);
    }
    assert_int_equal(fclose(f), 0);
    write_rows("lacks.npy", x);
    assert_int_equal(ask(m, "./lacks.csv", 7, NULL, &want), ROWS);
    assert_int_equal(ask(m, "./lacks.npy", 7, NULL, &have), ROWS);
    assert_memory_equal(&have, &want, sizeof want);
    want_of(m, &e, NULL, &have);
    assert_memory_equal(&have, &want, sizeof want);
    assert_note(
        m, "./lacks.csv",
        "3 values that training never saw (texts of no category: 0, missing where "
        "none was: 3); the first is in line 6, column 1 (size)");
    assert_note(
        m, "./lacks.npy",
        "3 values that training never saw (texts of no category: 0, missing where "
        "none was: 3); the first is in example 4 (from 0), column 1 (size)");
    assert_int_equal(sebays_predict(predictor, &e, &out), SEBAYS_OK);
    assert_string_equal(
        sebays_predictor_note(predictor),
        "3 values that training never saw (texts of no category: 0, missing where none "
        "was: 3); the first is in example 4 (from 0), column 1 (size)");
    e.count = 5; /* by the predictor of few */
    assert_int_equal(sebays_predict(predictor, &e, &out), SEBAYS_OK);
    assert_memory_equal(sebays_predictor_note(predictor), "1 value ", 8);
    e.count = 4;
    assert_int_equal(sebays_predict(predictor, &e, &out), SEBAYS_OK);
    assert_null(sebays_predictor_note(predictor));
    x[6] = INFINITY;
    refused(
        sebays_predict(predictor, &e, &out), SEBAYS_ENUMERIC,
        "example 3 has a number that is not finite: inf in column 1 (size); remove it, "
        "or replace what is missing as it was for training");
    sebays_predictor_free(predictor);
    sebays_model_free(m);
}

static bool not_twice(void *context, const struct sebays_progress *report)
{
    assert_string_equal(report->phase, "predict");
    assert_int_equal(report->total, IMAGES);
    return ++*(int *)context < 2;
}

static void refusals_and_cancelling(void **state)
{
    (void)state;
    int calls = 0;
    size_t got;
    float p[IMAGES * CLASSES];
    const struct sebays_feed_options o = {.progress = not_twice,
                                          .progress_context = &calls};
    struct sebays_prediction out = {.probabilities = p};
    struct sebays_model *m = image_model(), *other;
    struct sebays_predictor *mine, *others;
    struct sebays_feed *feed;
    assert_int_equal(sebays_model_open("model", &other), SEBAYS_OK);
    assert_int_equal(sebays_predictor_new(m, NULL, &mine), SEBAYS_OK);
    assert_int_equal(sebays_predictor_new(other, NULL, &others), SEBAYS_OK);
    write_images("t10k-images-idx3-ubyte", SIDE);
    assert_int_equal(sebays_feed_open(m, "./t10k-images-idx3-ubyte", &o, &feed),
                     SEBAYS_OK);
    assert_int_equal(sebays_feed_count(feed), IMAGES);
    refused((int)sebays_feed_predict(feed, others, 5, &out, &got), SEBAYS_EARG,
            "feed: the predictor is of another model");
    assert_int_equal(sebays_feed_predict(feed, mine, 5, &out, &got), SEBAYS_OK);
    assert_int_equal(got, 5);
    assert_int_equal(sebays_feed_predict(feed, mine, 5, &out, &got), SEBAYS_ECANCELED);
    sebays_feed_free(feed);
    put("a.csv", "1,2,3\n", 6);
    refused((int)sebays_feed_open(m, "a.csv", NULL, &feed), SEBAYS_EARG,
            "a.csv is a table, but the model takes images of 1 x 28 x 28");
    refused((int)sebays_feed_open(m, "-", NULL, &feed), SEBAYS_EARG,
            "standard input is a table, but the model takes images of 1 x 28 x 28");
    sebays_predictor_free(mine);
    sebays_predictor_free(others);
    sebays_model_free(m);
    sebays_model_free(other);
}

/* Opening and predicting path, with every allocation failed in turn. */
static void survive(const struct sebays_model *m, const char *path)
{
    float p[ROWS * CLASSES];
    struct sebays_prediction out = {.probabilities = p};
    struct sebays_predictor *predictor;
    sebays_status st = SEBAYS_ENOMEM;
    int n = 0;
    const struct sebays_predictor_options o = {.threads = 1};
    assert_int_equal(sebays_predictor_new(m, &o, &predictor), SEBAYS_OK);
    for (; st != SEBAYS_OK && n < 300; n++) {
        struct sebays_feed *feed;
        size_t got = 1;
        sb_mem_fail_after(n);
        st = sebays_feed_open(m, path, NULL, &feed);
        while (st == SEBAYS_OK && got > 0)
            st = sebays_feed_predict(feed, predictor, ROWS, &out, &got);
        sb_mem_fail_after(-1);
        assert_true(st == SEBAYS_OK || st == SEBAYS_ENOMEM);
        sebays_feed_free(feed);
    }
    assert_true(n > 3 && n < 300);
    sebays_predictor_free(predictor);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    float x[ROWS * FEATURES];
    struct sebays_model *m = image_model();
    write_images("t10k-images-idx3-ubyte", 9);
    survive(m, "./t10k-images-idx3-ubyte");
    sebays_model_free(m);
    m = table_model(x);
    survive(m, "./train.csv");
    sebays_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(images_in_place_and_made_to_fit, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(tables_row_by_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_numbers_are_the_mean_and_told_of, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(refusals_and_cancelling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_failed_allocation_is_survived, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
