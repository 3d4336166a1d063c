/* data/drop: rows of weight 0 are gone, the others are what they were, of bytes and of floats;
 * without memory nothing is changed. */
#include "data/dataset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "refused.h"

enum { ROWS = 5, WIDTH = 3, TARGETS = 2 };

static void *copy_of(const void *from, size_t bytes)
{
    void *to = sb_malloc(bytes, 1);
    assert_non_null(to);
    return memcpy(to, from, bytes);
}

/* Row i has the numbers 10 i, 10 i + 1, ..., the label i and so on. */
static struct sb_dataset make(enum sb_element element, const float weight[ROWS])
{
    uint8_t bytes[ROWS * WIDTH];
    float floats[ROWS * WIDTH], targets[ROWS * TARGETS];
    uint32_t labels[ROWS], groups[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        labels[i] = i;
        groups[i] = 100 + i;
        for (uint32_t k = 0; k < TARGETS; k++)
            targets[i * TARGETS + k] = (float)(1000 * i + k);
        for (uint32_t k = 0; k < WIDTH; k++) {
            bytes[i * WIDTH + k] = (uint8_t)(10 * i + k);
            floats[i * WIDTH + k] = (float)(10 * i + k);
        }
    }
    struct sb_dataset d = {.channels = WIDTH, .height = 1, .width = 1, .n = ROWS};
    d.element = element;
    d.path = copy_of("here", 5);
    d.labels = copy_of(labels, sizeof labels);
    d.groups = copy_of(groups, sizeof groups);
    d.targets = copy_of(targets, sizeof targets);
    d.target_count = TARGETS;
    d.weights = copy_of(weight, ROWS * sizeof *weight);
    d.copy = element == SB_BYTES ? copy_of(bytes, sizeof bytes)
                                 : copy_of(floats, sizeof floats);
    d.images = element == SB_BYTES ? d.copy : NULL;
    d.values = element == SB_BYTES ? NULL : d.copy;
    return d;
}

/* Row `to` is what row `from` was. */
static void check_row(const struct sb_dataset *d, uint32_t to, uint32_t from)
{
    assert_int_equal(d->labels[to], from);
    assert_int_equal(d->groups[to], 100 + from);
    assert_true(d->targets[to * TARGETS + 1] == (float)(1000 * from + 1));
    assert_true(d->weights[to] == 1);
    for (uint32_t k = 0; k < WIDTH; k++)
        assert_true((d->images ? (float)d->images[to * WIDTH + k]
                               : d->values[to * WIDTH + k]) == (float)(10 * from + k));
}

static void rows_of_weight_0_are_gone(void **state)
{
    (void)state;
    const float some[ROWS] = {0, 1, 0, 1, 1}, all[ROWS] = {1, 1, 1, 1, 1};
    const uint32_t left[] = {1, 3, 4};
    for (int e = 0; e < 2; e++) {
        enum sb_element element = e ? SB_FLOATS : SB_BYTES;
        size_t live = sb_mem_live();
        struct sb_dataset d = make(element, some);
        assert_int_equal(sb_dataset_drop(&d), SB_OK);
        assert_int_equal(d.n, 3);
        for (uint32_t i = 0; i < 3; i++)
            check_row(&d, i, left[i]);
        sb_dataset_fini(&d);
        d = make(element, all);
        const void *before = d.copy;
        assert_int_equal(sb_dataset_drop(&d), SB_OK);
        assert_true(d.n == ROWS && d.copy == before);
        sb_dataset_fini(&d);
        assert_int_equal(sb_mem_live(), live);
    }
}

static void no_row_left_is_refused(void **state)
{
    (void)state;
    const float none[ROWS] = {0};
    struct sb_dataset d = make(SB_FLOATS, none);
    refused(sb_dataset_drop(&d), SB_EARG, "here: all weights are 0; no row is left");
    assert_int_equal(d.n, ROWS);
    sb_dataset_fini(&d);
}

static void without_memory_nothing_is_changed(void **state)
{
    (void)state;
    const float some[ROWS] = {1, 1, 0, 1, 1};
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    struct sb_dataset d = make(SB_BYTES, some);
    for (; st != SB_OK && n < 10; n++) {
        (void)sb_fail(SB_EIO, "nothing was said");
        sb_mem_fail_after(n);
        st = sb_dataset_drop(&d);
        sb_mem_fail_after(-1);
        if (st == SB_OK)
            break;
        assert_int_equal(st, SB_ENOMEM);
        assert_string_equal(sb_message(), "here: no memory for 4 rows");
        assert_int_equal(d.n, ROWS);
        check_row(&d, 3, 3);
    }
    assert_in_range(n, 1, 9);
    check_row(&d, 2, 3);
    sb_dataset_fini(&d);
    assert_int_equal(sb_mem_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_weight_0_are_gone),
        cmocka_unit_test(no_row_left_is_refused),
        cmocka_unit_test(without_memory_nothing_is_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
