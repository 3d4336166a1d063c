/* base/mem: alignment, exact accounting, overflow, fault injection, arena. */
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/threads.h"

/* Lets an allocation of half the address space fail under the sanitizer too. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static size_t misaligned(const void *p, size_t to)
{
    return (uintptr_t)p % to;
}

static void blocks_are_aligned_and_writable(void **state)
{
    (void)state;
    size_t sizes[] = {0, 1, 63, 64, 65, 4096, 100001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *p = sb_malloc(sizes[i], 1);
        assert_non_null(p);
        assert_int_equal(misaligned(p, SB_ALIGN), 0);
        memset(p, 0xa5, sizes[i]);
        sb_free(p);
    }
}

static void large_blocks_start_on_a_huge_page(void **state)
{
    (void)state;
    enum { BYTES = 4 << 20, HUGE = 2 << 20 };
    size_t before = sb_mem_live();
    unsigned char *p = sb_calloc(BYTES / 4, 4);
    assert_non_null(p);
    assert_int_equal(misaligned(p - SB_ALIGN, HUGE), 0);
    assert_int_equal(sb_mem_live() - before, BYTES);
    assert_int_equal(p[0], 0);
    p[BYTES - 1]++;
    assert_int_equal(p[BYTES - 1], 1);
    sb_free(p);
    assert_int_equal(sb_mem_live(), before);
}

static void calloc_zeroes_recycled_memory(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        unsigned char *p = sb_calloc(250, 4);
        assert_non_null(p);
        for (size_t i = 0; i < 1000; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, 1000);
        sb_free(p);
    }
}

static void large_ones_are_zeroed_too(void **state)
{
    (void)state;
    enum { BYTES = 5 << 20 };
    for (int round = 0; round < 4; round++) {
        unsigned char *p = sb_calloc(BYTES, 1);
        assert_non_null(p);
        for (size_t i = 0; i < BYTES; i += 61)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, BYTES);
        sb_free(p);
    }
}

/* Bytes of this process that are in memory. */
static size_t resident(void)
{
    unsigned long all, there = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu", &all, &there), 2);
    fclose(f);
    return there * (size_t)sysconf(_SC_PAGESIZE);
}

static void what_is_not_touched_takes_no_memory(void **state)
{
    (void)state;
    size_t bytes = (size_t)1 << 30, before = resident();
    unsigned char *p = sb_calloc(bytes, 1);
    assert_non_null(p);
    memset(p + bytes / 2, 1, 1000);
    assert_true(resident() - before < bytes / 4);
    sb_free(p);
}

static void live_and_peak_are_exact(void **state)
{
    (void)state;
    size_t base = sb_mem_live(), count = sb_mem_count();
    sb_mem_peak_reset();
    assert_int_equal(sb_mem_peak(), base);
    void *a = sb_malloc(10, 10), *b = sb_calloc(7, 3), *c = sb_malloc(0, 8);
    assert_non_null(c);
    assert_int_equal(sb_mem_live(), base + 121);
    sb_free(a);
    void *d = sb_malloc(50, 1);
    assert_int_equal(sb_mem_live(), base + 71);
    assert_int_equal(sb_mem_peak(), base + 121);
    assert_int_equal(sb_mem_count(), count + 4);
    sb_mem_peak_reset();
    assert_int_equal(sb_mem_peak(), base + 71);
    sb_free(b);
    sb_free(c);
    sb_free(d);
    sb_free(NULL);
    assert_int_equal(sb_mem_live(), base);
    assert_int_equal(sb_mem_count(), count + 4);
}

static void impossible_sizes_give_null(void **state)
{
    (void)state;
    size_t base = sb_mem_live(), count = sb_mem_count();
    assert_null(sb_malloc(SIZE_MAX, 2));
    assert_null(sb_malloc(SIZE_MAX / 2 + 1, 2)); /* the product wraps to 0 */
    assert_null(sb_malloc(2, SIZE_MAX / 2 + 1));
    assert_null(sb_malloc(1, SIZE_MAX)); /* the header would wrap */
    assert_null(sb_malloc(SIZE_MAX - SB_ALIGN + 1, 1));
    assert_null(sb_calloc(SIZE_MAX / 8 + 1, 8));
    assert_null(sb_malloc(SIZE_MAX / 2, 1)); /* the system refuses this one */
    assert_int_equal(sb_mem_live(), base);
    assert_int_equal(sb_mem_count(), count);
}

static void injector_fails_every_one_after_n(void **state)
{
    (void)state;
    size_t base = sb_mem_live();
    sb_mem_fail_after(2);
    void *a = sb_malloc(1, 1), *b = sb_calloc(1, 1);
    assert_non_null(a);
    assert_non_null(b);
    for (int i = 0; i < 3; i++) {
        assert_null(sb_malloc(1, 1));
        assert_null(sb_calloc(1, 1));
    }
    sb_mem_fail_after(-1);
    void *c = sb_malloc(1, 1);
    assert_non_null(c);
    sb_free(a);
    sb_free(b);
    sb_free(c);
    sb_mem_fail_after(0);
    assert_null(sb_malloc(1, 1));
    sb_mem_fail_after(-7);
    c = sb_malloc(1, 1);
    assert_non_null(c);
    sb_free(c);
    assert_int_equal(sb_mem_live(), base);
}

static void churn(void *context, size_t chunk, int worker)
{
    (void)context;
    (void)worker;
    for (size_t i = 0; i < 200; i++)
        sb_free(sb_malloc(chunk + 1, i));
}

static void counters_survive_threads(void **state)
{
    (void)state;
    size_t base = sb_mem_live(), count = sb_mem_count();
    sb_threads_run(4, 64, churn, NULL);
    assert_int_equal(sb_mem_live(), base);
    assert_int_equal(sb_mem_count() - count, 64 * 200);
}

static void arena_pieces_are_counted_in_cache_lines(void **state)
{
    (void)state;
    assert_int_equal(sb_arena_bytes(0, 4), 0);
    assert_int_equal(sb_arena_bytes(4, 0), 0);
    assert_int_equal(sb_arena_bytes(1, 1), 64);
    assert_int_equal(sb_arena_bytes(16, 4), 64);
    assert_int_equal(sb_arena_bytes(17, 4), 128);
    assert_true(sb_arena_bytes(SIZE_MAX, 2) == SIZE_MAX);
    assert_true(sb_arena_bytes(SIZE_MAX, 1) == SIZE_MAX);
    assert_true(sb_arena_bytes(SIZE_MAX / 4 + 1, 4) == SIZE_MAX);
}

static void arena_gives_what_was_planned_and_no_more(void **state)
{
    (void)state;
    size_t base = sb_mem_live();
    struct sb_arena a;
    size_t size = sb_arena_bytes(3, 4) + sb_arena_bytes(100, 8) + sb_arena_bytes(0, 8);
    assert_int_equal(sb_arena_init(&a, size), SB_OK);
    assert_int_equal(sb_mem_live(), base + size);
    unsigned char *x = sb_arena_take(&a, 3, 4);
    unsigned char *y = sb_arena_take(&a, 100, 8);
    assert_non_null(x);
    assert_non_null(y);
    assert_non_null(sb_arena_take(&a, 0, 8));
    assert_int_equal(misaligned(x, SB_ALIGN), 0);
    assert_int_equal(y - x, 64);
    memset(x, 1, 12);
    memset(y, 2, 800);
    assert_null(sb_arena_take(&a, 1, 1));
    assert_null(sb_arena_take(&a, SIZE_MAX, 1));
    assert_null(sb_arena_take(&a, SIZE_MAX, SIZE_MAX));
    assert_int_equal(a.used, size);
    sb_arena_fini(&a);
    assert_null(a.base);
    sb_arena_fini(&a);
    sb_arena_fini(NULL);
    assert_int_equal(sb_mem_live(), base);
}

static void arena_too_small_refuses_without_moving(void **state)
{
    (void)state;
    struct sb_arena a;
    assert_int_equal(sb_arena_init(&a, 100), SB_OK);
    assert_non_null(sb_arena_take(&a, 1, 1));
    assert_null(sb_arena_take(&a, 1, 1)); /* 36 bytes are left, a piece takes 64 */
    assert_int_equal(a.used, 64);
    sb_arena_fini(&a);
}

static void arena_survives_failed_allocation(void **state)
{
    (void)state;
    size_t base = sb_mem_live();
    struct sb_arena a;
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 100; n++) {
        sb_mem_fail_after(n);
        st = sb_arena_init(&a, 1000);
        sb_mem_fail_after(-1);
        if (st != SB_OK) {
            assert_int_equal(st, SB_ENOMEM);
            assert_string_equal(sb_message(), "arena: no memory for 1000 bytes");
            assert_null(sb_arena_take(&a, 1, 1));
        }
        sb_arena_fini(&a);
        assert_int_equal(sb_mem_live(), base);
    }
    assert_int_equal(n, 2); /* one allocation, failed once, then success */
    assert_int_equal(sb_arena_init(&a, SIZE_MAX), SB_ENOMEM);
    sb_arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_writable),
        cmocka_unit_test(large_blocks_start_on_a_huge_page),
        cmocka_unit_test(calloc_zeroes_recycled_memory),
        cmocka_unit_test(large_ones_are_zeroed_too),
        cmocka_unit_test(what_is_not_touched_takes_no_memory),
        cmocka_unit_test(live_and_peak_are_exact),
        cmocka_unit_test(impossible_sizes_give_null),
        cmocka_unit_test(injector_fails_every_one_after_n),
        cmocka_unit_test(counters_survive_threads),
        cmocka_unit_test(arena_pieces_are_counted_in_cache_lines),
        cmocka_unit_test(arena_gives_what_was_planned_and_no_more),
        cmocka_unit_test(arena_too_small_refuses_without_moving),
        cmocka_unit_test(arena_survives_failed_allocation),
    };
    return cmocka_run_group_tests_name("base/mem", tests, NULL, NULL);
}
