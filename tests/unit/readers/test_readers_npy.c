/* readers/npy and readers/arrays: every type and order NumPy writes, what dimensions mean, and
 * headers that lie. tests/arrays/make.py makes the fixtures. */
#include "data_fixture.h"

#include "corrupt/cifar_c.h"
#include "readers/npy.h"

enum { N = 4, H = 12, W = 10, PIXELS = H * W, ROOM = 8192 };

static size_t load(const char *name, unsigned char *out)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", ARRAYS, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(out, 1, ROOM, f);
    fclose(f);
    return n;
}

static void copy_fixture(const char *name, const char *as)
{
    unsigned char b[ROOM];
    put(as, b, load(name, b));
}

static const struct sb_open_options unlabelled = {.unlabelled = true};

/* ---- what NumPy writes ---- */

static void grey_images(void **state)
{
    (void)state;
    static const char *const bytes[] = {"u1.npy", "u1-fortran.npy", "u1-v2.npy",
                                        "u1-v3.npy"};
    static const char *const floats[] = {"little-f4.npy", "big-f4.npy",
                                         "little-f8.npy", "big-i2.npy",
                                         "little-i8.npy", "little-u4.npy"};
    unsigned char want[ROOM];
    struct sb_dataset d;
    assert_int_equal(load("want.bin", want), N * PIXELS);
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        copy_fixture(bytes[i], "x.npy");
        assert_int_equal(sb_dataset_open_with(&d, "x.npy", &unlabelled), SB_OK);
        assert_true(d.n == N && d.channels == 1 && d.height == H && d.width == W);
        assert_true(d.element == SB_BYTES && d.whole && !d.labels && d.classes == 0);
        assert_memory_equal(d.images, want, N * PIXELS);
        assert_string_equal(d.format, "npy");
        assert_true((d.copy != NULL) == (i == 1)); /* in the file but for Fortran order */
        sb_dataset_fini(&d);
    }
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        copy_fixture(floats[i], "x.npy");
        assert_int_equal(sb_dataset_open_with(&d, "x.npy", &unlabelled), SB_OK);
        assert_true(d.element == SB_FLOATS && !d.images && !sb_dataset_tabular(&d));
        for (size_t k = 0; k < N * PIXELS; k++)
            assert_true(d.values[k] == (float)want[k]);
        assert_true((d.copy != NULL) == (i != 0));
        sb_dataset_fini(&d);
    }
}

static void channels_and_tables(void **state)
{
    (void)state;
    unsigned char want[ROOM];
    struct sb_dataset d;
    assert_int_equal(load("cifar.bin", want), 2 * 3 * 8 * 8);
    for (int last = 0; last < 2; last++) {
        copy_fixture(last ? "nhwc.npy" : "nchw.npy", "x.npy");
        assert_int_equal(sb_dataset_open_with(&d, "x.npy", &unlabelled), SB_OK);
        assert_true(d.n == 2 && d.channels == 3 && d.height == 8 && d.width == 8);
        assert_memory_equal(d.images, want, 2 * 3 * 8 * 8);
        assert_true((d.copy != NULL) == last);
        sb_dataset_fini(&d);
    }
    assert_int_equal(load("want.bin", want), N * PIXELS);
    static const char *const tables[] = {"table-f4.npy", "table-u1.npy", "table-i1.npy",
                                         "table-fortran.npy"};
    for (size_t i = 0; i < 4; i++) {
        copy_fixture(tables[i], "x.npy");
        assert_int_equal(sb_dataset_open_with(&d, "x.npy", &unlabelled), SB_OK);
        assert_true(sb_dataset_tabular(&d) && d.n == N && d.channels == 7);
        for (size_t k = 0; k < N * 7; k++) {
            uint8_t byte = want[k / 7 * PIXELS + 50 + k % 7];
            float value = i == 2 ? (float)(int8_t)byte : (float)byte;
            assert_true(d.values[k] == value);
        }
        sb_dataset_fini(&d);
    }
}

/* Both dimensions could be channels: what makes images square wins, else the last. */
static void ambiguous_channels(void **state)
{
    (void)state;
    static const struct {
        uint64_t shape[4];
        uint32_t channels, height, width;
    } cases[] = {
        {{1, 3, 4, 4}, 3, 4, 4},     {{1, 4, 4, 3}, 3, 4, 4},     {{1, 3, 5, 4}, 4, 3, 5},
        {{1, 1, 28, 28}, 1, 28, 28}, {{1, 28, 28, 1}, 1, 28, 28}, {{1, 7, 9, 9}, 7, 9, 9},
        {{1, 5, 6, 3}, 3, 5, 6},
    };
    const uint8_t zeros[1024] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sb_npy_writer w;
        struct sb_dataset d;
        assert_int_equal(sb_npy_create(&w, "x.npy", SB_NPY_U8, cases[i].shape, 4), SB_OK);
        assert_int_equal(sb_npy_append(&w, zeros, 1), SB_OK);
        assert_int_equal(sb_npy_finish(&w), SB_OK);
        assert_int_equal(sb_dataset_open_with(&d, "x.npy", &unlabelled), SB_OK);
        assert_int_equal(d.channels, cases[i].channels);
        assert_int_equal(d.height, cases[i].height);
        assert_int_equal(d.width, cases[i].width);
        sb_dataset_fini(&d);
    }
}

static void labels_beside(void **state)
{
    (void)state;
    struct sb_dataset d;
    copy_fixture("u1.npy", "x.npy");
    refused(sb_dataset_open(&d, "x.npy", SB_SPLIT_TRAIN), SB_EIO,
            "x.npy has no labels: there is no y.npy");
    copy_fixture("labels.npy", "y.npy");
    assert_int_equal(sb_dataset_open(&d, "x.npy", SB_SPLIT_TRAIN), SB_OK);
    const uint32_t want[N] = {9, 0, 0, 3};
    assert_memory_equal(d.labels, want, sizeof want);
    assert_int_equal(d.classes, 10);
    sb_dataset_fini(&d);
    assert_int_equal(sb_dataset_open(&d, ".", SB_SPLIT_TEST), SB_OK); /* the directory */
    assert_true(d.whole && d.classes == 10);
    sb_dataset_fini(&d);
    copy_fixture("u1.npy", "my-images.npy");
    copy_fixture("labels.npy", "my-labels.npy");
    assert_int_equal(sb_dataset_open(&d, "my-images.npy", SB_SPLIT_TRAIN), SB_OK);
    sb_dataset_fini(&d);
    copy_fixture("u1.npy", "other.npy");
    refused(sb_dataset_open(&d, "other.npy", SB_SPLIT_TRAIN), SB_EIO,
            "other.npy has no labels: name it x.npy and them y.npy");
    unsigned char packed[ROOM];
    size_t size = load("u1.npy", packed);
    remove("x.npy");
    put_gzip("x.npy.gz", packed, size);
    assert_int_equal(sb_dataset_open(&d, "x.npy.gz", SB_SPLIT_TRAIN), SB_OK);
    assert_int_equal(d.classes, 10);
    sb_dataset_fini(&d);
    copy_fixture("nhwc.npy", "x.npy");
    refused(sb_dataset_open(&d, "x.npy", SB_SPLIT_TRAIN), SB_EFORMAT,
            "y.npy has 4 labels, but x.npy has 2 examples; they do not belong together");
}

static void parts_in_a_directory(void **state)
{
    (void)state;
    struct sb_dataset d;
    copy_fixture("u1.npy", "x_train.npy");
    copy_fixture("labels.npy", "y_train.npy");
    assert_int_equal(sb_dataset_open(&d, ".", SB_SPLIT_TRAIN), SB_OK);
    assert_false(d.whole);
    sb_dataset_fini(&d);
    refused(sb_dataset_open(&d, ".", SB_SPLIT_TEST), SB_EFORMAT,
            ".: there is no x_test.npy in it (nor X_test, test_images, x, X, images or "
            "data)");
}

/* ---- CIFAR-10-C ---- */

static void severities(void **state)
{
    (void)state;
    enum { K = 2, ALL = 5 * K, BYTES = 8 * 8 * 3 };
    static uint8_t images[ALL * BYTES];
    uint8_t labels[ALL];
    struct sb_npy_writer w;
    struct sb_dataset d;
    noise(images, sizeof images, 4);
    for (int i = 0; i < ALL; i++)
        labels[i] = (uint8_t)(i % K + 3);
    assert_int_equal(
        sb_npy_create(&w, "fog.npy", SB_NPY_U8, (const uint64_t[]){ALL, 8, 8, 3}, 4),
        SB_OK);
    assert_int_equal(sb_npy_append(&w, images, ALL), SB_OK);
    assert_int_equal(sb_npy_finish(&w), SB_OK);
    refused(sb_cifar_c_open(&d, ".", "fog", 1), SB_EIO,
            "there is no labels.npy in .; CIFAR-10-C has one file a kind, such as "
            "gaussian_noise.npy, and labels.npy");
    assert_int_equal(
        sb_npy_create(&w, "labels.npy", SB_NPY_U8, (const uint64_t[]){ALL}, 1), SB_OK);
    assert_int_equal(sb_npy_append(&w, labels, ALL), SB_OK);
    assert_int_equal(sb_npy_finish(&w), SB_OK);
    for (uint32_t s = 1; s <= 5; s++) {
        assert_int_equal(sb_cifar_c_open(&d, ".", "fog", s), SB_OK);
        assert_true(d.n == K && d.channels == 3 && d.labels[1] == 4);
        for (size_t i = 0; i < K * BYTES; i++) { /* [n][c][y][x] from [n][y][x][c] */
            size_t n = i / BYTES, c = i / 64 % 3, p = i % 64;
            assert_int_equal(d.images[i], images[((s - 1) * K + n) * BYTES + p * 3 + c]);
        }
        sb_dataset_fini(&d);
    }
    refused(sb_cifar_c_open(&d, ".", "fog", 6), SB_EARG, "severity 6; want 1 to 5");
}

/* ---- malformed ---- */

/* An array of version 1 with this dictionary and size bytes of elements. */
static size_t make(unsigned char *out, const char *text, size_t size)
{
    size_t n = strlen(text);
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (unsigned char)n;
    out[9] = (unsigned char)(n >> 8);
    memcpy(out + 10, text, n);
    memset(out + 10 + n, 0, size);
    return 10 + n + size;
}

static void wrong_headers(void **state)
{
    (void)state;
    static const char unread[] =
        "a: its NPY header cannot be read; want descr (a number type), fortran_order and "
        "shape";
    static const struct {
        const char *text;
        size_t size;
        const char *sentence;
    } cases[] = {
        {"", 0, unread},
        {"{", 0, unread},
        {"{'descr': '<f4', 'fortran_order': False}", 0, unread},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", 4, unread},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}", 4, unread},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, unread},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4, unread},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4, unread},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 4,
         unread},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8,
         "a: its elements are '|O'; want whole numbers (u1 to i8), f4, f8 or b1"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8,
         "a: its elements are '<c8'; want whole numbers (u1 to i8), f4, f8 or b1"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", 23,
         "a: its header says 24 bytes of elements, but there are 23; the file is "
         "truncated"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", 25,
         "a: its header says 24 bytes of elements, but there are 25; the file is "
         "damaged"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 0,
         "a: its header says more elements than can be"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}", 0,
         "a: its header says more elements than can be"},
    };
    unsigned char b[ROOM];
    struct sb_npy a;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = make(b, cases[i].text, cases[i].size);
        refused(sb_npy_parse(&a, "a", b, size), SB_EFORMAT, cases[i].sentence);
    }
    size_t size = make(b, "{'shape': (1L, ), \"descr\":'|u1','fortran_order':True}", 1);
    assert_int_equal(sb_npy_parse(&a, "a", b, size), SB_OK); /* as Python 2 wrote it */
    assert_true(a.dims == 1 && a.fortran && a.kind == 'u');
    refused(sb_npy_parse(&a, "a", b, 5), SB_EFORMAT,
            "a: it does not begin as an NPY file does");
    refused(sb_npy_parse(&a, "a", b, 20), SB_EFORMAT,
            "a: 20 bytes are too few for its NPY header; the file is truncated");
    b[6] = 4;
    refused(sb_npy_parse(&a, "a", b, size), SB_EFORMAT,
            "a: it is an NPY file of version 4; want 1, 2 or 3");
}

static void wrong_contents(void **state)
{
    (void)state;
    unsigned char b[ROOM];
    struct sb_dataset d;
    size_t size = make(b, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1)}", 8);
    memcpy(b + size - 4, "\0\0\xc0\x7f", 4); /* NaN */
    put("x.npy", b, size);
    refused(
        sb_dataset_open_with(&d, "x.npy", &unlabelled), SB_EFORMAT,
        "x.npy: example 1 has a value that is not finite as a 32-bit float: feature 0 "
        "(from 0) is nan");
    size = make(b, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)}", 8);
    memcpy(b + size - 8, "\0\0\0\0\0\0\0\x7f", 8); /* 5e303 */
    put("x.npy", b, size);
    refused(
        sb_dataset_open_with(&d, "x.npy", &unlabelled), SB_EFORMAT,
        "x.npy: example 0 has a value that is not finite as a 32-bit float: feature 0 "
        "(from 0) is inf");
    put("x.npy", b,
        make(b, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}", 3));
    refused(
        sb_dataset_open_with(&d, "x.npy", &unlabelled), SB_EFORMAT,
        "x.npy: its array has 1 dimension; want [n][features], [n][height][width], or "
        "four with channels");
    put("x.npy", b,
        make(b, "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3)}", 0));
    refused(sb_dataset_open_with(&d, "x.npy", &unlabelled), SB_EFORMAT,
            "x.npy: it has 0 examples; want 1 to 4294967295");
    put("x.npy", b,
        make(b, "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 0)}", 0));
    refused(sb_dataset_open_with(&d, "x.npy", &unlabelled), SB_EFORMAT,
            "x.npy: examples of 0 x 1 x 1; each must be from 1 to 1048576");
    put("x.npy", b,
        make(b, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1)}", 2));
    size = make(b, "{'descr': '|i1', 'fortran_order': False, 'shape': (2,)}", 2);
    b[size - 1] = 0xff;
    put("y.npy", b, size);
    refused(sb_dataset_open(&d, "x.npy", SB_SPLIT_TRAIN), SB_EFORMAT,
            "y.npy: label 1 is -1; want whole numbers from 0 to 65535");
    size = make(b, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8);
    memcpy(b + size - 4, "\0\0\0\x3f", 4); /* 0.5 */
    put("y.npy", b, size);
    const struct sb_open_options classes = {.task = SB_TASK_CLASSES};
    refused(sb_dataset_open_with(&d, "x.npy", &classes), SB_EFORMAT,
            "y.npy: label 1 is 0.5; want whole numbers from 0 to 65535");
    put("y.npy", b,
        make(b, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3)}", 6));
    refused(sb_dataset_open_with(&d, "x.npy", &classes), SB_EFORMAT,
            "y.npy: its labels have 2 dimensions; want one number a row");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    copy_fixture("big-f4.npy", "x.npy");
    copy_fixture("labels.npy", "y.npy");
    sb_status st = SB_ENOMEM;
    long n;
    for (n = 0; st != SB_OK && n < 100; n++) {
        struct sb_dataset d;
        sb_mem_fail_after(n);
        st = sb_dataset_open(&d, ".", SB_SPLIT_TRAIN);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        sb_dataset_fini(&d);
    }
    assert_int_equal(n, 8); /* path, both headers and files, values, labels */
}

static void put_floats(const char *path, const float *x, const uint64_t *shape,
                       uint32_t dims)
{
    struct sb_npy_writer w;
    assert_int_equal(sb_npy_create(&w, path, SB_NPY_F32, shape, dims), SB_OK);
    assert_int_equal(sb_npy_append(&w, x, shape[0]), SB_OK);
    assert_int_equal(sb_npy_finish(&w), SB_OK);
}

/* How much each row counts, in an array of its own. */
static void weights_beside(void **state)
{
    (void)state;
    const float x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[] = {0, 1, 0, 1};
    float weight[] = {1, 0, 2.5f, 3};
    const uint64_t rows[] = {4, 2}, row[] = {4}, fewer[] = {3}, two[] = {2, 2};
    const struct sb_open_options o = {.weight = "importance"};
    struct sb_dataset d;
    put_floats("x.npy", x, rows, 2);
    put_floats("y.npy", y, row, 1);
    refused(sb_dataset_open_with(&d, ".", &o), SB_EARG,
            "data.weight = importance: there is no importance.npy in .");
    put_floats("importance.npy", weight, fewer, 1);
    refused(sb_dataset_open_with(&d, ".", &o), SB_EFORMAT,
            "./importance.npy: want 4 weights, one a row");
    put_floats("importance.npy", weight, two, 2);
    refused(sb_dataset_open_with(&d, ".", &o), SB_EFORMAT,
            "./importance.npy: want 4 weights, one a row");
    put_floats("importance.npy", weight, row, 1);
    assert_int_equal(sb_dataset_open_with(&d, ".", &o), SB_OK);
    assert_memory_equal(d.weights, weight, sizeof weight);
    sb_dataset_fini(&d);
    weight[2] = -1;
    put_floats("importance.npy", weight, row, 1);
    refused(sb_dataset_open_with(&d, ".", &o), SB_EFORMAT,
            "./importance.npy: weight 2 is -1; want numbers from 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(grey_images, set_up, tear_down),
        cmocka_unit_test_setup_teardown(channels_and_tables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ambiguous_channels, set_up, tear_down),
        cmocka_unit_test_setup_teardown(labels_beside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_in_a_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(severities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(weights_beside, set_up, tear_down),
        cmocka_unit_test(wrong_headers),
        cmocka_unit_test_setup_teardown(wrong_contents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
