/* data/info, data/convert, and the text they are written with. */
#include "data_fixture.h"

#include <math.h>

#include "base/json.h"
#include "base/text.h"
#include "data/convert.h"
#include "data/info.h"

/* ---- text ---- */

static void texts_grow(void **state)
{
    (void)state;
    struct sb_text t = {0};
    char *out;
    for (int i = 0; i < 1000; i++)
        sb_text_add(&t, "%03d ", i);
    assert_int_equal(sb_text_take(&t, &out), SB_OK);
    assert_int_equal(strlen(out), 4000);
    assert_memory_equal(out + 3996, "999 ", 5);
    sb_free(out);
    assert_int_equal(sb_text_take(&t, &out), SB_OK);
    assert_string_equal(out, "");
    sb_free(out);
}

static void a_text_remembers_its_failure(void **state)
{
    (void)state;
    struct sb_text t = {0};
    char *out;
    sb_text_add(&t, "%2000s", "x");
    sb_mem_fail_after(0);
    sb_text_add(&t, "%9000s", "y");
    sb_mem_fail_after(-1);
    sb_text_add(&t, "z");
    refused(sb_text_take(&t, &out), SB_ENOMEM, "no memory for a text");
    assert_null(out);
}

/* ---- sets to look at ---- */

static uint32_t labels[] = {0, 1, 1, 0, 1};
static char cat[] = "cat", hen[] = "H\xc3\xbchnchen";
static char *names[] = {cat, hen};
static const uint8_t two_by_one[] = {0,  255, 10,  20, 255, 255, 30, 40, 0,  0,
                                     50, 60,  255, 0,  70,  80,  51, 51, 90, 100};
static const float table[] = {1e6f, 2.0f,     1e6f + 1, 2.0f,     1e6f + 2,
                              2.0f, 1e6f + 3, 2.0f,     1e6f + 4, 2.0f};

static struct sb_dataset images(void)
{
    struct sb_dataset d = made_up(two_by_one, labels, 5, 2, 1, 2, 2);
    d.class_names = names;
    d.format = "made";
    return d;
}

static struct sb_dataset rows(void)
{
    struct sb_dataset d = made_up(NULL, labels, 5, 2, 1, 1, 2);
    d.element = SB_FLOATS;
    d.values = table;
    d.format = "made";
    d.whole = true;
    return d;
}

/* Streamed: the same images, the last one unreadable if reader says so. */
static sb_status fetch(const struct sb_dataset *d, uint32_t i, uint8_t *out)
{
    if (d->reader && i == 4)
        return sb_fail(SB_EFORMAT, "image 4 is no image");
    memcpy(out, two_by_one + i * (size_t)4, 4);
    return SB_OK;
}

/* ---- info ---- */

static void numbers_are_right(void **state)
{
    (void)state;
    struct sb_data_info i;
    struct sb_dataset d = images();
    assert_int_equal(sb_data_info_init(&i, &d, SB_SPLIT_TRAIN), SB_OK);
    assert_int_equal(i.counts[0], 2);
    assert_int_equal(i.counts[1], 3);
    assert_true(fabs(i.mean[0] - (4 * 255 + 102) / 10.0 / 255) < 1e-12);
    assert_true(fabs(i.mean[1] - 55.0 / 255) < 1e-12);
    assert_true(fabs(i.sd[1] - sqrt(825.0) / 255) < 1e-12);
    sb_data_info_fini(&i);
    d.images = NULL;
    d.fetch = fetch;
    assert_int_equal(sb_data_info_init(&i, &d, SB_SPLIT_TRAIN), SB_OK);
    assert_true(fabs(i.sd[1] - sqrt(825.0) / 255) < 1e-12);
    sb_data_info_fini(&i);
    d = rows();
    assert_int_equal(sb_data_info_init(&i, &d, SB_SPLIT_TRAIN), SB_OK);
    assert_true(i.mean[0] == 1e6 + 2 && i.sd[0] == sqrt(2.0));
    assert_true(i.mean[1] == 2 && i.sd[1] == 0);
    sb_data_info_fini(&i);
}

static void an_unreadable_image_is_said(void **state)
{
    (void)state;
    struct sb_data_info i;
    struct sb_dataset d = images();
    d.images = NULL;
    d.fetch = fetch;
    d.reader = names;
    refused(sb_data_info_init(&i, &d, SB_SPLIT_TRAIN), SB_EFORMAT, "image 4 is no image");
    sb_data_info_fini(&i);
}

static void assert_text(const struct sb_dataset *d, const char *want)
{
    struct sb_data_info i;
    char *text;
    assert_int_equal(sb_data_info_init(&i, d, SB_SPLIT_TEST), SB_OK);
    assert_int_equal(sb_data_info_text(&i, &text), SB_OK);
    assert_string_equal(text, want);
    sb_free(text);
    sb_data_info_fini(&i);
}

static void people_can_read_it(void **state)
{
    (void)state;
    struct sb_dataset d = images(), t = rows();
    assert_text(&d, "path       made-up\n"
                    "split      test\n"
                    "format     made\n"
                    "examples   5\n"
                    "shape      1 x 2 pixels, 2 channels\n"
                    "elements   uint8\n"
                    "bytes      20 (0.0 MB)\n"
                    "mean       0.44 0.2157\n"
                    "sd         0.463 0.1126\n"
                    "classes    2\n"
                    "       0  cat              2   40.00 %\n"
                    "       1  H\xc3\xbchnchen         3   60.00 %\n");
    assert_text(&t,
                "path       made-up\n"
                "split      all\n"
                "format     made\n"
                "examples   5\n"
                "shape      2 features\n"
                "elements   float32\n"
                "bytes      40 (0.0 MB)\n"
                "columns    2\n"
                "  column  name                             kind        missing  values\n"
                "       1                                   number       0.00 %  1e+06 "
                ".. 1e+06, mean 1e+06, sd 1.414\n"
                "       2                                   number       0.00 %  2 .. 2, "
                "mean 2, sd 0\n"
                "classes    2\n"
                "       0           2   40.00 %\n"
                "       1           3   60.00 %\n");
}

static void many_columns_are_cut(void **state)
{
    (void)state;
    enum { COLUMNS = 300 };
    struct sb_data_info i;
    static float values[2 * COLUMNS];
    char *text;
    for (int k = 0; k < 2 * COLUMNS; k++)
        values[k] = k == 7 ? NAN : (float)(k % 9);
    struct sb_dataset d = rows();
    d.values = values;
    d.n = 2;
    d.channels = COLUMNS;
    assert_int_equal(sb_data_info_init(&i, &d, SB_SPLIT_TEST), SB_OK);
    assert_int_equal(sb_data_info_text(&i, &text), SB_OK);
    assert_non_null(strstr(text, "       8                                   number      "
                                 "50.00 %  1 .. 1, mean 1, sd 0\n"));
    assert_non_null(strstr(text, "  ... and 100 more\n"));
    sb_free(text);
    sb_data_info_fini(&i);
}

static void programs_can_read_it(void **state)
{
    (void)state;
    struct sb_data_info i;
    struct sb_dataset d = images();
    char *text;
    json_t *all;
    int64_t bytes;
    const json_t *classes;
    const char *name;
    assert_int_equal(sb_data_info_init(&i, &d, SB_SPLIT_TEST), SB_OK);
    assert_int_equal(sb_data_info_json(&i, &text), SB_OK);
    assert_int_equal(sb_json_parse("info", text, strlen(text), &all), SB_OK);
    assert_int_equal(sb_json_integer(all, "info", "bytes", 0, 100, &bytes), SB_OK);
    assert_int_equal(bytes, 20);
    assert_int_equal(sb_json_array(all, "info", "classes", &classes), SB_OK);
    assert_int_equal(sb_json_string(json_array_get(classes, 1), "info", "name", &name),
                     SB_OK);
    assert_string_equal(name, hen);
    json_decref(all);
    sb_free(text);
    static char odd[] = "\xff";
    d.path = odd; /* not UTF-8, which JSON cannot say */
    assert_int_equal(sb_data_info_json(&i, &text), SB_OK);
    assert_non_null(strstr(text, "\"path\": null"));
    sb_free(text);
    sb_data_info_fini(&i);
}

static sb_status describe(const struct sb_dataset *d)
{
    struct sb_data_info i;
    char *text = NULL, *json = NULL;
    sb_status st = sb_data_info_init(&i, d, SB_SPLIT_TRAIN);
    if (st == SB_OK)
        st = sb_data_info_text(&i, &text);
    if (st == SB_OK)
        st = sb_data_info_json(&i, &json);
    sb_free(text);
    sb_free(json);
    sb_data_info_fini(&i);
    return st;
}

/* ---- convert ---- */

static void converted_images_read_back(void **state)
{
    (void)state;
    struct sb_dataset d = images(), back;
    assert_int_equal(sb_convert_npy(&d, SB_SPLIT_TRAIN, "out"), SB_OK);
    assert_int_equal(sb_convert_npy(&d, SB_SPLIT_TEST, "out"), SB_OK);
    struct sb_map m;
    assert_int_equal(sb_map_open(&m, "out/x_train.npy"), SB_OK);
    const uint8_t first[] = {0, 10, 255, 20}; /* [1][2][2] of it */
    assert_memory_equal(m.data + m.size - 20, first, 4);
    sb_map_close(&m);
    assert_int_equal(sb_map_open(&m, "out/class_names.txt"), SB_OK);
    assert_memory_equal(m.data, "cat\nH\xc3\xbchnchen\n", 14);
    sb_map_close(&m);
    assert_true(sb_file_exists("out/y_test.npy"));
    d.channels = 1;
    d.height = 2;
    assert_int_equal(sb_convert_npy(&d, SB_SPLIT_TRAIN, "grey"), SB_OK);
    assert_int_equal(sb_dataset_open(&back, "grey", SB_SPLIT_TRAIN), SB_OK);
    assert_int_equal(back.n, 5);
    assert_int_equal(back.height, 2);
    assert_int_equal(back.width, 2);
    assert_memory_equal(back.images, two_by_one, sizeof two_by_one);
    assert_memory_equal(back.labels, labels, sizeof labels);
    sb_dataset_fini(&back);
}

static void converted_tables_read_back(void **state)
{
    (void)state;
    struct sb_dataset d = rows(), back;
    assert_int_equal(sb_convert_npy(&d, SB_SPLIT_TRAIN, "out"), SB_OK);
    assert_int_equal(sb_dataset_open(&back, "out", SB_SPLIT_TRAIN), SB_OK);
    assert_int_equal(back.element, SB_FLOATS);
    assert_int_equal(back.channels, 2);
    assert_memory_equal(back.values, table, sizeof table);
    assert_memory_equal(back.labels, labels, sizeof labels);
    sb_dataset_fini(&back);
    put("file", "x", 1);
    refused(sb_convert_npy(&d, SB_SPLIT_TRAIN, "file"), SB_EIO,
            "cannot make directory file: File exists");
}

/* Examples never lie beside the labels of others, nor are they written over themselves. */
static void converted_parts_are_of_one_set(void **state)
{
    (void)state;
    static char path[] = "out";
    struct sb_dataset d = rows();
    assert_int_equal(sb_convert_npy(&d, SB_SPLIT_TRAIN, "out"), SB_OK);
    assert_true(sb_file_exists("out/y_train.npy") || sb_file_exists("out/y.npy"));
    d.path = path;
    refused(sb_convert_npy(&d, SB_SPLIT_TRAIN, "./out"), SB_EARG,
            "./out is what is to be converted; give another directory");
    d.path = NULL;
    d.labels = NULL;
    d.classes = 0;
    d.class_names = NULL;
    assert_int_equal(sb_convert_npy(&d, SB_SPLIT_TRAIN, "out"), SB_OK);
    assert_false(sb_file_exists("out/y_train.npy") || sb_file_exists("out/y.npy"));
}

static sb_status convert(const struct sb_dataset *d)
{
    return sb_convert_npy(d, SB_SPLIT_TRAIN, "out");
}

static void both_survive_failing_allocations(void **state)
{
    (void)state;
    sb_status (*const calls[])(const struct sb_dataset *) = {describe, convert};
    struct sb_dataset d = images();
    for (size_t c = 0; c < 2; c++) {
        sb_status st = SB_ENOMEM;
        long n = 0;
        for (; st != SB_OK && n < 100; n++) {
            size_t live = sb_mem_live();
            sb_mem_fail_after(n);
            st = calls[c](&d);
            sb_mem_fail_after(-1);
            assert_int_equal(sb_mem_live(), live);
        }
        assert_in_range(n, 7, 99);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(texts_grow),
        TEST(a_text_remembers_its_failure),
        TEST(numbers_are_right),
        TEST(an_unreadable_image_is_said),
        TEST(people_can_read_it),
        TEST(many_columns_are_cut),
        TEST(programs_can_read_it),
        TEST(converted_images_read_back),
        TEST(converted_tables_read_back),
        TEST(converted_parts_are_of_one_set),
        TEST(both_survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
