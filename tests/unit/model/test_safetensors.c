/* model/safetensors: round trips, every malformed form with its exact sentence, and every
 * allocation failed once. */
#include "model/safetensors.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static char path[] = "/tmp/sebays-test-XXXXXX";

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

/* ---- round trips ---- */

static const float weights[] = {1.5f, -2.25f, 0, 1e-30f, -1e30f, 7};
static const double numbers[] = {0.1, -3};
static const int32_t counts[] = {-5, 2000000000, 0};
static const int64_t longs[] = {-7, 1};
static const uint8_t bytes[] = {0, 200, 255};

static void fill(struct sb_st_writer *w)
{
    const size_t two_three[] = {2, 3}, two[] = {2}, three[] = {3}, none[] = {4, 0};
    assert_int_equal(sb_st_writer_init(w), SB_OK);
    assert_int_equal(sb_st_writer_add(w, "b\xc3\xa9", SB_U8, 1, three, bytes), SB_OK);
    assert_int_equal(sb_st_writer_add(w, "w", SB_F32, 2, two_three, weights), SB_OK);
    assert_int_equal(sb_st_writer_meta(w, "zeta", "1"), SB_OK);
    assert_int_equal(sb_st_writer_add(w, "none", SB_F32, 2, none, NULL), SB_OK);
    assert_int_equal(sb_st_writer_add(w, "n", SB_F64, 1, two, numbers), SB_OK);
    assert_int_equal(sb_st_writer_add(w, "c", SB_I32, 1, three, counts), SB_OK);
    assert_int_equal(sb_st_writer_add(w, "l", SB_I64, 1, two, longs), SB_OK);
    assert_int_equal(sb_st_writer_add(w, "scalar", SB_F32, 0, NULL, weights + 5), SB_OK);
    assert_int_equal(sb_st_writer_meta(w, "alpha", "two \"words\""), SB_OK);
}

static void write_filled(void)
{
    struct sb_st_writer w;
    fill(&w);
    assert_int_equal(sb_st_writer_write(&w, path), SB_OK);
    sb_st_writer_fini(&w);
}

/* The U8 tensor comes first, so everything after it is unaligned. */
static void what_was_written_is_read(void **state)
{
    (void)state;
    struct sb_st st;
    size_t live = sb_mem_live();
    write_filled();
    assert_int_equal(sb_st_open(&st, path), SB_OK);
    assert_int_equal(st.tensors, 7);
    const char *const order[] = {"b\xc3\xa9", "w", "none", "n", "c", "l", "scalar"};
    for (size_t i = 0; i < st.tensors; i++)
        assert_string_equal(st.tensor[i].name, order[i]);
    const struct sb_st_tensor *t = sb_st_lookup(&st, "w");
    assert_non_null(t);
    assert_int_equal(t->dtype, SB_F32);
    assert_int_equal(t->ndim, 2);
    assert_int_equal(t->shape[0], 2);
    assert_int_equal(t->shape[1], 3);
    float w[6];
    assert_int_equal(sb_st_read_f32(&st, t, w, 6), SB_OK);
    assert_memory_equal(w, weights, sizeof w);
    t = sb_st_lookup(&st, "none");
    assert_int_equal(t->count, 0);
    assert_int_equal(sb_st_read_f32(&st, t, NULL, 0), SB_OK);
    t = sb_st_lookup(&st, "scalar");
    assert_int_equal(t->count, 1);
    assert_string_equal(sb_st_meta(&st, "alpha"), "two \"words\"");
    assert_string_equal(sb_st_meta(&st, "zeta"), "1");
    assert_null(sb_st_meta(&st, "beta"));
    sb_st_close(&st);
    assert_int_equal(sb_mem_live(), live);
}

static void getters_convert(void **state)
{
    (void)state;
    struct sb_st st;
    write_filled();
    assert_int_equal(sb_st_open(&st, path), SB_OK);
    float f[3];
    int32_t i[3];
    assert_int_equal(sb_st_read_f32(&st, sb_st_lookup(&st, "n"), f, 2), SB_OK);
    assert_true(f[0] == 0.1f && f[1] == -3);
    assert_int_equal(sb_st_read_f32(&st, sb_st_lookup(&st, "c"), f, 3), SB_OK);
    assert_true(f[0] == -5 && f[1] == 2e9f && f[2] == 0);
    assert_int_equal(sb_st_read_f32(&st, sb_st_lookup(&st, "scalar"), f, 1), SB_OK);
    assert_true(f[0] == 7);
    assert_int_equal(sb_st_read_f32(&st, sb_st_lookup(&st, "b\xc3\xa9"), f, 3), SB_OK);
    assert_true(f[0] == 0 && f[1] == 200 && f[2] == 255);
    assert_int_equal(sb_st_read_i32(&st, sb_st_lookup(&st, "c"), i, 3), SB_OK);
    assert_memory_equal(i, counts, sizeof counts);
    assert_int_equal(sb_st_read_i32(&st, sb_st_lookup(&st, "l"), i, 2), SB_OK);
    assert_true(i[0] == -7 && i[1] == 1);
    assert_int_equal(sb_st_read_i32(&st, sb_st_lookup(&st, "b\xc3\xa9"), i, 3), SB_OK);
    assert_true(i[1] == 200);
    sb_st_close(&st);
}

/* Byte for byte: what the format's document says, and the same again another time. */
static void written_bytes_are_known(void **state)
{
    (void)state;
    static const char header[] =
        "{\"__metadata__\":{\"k\":\"v\"},\"x\":{\"dtype\":\"U8\",\"shape\":[3],"
        "\"data_offsets\":[0,3]}}  ";
    const size_t three[] = {3};
    for (int i = 0; i < 2; i++) {
        struct sb_st_writer w;
        struct sb_map m;
        assert_int_equal(sb_st_writer_init(&w), SB_OK);
        assert_int_equal(sb_st_writer_add(&w, "x", SB_U8, 1, three, bytes), SB_OK);
        assert_int_equal(sb_st_writer_meta(&w, "k", "v"), SB_OK);
        assert_int_equal(sb_st_writer_write(&w, path), SB_OK);
        sb_st_writer_fini(&w);
        size_t length = sizeof header - 1;
        assert_int_equal(sb_map_open(&m, path), SB_OK);
        assert_int_equal(length % 8, 0);
        assert_int_equal(m.size, 8 + length + 3);
        assert_int_equal(m.data[0], length);
        assert_memory_equal(m.data + 1, "\0\0\0\0\0\0", 7);
        assert_memory_equal(m.data + 8, header, length);
        assert_memory_equal(m.data + 8 + length, bytes, 3);
        sb_map_close(&m);
    }
}

/* ---- refusals ---- */

enum { ROOM = 1024 };

/* A file image: header length, header, `data` bytes of zero. */
static size_t image(unsigned char *to, const char *header, size_t data)
{
    uint64_t length = strlen(header);
    memcpy(to, &length, 8);
    memcpy(to + 8, header, length);
    memset(to + 8 + length, 0, data);
    return 8 + length + data;
}

static void assert_malformed(const unsigned char *file, size_t size, const char *sentence)
{
    struct sb_st st;
    size_t live = sb_mem_live();
    unsigned char *exact = sb_malloc(size, 1); /* so that a sanitizer sees its end */
    assert_non_null(exact);
    memcpy(exact, file, size);
    assert_int_equal(sb_st_open_bytes(&st, "m", exact, size), SB_EFORMAT);
    assert_string_equal(sb_message(), sentence);
    sb_free(exact);
    assert_int_equal(sb_mem_live(), live);
}

#define T(dtype, shape, offsets)                                                         \
    "{\"t\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static const struct {
    const char *header;
    size_t data;
    const char *sentence;
} malformed[] = {
    {"", 4, "m: the header is not a JSON object"},
    {" {}", 0, "m: the header is not a JSON object"},
    {"[]", 0, "m: the header is not a JSON object"},
    {"{\"t\":", 0, "m: header: line 1, column 5: unexpected token near end of file"},
    {"{} x", 0, "m: header: line 1, column 4: end of file expected near 'x'"},
    {"{\"t\":{},\"t\":{}}", 0,
     "m: header: line 1, column 11: duplicate object key near '\"t\"'"},
    {"{\"__metadata__\":3}", 0, "m: __metadata__ is not an object"},
    {"{\"__metadata__\":{\"op\":3}}", 0, "m: metadata \"op\" is not a string"},
    {"{\"t\":[]}", 0, "m: tensor \"t\": its entry is not an object"},
    {"{\"t\":{}}", 0, "m: tensor \"t\": dtype is not a string"},
    {T("7", "[1]", "[0,4]"), 4, "m: tensor \"t\": dtype is not a string"},
    {T("\"F31\"", "[1]", "[0,4]"), 4, "m: tensor \"t\": unknown dtype \"F31\""},
    {T("\"F32\"", "1", "[0,4]"), 4, "m: tensor \"t\": shape is not an array"},
    {T("\"F32\"", "[1,-1]", "[0,4]"), 4, "m: tensor \"t\": dimension 1 is not a size"},
    {T("\"F32\"", "[1.0]", "[0,4]"), 4, "m: tensor \"t\": dimension 0 is not a size"},
    {T("\"F32\"", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4,
     "m: tensor \"t\": 9 dimensions, at most 8 work"},
    {T("\"F32\"", "[4294967296,4294967296]", "[0,4]"), 4,
     "m: tensor \"t\": the shape's product overflows"},
    {T("\"F32\"", "[4611686018427387904]", "[0,0]"), 4,
     "m: tensor \"t\": the shape's product overflows"},
    {T("\"F32\"", "[1]", "[0]"), 4, "m: tensor \"t\": data_offsets are not two sizes"},
    {T("\"F32\"", "[1]", "[0,4,8]"), 4,
     "m: tensor \"t\": data_offsets are not two sizes"},
    {T("\"F32\"", "[1]", "[-4,0]"), 4, "m: tensor \"t\": data_offsets are not two sizes"},
    {T("\"F32\"", "[1]", "{}"), 4, "m: tensor \"t\": data_offsets are not two sizes"},
    {T("\"F32\"", "[1]", "[0,8]"), 4,
     "m: tensor \"t\": offsets 0 to 8 are outside 4 data bytes"},
    {T("\"F32\"", "[1]", "[4,0]"), 4,
     "m: tensor \"t\": offsets 4 to 0 are outside 4 data bytes"},
    {T("\"F32\"", "[2]", "[0,4]"), 4,
     "m: tensor \"t\": its shape wants 8 bytes, its offsets have 4"},
    {T("\"F32\"", "[1]", "[0,4]"), 6, "m: 2 bytes at its end belong to no tensor"},
    {T("\"F32\"", "[1]", "[2,6]"), 6,
     "m: tensor \"t\": 2 bytes before it belong to none"},
    {"{}", 1, "m: 1 bytes at its end belong to no tensor"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
     "\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[2,5]}}",
     5, "m: tensor \"b\": its data overlaps tensor \"a\""},
};

static void malformed_files_are_refused(void **state)
{
    (void)state;
    unsigned char file[ROOM];
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        assert_malformed(file, image(file, malformed[i].header, malformed[i].data),
                         malformed[i].sentence);
}

static void bad_lengths_are_refused(void **state)
{
    (void)state;
    unsigned char file[ROOM];
    size_t size = image(file, "{}", 0);
    assert_malformed(file, 0, "m: 0 bytes are too few for a safetensors file");
    assert_malformed(file, 7, "m: 7 bytes are too few for a safetensors file");
    assert_malformed(file, 8, "m: cut off: the header has 2 bytes, 0 are there");
    assert_malformed(file, 9, "m: cut off: the header has 2 bytes, 1 are there");
    file[3] = 255;
    assert_malformed(
        file, size,
        "m: this is no model file: it would begin with a header of 4278190082 bytes, "
        "and at most 100000000 work");
    memset(file, 255, 8);
    assert_malformed(file, size,
                     "m: this is no model file: it would begin with a header of "
                     "18446744073709551615 bytes, and at most 100000000 work");
}

/* Any prefix of a good file fails cleanly. */
static void every_truncation_is_refused(void **state)
{
    (void)state;
    struct sb_map m;
    struct sb_st st;
    write_filled();
    assert_int_equal(sb_map_open(&m, path), SB_OK);
    for (size_t size = 0; size < m.size; size++) {
        unsigned char *part = sb_malloc(size, 1);
        assert_non_null(part);
        memcpy(part, m.data, size);
        assert_int_equal(sb_st_open_bytes(&st, "m", part, size), SB_EFORMAT);
        sb_free(part);
    }
    assert_int_equal(sb_st_open_bytes(&st, "m", m.data, m.size), SB_OK);
    sb_st_close(&st);
    sb_map_close(&m);
}

static void empty_files_of_either_kind_work(void **state)
{
    (void)state;
    unsigned char file[ROOM];
    struct sb_st st;
    assert_int_equal(sb_st_open_bytes(&st, "m", file, image(file, "{}", 0)), SB_OK);
    assert_int_equal(st.tensors, 0);
    assert_null(sb_st_meta(&st, "op"));
    sb_st_close(&st);
    /* two without bytes at one place, one of them listed after its neighbour */
    const char *header =
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
        "\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
        "\"c\":{\"dtype\":\"BF16\",\"shape\":[0],\"data_offsets\":[1,1]}}";
    assert_int_equal(sb_st_open_bytes(&st, "m", file, image(file, header, 1)), SB_OK);
    assert_int_equal(st.tensors, 3);
    sb_st_close(&st);
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    unsigned char file[ROOM];
    struct sb_st st;
    const struct sb_st_tensor *t;
    const char *text;
    float f[2];
    int32_t i[2];
    size_t size = image(file, T("\"I64\"", "[1]", "[0,8]"), 8);
    file[size - 1] = 1; /* 2^56 */
    assert_int_equal(sb_st_open_bytes(&st, "m", file, size), SB_OK);
    assert_null(sb_st_lookup(&st, "u"));
    assert_int_equal(sb_st_find_meta(&st, "op", &text), SB_EFORMAT);
    assert_string_equal(sb_message(), "m: has no metadata \"op\"");
    t = sb_st_lookup(&st, "t");
    assert_int_equal(sb_st_read_f32(&st, t, f, 2), SB_EFORMAT);
    assert_string_equal(sb_message(), "m: tensor \"t\": has 1 elements, want 2");
    assert_int_equal(sb_st_read_i32(&st, t, i, 1), SB_EFORMAT);
    assert_string_equal(sb_message(),
                        "m: tensor \"t\": 72057594037927936 at 0 does not fit I32");
    sb_st_close(&st);
    size = image(file, T("\"F16\"", "[1]", "[0,2]"), 2);
    assert_int_equal(sb_st_open_bytes(&st, "m", file, size), SB_OK);
    assert_int_equal(sb_st_read_f32(&st, sb_st_lookup(&st, "t"), f, 1), SB_EFORMAT);
    assert_string_equal(sb_message(), "m: tensor \"t\": cannot read F16 as F32");
    sb_st_close(&st);
    sb_st_close(NULL);
    assert_int_equal(sb_st_open(&st, "/nonexistent/file"), SB_EIO);
    sb_st_close(&st);
}

static void refuse_add(struct sb_st_writer *w, const char *name, size_t ndim,
                       const size_t *shape, const char *sentence)
{
    assert_int_equal(sb_st_writer_add(w, name, SB_F32, ndim, shape, weights), SB_EARG);
    assert_string_equal(sb_message(), sentence);
}

static void the_writer_refuses_bad_names_and_shapes(void **state)
{
    (void)state;
    struct sb_st_writer w;
    const size_t one[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, huge[] = {SIZE_MAX / 2, 8};
    assert_int_equal(sb_st_writer_init(&w), SB_OK);
    assert_int_equal(sb_st_writer_add(&w, "t", SB_F32, 1, one, weights), SB_OK);
    refuse_add(&w, "t", 1, one, "safetensors: tensor \"t\" is there already");
    refuse_add(&w, "__metadata__", 1, one,
               "safetensors: tensor \"__metadata__\" is there already");
    refuse_add(&w, "\xff", 1, one, "safetensors: tensor \"\xff\" is not UTF-8");
    refuse_add(&w, "u", 9, one,
               "safetensors: tensor \"u\": 9 dimensions, at most 8 work");
    refuse_add(&w, "u", 2, huge, "safetensors: tensor \"u\" makes the file too large");
    assert_int_equal(sb_st_writer_meta(&w, "k", "1"), SB_OK);
    assert_int_equal(sb_st_writer_meta(&w, "k", "2"), SB_EARG);
    assert_string_equal(sb_message(), "safetensors: metadata \"k\" is there already");
    assert_int_equal(sb_st_writer_meta(&w, "l", "\xc3"), SB_EARG);
    assert_int_equal(sb_st_writer_write(&w, "/nonexistent/file"), SB_EIO);
    assert_int_equal(w.pieces, 1); /* what was refused left nothing behind */
    assert_int_equal(sb_st_writer_write(&w, path), SB_OK);
    sb_st_writer_fini(&w);
    sb_st_writer_fini(NULL);
}

/* ---- allocation failures ---- */

static sb_status write_many(void)
{
    struct sb_st_writer w;
    const size_t one[] = {1};
    sb_status st = sb_st_writer_init(&w);
    for (int i = 0; st == SB_OK && i < 40; i++) { /* the list grows twice */
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        st = sb_st_writer_add(&w, name, SB_F32, 1, one, weights);
    }
    if (st == SB_OK)
        st = sb_st_writer_write(&w, path);
    sb_st_writer_fini(&w);
    return st;
}

static sb_status read_many(void)
{
    struct sb_st st;
    sb_status s = sb_st_open(&st, path);
    if (s == SB_OK)
        assert_int_equal(st.tensors, 40);
    sb_st_close(&st);
    return s;
}

/* Returns how many tries it takes until nothing is left to fail. */
static int survive(sb_status (*call)(void))
{
    size_t live = sb_mem_live();
    for (int n = 0; n < 100; n++) {
        sb_mem_fail_after(n);
        sb_status st = call();
        sb_mem_fail_after(-1);
        assert_int_equal(sb_mem_live(), live);
        if (st == SB_OK)
            return n;
        assert_int_equal(st, SB_ENOMEM);
    }
    return -1;
}

static void allocation_failures_are_survived(void **state)
{
    (void)state;
    assert_int_equal(survive(write_many), 6); /* 3 lists, 2 file names, the header */
    assert_int_equal(survive(read_many), 2);  /* the path, the list */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(getters_convert),
        cmocka_unit_test(written_bytes_are_known),
        cmocka_unit_test(malformed_files_are_refused),
        cmocka_unit_test(bad_lengths_are_refused),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(empty_files_of_either_kind_work),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(the_writer_refuses_bad_names_and_shapes),
        cmocka_unit_test(allocation_failures_are_survived),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
