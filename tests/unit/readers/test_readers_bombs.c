/* Small files that ask for much: memory is bounded by what a header or a table really needs. */
#include "data_fixture.h"

#include <sys/stat.h>

#include "files/npy_write.h"

enum { ROWS = 1500000, TEXTS = 800 };

/* A few KB of gzip: many rows, a column of many texts. */
static void a_table_of_many_categories(void **state)
{
    (void)state;
    char *text = malloc((size_t)ROWS * 8), *at = text;
    struct sb_dataset d;
    struct stat s;
    assert_non_null(text);
    at += sprintf(at, "kind,class\n");
    for (int i = 0; i < TEXTS; i++)
        at += sprintf(at, "t%d,%d\n", i, i % 2);
    for (int i = 0; i < ROWS - TEXTS; i++)
        at += sprintf(at, "t0,1\n");
    put_gzip("bomb.csv.gz", text, (size_t)(at - text));
    free(text);
    assert_int_equal(stat("bomb.csv.gz", &s), 0);
    assert_true(s.st_size < 30000);
    sb_mem_peak_reset();
    refused(
        sb_dataset_open(&d, "bomb.csv.gz", SB_SPLIT_TRAIN), SB_EFORMAT,
        "bomb.csv.gz: its 1500000 rows of 800 features would take 4800 MB, far more "
        "than its text; most features are of column 1 (kind), which has 800 different "
        "texts: leave it out, or give fewer rows");
    assert_true(sb_mem_peak() < (size_t)1 << 26);
}

/* A table that is one endless line. */
static void a_table_of_one_line(void **state)
{
    (void)state;
    size_t size = (size_t)100 << 20;
    char *text = malloc(size);
    struct sb_dataset d;
    assert_non_null(text);
    memset(text, '0', size);
    put_gzip("line.csv.gz", text, size);
    free(text);
    sb_mem_peak_reset();
    assert_int_equal(sb_dataset_open(&d, "line.csv.gz", SB_SPLIT_TRAIN), SB_EFORMAT);
    assert_non_null(strstr(sb_message(), "line.csv.gz: it unpacks to more than the "));
    assert_true(sb_mem_peak() < (size_t)160 << 20);
}

/* An array whose header says 40 bytes, and 64 MB come out. */
static void an_array_that_says_less(void **state)
{
    (void)state;
    size_t size, more = (size_t)1 << 26;
    const uint64_t shape[] = {10};
    unsigned char *file = calloc(more, 1);
    struct sb_dataset d;
    assert_non_null(file);
    sb_npy_head(file, SB_NPY_F32, shape, 1, &size);
    put_gzip("x.npy.gz", file, more);
    put_gzip("y.npy.gz", file, more);
    free(file);
    sb_mem_peak_reset();
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EFORMAT,
            "./x.npy.gz: it unpacks to more than the 168 bytes expected; is it the right "
            "file? If it is, unpack it first (gunzip)");
    assert_true(sb_mem_peak() < (size_t)1 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_table_of_many_categories, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_table_of_one_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_array_that_says_less, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
