/* files/resize: against the integral, in floating point, on odd sizes. */
#include <math.h>

#include "files/image.h"

#include "data_fixture.h"

enum { SIDE_MOST = 40 };

/* The weight of source pixel k in output pixel i. */
static double weight(uint32_t size, uint32_t target, uint32_t i, uint32_t k)
{
    double step = (double)size / target;
    if (size >= target) {
        double begin = fmax(i * step, k), end = fmin((i + 1) * step, k + 1.0);
        return fmax(end - begin, 0.0) / step;
    }
    double centre = fmin(fmax((i + 0.5) * step - 0.5, 0.0), size - 1.0);
    return fmax(1.0 - fabs(centre - k), 0.0);
}

static double exact(const struct sb_pixels *p, const struct sb_image_shape *to,
                    uint32_t c, uint32_t y, uint32_t x)
{
    const struct sb_image_shape *s = &p->shape;
    double sum = 0.0;
    for (uint32_t k = 0; k < s->height; k++)
        for (uint32_t j = 0; j < s->width; j++)
            sum += weight(s->height, to->height, y, k) *
                   weight(s->width, to->width, x, j) *
                   p->data[((size_t)k * s->width + j) * s->channels + c];
    return sum;
}

static void any_size_to_any_other(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1, 2, 3, 7, 16, 31, SIDE_MOST};
    enum { SIDES = sizeof sides / sizeof *sides };
    uint8_t from[3 * SIDE_MOST * SIDE_MOST], out[3 * SIDE_MOST * SIDE_MOST + 1];
    noise(from, sizeof from, 3);
    for (uint32_t i = 0; i < SIDES * SIDES; i++) {
        struct sb_pixels p = {
            .shape = {i % 2 ? 3 : 1, sides[i % SIDES], sides[i / SIDES]}, .data = from};
        struct sb_image_shape to = {9, sides[i * 3 % SIDES], sides[i * 5 % SIDES]};
        size_t size = (size_t)p.shape.channels * to.height * to.width;
        out[size] = 99;
        assert_int_equal(sb_resize(&p, &to, out), SB_OK);
        assert_int_equal(out[size], 99);
        for (uint32_t k = 0; k < size; k++) {
            uint32_t c = k / (to.height * to.width), y = k / to.width % to.height;
            double want = exact(&p, &to, c, y, k % to.width);
            assert_true(fabs(out[k] - want) <= 0.5 + 1e-9);
        }
    }
}

static void known_values(void **state)
{
    (void)state;
    uint8_t pair[] = {0, 255}, four[4], one;
    struct sb_pixels p = {.shape = {1, 1, 2}, .data = pair};
    assert_int_equal(sb_resize(&p, &(struct sb_image_shape){1, 1, 4}, four), SB_OK);
    assert_memory_equal(four, ((uint8_t[]){0, 64, 191, 255}), 4);
    assert_int_equal(sb_resize(&p, &(struct sb_image_shape){1, 1, 1}, &one), SB_OK);
    assert_int_equal(one, 128);
    uint8_t same[6];
    struct sb_pixels q = {.shape = {3, 1, 2}, .data = (uint8_t[]){1, 2, 3, 4, 5, 6}};
    assert_int_equal(sb_resize(&q, &q.shape, same), SB_OK);
    assert_memory_equal(same, ((uint8_t[]){1, 4, 2, 5, 3, 6}), 6);
}

/* The largest weights and values do not overflow. */
static void white_stays_white(void **state)
{
    (void)state;
    enum { LONG = SB_IMAGE_SIDE_MOST };
    uint8_t *white = malloc(LONG), *out = malloc(LONG);
    assert_true(white && out);
    memset(white, 255, LONG);
    static const struct sb_image_shape to[] = {{1, LONG, 1}, {1, 1, LONG}, {1, 1, 1}};
    for (int k = 0; k < 3; k++) {
        struct sb_pixels p = {.shape = {1, k == 2 ? LONG : 1, k == 2 ? 1 : LONG},
                              .data = white};
        memset(out, 0, LONG);
        assert_int_equal(sb_resize(&p, &to[k], out), SB_OK);
        for (size_t i = 0; i < (k == 2 ? 1 : LONG); i++)
            assert_int_equal(out[i], 255);
    }
    free(white);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_size_to_any_other),
        cmocka_unit_test(known_values),
        cmocka_unit_test(white_stays_white),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
