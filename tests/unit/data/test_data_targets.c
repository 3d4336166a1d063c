/* Continuous targets: from tables and arrays, which task is meant, names and order, what is
 * refused, how they are standardised and split, and that columns remember them. */
#include <math.h>

#include "data/columns.h"
#include "data/convert.h"
#include "data/split.h"
#include "data/targets.h"
#include "data_fixture.h"
#include "files/npy_write.h"

static sb_status open_text(struct sb_dataset *d, const char *text,
                           const struct sb_open_options *o)
{
    put("a.csv", text, strlen(text));
    return sb_dataset_open_with(d, "a.csv", o);
}

static const struct sb_open_options by_itself = {.task = SB_TASK_AUTO};
static const struct sb_open_options outcomes = {.task = SB_TASK_OUTCOMES};
static const struct sb_open_options classes = {.task = SB_TASK_CLASSES};

/* ---- which task ---- */

static void fractions_are_outcomes(void **state)
{
    (void)state;
    struct sb_dataset d;
    assert_int_equal(open_text(&d, "a,b,y\n1,2,3\n4,5,0.5\n7,8,-2\n", &by_itself), SB_OK);
    const float want[] = {3, 0.5f, -2};
    assert_true(d.n == 3 && d.channels == 2 && !d.labels && d.classes == 0);
    assert_int_equal(d.target_count, 1);
    assert_string_equal(d.target_names[0], "y");
    assert_memory_equal(d.targets, want, sizeof want);
    sb_dataset_fini(&d);
    assert_int_equal(open_text(&d, "1,2,3\n4,5,6\n7,8,3\n", &by_itself), SB_OK);
    assert_true(d.labels && !d.targets && d.classes == 2); /* whole numbers are classes */
    sb_dataset_fini(&d);
    assert_int_equal(open_text(&d, "1,2,3\n4,5,6\n7,8,3\n", &outcomes), SB_OK);
    assert_true(!d.labels && d.targets && d.targets[1] == 6.0f);
    assert_string_equal(d.target_names[0], "column 3");
    sb_dataset_fini(&d);
}

/* rows rows whose label takes so many values. */
static void put_whole_numbers(uint32_t rows, uint32_t values)
{
    FILE *f = fopen("a.csv", "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < rows; i++)
        fprintf(f, "%u,%u\n", i % 7, i % values * 10);
    assert_int_equal(fclose(f), 0);
}

static void very_many_whole_numbers_are_outcomes(void **state)
{
    (void)state;
    static const struct {
        uint32_t rows, values;
        bool outcomes;
    } cases[] = {
        {300, 300, true}, {300, 101, true}, {300, 100, false}, {2020, 101, false}};
    struct sb_dataset d;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_whole_numbers(cases[i].rows, cases[i].values);
        assert_int_equal(sb_dataset_open_with(&d, "a.csv", &by_itself), SB_OK);
        assert_int_equal(d.targets != NULL, cases[i].outcomes);
        sb_dataset_fini(&d);
    }
    put_whole_numbers(300, 300);
    assert_int_equal(sb_dataset_open_with(&d, "a.csv", &classes), SB_OK);
    assert_true(d.classes == 300);
    sb_dataset_fini(&d);
}

static void several_columns_in_the_order_asked_for(void **state)
{
    (void)state;
    struct sb_dataset d, test;
    struct sb_open_options o = {.label = " y2 , y1"};
    assert_int_equal(open_text(&d, "y1,a,y2,b\n1,2,30,x\n4,5,60,y\n7,8,90,x\n", &o),
                     SB_OK);
    const float want[] = {30, 1, 60, 4, 90, 7};
    assert_true(d.target_count == 2 && d.channels == 2);
    assert_string_equal(d.target_names[0], "y2");
    assert_string_equal(d.target_names[1], "y1");
    assert_memory_equal(d.targets, want, sizeof want);
    /* another file like it: with them, and without them where that may be */
    struct sb_open_options like = {.split = SB_SPLIT_TEST, .like = &d};
    assert_int_equal(open_text(&test, "y1,a,y2,b\n5,6,7,y\n", &like), SB_OK);
    assert_true(test.targets[0] == 7.0f && test.targets[1] == 5.0f);
    sb_dataset_fini(&test);
    put("a.csv", "a,b\n6,y\n", 8);
    like.unlabelled = true;
    assert_int_equal(sb_dataset_open_with(&test, "a.csv", &like), SB_OK);
    assert_true(!test.targets && test.values[0] == 6.0f && test.values[1] == 1.0f);
    sb_dataset_fini(&test);
    sb_dataset_fini(&d);
}

static void columns_remember_targets(void **state)
{
    (void)state;
    struct sb_dataset d;
    struct sb_open_options o = {.label = "y2,y1"};
    struct sb_columns *again;
    char *text, *second;
    assert_int_equal(open_text(&d, "y1,a,y2\n1,2,30\n4,5,60\n", &o), SB_OK);
    assert_int_equal(sb_columns_write(d.columns, &text), SB_OK);
    assert_string_equal(text, "{\"columns\":[{\"target\":1},0,{\"target\":0}],\"header\":"
                              "true,\"label\":3,\"names\":[\"y1\",\"a\",\"y2\"]}");
    assert_int_equal(sb_columns_read(&again, "text", text), SB_OK);
    assert_true(again->targets == 2 && sb_columns_responses(again) == 2);
    assert_int_equal(sb_columns_write(again, &second), SB_OK);
    assert_string_equal(text, second);
    sb_columns_free(again);
    sb_free(text);
    sb_free(second);
    static const char *const wrong[] = {
        "{\"columns\":[{\"target\":1},0],\"label\":2,\"names\":[]}",
        "{\"columns\":[{\"target\":0},0,{\"target\":0}],\"label\":3,\"names\":[]}",
        "{\"columns\":[{\"target\":0},0,[\"a\"]],\"label\":2,\"names\":[]}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused(sb_columns_read(&again, "text", wrong[i]), SB_EFORMAT,
                "text: columns: targets must be numbered from 0, each number once, "
                "without a label");
    sb_dataset_fini(&d);
}

/* ---- what is refused ---- */

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    struct sb_dataset d;
    refused(open_text(&d, "a,y\n1,3.5\n2,3.5\n", &by_itself), SB_EFORMAT,
            "a.csv: the target y is 3.5 in every row; there is nothing to learn");
    refused(
        open_text(&d, "a,y\n1,1700000000.5\n2,1700000001.25\n", &by_itself), SB_EFORMAT,
        "a.csv: the target y is 1.7e+09 in every row as a 32-bit float, which tells "
        "numbers of that size apart only where they differ by 1.3e+02; if it varies by "
        "less, subtract a constant from it; there is nothing to learn");
    refused(open_text(&d, "a,y\n1,3.5\n", &by_itself), SB_EFORMAT,
            "a.csv: it has one row; want more to learn from");
    refused(open_text(&d, "a,y\n1,3.5\n2,nan\n", &by_itself), SB_EFORMAT,
            "a.csv: line 3, column 2 (y): the value is missing; fill it in or leave the "
            "row out");
    refused(open_text(&d, "a,y\n1,3.5\n2,x\n", &by_itself), SB_EFORMAT,
            "a.csv: line 3, column 2 (y): x is no finite number, as a target of "
            "regression must be; classes are data.task = classification, and data.label "
            "says which column");
    refused(open_text(&d, "a,y\n1,3.5\n2,1e39\n", &by_itself), SB_EFORMAT,
            "a.csv: line 3, column 2 (y): 1e39 is too large for a 32-bit float");
    refused(open_text(&d, "a,y\n1,3.5\n2,4\n", &classes), SB_EFORMAT,
            "a.csv: line 2, column 2 (y): the label 3.5 has a fraction; labels are "
            "classes, and data.label says which column has them");
    struct sb_open_options o = {.label = "y,a"};
    refused(open_text(&d, "a,y\n1,3.5\n2,4\n", &o), SB_EARG,
            "a.csv: data.label names 2 targets, but the table has 2 columns; at least "
            "one must be left to predict from");
    o.label = "y,y";
    refused(open_text(&d, "a,b,y\n1,1,3.5\n2,2,4\n", &o), SB_EARG,
            "a.csv: data.label names the column y twice");
    o.label = "y,z";
    refused(
        open_text(&d, "a,b,y\n1,1,3.5\n2,2,4\n", &o), SB_EARG,
        "a.csv: there is no column z to be the label; want a name of its first row or "
        "a number from 1 to 3");
}

static void refuses_a_test_without_targets(void **state)
{
    (void)state;
    struct sb_dataset d, test;
    assert_int_equal(open_text(&d, "a,b,y\n1,1,3.5\n2,2,4\n", &by_itself), SB_OK);
    put("t.csv", "a,b\n1,2\n", 8);
    struct sb_open_options like = {.split = SB_SPLIT_TEST, .like = &d, .any_name = true};
    refused(
        sb_dataset_open_with(&test, "t.csv", &like), SB_EFORMAT,
        "t.csv: there is no column y, the target of a.csv, without which nothing can be "
        "compared");
    put("t.csv", "a,b,y\n1,2,q\n", 12);
    refused(sb_dataset_open_with(&test, "t.csv", &like), SB_EFORMAT,
            "t.csv: line 2, column 3 (y): q is no number, as the column has in a.csv");
    sb_dataset_fini(&d);
}

/* ---- arrays ---- */

static void put_array(const char *path, const float *x, const uint64_t *shape,
                      uint32_t dims)
{
    unsigned char head[SB_NPY_HEAD], all[SB_NPY_HEAD + 256];
    size_t size, n = sizeof *x;
    for (uint32_t i = 0; i < dims; i++)
        n *= shape[i];
    sb_npy_head(head, SB_NPY_F32, shape, dims, &size);
    assert_true(size + n <= sizeof all);
    memcpy(all, head, size);
    memcpy(all + size, x, n);
    put(path, all, size + n);
}

static void arrays_have_targets(void **state)
{
    (void)state;
    float x[] = {1, 2, 3, 4, 5, 6}, y[] = {0.5f, 1, 2, 3, 4, 5};
    struct sb_dataset d;
    put_array("x.npy", x, (const uint64_t[]){3, 2}, 2);
    put_array("y.npy", y, (const uint64_t[]){3}, 1);
    assert_int_equal(sb_dataset_open_with(&d, "x.npy", &by_itself), SB_OK);
    assert_true(d.target_count == 1 && !d.labels);
    assert_string_equal(d.target_names[0], "y");
    assert_memory_equal(d.targets, y, 3 * sizeof *y);
    sb_dataset_fini(&d);
    put_array("y.npy", y, (const uint64_t[]){3, 2}, 2);
    assert_int_equal(sb_dataset_open_with(&d, "x.npy", &by_itself), SB_OK);
    assert_int_equal(d.target_count, 2);
    assert_string_equal(d.target_names[1], "y2");
    assert_memory_equal(d.targets, y, sizeof y);
    sb_dataset_fini(&d);
    put_array("y.npy", y + 1, (const uint64_t[]){3}, 1); /* whole numbers */
    assert_int_equal(sb_dataset_open_with(&d, "x.npy", &by_itself), SB_OK);
    assert_true(d.labels && d.classes == 4);
    sb_dataset_fini(&d);
    assert_int_equal(sb_dataset_open_with(&d, "x.npy", &outcomes), SB_OK);
    assert_true(d.targets && d.targets[2] == 3.0f);
    sb_dataset_fini(&d);
    y[1] = NAN;
    put_array("y.npy", y, (const uint64_t[]){3}, 1);
    refused(sb_dataset_open_with(&d, "x.npy", &by_itself), SB_EFORMAT,
            "y.npy: target 0 of example 1 is not finite as a 32-bit float; fill it in or "
            "leave the example out");
}

/* ---- what becomes of them ---- */

static void standardised_by_the_training_part(void **state)
{
    (void)state;
    struct sb_dataset d;
    struct sb_target_scale s;
    const uint32_t train[] = {0, 2}, all[] = {0, 1, 2, 3};
    float out[4];
    assert_int_equal(open_text(&d, "1,10.5\n2,99\n3,14.5\n4,10.5\n", &by_itself), SB_OK);
    assert_int_equal(sb_target_scale_init(&s, &d, train, 2), SB_OK);
    assert_true(s.count == 1 && s.mean[0] == 12.5f && s.sd[0] == 2.0f);
    sb_target_scale_fill(&s, &d, all, 4, out);
    assert_true(out[0] == -1.0f && out[1] == 43.25f && out[2] == 1.0f);
    sb_target_scale_fini(&s);
    const uint32_t same[] = {0, 3};
    refused(
        sb_target_scale_init(&s, &d, same, 2), SB_EARG,
        "a.csv: the target column 2 is 10.5 in all 2 rows that are trained on, or too "
        "large for a float; there is nothing to learn");
    sb_target_scale_fini(&s);
    sb_dataset_fini(&d);
}

/* A variance of 1e-44 has two digits left: intervals would be wrong without a word. */
static void refuses_a_scale_that_has_no_square(void **state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"1,1e-22\n2,3e-22\n",
         "a.csv: the target column 2 has a standard deviation of 1e-22, whose square is "
         "too small for a 32-bit float; want one from 1e-17 to 1e+17: write the target "
         "in "
         "another unit"},
        {"1,1e37\n2,3e37\n",
         "a.csv: the target column 2 has a standard deviation of 1e+37, whose square is "
         "too large for a 32-bit float; want one from 1e-17 to 1e+17: write the target "
         "in "
         "another unit"},
        {"1,1e-16\n2,3e-16\n", NULL},
        {"1,1e16\n2,3e16\n", NULL},
    };
    const uint32_t all[] = {0, 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sb_dataset d;
        struct sb_target_scale s;
        const struct sb_open_options o = {.task = SB_TASK_OUTCOMES};
        assert_int_equal(open_text(&d, cases[i].text, &o), SB_OK);
        if (cases[i].sentence)
            refused(sb_target_scale_init(&s, &d, all, 2), SB_EARG, cases[i].sentence);
        else
            assert_int_equal(sb_target_scale_init(&s, &d, all, 2), SB_OK);
        sb_target_scale_fini(&s);
        sb_dataset_fini(&d);
    }
}

static void split_at_random_by_whole_groups(void **state)
{
    (void)state;
    enum { ROWS = 60 };
    char text[4096] = "a,g,y\n";
    size_t used = strlen(text);
    struct sb_dataset d;
    struct sb_indices part;
    for (int i = 0; i < ROWS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d,g%d,%d.5\n", i,
                                 i % 12, i);
    struct sb_open_options o = {.group = "g"};
    assert_int_equal(open_text(&d, text, &o), SB_OK);
    assert_true(d.groups && d.targets && sb_indices_usual(&d) == SB_HOLDOUT_RANDOM);
    struct sb_holdout_options h = {
        .kind = SB_HOLDOUT_RANDOM, .fraction = 0.25, .seed = 3};
    assert_int_equal(sb_indices_init(&part, &d, &h), SB_OK);
    assert_int_equal(part.validation_count, 15);
    for (uint32_t i = 0; i < part.train_count; i++)
        for (uint32_t k = 0; k < part.validation_count; k++)
            assert_true(d.groups[part.train[i]] != d.groups[part.valid[k]]);
    sb_indices_fini(&part);
    sb_free(d.groups);
    d.groups = NULL;
    assert_int_equal(sb_indices_init(&part, &d, &h), SB_OK);
    assert_int_equal(part.validation_count, 15);
    sb_indices_fini(&part);
    h.kind = SB_HOLDOUT_STRATIFIED;
    refused(
        sb_indices_init(&part, &d, &h), SB_EARG,
        "a.csv has no classes to be held out by shares (data.split = stratified); say "
        "data.split = random");
    sb_dataset_fini(&d);
}

/* A table of targets as arrays: a column a text of each category, gaps as they are. */
static void converted_targets_read_back(void **state)
{
    (void)state;
    struct sb_dataset d, back;
    const struct sb_open_options two = {.label = "y,z", .impute = true};
    const float targets[] = {0.5f, 3, 1.5f, 4, 2.5f, 5};
    const float values[] = {1, 0, 1, 2, 1, 0, 7, 0, 1};
    assert_int_equal(
        open_text(&d, "a,colour,y,z\n1,red,0.5,3\n2,blue,1.5,4\n7,red,2.5,5\n", &two),
        SB_OK);
    assert_int_equal(sb_convert_npy(&d, SB_SPLIT_TRAIN, "out"), SB_OK);
    sb_dataset_fini(&d);
    assert_int_equal(sb_dataset_open_with(&back, "out", &outcomes), SB_OK);
    assert_true(back.n == 3 && back.channels == 3 && back.target_count == 2);
    assert_memory_equal(back.targets, targets, sizeof targets);
    assert_memory_equal(back.values, values, sizeof values);
    sb_dataset_fini(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fractions_are_outcomes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(converted_targets_read_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(very_many_whole_numbers_are_outcomes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(several_columns_in_the_order_asked_for, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(columns_remember_targets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_what_cannot_be, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_a_test_without_targets, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(arrays_have_targets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(standardised_by_the_training_part, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(refuses_a_scale_that_has_no_square, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(split_at_random_by_whole_groups, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("data/targets", tests, NULL, NULL);
}
