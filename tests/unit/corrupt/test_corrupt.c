/* corrupt/corrupt: every kind and severity on made-up pictures of every shape; what a kind does
 * where that can be computed plainly. Beside CIFAR-10-C it is laid by `bench corrupt`. */
#include "data_fixture.h"

#include <math.h>

#include "corrupt/corrupt.h"
#include "kernels/kernels.h"

enum { N = 24, C = 3, H = 32, W = 32, PLANE = H * W, IMAGE = C * PLANE };

static struct sb_env environment(int threads)
{
    struct sb_env env = {.threads = threads};
    assert_int_equal(sb_kernels_choose("auto", &env.kernels), SB_OK);
    return env;
}

/* Soft waves of colour and a few boxes with hard edges, no two alike. */
static void draw(uint8_t *image, uint32_t number, uint32_t channels, uint32_t height,
                 uint32_t width)
{
    for (uint32_t c = 0; c < channels; c++)
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++) {
                double wave = sin(0.3 * x + 0.17 * y * (1 + number % 3) + c + number);
                double box = (x / 7 + y / 5 + number) % 3 == 0 ? 40.0 : 0.0;
                image[(c * height + y) * width + x] =
                    (uint8_t)(120.0 + 70.0 * wave + box);
            }
}

static void draw_all(uint8_t images[N * IMAGE])
{
    for (uint32_t i = 0; i < N; i++)
        draw(images + i * IMAGE, i, C, H, W);
}

static bool can(enum sb_corruption kind)
{
#ifdef SB_HAVE_JPEG
    (void)kind;
    return true;
#else
    return kind != SB_JPEG_COMPRESSION;
#endif
}

static void corrupt(struct sb_corrupt *c, int kind, uint32_t severity, uint32_t n,
                    const uint8_t *in, uint8_t *out)
{
    assert_int_equal(sb_corrupt_choose(c, (enum sb_corruption)kind, severity, 7), SB_OK);
    assert_int_equal(sb_corrupt_images(c, 0, n, in, out), SB_OK);
}

static void names_are_those_of_the_published_files(void **state)
{
    (void)state;
    static const char *const names[] = {"gaussian_noise",
                                        "shot_noise",
                                        "impulse_noise",
                                        "defocus_blur",
                                        "glass_blur",
                                        "motion_blur",
                                        "zoom_blur",
                                        "snow",
                                        "frost",
                                        "fog",
                                        "brightness",
                                        "contrast",
                                        "elastic_transform",
                                        "pixelate",
                                        "jpeg_compression",
                                        "speckle_noise",
                                        "gaussian_blur",
                                        "spatter",
                                        "saturate"};
    assert_int_equal(sizeof names / sizeof *names, SB_CORRUPTIONS);
    for (int k = 0; k < SB_CORRUPTIONS; k++) {
        enum sb_corruption found = SB_CORRUPTIONS;
        assert_string_equal(sb_corruption_name((enum sb_corruption)k), names[k]);
        assert_int_equal(sb_corruption_find(names[k], &found), SB_OK);
        assert_int_equal(found, k);
    }
    enum sb_corruption found = SB_CORRUPTIONS;
    assert_int_equal(sb_corruption_find("zoom-blur", &found), SB_OK);
    assert_int_equal(found, SB_ZOOM_BLUR);
    refused(sb_corruption_find("forg", &found), SB_EARG,
            "there is no corruption 'forg'; the nearest is 'fog'");
    refused(sb_corruption_find("", &found), SB_EARG,
            "there is no corruption ''; the nearest is 'fog'");
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    struct sb_env env = environment(1);
    struct sb_corrupt *c;
    uint8_t in[3] = {1, 2, 3}, out[3];
    refused(sb_corrupt_new(&c, &env, 2, 32, 32), SB_EARG,
            "cannot corrupt images of 32 x 32 pixels with 2 channels; want 1 to 4096 "
            "pixels a "
            "side and 1 or 3 channels");
    refused(
        sb_corrupt_new(&c, &env, 3, 0, 32), SB_EARG,
        "cannot corrupt images of 0 x 32 pixels with 3 channels; want 1 to 4096 pixels a "
        "side and 1 or 3 channels");
    refused(sb_corrupt_new(&c, &env, 3, 1, 4097), SB_EARG,
            "cannot corrupt images of 1 x 4097 pixels with 3 channels; want 1 to 4096 "
            "pixels a "
            "side and 1 or 3 channels");
    assert_null(c);
    assert_int_equal(sb_corrupt_new(&c, &env, 3, 1, 1), SB_OK);
    refused(sb_corrupt_images(c, 0, 1, in, out), SB_EARG, "no corruption was chosen");
    refused(sb_corrupt_choose(c, SB_FOG, 0, 1), SB_EARG,
            "fog of severity 0; want 1 to 5");
    refused(sb_corrupt_choose(c, SB_FOG, 6, 1), SB_EARG,
            "fog of severity 6; want 1 to 5");
#ifndef SB_HAVE_JPEG
    refused(sb_corrupt_choose(c, SB_JPEG_COMPRESSION, 1, 1), SB_EMISSING,
            "jpeg_compression needs libjpeg, which this build lacks; install "
            "libjpeg62-turbo-dev and build again");
#endif
    sb_corrupt_free(c);
    sb_corrupt_free(NULL);
}

/* Any number of threads, any part of the set, again: the same bytes, and no memory. */
static void bytes_depend_on_seed_kind_severity_and_index_only(void **state)
{
    (void)state;
    static uint8_t in[N * IMAGE], one[N * IMAGE], out[N * IMAGE];
    draw_all(in);
    for (int threads = 1; threads <= 4; threads++)
        for (int k = 0; k < SB_CORRUPTIONS; k++) {
            struct sb_env env = environment(threads), single = environment(1);
            struct sb_corrupt *c, *s;
            if (!can((enum sb_corruption)k))
                continue;
            assert_int_equal(sb_corrupt_new(&c, &env, C, H, W), SB_OK);
            assert_int_equal(sb_corrupt_new(&s, &single, C, H, W), SB_OK);
            corrupt(s, k, 1 + (uint32_t)k % 5, N, in, one);
            corrupt(c, k, 1 + (uint32_t)k % 5, N, in, out);
            assert_memory_equal(out, one, sizeof out);
            size_t allocations = sb_mem_count();
            memset(out, 0, sizeof out);
            assert_int_equal(sb_corrupt_images(c, 5, 9, in + 5 * IMAGE, out), SB_OK);
            assert_int_equal(sb_mem_count(), allocations);
            assert_memory_equal(out, one + 5 * IMAGE, 9 * IMAGE);
            sb_corrupt_free(c);
            sb_corrupt_free(s);
        }
}

/* What is random differs between images, severities, kinds and seeds. */
static void randomness_is_independent(void **state)
{
    (void)state;
    static uint8_t in[2 * IMAGE], a[2 * IMAGE], b[2 * IMAGE];
    static const enum sb_corruption random[] = {SB_GAUSSIAN_NOISE, SB_SHOT_NOISE,
                                                SB_IMPULSE_NOISE,  SB_SPECKLE_NOISE,
                                                SB_GLASS_BLUR,     SB_SNOW,
                                                SB_FROST,          SB_FOG,
                                                SB_SPATTER,        SB_ELASTIC_TRANSFORM,
                                                SB_MOTION_BLUR};
    struct sb_env env = environment(1);
    struct sb_corrupt *c;
    draw(in, 3, C, H, W);
    memcpy(in + IMAGE, in, IMAGE);
    assert_int_equal(sb_corrupt_new(&c, &env, C, H, W), SB_OK);
    for (size_t i = 0; i < sizeof random / sizeof *random; i++) {
        corrupt(c, random[i], 3, 2, in, a);
        assert_memory_not_equal(a, a + IMAGE, IMAGE);
        assert_int_equal(sb_corrupt_choose(c, random[i], 3, 8), SB_OK);
        assert_int_equal(sb_corrupt_images(c, 0, 2, in, b), SB_OK);
        assert_memory_not_equal(a, b, IMAGE);
    }
    sb_corrupt_free(c);
}

static double mean_abs(const uint8_t *a, const uint8_t *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += abs((int)a[i] - (int)b[i]);
    return sum / (double)n;
}

/* Which steps of severity change pictures more than the one before; the published sets do
 * not always: glass alternates size and number of its moves, elastic trades the affine map
 * for waves, frost darkens the picture below it, saturation goes down and then up. */
static void severities_rise(void **state)
{
    (void)state;
    static uint8_t in[N * IMAGE], out[N * IMAGE];
    static const char *const rising[SB_CORRUPTIONS] = {
        [SB_GLASS_BLUR] = "3", [SB_MOTION_BLUR] = "124", [SB_FROST] = "12",
        [SB_SPATTER] = "124",  [SB_SATURATE] = "134",    [SB_ELASTIC_TRANSFORM] = ""};
    struct sb_env env = environment(2);
    struct sb_corrupt *c;
    draw_all(in);
    assert_int_equal(sb_corrupt_new(&c, &env, C, H, W), SB_OK);
    for (int k = 0; k < SB_CORRUPTIONS; k++) {
        double before = 0.0;
        for (uint32_t s = 1; s <= SB_SEVERITIES && can((enum sb_corruption)k); s++) {
            corrupt(c, k, s, N, in, out);
            double now = mean_abs(in, out, sizeof out);
            assert_true(now > 0.0);
            char step = (char)('0' + s - 1);
            if (s > 1 && (!rising[k] || strchr(rising[k], step)) && now <= before)
                fail_msg("%s: severity %u changes %g, severity %u %g",
                         sb_corruption_name((enum sb_corruption)k), s - 1, before, s,
                         now);
            before = now;
        }
    }
    sb_corrupt_free(c);
}

/* One colour all over: nothing to blur, move, or pull to the mean. */
static void flat_pictures_stay(void **state)
{
    (void)state;
    static const enum sb_corruption still[] = {
        SB_GAUSSIAN_BLUR, SB_GLASS_BLUR, SB_DEFOCUS_BLUR,      SB_MOTION_BLUR,
        SB_ZOOM_BLUR,     SB_CONTRAST,   SB_ELASTIC_TRANSFORM, SB_PIXELATE};
    static uint8_t in[IMAGE], out[IMAGE];
    struct sb_env env = environment(1);
    struct sb_corrupt *c;
    assert_int_equal(sb_corrupt_new(&c, &env, C, H, W), SB_OK);
    for (int value = 0; value <= 255; value += 17) {
        for (int i = 0; i < IMAGE; i++)
            in[i] = (uint8_t)(i < PLANE ? value : 255 - value / (i / PLANE));
        for (size_t i = 0; i < sizeof still / sizeof *still; i++)
            for (uint32_t s = 1; s <= SB_SEVERITIES; s++) {
                corrupt(c, still[i], s, 1, in, out);
                assert_memory_equal(in, out, IMAGE);
            }
    }
    sb_corrupt_free(c);
}

static void black_stays_black_where_light_is_multiplied(void **state)
{
    (void)state;
    static uint8_t in[IMAGE], out[IMAGE];
    static const enum sb_corruption kinds[] = {SB_SHOT_NOISE, SB_SPECKLE_NOISE, SB_FOG,
                                               SB_SATURATE};
    struct sb_env env = environment(1);
    struct sb_corrupt *c;
    assert_int_equal(sb_corrupt_new(&c, &env, C, H, W), SB_OK);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        memset(out, 1, sizeof out);
        corrupt(c, kinds[i], 5, 1, in, out);
        assert_memory_equal(in, out, IMAGE);
    }
    corrupt(c, SB_BRIGHTNESS, 5, 1, in, out);
    for (int i = 0; i < IMAGE; i++)
        assert_int_equal(out[i], 76); /* .3 * 255, cut off */
    sb_corrupt_free(c);
}

/* ---- against the plainest computation there is ---- */

static void noise_has_its_mean_and_deviation(void **state)
{
    (void)state;
    static uint8_t in[N * IMAGE], out[N * IMAGE];
    static const enum sb_corruption kinds[] = {SB_GAUSSIAN_NOISE, SB_SHOT_NOISE,
                                               SB_IMPULSE_NOISE, SB_SPECKLE_NOISE};
    const double x = 128.0 / 255.0;
    const double sd[4][SB_SEVERITIES] = {
        {.04, .06, .08, .09, .10},
        {sqrt(x / 500), sqrt(x / 250), sqrt(x / 100), sqrt(x / 75), sqrt(x / 50)},
        {sqrt(.01 * .25), sqrt(.02 * .25), sqrt(.03 * .25), sqrt(.05 * .25),
         sqrt(.07 * .25)}, /* 0 and 1 are both 1/2 away */
        {.06 * x, .1 * x, .12 * x, .16 * x, .2 * x}};
    struct sb_env env = environment(2);
    struct sb_corrupt *c;
    memset(in, 128, sizeof in);
    assert_int_equal(sb_corrupt_new(&c, &env, C, H, W), SB_OK);
    for (int k = 0; k < 4; k++)
        for (uint32_t s = 1; s <= SB_SEVERITIES; s++) {
            double sum = 0.0, squares = 0.0;
            corrupt(c, kinds[k], s, N, in, out);
            for (size_t i = 0; i < sizeof out; i++) {
                double d = ((double)out[i] - 128.0) / 255.0;
                sum += d;
                squares += d * d;
            }
            double n = (double)sizeof out, mean = sum / n;
            double cut =
                kinds[k] == SB_IMPULSE_NOISE ? 0.0 : -0.5 / 255.0; /* of the fraction */
            assert_true(fabs(mean - cut) < 5.0 * sd[k][s - 1] / sqrt(n) + 4e-4);
            assert_true(fabs(sqrt(squares / n - mean * mean) / sd[k][s - 1] - 1.0) <
                        0.04);
        }
    sb_corrupt_free(c);
}

static void blur_is_a_sum_over_the_neighbourhood(void **state)
{
    (void)state;
    enum { HIGH = 13, WIDE = 9, REACH = 4 };
    uint8_t in[HIGH * WIDE], out[HIGH * WIDE];
    struct sb_env env = environment(1);
    struct sb_corrupt *c;
    noise(in, sizeof in, 3);
    assert_int_equal(sb_corrupt_new(&c, &env, 1, HIGH, WIDE), SB_OK);
    corrupt(c, SB_GAUSSIAN_BLUR, 5, 1, in, out);
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++) {
            double sum = 0.0, weights = 0.0;
            for (int dy = -REACH; dy <= REACH; dy++)
                for (int dx = -REACH; dx <= REACH; dx++) {
                    int row = y + dy < 0 ? 0 : y + dy >= HIGH ? HIGH - 1 : y + dy;
                    int column = x + dx < 0 ? 0 : x + dx >= WIDE ? WIDE - 1 : x + dx;
                    double weight = exp(-0.5 * (dy * dy + dx * dx));
                    sum += weight * in[row * WIDE + column];
                    weights += weight;
                }
            assert_true(fabs(floor(sum / weights) - out[y * WIDE + x]) <= 1.0);
            assert_true(fabs(sum / weights - 0.5 - out[y * WIDE + x]) < 0.502);
        }
    sb_corrupt_free(c);
}

struct hsv {
    double h, s, v; /* h in sixths of a turn */
};

static struct hsv to_hsv(double r, double g, double b)
{
    double v = fmax(r, fmax(g, b)), gap = v - fmin(r, fmin(g, b));
    double h = gap == 0.0 ? 0.0
               : v == r   ? (g - b) / gap
               : v == g   ? 2.0 + (b - r) / gap
                          : 4.0 + (r - g) / gap;
    return (struct hsv){h < 0.0 ? h + 6.0 : h, v > 0.0 ? gap / v : 0.0, v};
}

static double from_hsv(struct hsv p, int channel)
{
    double k = fmod((channel == 0 ? 5.0 : channel == 1 ? 3.0 : 1.0) + p.h, 6.0);
    return p.v - p.v * p.s * fmax(0.0, fmin(1.0, fmin(k, 4.0 - k)));
}

static void colours_change_in_hue_saturation_value(void **state)
{
    (void)state;
    static uint8_t in[IMAGE], out[IMAGE];
    static const double scale[] = {.3, .1, 1.5, 2, 2.5}, more[] = {0, 0, 0, .1, .2};
    static const double value[] = {.05, .1, .15, .2, .3};
    struct sb_env env = environment(1);
    struct sb_corrupt *c;
    noise(in, sizeof in, 11);
    memset(in, 90, 5);
    memset(in + PLANE, 90, 5);
    memset(in + 2 * PLANE, 90, 5); /* some grey ones */
    assert_int_equal(sb_corrupt_new(&c, &env, C, H, W), SB_OK);
    for (int kind = 0; kind < 2; kind++)
        for (uint32_t s = 1; s <= SB_SEVERITIES; s++) {
            corrupt(c, kind ? SB_SATURATE : SB_BRIGHTNESS, s, 1, in, out);
            for (int i = 0; i < PLANE; i++) {
                struct hsv p = to_hsv(in[i] / 255.0, in[PLANE + i] / 255.0,
                                      in[2 * PLANE + i] / 255.0);
                if (kind)
                    p.s = fmin(1.0, p.s * scale[s - 1] + more[s - 1]);
                else
                    p.v = fmin(1.0, p.v + value[s - 1]);
                for (int k = 0; k < C; k++)
                    assert_true(fabs(255.0 * from_hsv(p, k) - 0.5 - out[k * PLANE + i]) <
                                0.502);
            }
        }
    sb_corrupt_free(c);
}

/* ---- shapes, memory ---- */

static void odd_shapes(void **state)
{
    (void)state;
    static const uint32_t shapes[][3] = {{1, 1, 1},   {3, 1, 1},  {1, 1, 7},
                                         {3, 7, 1},   {3, 2, 2},  {1, 28, 28},
                                         {3, 33, 17}, {3, 5, 70}, {1, 3, 130}};
    static uint8_t in[3 * 6000], out[3 * 6000];
    struct sb_env env = environment(2);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct sb_corrupt *c;
        size_t size = (size_t)shapes[i][0] * shapes[i][1] * shapes[i][2];
        for (uint32_t n = 0; n < 3; n++)
            draw(in + n * size, n, shapes[i][0], shapes[i][1], shapes[i][2]);
        assert_int_equal(
            sb_corrupt_new(&c, &env, shapes[i][0], shapes[i][1], shapes[i][2]), SB_OK);
        for (int k = 0; k < SB_CORRUPTIONS; k++)
            for (uint32_t s = 1; s <= SB_SEVERITIES && can((enum sb_corruption)k); s++) {
                memset(out, 0xa5, sizeof out);
                corrupt(c, k, s, 3, in, out);
                assert_int_equal(out[3 * size], 0xa5);
            }
        sb_corrupt_free(c);
    }
}

/* A grey picture is a colour one with equal channels (JPEG rounds colours its own way; frost
 * and drops have a colour). */
static void grey_is_colour_without_colour(void **state)
{
    (void)state;
    static const enum sb_corruption same[] = {
        SB_GAUSSIAN_BLUR, SB_GLASS_BLUR,       SB_DEFOCUS_BLUR,
        SB_MOTION_BLUR,   SB_ZOOM_BLUR,        SB_SNOW,
        SB_FOG,           SB_BRIGHTNESS,       SB_CONTRAST,
        SB_PIXELATE,      SB_ELASTIC_TRANSFORM};
    static uint8_t in[IMAGE], grey[PLANE], colour[IMAGE];
    struct sb_env env = environment(1);
    struct sb_corrupt *one, *three;
    draw(in, 1, 1, H, W);
    memcpy(in + PLANE, in, PLANE);
    memcpy(in + 2 * PLANE, in, PLANE);
    assert_int_equal(sb_corrupt_new(&one, &env, 1, H, W), SB_OK);
    assert_int_equal(sb_corrupt_new(&three, &env, 3, H, W), SB_OK);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        for (uint32_t s = 1; s <= SB_SEVERITIES; s++) {
            corrupt(one, same[i], s, 1, in, grey);
            corrupt(three, same[i], s, 1, in, colour);
            for (int k = 0; k < IMAGE; k++)
                assert_in_range(colour[k] - grey[k % PLANE] + 1, 0, 2); /* luminance */
        }
    corrupt(one, SB_SATURATE, 5, 1, in, grey);
    assert_memory_equal(grey, in, PLANE);
    sb_corrupt_free(one);
    sb_corrupt_free(three);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    struct sb_env env = environment(2);
    uint8_t in[3 * 64], out[3 * 64];
    size_t live = sb_mem_live();
    int n = 0;
    sb_status st = SB_ENOMEM;
    noise(in, sizeof in, 4);
    for (; st != SB_OK && n < 100; n++) {
        struct sb_corrupt *c;
        sb_mem_fail_after(n);
        st = sb_corrupt_new(&c, &env, 3, 8, 8);
        if (st == SB_OK && can(SB_JPEG_COMPRESSION))
            st = sb_corrupt_choose(c, SB_JPEG_COMPRESSION, 1, 1);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        if (c &&
            can(SB_JPEG_COMPRESSION)) /* a second try with memory is like the first */
            corrupt(c, SB_JPEG_COMPRESSION, 1, 1, in, out);
        sb_corrupt_free(c);
        assert_int_equal(sb_mem_live(), live);
    }
    /* handle, tables, canvases, one each of two; three for each libjpeg */
    assert_int_equal(n, (can(SB_JPEG_COMPRESSION) ? 5 + 6 : 5) + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_published_files),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(bytes_depend_on_seed_kind_severity_and_index_only),
        cmocka_unit_test(randomness_is_independent),
        cmocka_unit_test(severities_rise),
        cmocka_unit_test(flat_pictures_stay),
        cmocka_unit_test(black_stays_black_where_light_is_multiplied),
        cmocka_unit_test(noise_has_its_mean_and_deviation),
        cmocka_unit_test(blur_is_a_sum_over_the_neighbourhood),
        cmocka_unit_test(colours_change_in_hue_saturation_value),
        cmocka_unit_test(odd_shapes),
        cmocka_unit_test(grey_is_colour_without_colour),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
