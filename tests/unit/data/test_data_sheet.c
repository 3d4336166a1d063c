/* files/png_write, data/sheet, files/font: what is drawn is read back with libpng. */
#include "data_fixture.h"

#include "data/sheet.h"
#include "files/font.h"
#include "files/image.h"

#ifdef SB_HAVE_PNG
#include <png.h>

/* Reads path as 8-bit RGB; the caller frees *pixels. */
static void read_png(const char *path, png_image *image, unsigned char **pixels)
{
    *image = (png_image){.version = PNG_IMAGE_VERSION};
    assert_int_equal(png_image_begin_read_from_file(image, path), 1);
    image->format = PNG_FORMAT_RGB;
    *pixels = malloc(PNG_IMAGE_SIZE(*image));
    assert_non_null(*pixels);
    assert_int_equal(png_image_finish_read(image, NULL, *pixels, 0, NULL), 1);
}

static void colours_come_back(void **state)
{
    (void)state;
    uint8_t pixels[5 * 7 * 3];
    png_image image;
    unsigned char *back;
    noise(pixels, sizeof pixels, 3);
    struct sb_image given = {pixels, 5, 7, 3};
    assert_int_equal(sb_png_write("a.png", &given), SB_OK);
    read_png("a.png", &image, &back);
    assert_int_equal(image.height, 5);
    assert_int_equal(image.width, 7);
    assert_memory_equal(back, pixels, sizeof pixels);
    free(back);
}

static void grey_comes_back(void **state)
{
    (void)state;
    uint8_t pixels[9 * 4];
    png_image image;
    unsigned char *back;
    noise(pixels, sizeof pixels, 4);
    struct sb_image given = {pixels, 9, 4, 1};
    assert_int_equal(sb_png_write("a.png", &given), SB_OK);
    read_png("a.png", &image, &back);
    for (size_t i = 0; i < sizeof pixels; i++)
        for (size_t c = 0; c < 3; c++)
            assert_int_equal(back[3 * i + c], pixels[i]);
    free(back);
}

static void wrong_images_are_refused(void **state)
{
    (void)state;
    uint8_t pixels[16] = {0};
    struct sb_image two = {pixels, 2, 2, 2}, none = {pixels, 0, 2, 1};
    struct sb_image wide = {pixels, 1, 0x7fffffff, 1}, good = {pixels, 2, 2, 1};
    refused(sb_png_write("a.png", &two), SB_EARG,
            "cannot write a.png: a PNG of 2 x 2 with 2 channels; want 1 or 3 "
            "channels and at least a pixel");
    refused(sb_png_write("a.png", &none), SB_EARG,
            "cannot write a.png: a PNG of 0 x 2 with 1 channels; want 1 or 3 "
            "channels and at least a pixel");
    refused(sb_png_write("a.png", &wide), SB_EARG,
            "cannot write a.png: libpng says: Invalid IHDR data");
    refused(sb_png_write("none/a.png", &good), SB_EIO,
            "cannot create none/a.png: No such file or directory");
    assert_false(sb_file_exists("a.png"));
}

static void png_survives_failing_allocations(void **state)
{
    (void)state;
    uint8_t pixels[300] = {0};
    struct sb_image image = {pixels, 10, 10, 3};
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 100; n++) {
        size_t live = sb_mem_live();
        assert_false(sb_file_exists("a.png"));
        sb_mem_fail_after(n);
        st = sb_png_write("a.png", &image);
        sb_mem_fail_after(-1);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_in_range(n, 5, 99);
    assert_true(sb_file_exists("a.png"));
}

static void a_sheet_shows_each_class(void **state)
{
    (void)state;
    uint8_t images[6 * 3 * 2 * 2];
    uint32_t labels[6] = {1, 0, 1, 1, 1, 1};
    png_image image;
    unsigned char *back;
    noise(images, sizeof images, 5);
    struct sb_dataset d = made_up(images, labels, 6, 3, 2, 2, 2);
    assert_int_equal(sb_sheet_of_classes(&d, "s.png"), SB_OK);
    read_png("s.png", &image, &back);
    /* 32 times as large; a column for a digit of 8 pixels, margins of 4 */
    assert_int_equal(image.height, 4 + 2 * 68);
    assert_int_equal(image.width, 8 + 4 + 4 + 10 * 68);
    const uint8_t *second = images + 2 * 12; /* example 2 is the second of class 1 */
    size_t y = 4 + 68 + 33, x = 16 + 68 + 1; /* its pixel [1][0] */
    for (size_t c = 0; c < 3; c++)
        assert_int_equal(back[(y * image.width + x) * 3 + c], second[c * 4 + 2]);
    size_t empty = (40 * (size_t)image.width + 16 + 3 * 68) * 3;
    assert_int_equal(back[empty], 255); /* class 0 has one image only */
    free(back);
}

static void a_sheet_survives_failing_allocations(void **state)
{
    (void)state;
    uint8_t images[4] = {0};
    uint32_t labels[4] = {0, 1, 0, 1};
    struct sb_dataset d = made_up(images, labels, 4, 1, 1, 1, 2);
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 100; n++) {
        size_t live = sb_mem_live();
        sb_mem_fail_after(n);
        st = sb_sheet_of_classes(&d, "s.png");
        sb_mem_fail_after(-1);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_in_range(n, 6, 99);
}

#else

static void png_is_missing(void **state)
{
    (void)state;
    uint8_t pixel = 0;
    struct sb_image image = {&pixel, 1, 1, 1};
    refused(sb_png_write("a.png", &image), SB_EMISSING,
            "cannot write a.png: this build has no libpng; install libpng-dev, "
            "configure and build again");
}

#endif

static void large_images_are_thinned(void **state)
{
    (void)state;
    struct sb_sheet s;
    assert_int_equal(sb_sheet_init(&s, 2, 3, 1, 224, 200, 0), SB_OK);
    assert_int_equal(s.enlarge, 1);
    assert_int_equal(s.thin, 2);
    assert_int_equal(s.cell_height, 112);
    assert_int_equal(s.cell_width, 100);
    uint8_t *image = sb_malloc(224 * 200, 1);
    assert_non_null(image);
    noise(image, 224 * 200, 6);
    sb_sheet_put(&s, 1, 2, image);
    size_t last = (size_t)(s.out_height - 5) * s.out_width + s.out_width - 5;
    assert_int_equal(s.pixels[last], image[222 * 200 + 198]);
    sb_free(image);
    sb_sheet_fini(&s);
}

static void impossible_sheets_are_refused(void **state)
{
    (void)state;
    struct sb_sheet s;
    refused(sb_sheet_init(&s, 0, 1, 1, 1, 1, 0), SB_EARG, "a sheet of no images");
    refused(sb_sheet_init(&s, 1u << 31, 10, 1, 32, 32, 0), SB_EARG,
            "a sheet of 2147483648 x 10 images would have 146028888068 x 684 "
            "pixels");
    sb_sheet_fini(&s);
}

/* A name is drawn and cut where its column ends. */
static void names_stay_in_their_column(void **state)
{
    (void)state;
    struct sb_sheet s;
    assert_int_equal(sb_sheet_init(&s, 1, 1, 1, 8, 8, 2), SB_OK);
    sb_sheet_name(&s, 0, "I\xc3\xa4II");
    size_t ink = 0, beyond = 0;
    for (uint32_t y = 0; y < s.out_height; y++)
        for (uint32_t x = 0; x < s.out_width; x++) {
            bool black = s.pixels[(size_t)y * s.out_width + x] == 0;
            ink += black;
            beyond += black && x >= s.name_width;
        }
    assert_int_equal(ink, 4 * (9 + 5)); /* dots of I and of ?, 2 x 2 pixels each */
    assert_int_equal(beyond, 0);
    sb_sheet_fini(&s);
}

static void the_font_has_what_names_need(void **state)
{
    (void)state;
    assert_int_equal(sb_font_glyph('a'), sb_font_glyph('A'));
    assert_int_equal(sb_font_glyph(' '), 0);
    assert_int_equal(sb_font_glyph('\0'), sb_font_glyph('?'));
    assert_int_equal(sb_font_glyph('~'), sb_font_glyph('?'));
    const char *all = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:()+'#&%?";
    for (const char *a = all; *a; a++)
        for (const char *b = a + 1; *b; b++)
            assert_int_not_equal(sb_font_glyph(*a), sb_font_glyph(*b));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
#ifdef SB_HAVE_PNG
        TEST(colours_come_back),          TEST(grey_comes_back),
        TEST(wrong_images_are_refused),   TEST(png_survives_failing_allocations),
        TEST(a_sheet_shows_each_class),   TEST(a_sheet_survives_failing_allocations),
#else
        TEST(png_is_missing),
#endif
        TEST(large_images_are_thinned),   TEST(impossible_sheets_are_refused),
        TEST(names_stay_in_their_column), TEST(the_font_has_what_names_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
