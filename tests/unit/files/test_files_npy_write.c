/* files/npy_write: the bytes NumPy writes, rows that do not fit the buffer, and failures. */
#include "data_fixture.h"

#include "files/npy_write.h"

static size_t slurp(const char *path, unsigned char *out, size_t capacity)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(out, 1, capacity, f);
    fclose(f);
    return n;
}

/* numpy.save of arange(6, dtype=float32).reshape(2, 3), byte for byte. */
static void equals_numpy(void **state)
{
    (void)state;
    const float rows[] = {0, 1, 2, 3, 4, 5};
    unsigned char have[1024], want[128 + sizeof rows];
    struct sb_npy_writer w;
    memset(want, ' ', 128);
    memcpy(want,
           "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
           10 + 59);
    want[127] = '\n';
    memcpy(want + 128, rows, sizeof rows);
    assert_int_equal(sb_npy_create(&w, "a.npy", SB_NPY_F32, (const uint64_t[]){2, 3}, 2),
                     SB_OK);
    assert_int_equal(sb_npy_append(&w, rows, 1), SB_OK);
    assert_int_equal(sb_npy_append(&w, rows + 3, 1), SB_OK);
    assert_false(sb_file_exists("a.npy"));
    assert_int_equal(sb_npy_finish(&w), SB_OK);
    assert_int_equal(slurp("a.npy", have, sizeof have), sizeof want);
    assert_memory_equal(have, want, sizeof want);
}

/* Pieces smaller and larger than the buffer arrive in order. */
static void long_rows(void **state)
{
    (void)state;
    enum { ROW = 300000, ROWS = 13 };
    static uint8_t data[ROWS * ROW];
    static unsigned char have[256 + sizeof data];
    const uint64_t shape[] = {ROWS, ROW};
    const uint64_t piece[] = {1, 1, 2, 5, 1, 3};
    struct sb_npy_writer w;
    noise(data, sizeof data, 3);
    assert_int_equal(sb_npy_create(&w, "u.npy", SB_NPY_U8, shape, 2), SB_OK);
    uint64_t at = 0;
    for (size_t i = 0; i < sizeof piece / sizeof *piece; at += piece[i++])
        assert_int_equal(sb_npy_append(&w, data + at * ROW, piece[i]), SB_OK);
    assert_int_equal(sb_npy_finish(&w), SB_OK);
    assert_int_equal(slurp("u.npy", have, sizeof have), 128 + sizeof data);
    assert_memory_equal(have + 128, data, sizeof data);
    assert_memory_equal(
        have + 10, "{'descr': '|u1', 'fortran_order': False, 'shape': (13, 300000), }",
        65);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    const uint64_t shape[] = {3, 2};
    const int64_t rows[6] = {0};
    struct sb_npy_writer w;
    refused(sb_npy_create(&w, "a.npy", SB_NPY_I64, shape, 0), SB_EARG,
            "a.npy: an array of 0 dimensions; want 1 to 8");
    refused(sb_npy_create(&w, "a.npy", SB_NPY_I64, (const uint64_t[]){1, 0}, 2), SB_EARG,
            "a.npy: dimension 1 of an array is 0");
    refused(
        sb_npy_create(&w, "a.npy", SB_NPY_I64, (const uint64_t[]){UINT64_MAX / 8, 2}, 2),
        SB_EARG, "a.npy: 2305843009213693951 rows of 16 bytes are too many");
    assert_int_equal(sb_npy_create(&w, "a.npy", SB_NPY_I64, shape, 2), SB_OK);
    refused(sb_npy_append(&w, rows, 4), SB_EARG,
            "a.npy: 1 rows more than the 3 announced");
    assert_int_equal(sb_npy_append(&w, rows, 2), SB_OK);
    refused(sb_npy_finish(&w), SB_EARG, "a.npy: 2 rows written of 3 announced");
    assert_false(sb_file_exists("a.npy"));
    refused(sb_npy_create(&w, "none/a.npy", SB_NPY_I64, shape, 2), SB_EIO,
            "cannot create none/a.npy: No such file or directory");
    sb_npy_abort(&w);
    sb_npy_abort(NULL);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sb_status st = SB_ENOMEM;
    long n;
    for (n = 0; st != SB_OK && n < 100; n++) {
        struct sb_npy_writer w;
        sb_mem_fail_after(n);
        st = sb_npy_create(&w, "a.npy", SB_NPY_I32, (const uint64_t[]){0}, 1);
        if (st == SB_OK)
            st = sb_npy_finish(&w);
        sb_mem_fail_after(-1);
        sb_npy_abort(&w);
        assert_true(st == SB_OK || st == SB_ENOMEM);
    }
    assert_true(n > 2 && n < 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equals_numpy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_what_cannot_be, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
