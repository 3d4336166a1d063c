/* Sums over shards: the tree is the one that shards.h draws, whoever has which part of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "kernels/kernels.h"
#include "kernels/shards.h"

enum { MOST = 21 };

/* What a shard adds: large and small numbers, so that another order has other bits. */
static double leaf(uint32_t shard, uint32_t which)
{
    struct sb_stream s = sb_rng_stream(3, SB_RNG_TEST, 0, which, 0);
    return (double)sb_rng_uniform(&s, shard) * (shard % 3 == 0 ? 1e6 : 1.0);
}

/* The node at (level, index) of a tree of n shards, as it is defined. */
static double node(uint32_t level, uint32_t index, uint32_t n, uint32_t which)
{
    if (level == 0)
        return leaf(index, which);
    double left = node(level - 1, 2 * index, n, which);
    uint32_t right = (2 * index + 1) << (level - 1);
    return right < n ? left + node(level - 1, 2 * index + 1, n, which) : left;
}

static void a_tree_is_what_it_is_defined_as(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= MOST; n++) {
        struct sb_tree_sums t = {.tree.parts = 0};
        for (uint32_t i = 0; i < n; i++)
            sb_tree_sums_push(&t, (struct sb_subtree){0, i}, leaf(i, 0), leaf(i, 1));
        sb_tree_sums_end(&t);
        assert_true(t.sum[0][0] == node(5, 0, n, 0));
        assert_true(t.sum[0][1] == node(5, 0, n, 1));
    }
}

/* Neighbouring shards on three processes, wherever they are cut. */
static void who_has_which_shard_changes_nothing(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= MOST; n++)
        for (uint32_t a = 0; a <= n; a++)
            for (uint32_t b = a; b <= n; b++) {
                const uint32_t cut[] = {0, a, b, n};
                struct sb_tree_sums all = {.tree.parts = 0};
                for (int p = 0; p < 3; p++) {
                    struct sb_tree_sums own = {.tree.parts = 0};
                    for (uint32_t i = cut[p]; i < cut[p + 1]; i++)
                        sb_tree_sums_push(&own, (struct sb_subtree){0, i}, leaf(i, 0),
                                          0.0);
                    for (uint32_t k = 0; k < own.tree.parts; k++)
                        sb_tree_sums_push(&all, own.tree.part[k], own.sum[k][0], 0.0);
                }
                sb_tree_sums_end(&all);
                assert_true(all.sum[0][0] == node(5, 0, n, 0));
            }
}

static void arrays_fold_like_numbers(void **state)
{
    (void)state;
    enum { FLOATS = 5000 };
    const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 2};
    for (uint32_t n = 1; n <= MOST; n++) {
        uint32_t places = sb_tree_places(0, n), most = 0;
        float *first = sb_calloc(places, FLOATS * sizeof *first);
        assert_non_null(first);
        struct sb_fold f = {
            .n = FLOATS, .first = first, .more = first + FLOATS, .stride = FLOATS};
        struct sb_tree_sums t = {.tree.parts = 0}; /* of whole numbers: exact */
        for (uint32_t i = 0; i < n; i++) {
            float *to = sb_fold_next(&f);
            assert_true(to < first + (size_t)places * FLOATS);
            most = (uint32_t)((to - first) / FLOATS) + 1 > most
                       ? (uint32_t)((to - first) / FLOATS) + 1
                       : most;
            for (uint32_t k = 0; k < FLOATS; k++)
                to[k] = (float)(i * 7 + k);
            sb_fold_push(&env, &f, (struct sb_subtree){0, i});
            sb_tree_sums_push(&t, (struct sb_subtree){0, i}, i * 7.0, 1.0);
        }
        assert_int_equal(sb_fold_start(&env, NULL, &f, "sums"), SB_OK);
        sb_tree_sums_end(&t);
        assert_int_equal(most, places);
        for (uint32_t k = 0; k < FLOATS; k++)
            assert_true((double)first[k] == t.sum[0][0] + k * t.sum[0][1]);
        sb_free(first);
    }
}

static void widths_are_whole_and_settled(void **state)
{
    (void)state;
    assert_int_equal(sb_shards_width(128, 8, 16), 16);
    assert_int_equal(sb_shards_width(128, 1, 16), 128);
    assert_int_equal(sb_shards_width(100, 3, 16), 48);
    assert_int_equal(sb_shards_width(1, 8, 16), 16);
    assert_int_equal(sb_shards_width(100, 3, 32), 64);
    /* the number that a batch then has asks for the same width */
    for (uint32_t rows = 1; rows < 300; rows++)
        for (uint32_t n = 1; n < 20; n++) {
            struct sb_shards s = {.width = sb_shards_width(rows, n, 16)};
            uint32_t have = sb_shards_of(&s, rows);
            assert_in_range(have, 1, n);
            assert_int_equal(sb_shards_width(rows, have, 16), s.width);
        }
}

static void views_are_a_shards_rows(void **state)
{
    (void)state;
    struct sb_shards s = {.width = 32};
    struct sb_act a, v;
    uint32_t begin, end;
    assert_int_equal(sb_act_init(&a, 8, 70, 3, 2, 2), SB_OK);
    assert_int_equal(sb_shards_of(&s, a.batch), 3);
    v = sb_shards_view(&s, &a, 2);
    assert_int_equal(v.batch, 6);
    assert_int_equal(v.blocks, 1);
    assert_ptr_equal(v.data, sb_act_plane(&a, 8, 0));
    sb_shards_blocks(&s, &a, 1, &begin, &end);
    assert_int_equal(begin, 4);
    assert_int_equal(end, 8);
    sb_shards_blocks(&s, &a, 2, &begin, &end);
    assert_int_equal(end, 9);
    v = sb_shards_view(NULL, &a, 0);
    assert_memory_equal(&v, &a, sizeof a);
    sb_act_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_what_it_is_defined_as),
        cmocka_unit_test(who_has_which_shard_changes_nothing),
        cmocka_unit_test(arrays_fold_like_numbers),
        cmocka_unit_test(widths_are_whole_and_settled),
        cmocka_unit_test(views_are_a_shards_rows),
    };
    return cmocka_run_group_tests_name("kernels/shards", tests, NULL, NULL);
}
