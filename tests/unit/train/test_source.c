/* train/source: which examples train, validate and test, by the recipe. */
#include "data_fixture.h"

#include "base/log.h"
#include "kernels/kernels.h"
#include "recipe/options.h"
#include "train/source.h"

static const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};

enum { ROWS = 80, CLASSES = 4 };

/* rows of two numbers and a class, sorted by it. */
static void put_sorted(const char *path, uint32_t rows)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (uint32_t i = 0; i < rows; i++)
        fprintf(f, "%u,%u,%c\n", i, i * i % 17, 'a' + (int)(i * CLASSES / rows));
    assert_int_equal(fclose(f), 0);
}

static void put_parts(void)
{
    assert_int_equal(sb_file_make_directory("both"), SB_OK);
    put_sorted("both/train.csv", ROWS);
    put_sorted("both/test.csv", 12);
}

/* The recipe of these options, none where it is NULL. */
static sb_status open_with(struct sb_source *s, const char *set, const char *split)
{
    struct sb_recipe r;
    sb_recipe_init(&r);
    assert_int_equal(sb_recipe_set(&r, "data.set", set), SB_OK);
    assert_int_equal(sb_recipe_set(&r, "data.validation", "0.25"), SB_OK);
    if (split)
        assert_int_equal(sb_recipe_set(&r, "data.split", split), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_OK);
    return sb_source_open(s, &env, &r.config);
}

static void count_classes(const struct sb_source *s, const uint32_t *index, uint32_t n,
                          uint32_t have[CLASSES])
{
    memset(have, 0, CLASSES * sizeof *have);
    for (uint32_t i = 0; i < n; i++)
        have[s->train.labels[index[i]]]++;
}

/* A set with a test part of its own, sorted by class: every class validates and trains. */
static void no_class_is_lost_beside_a_test_part(void **state)
{
    (void)state;
    struct sb_source s;
    uint32_t have[CLASSES];
    put_parts();
    assert_int_equal(open_with(&s, "both", NULL), SB_OK);
    assert_int_equal(s.part.validation_count, ROWS / 4);
    count_classes(&s, s.part.valid, s.part.validation_count, have);
    for (int c = 0; c < CLASSES; c++)
        assert_int_equal(have[c], ROWS / 4 / CLASSES);
    sb_source_fini(&s);
}

/* Who asks for the tail of such a set is told. */
static void a_sorted_tail_is_refused_on_every_path(void **state)
{
    (void)state;
    struct sb_source s;
    put_parts();
    put_sorted("whole.csv", ROWS);
    refused(
        open_with(&s, "both", "tail"), SB_EARG,
        "both is sorted by class: its last 20 examples, which data.split = tail takes "
        "for validation, are of one class or all of it; say data.split = stratified");
    sb_source_fini(&s);
    refused(open_with(&s, "whole.csv", "tail"), SB_EARG,
            "whole.csv is sorted by class: its last 16 examples, which data.split = tail "
            "takes for validation, are of one class or all of it; say data.split = "
            "stratified");
    sb_source_fini(&s);
}

static void put_idx(bool sorted)
{
    static unsigned char file[16 + ROWS * 16];
    assert_int_equal(sb_file_make_directory("digits"), SB_OK);
    put("digits/train-images-idx3-ubyte", file, idx_images(file, ROWS, 4, 4));
    put("digits/t10k-images-idx3-ubyte", file, idx_images(file, ROWS, 4, 4));
    size_t n = idx_labels(file, ROWS, CLASSES);
    put("digits/t10k-labels-idx1-ubyte", file, n);
    for (uint32_t i = 0; sorted && i < ROWS; i++)
        file[8 + i] = (unsigned char)(i * CLASSES / ROWS);
    put("digits/train-labels-idx1-ubyte", file, n);
}

/* Known runs keep their bits; a sorted file is told, not trained on. */
static void idx_files_give_their_tail(void **state)
{
    (void)state;
    struct sb_source s;
    put_idx(false);
    assert_int_equal(open_with(&s, "digits", NULL), SB_OK);
    assert_int_equal(s.part.valid[0], ROWS - ROWS / 4);
    sb_source_fini(&s);
    put_idx(true);
    assert_int_equal(open_with(&s, "digits", NULL), SB_EARG);
    sb_source_fini(&s);
    assert_int_equal(open_with(&s, "digits", "random"), SB_OK);
    assert_true(s.part.valid[0] < ROWS / 2);
    sb_source_fini(&s);
}

static char logged[1024];

static void keep_line(void *context, enum sb_log_level level, const char *line)
{
    (void)context;
    if (level == SB_LOG_WARN)
        snprintf(logged, sizeof logged, "%s", line);
}

/* A slip in a column of numbers is told with line and column; categories are categories. */
static void a_slip_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *warning;
    } cases[] = {
        {"7", ""},
        {"-", "whole.csv: line 41, column 2 (size): no number ('-'), but 17 of the "
              "column's 18 different texts are: it becomes 18 categories; correct it if "
              "numbers are meant"},
        {"inf",
         "whole.csv: line 41, column 2 (size): no number ('inf'), but 17 of the "
         "column's 18 different texts are: it becomes 18 categories; correct it if "
         "numbers are meant"},
    };
    const struct sb_log log = {.write = keep_line};
    struct sb_env told = env;
    told.log = &log;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct sb_source s;
        struct sb_recipe r;
        FILE *f = fopen("whole.csv", "w");
        assert_non_null(f);
        fprintf(f, "colour,size,class\n");
        for (uint32_t i = 0; i < ROWS; i++)
            if (i == 39)
                fprintf(f, "red,%s,a\n", cases[k].text);
            else
                fprintf(f, "%s,%u,%c\n", i % 2 ? "red" : "2", i % 17, 'a' + (int)(i % 3));
        assert_int_equal(fclose(f), 0);
        sb_recipe_init(&r);
        assert_int_equal(sb_recipe_set(&r, "data.set", "whole.csv"), SB_OK);
        assert_int_equal(sb_recipe_resolve(&r), SB_OK);
        logged[0] = '\0';
        assert_int_equal(sb_source_open(&s, &told, &r.config), SB_OK);
        assert_string_equal(logged, cases[k].warning);
        sb_source_fini(&s);
    }
}

/* Opens text as a table; what was told last is in `logged`. */
static void open_told(struct sb_source *s, const char *text, const char *header)
{
    const struct sb_log log = {.write = keep_line};
    struct sb_env told = env;
    struct sb_recipe r;
    told.log = &log;
    put("told.csv", text, strlen(text));
    sb_recipe_init(&r);
    assert_int_equal(sb_recipe_set(&r, "data.set", "told.csv"), SB_OK);
    assert_int_equal(sb_recipe_set(&r, "data.header", header), SB_OK);
    assert_int_equal(sb_recipe_set(&r, "data.test_share", "0"), SB_OK);
    assert_int_equal(sb_recipe_set(&r, "data.validation", "0"), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_OK);
    logged[0] = '\0';
    assert_int_equal(sb_source_open(s, &told, &r.config), SB_OK);
}

static void what_cannot_be_learned_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *header, *warning;
    } cases[] = {
        {"p,k\n1,a\n2,b\n3,b\n4,a\n", "auto", ""},
        {"p,k\n1,a\n2,b\n3,b\n4,c\n5,a\n", "auto",
         "told.csv: 1 of 3 classes has one row only, such as c: too few to learn from "
         "and "
         "to test with"},
        {"p,k\n1,11\n2,12\n3,13\n4,13\n", "auto",
         "told.csv: 2 of 3 classes have one row only, such as 11: too few to learn from "
         "and to test with; numbers to be predicted as such are data.task = regression, "
         "and data.label names another column"},
        {"1,2,k\n1,3,a\n2,4,b\n4,5,b\n3,6,a\n", "no",
         "told.csv: 1 of 3 classes has one row only, such as k: too few to learn from "
         "and "
         "to test with; if the first line is names, say data.header = yes"},
        {"p,k\n1,1\n2,2.0\n3,1\n4,1.0\n5,2.0\n6,1.0\n", "yes",
         "told.csv: the classes 1 and 1.0 are one number, written in two ways; they are "
         "learned as two: if they are one, write them alike in the file"},
        {"p,k\n1,no\n2,No\n3,no\n4,No\n", "yes",
         "told.csv: the classes No and no differ in capitals only; they are learned as "
         "two: if they are one, write them alike in the file"},
        {"p,k\n1,n\n2,N\n3,n\n4,N\n", "yes", ""},
        {"0,1,2,3\n1,7,5,1\n2,6,5.5,1\n3,7,6,2\n4,8,1,2\n", "auto",
         "told.csv: its first line has numbers only, and is taken for the names of the "
         "columns; if they are values, say data.header = no"},
        {"0,1,2,3\n1,7,5,1\n2,6,5.5,1\n3,7,6,2\n4,8,1,2\n", "yes", ""},
        {"p,q,k\n1,7,a\n2,7,b\n3,7,b\n4,7,a\n", "auto",
         "told.csv: 1 column is the same in all 4 rows that are trained on, or as good "
         "as "
         "that for 32-bit floats: column 2 (q); it counts as nothing, now and later"},
        {"p,q,m,t,k\n1,x,,1700000000,a\n2,x,NA,1700000050,b\n3,x,,1700000100,b\n"
         "4,x,,1700000150,a\n",
         "auto",
         "told.csv: 3 columns are the same in all 4 rows that are trained on, or as good "
         "as that for 32-bit floats: first column 2 (q); they count as nothing, now and "
         "later; if there are numbers that do differ, subtract a constant from them in "
         "the file"},
        {"p,y\n1,1.7e9\n2,1700000300.5\n3,1700000600\n4,1700000900\n", "auto",
         "told.csv: the target y varies by 345 around 1.7e+09, where 32-bit floats are "
         "1.3e+02 apart: its values are rounded to that; subtract a constant from them"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sb_source s;
        open_told(&s, cases[i].text, cases[i].header);
        assert_string_equal(logged, cases[i].warning);
        sb_source_fini(&s);
    }
}

/* Rows of continuous targets are weighed one by one; there are no classes to balance. */
static void targets_are_weighed_without_classes(void **state)
{
    (void)state;
    struct sb_source s;
    struct sb_recipe r;
    double sum = 0;
    FILE *f = fopen("targets.csv", "w");
    assert_non_null(f);
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "%d,%d,%d.5\n", i, 1 + i % 3, i);
    assert_int_equal(fclose(f), 0);
    sb_recipe_init(&r);
    assert_int_equal(sb_recipe_set(&r, "data.set", "targets.csv"), SB_OK);
    assert_int_equal(sb_recipe_set(&r, "data.weight", "2"), SB_OK);
    assert_int_equal(sb_recipe_resolve(&r), SB_OK);
    assert_int_equal(sb_source_open(&s, &env, &r.config), SB_OK);
    for (uint32_t i = 0; i < s.part.train_count; i++) {
        uint32_t row = s.part.train[i], first = s.part.train[0];
        float want = s.weight[first] / (float)(1 + first % 3) * (float)(1 + row % 3);
        sum += (double)s.weight[row];
        assert_float_equal(s.weight[row], want, 1e-5);
    }
    assert_true(sum > s.part.train_count - 1e-3 && sum < s.part.train_count + 1e-3);
    sb_source_fini(&s);
    assert_int_equal(sb_recipe_set(&r, "train.class_weights", "balanced"), SB_OK);
    refused(sb_source_open(&s, &env, &r.config), SB_EARG,
            "train.class_weights = balanced: targets.csv has continuous targets and no "
            "classes; leave it out, or weigh rows with data.weight");
    sb_source_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_class_is_lost_beside_a_test_part, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_sorted_tail_is_refused_on_every_path, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_slip_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_learned_is_told, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(targets_are_weighed_without_classes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(idx_files_give_their_tail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
