/* data/adapt: channels and sizes of another data set's images. */
#include "data/adapt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "refused.h"

static const uint8_t grey[] = {10, 20, 30, 40, 50, 60, 70, 80}; /* two of 2 x 2 */
static const uint8_t colour[] = {255, 0, 0, 90, 0, 255, 0, 90, 0, 0, 255, 90};

static struct sb_dataset set_of(const uint8_t *images, uint32_t n, uint32_t channels)
{
    return (struct sb_dataset){.element = SB_BYTES,
                               .images = images,
                               .n = n,
                               .channels = channels,
                               .height = 2,
                               .width = 2,
                               .path = "set"};
}

static void check(const struct sb_dataset *d, uint32_t i, const uint8_t *want, size_t n)
{
    uint8_t buffer[64];
    const uint8_t *have;
    assert_int_equal(sb_dataset_elements(d), n);
    assert_int_equal(sb_dataset_image(d, i, buffer, &have), SB_OK);
    assert_memory_equal(have, want, n);
}

static void the_right_shape_is_a_view(void **state)
{
    (void)state;
    struct sb_dataset from = set_of(grey, 2, 1), to;
    const struct sb_image_shape same = {1, 2, 2};
    assert_int_equal(sb_adapt(&to, &from, &same), SB_OK);
    assert_ptr_equal(to.images, grey);
    assert_null(to.fetch);
}

static void channels_change(void **state)
{
    (void)state;
    struct sb_dataset from = set_of(grey, 2, 1), to;
    const struct sb_image_shape three = {3, 2, 2}, one = {1, 2, 2};
    const uint8_t copies[] = {50, 60, 70, 80, 50, 60, 70, 80, 50, 60, 70, 80};
    assert_int_equal(sb_adapt(&to, &from, &three), SB_OK);
    check(&to, 1, copies, sizeof copies);
    from = set_of(colour, 1, 3);
    const uint8_t luma[] = {76, 150, 29, 90}; /* .299 .587 .114 of 255 */
    assert_int_equal(sb_adapt(&to, &from, &one), SB_OK);
    check(&to, 0, luma, sizeof luma);
}

static void sizes_change(void **state)
{
    (void)state;
    struct sb_dataset from = set_of(grey, 2, 1), to;
    const struct sb_image_shape small = {1, 1, 1}, small3 = {3, 1, 1}, wide = {1, 2, 4};
    const uint8_t mean[] = {65}, mean3[] = {65, 65, 65};
    const uint8_t wider[] = {10, 13, 18, 20, 30, 33, 38, 40};
    assert_int_equal(sb_adapt(&to, &from, &small), SB_OK);
    check(&to, 1, mean, sizeof mean);
    assert_int_equal(sb_adapt(&to, &from, &small3), SB_OK);
    check(&to, 1, mean3, sizeof mean3);
    assert_int_equal(sb_adapt(&to, &from, &wide), SB_OK);
    check(&to, 0, wider, sizeof wider);
    from = set_of(colour, 1, 3);
    const uint8_t planes[] = {86, 86, 86}; /* (255 + 90) / 4, halves up */
    assert_int_equal(sb_adapt(&to, &from, &small3), SB_OK);
    check(&to, 0, planes, sizeof planes);
}

static void what_cannot_be(void **state)
{
    (void)state;
    static const float row[] = {1, 2};
    struct sb_dataset table = {.element = SB_FLOATS,
                               .values = row,
                               .n = 1,
                               .channels = 2,
                               .height = 1,
                               .width = 1,
                               .path = "table.csv"},
                      two = set_of(grey, 1, 2), to;
    const struct sb_image_shape shape = {1, 2, 2};
    refused(sb_adapt(&to, &table, &shape), SB_EARG,
            "table.csv: examples of 2 x 1 x 1 numbers cannot become 1 x 2 x 2");
    refused(sb_adapt(&to, &two, &shape), SB_EARG,
            "set: examples of 2 x 2 x 2 pixels cannot become 1 x 2 x 2");
}

static void allocation_failures_are_survived(void **state)
{
    (void)state;
    struct sb_dataset from = set_of(colour, 1, 3), to;
    const struct sb_image_shape small = {1, 1, 1};
    const uint8_t *image;
    uint8_t buffer[1];
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    assert_int_equal(sb_adapt(&to, &from, &small), SB_OK);
    for (; st != SB_OK && n < 10; n++) {
        sb_mem_fail_after(n);
        st = sb_dataset_image(&to, 0, buffer, &image);
        sb_mem_fail_after(-1);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(n, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_right_shape_is_a_view),
        cmocka_unit_test(channels_change),
        cmocka_unit_test(sizes_change),
        cmocka_unit_test(what_cannot_be),
        cmocka_unit_test(allocation_failures_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
