/* readers/mat, files/mat5: SVHN as it is, small files made on the spot, and malformed ones. */
#include <math.h>
#include <sys/stat.h>

#include "data_fixture.h"

#define SVHN SHARED "/data/svhn"

enum { MOST = 1 << 16, HEADER = 128, DOUBLE_CLASS = 6, UINT8_CLASS = 9 };

/* A file in the making. */
struct mat_file {
    unsigned char b[MOST];
    size_t size;
};

static void add(struct mat_file *m, const void *data, size_t size)
{
    memcpy(m->b + m->size, data, size);
    m->size += size;
}

static void add_u32(struct mat_file *m, uint32_t x)
{
    const unsigned char b[] = {(unsigned char)x, (unsigned char)(x >> 8),
                               (unsigned char)(x >> 16), (unsigned char)(x >> 24)};
    add(m, b, 4);
}

static void add_element(struct mat_file *m, uint32_t type, const void *data, size_t size)
{
    static const char zeros[8] = "";
    add_u32(m, type);
    add_u32(m, (uint32_t)size);
    add(m, data, size);
    add(m, zeros, (8 - size % 8) % 8);
}

static void begin(struct mat_file *m)
{
    memset(m->b, ' ', HEADER);
    memcpy(m->b, "MATLAB 5.0 MAT-file", 19);
    memcpy(m->b + 124, "\0\1IM", 4);
    m->size = HEADER;
}

struct variable {
    const char *name;
    uint32_t kind, type; /* of the array, of its numbers */
    uint32_t dims, dim[5];
    const void *data;
    size_t size;
};

/* Where its tag is. */
static size_t add_variable(struct mat_file *m, const struct variable *v)
{
    size_t start = m->size;
    uint32_t flags[] = {v->kind, 0};
    add_u32(m, 14);
    add_u32(m, 0);
    add_element(m, 6, flags, 8); /* this test runs on little-endian machines */
    add_element(m, 5, v->dim, 4 * (size_t)v->dims);
    if (strlen(v->name) > 0 && strlen(v->name) <= 4) {
        char word[4] = "";
        memcpy(word, v->name, strlen(v->name));
        add_u32(m, 1 | (uint32_t)strlen(v->name) << 16);
        add(m, word, 4);
    } else {
        add_element(m, 1, v->name, strlen(v->name));
    }
    add_element(m, v->type, v->data, v->size);
    uint32_t bytes = (uint32_t)(m->size - start - 8);
    memcpy(m->b + start + 4, &bytes, 4);
    return start;
}

/* The last variable, which begins at start, as a compressed one. */
static void compress_last(struct mat_file *m, size_t start)
{
    static unsigned char packed[MOST];
    uLongf size = sizeof packed;
    assert_int_equal(compress(packed, &size, m->b + start, m->size - start), Z_OK);
    m->size = start;
    add_u32(m, 15);
    add_u32(m, (uint32_t)size);
    add(m, packed, size);
}

/* Two images of 32 x 32 x 3 and their labels. */
static void make_digits(struct mat_file *m, bool packed, const unsigned char labels[2])
{
    static unsigned char pixels[2 * 3072];
    noise(pixels, sizeof pixels, 4);
    begin(m);
    size_t at = add_variable(
        m, &(struct variable){
               "X", UINT8_CLASS, 2, 4, {32, 32, 3, 2}, pixels, sizeof pixels});
    if (packed)
        compress_last(m, at);
    at = add_variable(m, &(struct variable){"y", DOUBLE_CLASS, 2, 2, {2, 1}, labels, 2});
    if (packed)
        compress_last(m, at);
}

static void svhn_as_it_is(void **state)
{
    (void)state;
    struct sb_dataset d;
    struct stat info;
    if (stat(SVHN, &info) != 0) {
        puts("NOT TESTED: the real SVHN file (needs ../shared/data/svhn)");
        return;
    }
    assert_int_equal(sb_dataset_open(&d, SVHN, SB_SPLIT_TEST), SB_OK);
    assert_int_equal(d.n, 10000);
    assert_int_equal(d.classes, 10);
    assert_string_equal(d.format, "svhn");
    assert_string_equal(d.class_names[9], "9");
    assert_int_equal(crc32(0, d.images, 10000 * 3072), 0x801df10u);
    static unsigned char labels[10000];
    for (uint32_t i = 0; i < d.n; i++)
        labels[i] = (unsigned char)d.labels[i];
    assert_int_equal(crc32(0, labels, sizeof labels), 0x13c1b31eu);
    sb_dataset_fini(&d);
    refused(sb_dataset_open(&d, SVHN, SB_SPLIT_TRAIN), SB_EIO,
            "there is no train*.mat in " SVHN ": it has no train split");
}

static void plain_and_packed_digits(void **state)
{
    (void)state;
    static struct mat_file m;
    struct sb_dataset d;
    for (int packed = 0; packed < 2; packed++) {
        make_digits(&m, packed, (const unsigned char[]){10, 3});
        put("train_32x32.mat", m.b, m.size);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(
                sb_dataset_open(&d, k ? "train_32x32.mat" : ".", SB_SPLIT_TRAIN), SB_OK);
            assert_false(d.whole);
            assert_int_equal(d.labels[0], 0);
            assert_int_equal(d.labels[1], 3);
            unsigned char pixels[2 * 3072];
            noise(pixels, sizeof pixels, 4);
            for (uint32_t i = 0; i < sizeof pixels; i++)
                assert_int_equal(d.images[i],
                                 pixels[i / 1024 * 1024 + i % 32 * 32 + i % 1024 / 32]);
            sb_dataset_fini(&d);
        }
    }
    make_digits(&m, false,
                (const unsigned char[]){0, 3}); /* not SVHN's way of counting */
    put("other.mat", m.b, m.size);
    assert_int_equal(sb_dataset_open(&d, "other.mat", SB_SPLIT_TRAIN), SB_OK);
    assert_string_equal(d.format, "mat");
    assert_true(d.whole);
    assert_int_equal(d.classes, 4);
    assert_null(d.class_names);
    sb_dataset_fini(&d);
    put("train_more.mat", m.b, m.size);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_EARG,
            "2 files in . are named train*.mat; want one, keep one");
    refused(sb_dataset_open(&d, "train_32x32.mat", SB_SPLIT_TEST), SB_EARG,
            "train_32x32.mat is a train file by its name, but the test split is wanted; "
            "name the directory to have both");
}

/* [3][2] numbers of every type, beside variables that nobody wants. */
static void tables(void **state)
{
    (void)state;
    static struct mat_file m;
    struct sb_dataset d;
    const double f8[] = {1, 2, 3, -4, 5, 6};
    const float f4[] = {1, 2, 3, -4, 5, 6};
    const int16_t i2[] = {1, 2, 3, -4, 5, 6};
    const int64_t i8[] = {1, 2, 3, -4, 5, 6};
    const struct variable x[] = {{"data", DOUBLE_CLASS, 9, 2, {3, 2}, f8, sizeof f8},
                                 {"x", 7, 7, 2, {3, 2}, f4, sizeof f4},
                                 {"X", DOUBLE_CLASS, 3, 2, {3, 2}, i2, sizeof i2},
                                 {"X", 14, 12, 2, {3, 2}, i8, sizeof i8}};
    for (int i = 0; i < 4; i++) {
        begin(&m);
        add_variable(&m, &(struct variable){"note", 4, 4, 2, {1, 2}, "a\0b", 4});
        add_variable(&m, &x[i]);
        add_variable(
            &m, &(struct variable){"labels", DOUBLE_CLASS, 2, 2, {1, 3}, "\2\0\1", 3});
        put("t.mat", m.b, m.size);
        assert_int_equal(sb_dataset_open(&d, "t.mat", SB_SPLIT_TRAIN), SB_OK);
        assert_int_equal(d.element, SB_FLOATS);
        assert_int_equal(d.n, 3);
        assert_int_equal(d.channels, 2);
        assert_int_equal(d.classes, 3);
        assert_memory_equal(d.values, ((float[]){1, -4, 2, 5, 3, 6}), 24);
        assert_memory_equal(d.labels, ((uint32_t[]){2, 0, 1}), 12);
        sb_dataset_fini(&d);
    }
    begin(&m);
    add_variable(
        &m, &(struct variable){"X", 9, 2, 3, {2, 3, 4}, "abcdefghijklmnopqrstuvwx", 24});
    put("t.mat", m.b, m.size);
    refused(sb_dataset_open(&d, "t.mat", SB_SPLIT_TRAIN), SB_EFORMAT,
            "t.mat has no variable y or labels");
    struct sb_open_options o = {.unlabelled = true};
    assert_int_equal(sb_dataset_open_with(&d, "t.mat", &o), SB_OK);
    assert_int_equal(d.n, 4);
    assert_int_equal(d.height, 2);
    assert_int_equal(d.width, 3);
    assert_memory_equal(d.images, "acebdfgikhjl", 12);
    assert_null(d.labels);
    sb_dataset_fini(&d);
}

static void refused_file(const struct mat_file *m, sb_status code, const char *sentence)
{
    struct sb_dataset d;
    put("t.mat", m->b, m->size);
    refused(sb_dataset_open(&d, "t.mat", SB_SPLIT_TRAIN), code, sentence);
}

static void other_versions(void **state)
{
    (void)state;
    static struct mat_file m;
    begin(&m);
    refused_file(&m, SB_EFORMAT, "t.mat has no variable X, x or data with the examples");
    m.b[125] = 2;
    refused_file(&m, SB_EMISSING,
                 "t.mat is a MATLAB 7.3 file (HDF5), which sebays does not read; in "
                 "MATLAB, load it and save it again with the option -v7");
    m.b[125] = 3;
    refused_file(&m, SB_EFORMAT, "t.mat: it does not begin like a MATLAB 5 file");
    memcpy(m.b + 124, "\1\0MI", 4);
    refused_file(&m, SB_EFORMAT,
                 "t.mat: its numbers are big-endian; load it and save it again on this "
                 "machine");
    m.size = 0;
    refused_file(&m, SB_EFORMAT, "t.mat: it does not begin like a MATLAB 5 file");
}

/* Variables that are sound, but not what is wanted. */
static void wrong_variables(void **state)
{
    (void)state;
    static struct mat_file m;
    const double x[] = {1, 0.5, 3, NAN};
    static const struct {
        struct variable v[2];
        const char *sentence;
    } cases[] = {
        {{{"X", 4, 4, 2, {1, 2}, "a\0b", 4}, {"y", 6, 2, 2, {1, 1}, "", 1}},
         "t.mat: X is neither a matrix of real numbers nor uint8 images of "
         "[height][width][channels][n]"},
        {{{"X", 6 | 0x800, 2, 2, {1, 2}, "ab", 2}, {"y", 6, 2, 2, {1, 1}, "", 1}},
         "t.mat: X is neither a matrix of real numbers nor uint8 images of "
         "[height][width][channels][n]"},
        {{{"X", 6, 2, 3, {1, 1, 2}, "ab", 2}, {"y", 6, 2, 2, {1, 1}, "", 1}},
         "t.mat: X is neither a matrix of real numbers nor uint8 images of "
         "[height][width][channels][n]"},
        {{{"X", 9, 2, 5, {1, 1, 1, 1, 2}, "ab", 2}, {"y", 6, 2, 2, {1, 1}, "", 1}},
         "t.mat: X is neither a matrix of real numbers nor uint8 images of "
         "[height][width][channels][n]"},
        {{{"X", 6, 2, 2, {2, 1}, "ab", 2}, {"x", 6, 2, 2, {1, 1}, "", 1}},
         "t.mat: x is a second variable of examples; keep one of X, x, data"},
        {{{"y", 6, 2, 2, {2, 1}, "ab", 2}, {"labels", 6, 2, 2, {1, 1}, "", 1}},
         "t.mat: labels is a second variable of labels; keep one of y, labels"},
        {{{"X", 6, 2, 2, {2, 1}, "ab", 2}, {"y", 6, 2, 2, {1, 3}, "ab", 3}},
         "t.mat has 2 examples, but 3 labels; they do not belong together"},
        {{{"X", 6, 2, 2, {2, 1}, "ab", 2}, {"y", 6, 2, 2, {2, 2}, "abc", 4}},
         "t.mat: y is not a row or column of real numbers"},
        {{{"X", 6, 2, 2, {2, 1}, "ab", 2}, {"y", 6, 1, 2, {2, 1}, "\1\xff", 2}},
         "t.mat: y(2) is -1; want whole numbers from 0 to 65535"},
        {{{"X", 6, 2, 2, {0, 2}, "", 0}, {"y", 6, 2, 2, {0, 1}, "", 0}},
         "t.mat: X has 0 rows of 2; want 1 to 16777216 numbers a row"},
        {{{"X", 9, 2, 3, {2, 0, 2}, "", 0}, {"y", 6, 2, 2, {2, 1}, "ab", 2}},
         "t.mat: X has 2 images of 1 x 2 x 0; each number must be from 1 to 16384"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&m);
        add_variable(&m, &cases[i].v[0]);
        add_variable(&m, &cases[i].v[1]);
        refused_file(&m, SB_EFORMAT, cases[i].sentence);
    }
    begin(&m);
    add_variable(&m, &(struct variable){"X", 6, 9, 2, {2, 2}, x, sizeof x});
    refused_file(&m, SB_EFORMAT, "t.mat: X(2,2) is not finite as a 32-bit float");
    begin(&m);
    add_variable(&m, &(struct variable){"y", 6, 9, 2, {2, 1}, x, 16});
    refused_file(&m, SB_EFORMAT,
                 "t.mat: y(2) is 0.5; want whole numbers from 0 to 65535");
}

/* Sizes and types that lie. */
static void damaged_variables(void **state)
{
    (void)state;
    static struct mat_file m;
#define DAMAGED(what)                                                                    \
    "t.mat: variable 1" what "; the file is damaged, fetch or save it again"
    static const struct {
        size_t at; /* from the variable's tag */
        uint32_t value;
        const char *sentence;
    } cases[] = {
        {0, 13, DAMAGED(" is not an array")},
        {4, 1000,
         "t.mat: variable 1 should have 1000 bytes, but only 64 follow; the file is "
         "truncated, fetch it again"},
        {4, 60, DAMAGED(", X has too few bytes for its dimensions")},
        {4, 20, DAMAGED(" ends too early")},
        {8, 5, DAMAGED(" has an element of a strange type or size")},
        {12, 9, DAMAGED(" has an element of a strange type or size")},
        {28, 12, DAMAGED(" has an element of a strange type or size")},
        {28, 4, DAMAGED(" has strange dimensions")},
        {28, 0x7fffffff, DAMAGED(" has an element of a strange type or size")},
        {32, 0x80000000, DAMAGED(" has strange dimensions")},
        {32, 0x7fffffff,
         DAMAGED(", X has another number of numbers than its dimensions say")},
        {32, 3, DAMAGED(", X has another number of numbers than its dimensions say")},
        {40, 5 << 16 | 1, DAMAGED(" has a small element that is not small")},
        {44, 7, DAMAGED(" has a strange name")},
        {48, 8, DAMAGED(", X has numbers of a strange type")},
        {48, 99, DAMAGED(", X has numbers of a strange type")},
        {52, 8, DAMAGED(", X has another number of numbers than its dimensions say")},
    };
    const double x[] = {1, 2};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&m);
        add_variable(&m, &(struct variable){"X", 6, 9, 2, {2, 1}, x, sizeof x});
        memcpy(m.b + HEADER + cases[i].at, &cases[i].value, 4);
        refused_file(&m, SB_EFORMAT, cases[i].sentence);
    }
    begin(&m);
    add_variable(&m, &(struct variable){"X", UINT8_CLASS, 1, 3, {1, 1, 2}, "ab", 2});
    refused_file(&m, SB_EFORMAT, DAMAGED(", X has numbers of a strange type"));
}

static void cut_anywhere(void **state)
{
    (void)state;
    static struct mat_file m;
    struct sb_dataset d;
    make_digits(&m, true, (const unsigned char[]){1, 2});
    for (size_t n = 0; n < m.size; n += n < 400 || n > m.size - 100 ? 1 : 37) {
        put("t.mat", m.b, n);
        assert_int_equal(sb_dataset_open(&d, "t.mat", SB_SPLIT_TRAIN), SB_EFORMAT);
    }
    size_t size = m.size;
    m.b[300] ^= 1;
    refused_file(&m, SB_EFORMAT, DAMAGED(", X cannot be unpacked"));
    m.b[300] ^= 1;
    m.b[size - 1] ^= 1; /* the last checksum */
    refused_file(&m, SB_EFORMAT,
                 "t.mat: variable 2, y cannot be unpacked; the file is damaged, fetch or "
                 "save it again");
}

/* A few packed bytes cannot claim much memory. */
static void lying_sizes(void **state)
{
    (void)state;
    static struct mat_file m;
    begin(&m);
    size_t at = add_variable(
        &m, &(struct variable){"X", UINT8_CLASS, 2, 4, {1000, 1000, 3, 700}, "ab", 2});
    uint32_t bytes = 2100000000, whole = bytes + 64;
    memcpy(m.b + at + 4, &whole, 4);
    memcpy(m.b + m.size - 12, &bytes, 4);
    compress_last(&m, at);
    sb_mem_peak_reset();
    refused_file(&m, SB_EFORMAT, DAMAGED(", X has too few bytes for its dimensions"));
    assert_true(sb_mem_peak() < 1 << 20);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static struct mat_file m;
    struct sb_dataset d;
    make_digits(&m, true, (const unsigned char[]){10, 2});
    put("t.mat", m.b, m.size);
    sb_status st = SB_ENOMEM;
    int n = 0;
    for (; st != SB_OK && n < 100; n++) {
        sb_mem_fail_after(n);
        st = sb_dataset_open(&d, "t.mat", SB_SPLIT_TRAIN);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        sb_dataset_fini(&d);
    }
    assert_in_range(n, 7, 99);
}

#define test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(svhn_as_it_is),
        test(plain_and_packed_digits),
        test(tables),
        test(other_versions),
        test(wrong_variables),
        test(damaged_variables),
        test(cut_anywhere),
        test(lying_sizes),
        test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
