/* files/image, png, jpeg: every form of file against its planes, and malformed ones.
 * tests/images/make.py makes the fixtures. */
#include "files/image.h"

#include "data_fixture.h"

enum { MOST = 1 << 14, PNG_HEIGHT = 11, PNG_WIDTH = 13, SIDE = 32 };

struct fixture {
    const char *name; /* without its ending */
    uint32_t channels;
};

static const struct fixture pngs[] = {
    {"grey1", 1},    {"grey2", 1},         {"grey4", 1},     {"grey8", 1},
    {"grey16", 1},   {"grey-alpha", 1},    {"grey-hole", 1}, {"interlaced", 1},
    {"rgb8", 3},     {"rgb16", 3},         {"rgb-alpha", 3}, {"palette2", 3},
    {"palette8", 3}, {"palette-alpha", 3},
};
static const struct fixture jpegs[] = {
    {"photo", 3}, {"photo-grey", 1}, {"photo-progressive", 3}, {"photo-cmyk", 3}};

/* A file of tests/images. */
static size_t load(const char *name, const char *ending, unsigned char out[MOST])
{
    char path[512];
    snprintf(path, sizeof path, IMAGES "/%s%s", name, ending);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t size = fread(out, 1, MOST, f);
    assert_int_equal(fclose(f), 0);
    return size;
}

static struct sb_image_file file_of(const char *name, const char *ending,
                                    unsigned char bytes[MOST])
{
    size_t size = load(name, ending, bytes);
    return (struct sb_image_file){.name = name, .data = bytes, .size = size};
}

/* Decoded as it is, it differs from its .raw by at most `most`. */
static void decodes(const struct fixture *x, const char *ending, int most)
{
    unsigned char bytes[MOST], want[MOST], have[MOST];
    struct sb_image_file f = file_of(x->name, ending, bytes);
    struct sb_image_shape s;
    assert_int_equal(sb_image_look(&f, &s), SB_OK);
    assert_int_equal(s.channels, x->channels);
    size_t size = (size_t)s.channels * s.height * s.width;
    assert_int_equal(load(x->name, ".raw", want), size);
    memset(have, 99, sizeof have);
    assert_int_equal(sb_image_decode(&f, &s, have), SB_OK);
    for (size_t i = 0; i < size; i++)
        assert_in_range(have[i] - want[i] + most, 0, 2 * most);
    assert_int_equal(have[size], 99);
}

static void every_png(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pngs / sizeof *pngs; i++)
        decodes(&pngs[i], ".png", 0);
}

/* Decoders of JPEG may differ in the last bit. */
static void every_jpeg(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof jpegs / sizeof *jpegs; i++)
        decodes(&jpegs[i], ".jpg", 2);
}

static void colours_change(void **state)
{
    (void)state;
    enum { PLANE = PNG_HEIGHT * PNG_WIDTH };
    unsigned char bytes[MOST], colour[3 * PLANE], grey[PLANE], three[3 * PLANE];
    const struct sb_image_shape one = {1, PNG_HEIGHT, PNG_WIDTH},
                                all = {3, PNG_HEIGHT, PNG_WIDTH};
    struct sb_image_file f = file_of("rgb8", ".png", bytes);
    assert_int_equal(sb_image_decode(&f, &all, colour), SB_OK);
    assert_int_equal(sb_image_decode(&f, &one, grey), SB_OK);
    for (int i = 0; i < PLANE; i++)
        assert_int_equal(grey[i], (19595 * colour[i] + 38470 * colour[PLANE + i] +
                                   7471 * colour[2 * PLANE + i] + 32768) /
                                      65536);
    f = file_of("grey8", ".png", bytes);
    assert_int_equal(sb_image_decode(&f, &all, three), SB_OK);
    for (int c = 0; c < 3; c++)
        assert_memory_equal(three + c * PLANE, grey, PLANE);
    const struct sb_image_shape little = {1, SIDE, SIDE};
    unsigned char luma[SIDE * SIDE], want[MOST];
    f = file_of("photo", ".jpg", bytes); /* its luma, not made from colours */
    assert_int_equal(sb_image_decode(&f, &little, luma), SB_OK);
    load("photo", ".raw", want);
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_in_range(luma[i] -
                            (19595 * want[i] + 38470 * want[SIDE * SIDE + i] +
                             7471 * want[2 * SIDE * SIDE + i] + 32768) /
                                65536 +
                            3,
                        0, 6);
}

/* A JPEG that is shrunk while it is decoded is nearly the average of its areas. */
static void shrunk_jpegs_are_averages(void **state)
{
    (void)state;
    unsigned char bytes[MOST], want[MOST], have[3 * 64];
    struct sb_image_file f = file_of("photo", ".jpg", bytes);
    load("photo", ".raw", want);
    for (uint32_t side = 8; side >= 4; side -= 4) {
        uint32_t by = SIDE / side;
        assert_int_equal(
            sb_image_decode(&f, &(struct sb_image_shape){3, side, side}, have), SB_OK);
        for (uint32_t i = 0; i < 3 * side * side; i++) {
            uint32_t y = i / side * by, x = i % side * by, sum = 0;
            for (uint32_t k = 0; k < by * by; k++)
                sum += want[(y + k / by) * SIDE + x + k % by];
            assert_in_range(have[i] - (int)(sum / (by * by)) + 6, 0, 12);
        }
    }
}

static void refused_file(const unsigned char *bytes, size_t size, const char *sentence)
{
    unsigned char out[3];
    struct sb_image_file f = {.name = "x", .data = bytes, .size = size};
    refused(sb_image_decode(&f, &(struct sb_image_shape){3, 1, 1}, out), SB_EFORMAT,
            sentence);
}

/* Changes a chunk's first byte at `at` and sets its checksum right. */
static void put_in_header(unsigned char *png, size_t at, uint32_t value)
{
    put_u32(png + at, value);
    put_u32(png + 29, (uint32_t)crc32(0, png + 12, 17));
}

static void malformed_png(void **state)
{
    (void)state;
    unsigned char b[MOST];
    size_t size = load("rgb8", ".png", b);
    refused_file(b, 0, "x: it does not begin like a PNG or JPEG file");
    refused_file(b, 7, "x: it does not begin like a PNG or JPEG file");
    for (size_t n = 8; n < size; n++) {
        bool header = n < 33;
        refused_file(b, n, "x: not a sound PNG file: it ends too early");
        struct sb_image_shape s;
        struct sb_image_file f = {.name = "x", .data = b, .size = n};
        if (header)
            refused(sb_image_look(&f, &s), SB_EFORMAT,
                    "x: not a sound PNG file: it ends too early");
    }
    b[60] ^= 1;
    refused_file(b, size, "x: not a sound PNG file: IDAT: incorrect data check");
    b[60] ^= 1;
    b[size - 16] ^= 1; /* IEND has 12 bytes */
    refused_file(b, size, "x: not a sound PNG file: IDAT: CRC error");
    b[size - 16] ^= 1;
    put_in_header(b, 16, 16385);
    refused_file(b, size, "x: not a sound PNG file: Invalid IHDR data");
    put_in_header(b, 16, 16384);
    put_in_header(b, 20, 16384);
    refused_file(
        b, size,
        "x: its header says 16384 x 16384 pixels; want sides from 1 to 16384 and "
        "at most 67108864 pixels");
    put_in_header(b, 20, 4096);
    refused_file(b, size, "x: not a sound PNG file: too few bytes for so many pixels");
    put_in_header(b, 16, 0);
    refused_file(b, size, "x: not a sound PNG file: Invalid IHDR data");
    put_in_header(b, 16, PNG_WIDTH);
    put_in_header(b, 20, PNG_HEIGHT + 1);
    refused_file(b, size, "x: not a sound PNG file: Not enough image data");
    sb_mem_peak_reset();
    put_u32(b + 33, 0x53000000); /* the chunk after the header */
    memcpy(b + 37, "sPLT", 4);
    refused_file(b, size, "x: not a sound PNG file: a chunk of more than 8 MiB");
    assert_true(sb_mem_peak() < 1 << 20);
    size = load("rgb8", ".png", b);
    put_in_header(b, 20, PNG_HEIGHT - 1); /* more than there should be: no loss */
    unsigned char out[3];
    struct sb_image_file f = {.name = "x", .data = b, .size = size};
    assert_int_equal(sb_image_decode(&f, &(struct sb_image_shape){3, 1, 1}, out), SB_OK);
}

static unsigned char *find_marker(unsigned char *b, size_t size, unsigned char marker)
{
    for (size_t i = 0; i + 1 < size; i++)
        if (b[i] == 0xff && b[i + 1] == marker)
            return b + i;
    fail();
    return b;
}

static void malformed_jpeg(void **state)
{
    (void)state;
    unsigned char b[MOST], out[3 * SIDE * SIDE];
    const struct sb_image_shape whole = {3, SIDE, SIDE};
    size_t size = load("photo", ".jpg", b);
    for (size_t n = 3; n < size - 2; n++) {
        struct sb_image_file f = {.name = "x", .data = b, .size = n};
        assert_int_equal(sb_image_decode(&f, &whole, out), SB_EFORMAT);
        assert_non_null(strstr(sb_message(), "x: not a sound JPEG file: "));
    }
    refused_file(b, 3, "x: not a sound JPEG file: Premature end of JPEG file");
    refused_file(b, size / 2, "x: not a sound JPEG file: Premature end of JPEG file");
    unsigned char *frame = find_marker(b, size, 0xc0);
    memcpy(frame + 5, "\x50\x00", 2); /* its height: 20480 */
    refused_file(
        b, size,
        "x: its header says 20480 x 32 pixels; want sides from 1 to 16384 and at "
        "most 67108864 pixels");
    memcpy(frame + 5, "\x00\x21", 2); /* more rows than there are */
    refused_file(b, size,
                 "x: not a sound JPEG file: Corrupt JPEG data: premature end of data "
                 "segment");
    memcpy(frame + 5, "\x00\x20", 2);
    frame[4] = 12;
    refused_file(b, size, "x: not a sound JPEG file: Unsupported JPEG data precision 12");
    frame[4] = 8;
    frame[1] = 0xc3; /* lossless */
    refused_file(b, size,
                 "x: not a sound JPEG file: Unsupported JPEG process: SOF type 0xc3");
}

/* More scans than anybody needs cost a pass over all pixels each. A grey file is said to
 * have three components, and its scan, which is the first one's, comes again and again. */
static void too_many_scans(void **state)
{
    (void)state;
    enum { TIMES = 101, COMPONENTS = 6 };
    unsigned char b[MOST], *many = malloc((size_t)TIMES * MOST), *to = many;
    assert_non_null(many);
    size_t size = load("photo-grey", ".jpg", b);
    unsigned char *frame = find_marker(b, size, 0xc0), *after = frame + 13;
    unsigned char *scan = find_marker(b, size, 0xda);
    frame[3] += COMPONENTS; /* length */
    frame[9] = 3;
    to = (unsigned char *)memcpy(to, b, (size_t)(after - b)) + (after - b);
    memcpy(to, "\2\x11\0\3\x11\0", COMPONENTS);
    to = (unsigned char *)memcpy(to + COMPONENTS, after, (size_t)(scan - after)) +
         (scan - after);
    size_t length = (size_t)(b + size - 2 - scan);
    for (size_t i = 0; i < TIMES; i++, to += length)
        memcpy(to, scan, length);
    memcpy(to, "\xff\xd9", 2);
    refused_file(many, (size_t)(to + 2 - many), "x: it has more than 100 scans");
    free(many);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *const names[] = {"rgb-alpha", "photo-cmyk"};
    const char *const endings[] = {".png", ".jpg"};
    for (int i = 0; i < 2; i++) {
        unsigned char bytes[MOST], out[300];
        struct sb_image_file f = file_of(names[i], endings[i], bytes);
        sb_status st = SB_ENOMEM;
        int n = 0;
        for (; st != SB_OK && n < 100; n++) {
            size_t live = sb_mem_live();
            sb_mem_fail_after(n);
            st = sb_image_decode(&f, &(struct sb_image_shape){3, 10, 10}, out);
            sb_mem_fail_after(-1);
            assert_true(st == SB_OK || st == SB_ENOMEM);
            assert_int_equal(sb_mem_live(), live);
        }
        assert_in_range(n, 4, 99);
    }
}

int main(void)
{
#if !defined SB_HAVE_PNG || !defined SB_HAVE_JPEG
    puts("NOT TESTED: image files (needs libpng and libjpeg)");
    return 77; /* skipped */
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_png),      cmocka_unit_test(every_jpeg),
        cmocka_unit_test(colours_change), cmocka_unit_test(shrunk_jpegs_are_averages),
        cmocka_unit_test(malformed_png),  cmocka_unit_test(malformed_jpeg),
        cmocka_unit_test(too_many_scans), cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
