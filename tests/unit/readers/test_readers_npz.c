/* files/zip through readers/arrays: stored, deflated and zip64 members, and archives that lie.
 * tests/arrays/make.py makes the fixtures. */
#include "data_fixture.h"

#include "files/zip.h"

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

static void archives(void **state)
{
    (void)state;
    unsigned char want[ROOM];
    const uint32_t labels[N] = {9, 0, 0, 3};
    struct sb_dataset d;
    assert_int_equal(load("want.bin", want), N * PIXELS);
    static const char *const names[] = {ARRAYS "/whole.npz", ARRAYS "/zip64.npz"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(sb_dataset_open(&d, names[i], SB_SPLIT_TRAIN), SB_OK);
        assert_true(d.n == N && d.height == H && d.width == W && d.whole && !d.copy);
        assert_memory_equal(d.images, want, N * PIXELS);
        assert_memory_equal(d.labels, labels, sizeof labels);
        assert_string_equal(d.format, "npz");
        sb_dataset_fini(&d);
    }
    for (int split = 0; split < 2; split++) {
        assert_int_equal(sb_dataset_open(&d, ARRAYS "/parts.npz", (enum sb_split)split),
                         SB_OK);
        assert_int_equal(d.n, split ? 1 : 3);
        assert_memory_equal(d.images, want + split * 3 * PIXELS, d.n * PIXELS);
        assert_int_equal(d.labels[0], split ? 3 : 9);
        assert_false(d.whole);
        sb_dataset_fini(&d);
    }
}

/* An archive of one stored member "x.npy" of five bytes. */
static size_t make(unsigned char *b)
{
    static const char local[] =
        "PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0\5\0\0\0\5\0\0\0"
        "x.npyhello";
    static const char entry[] =
        "PK\1\2\24\0\24\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0\5\0\0\0\5\0"
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0x.npy";
    static const char end[] = "PK\5\6\0\0\0\0\1\0\1\0\63\0\0\0\50\0\0\0\0\0";
    memcpy(b, local, 40);
    memcpy(b + 40, entry, 51);
    memcpy(b + 91, end, 22);
    unsigned long sum = crc32(0, (const unsigned char *)"hello", 5);
    for (int i = 0; i < 4; i++)
        b[40 + 16 + i] = (unsigned char)(sum >> (8 * i));
    return 113;
}

static sb_status open_x(const unsigned char *b, size_t size, struct sb_zip_member *m)
{
    struct sb_zip z;
    bool found;
    sb_status st = sb_zip_init(&z, "a.npz", b, size);
    if (st == SB_OK)
        st = sb_zip_find(&z, "x.npy", m, &found);
    if (st == SB_OK && !found)
        return sb_fail(SB_EIO, "not found");
    return st == SB_OK ? sb_zip_read(&z, "x.npy", m, NULL) : st;
}

static void lies(void **state)
{
    (void)state;
    static const struct {
        size_t at, bytes;
        const char *as, *sentence;
    } cases[] = {
        {91, 4, "PK\0\0",
         "a.npz: there is no end of a ZIP archive; the archive is truncated or damaged"},
        {91 + 16, 4, "\xff\xff\xff\x7f",
         "a.npz: its directory reaches beyond its end; the archive is truncated or "
         "damaged"},
        {91 + 12, 4, "\x34\0\0\0",
         "a.npz: its directory reaches beyond its end; the archive is truncated or "
         "damaged"},
        {91 + 16, 4, "\xff\xff\xff\xff",
         "a.npz: its zip64 record is missing; the archive is truncated or damaged"},
        {40, 4, "PK\1\3",
         "a.npz: its directory has a wrong entry; the archive is truncated or damaged"},
        {40 + 28, 2, "\xff\xff",
         "a.npz: its directory has a wrong entry; the archive is truncated or damaged"},
        {40 + 24, 4, "\xff\xff\xff\xff",
         "a.npz: its directory has a wrong zip64 entry; the archive is truncated or "
         "damaged"},
        {40 + 42, 4, "\xff\0\0\0",
         "a.npz: a member is not where its directory says; the archive is truncated or "
         "damaged"},
        {40 + 42, 4, "\1\0\0\0",
         "a.npz: a member is not where its directory says; the archive is truncated or "
         "damaged"},
        {40 + 20, 8, "\x80\0\0\0\x80\0\0\0",
         "a.npz: a member reaches beyond its end; the archive is truncated or damaged"},
        {26, 2, "\xff\xff",
         "a.npz: a member reaches beyond its end; the archive is truncated or damaged"},
        {40 + 24, 4, "\6\0\0\0", "a.npz: its x.npy cannot be 6 bytes unpacked from 5"},
        {40 + 10, 2, "\14\0",
         "a.npz: its x.npy is packed by method 12; stored and deflated ones can be read"},
        {40 + 8, 2, "\1\0", "a.npz: its x.npy is encrypted"},
        {36, 1, "x", "a.npz: its x.npy is damaged; make or fetch it again"},
    };
    unsigned char b[ROOM];
    struct sb_zip_member m;
    size_t size = make(b);
    assert_int_equal(open_x(b, size, &m), SB_OK);
    assert_true(m.size == 5 && !m.deflated && memcmp(m.data, "hello", 5) == 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(b);
        memcpy(b + cases[i].at, cases[i].as, cases[i].bytes);
        refused(open_x(b, size, &m), SB_EFORMAT, cases[i].sentence);
    }
    make(b);
    for (size_t n = 0; n < size; n++) /* cut anywhere */
        assert_int_equal(open_x(b, n, &m), SB_EFORMAT);
}

/* Deflated members that do not unpack to what their entry says; any byte changed. */
static void damaged_members(void **state)
{
    (void)state;
    static unsigned char b[ROOM];
    struct sb_dataset d;
    size_t size = load("parts.npz", b);
    for (size_t i = 0; i < size; i++) {
        b[i] ^= 0x55;
        put("a.npz", b, size);
        sb_status st = sb_dataset_open(&d, "a.npz", SB_SPLIT_TRAIN);
        assert_true(st == SB_OK || st == SB_EFORMAT || st == SB_EIO); /* EIO: renamed */
        sb_dataset_fini(&d);
        b[i] ^= 0x55;
    }
    for (size_t n = 4; n < size; n += 7) {
        put("a.npz", b, n);
        assert_int_equal(sb_dataset_open(&d, "a.npz", SB_SPLIT_TRAIN), SB_EFORMAT);
    }
    put("a.npz", b, 3);
    assert_int_equal(sb_dataset_open(&d, "a.npz", SB_SPLIT_TRAIN), SB_EFORMAT);
    size = make(b);
    put("a.npz", b, size);
    refused(sb_dataset_open(&d, "a.npz", SB_SPLIT_TRAIN), SB_EFORMAT,
            "a.npz/x.npy: it does not begin as an NPY file does");
    b[30] = b[86] = 'z';
    put("a.npz", b, size);
    refused(
        sb_dataset_open(&d, "a.npz", SB_SPLIT_TRAIN), SB_EFORMAT,
        "a.npz: there is no x_train.npy in it (nor X_train, train_images, x, X, images "
        "or data)");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    sb_status st = SB_ENOMEM;
    long n;
    for (n = 0; st != SB_OK && n < 100; n++) {
        struct sb_dataset d;
        sb_mem_fail_after(n);
        st = sb_dataset_open(&d, ARRAYS "/parts.npz", SB_SPLIT_TRAIN);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        sb_dataset_fini(&d);
    }
    assert_int_equal(n,
                     11); /* path; the archive's name twice; both members' bytes, zlib's
                              * two each; labels */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(archives, set_up, tear_down),
        cmocka_unit_test(lies),
        cmocka_unit_test_setup_teardown(damaged_members, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
