/* tensor/pattern: every way to make one, and what it refuses. */
#include "tensor/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "masks.h"

static struct sb_stream stream(uint32_t step)
{
    return sb_rng_stream(42, SB_RNG_TEST, 0, step, 0);
}

static void random_pattern(struct sb_pattern *p, uint32_t rows, uint32_t cols,
                           uint32_t nnz, uint32_t step)
{
    struct sb_stream s = stream(step);
    assert_int_equal(sb_pattern_random(p, rows, cols, nnz, &s), SB_OK);
    assert_int_equal(sb_pattern_check(p), SB_OK);
    assert_int_equal(p->nnz, nnz);
}

static void assert_same(const struct sb_pattern *a, const struct sb_pattern *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    assert_int_equal(a->nnz, b->nnz);
    assert_memory_equal(a->row_ptr, b->row_ptr, (a->rows + 1) * sizeof *a->row_ptr);
    if (a->nnz > 0)
        assert_memory_equal(a->col, b->col, a->nnz * sizeof *a->col);
}

/* Shapes with empty rows, one row, one column, none at all, and full. */
static const uint32_t shapes[][3] = {{7, 11, 20}, {1, 30, 4},    {30, 1, 17}, {5, 9, 45},
                                     {6, 6, 0},   {64, 27, 100}, {0, 5, 0}};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST = 64 * 27 };

static void masks_and_positions_round_trip(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SHAPES; i++) {
        struct sb_pattern p, q, r, s;
        uint8_t mask[MOST];
        int32_t position[MOST];
        random_pattern(&p, shapes[i][0], shapes[i][1], shapes[i][2], i);
        mask_of_pattern(&p, mask);
        assert_int_equal(pattern_of_mask(&q, p.rows, p.cols, mask), SB_OK);
        assert_same(&p, &q);
        assert_int_equal(sb_pattern_positions(&p, position), SB_OK);
        assert_int_equal(sb_pattern_from_positions(&r, p.rows, p.cols, position, p.nnz),
                         SB_OK);
        assert_same(&p, &r);
        for (uint32_t k = 0; k < p.nnz; k++)
            assert_int_equal(mask[position[k]], 1);
        assert_int_equal(sb_pattern_copy(&p, &s), SB_OK);
        assert_same(&p, &s);
        sb_pattern_fini(&p);
        sb_pattern_fini(&q);
        sb_pattern_fini(&r);
        sb_pattern_fini(&s);
    }
}

static void dense_has_every_weight(void **state)
{
    (void)state;
    struct sb_pattern p, q;
    random_pattern(&p, 4, 7, 28, 0);
    assert_int_equal(sb_pattern_dense(&q, 4, 7), SB_OK);
    assert_same(&p, &q);
    sb_pattern_fini(&p);
    sb_pattern_fini(&q);
}

static void random_depends_on_the_stream(void **state)
{
    (void)state;
    struct sb_pattern p, q, r;
    random_pattern(&p, 20, 30, 60, 1);
    random_pattern(&q, 20, 30, 60, 1);
    random_pattern(&r, 20, 30, 60, 2);
    assert_same(&p, &q);
    assert_memory_not_equal(p.col, r.col, p.nnz * sizeof *p.col);
    sb_pattern_fini(&p);
    sb_pattern_fini(&q);
    sb_pattern_fini(&r);
}

static void assert_refused(sb_status st, const char *sentence, struct sb_pattern *p)
{
    assert_int_equal(st, SB_EARG);
    assert_string_equal(sb_message(), sentence);
    sb_pattern_fini(p);
}

static void bad_sizes_are_refused(void **state)
{
    (void)state;
    struct sb_pattern p;
    assert_refused(sb_pattern_init(&p, 65536, 65536, 1),
                   "pattern: 65536 x 65536 weights are more than 2^32 - 1", &p);
    assert_refused(sb_pattern_dense(&p, 65536, 65536),
                   "pattern: 65536 x 65536 weights are more than 2^32 - 1", &p);
    assert_refused(sb_pattern_init(&p, 3, 4, 13),
                   "pattern: 13 of 3 x 4 weights cannot exist", &p);
    p = (struct sb_pattern){.rows = 65535, .cols = 65537};
    assert_refused(sb_pattern_positions(&p, NULL),
                   "pattern: 65535 x 65537 weights are too many for 32-bit positions",
                   &p);
    sb_pattern_fini(NULL);
}

static void bad_contents_are_refused(void **state)
{
    (void)state;
    struct sb_pattern p;
    const int32_t negative[] = {-1}, outside[] = {2, 6}, twice[] = {1, 4, 4},
                  back[] = {4, 1};
    assert_refused(sb_pattern_from_positions(&p, 2, 3, negative, 1),
                   "pattern: position -1 is outside 2 x 3 weights", &p);
    assert_refused(sb_pattern_from_positions(&p, 2, 3, outside, 2),
                   "pattern: position 6 is outside 2 x 3 weights", &p);
    assert_refused(sb_pattern_from_positions(&p, 2, 3, twice, 3),
                   "pattern: position 4 comes after position 4", &p);
    assert_refused(sb_pattern_from_positions(&p, 2, 3, back, 2),
                   "pattern: position 1 comes after position 4", &p);
}

/* A valid 3 x 4 pattern with rows of 2, 0 and 3 weights, then one number changed. */
static void check_names_the_broken_row(void **state)
{
    (void)state;
    const struct {
        int array; /* 0: row_ptr, 1: col */
        uint32_t at, value;
        const char *sentence;
    } broken[] = {
        {0, 0, 1, "pattern: row 0 begins at 1"},
        {0, 1, 9, "pattern: row 0 runs from 0 to 9 of 5 weights"},
        {0, 2, 1, "pattern: row 1 runs from 2 to 1 of 5 weights"},
        {0, 3, 4, "pattern: rows hold 4 of 5 weights"},
        {1, 1, 4, "pattern: row 0 has column 4 of 4"},
        {1, 3, 0, "pattern: row 2 has column 0 after column 0"},
        {1, 4, 1, "pattern: row 2 has column 1 after column 2"},
    };
    const int32_t position[] = {1, 3, 8, 10, 11};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct sb_pattern p;
        assert_int_equal(sb_pattern_from_positions(&p, 3, 4, position, 5), SB_OK);
        assert_int_equal(sb_pattern_check(&p), SB_OK);
        (broken[i].array ? p.col : p.row_ptr)[broken[i].at] = broken[i].value;
        assert_refused(sb_pattern_check(&p), broken[i].sentence, &p);
    }
    struct sb_pattern none = {0};
    assert_refused(sb_pattern_check(&none), "pattern: not initialised", &none);
}

static void allocation_failures_are_survived(void **state)
{
    (void)state;
    struct sb_pattern p, t;
    size_t before = sb_mem_live();
    random_pattern(&p, 12, 10, 31, 3);
    size_t with_p = sb_mem_live();
    sb_status st = SB_ENOMEM;
    int n = 0;
    for (; st != SB_OK && n < 100; n++) {
        sb_mem_fail_after(n);
        st = sb_pattern_copy(&p, &t);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        sb_pattern_fini(&t);
        assert_int_equal(sb_mem_live(), with_p);
    }
    assert_int_equal(n, 3); /* two allocations, each failed once, then success */
    sb_pattern_fini(&p);
    assert_int_equal(sb_mem_live(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_and_positions_round_trip),
        cmocka_unit_test(dense_has_every_weight),
        cmocka_unit_test(random_depends_on_the_stream),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(bad_contents_are_refused),
        cmocka_unit_test(check_names_the_broken_row),
        cmocka_unit_test(allocation_failures_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
