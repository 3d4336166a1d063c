/* base/threads: every chunk once, workers in range, nesting. */
#include "base/threads.h"

#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST_CHUNKS = 1000, MOST_THREADS = 4 };

struct tally {
    atomic_int chunk[MOST_CHUNKS];   /* times it ran */
    atomic_int worker[MOST_THREADS]; /* chunks inside this worker now */
    atomic_int bad;                  /* worker out of range or shared */
    int threads;
};

static void count(void *context, size_t chunk, int worker)
{
    struct tally *t = context;
    if (worker < 0 || worker >= t->threads) {
        atomic_fetch_add(&t->bad, 1);
        return;
    }
    if (atomic_fetch_add(&t->worker[worker], 1) != 0)
        atomic_fetch_add(&t->bad, 1); /* two chunks on one scratch memory */
    atomic_fetch_add(&t->chunk[chunk], 1);
    atomic_fetch_sub(&t->worker[worker], 1);
}

static void every_chunk_runs_once(void **state)
{
    (void)state;
    size_t numbers[] = {0, 1, 2, 3, 7, 64, MOST_CHUNKS};
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            struct tally t = {.threads = threads};
            sb_threads_run(threads, numbers[i], count, &t);
            assert_int_equal(atomic_load(&t.bad), 0);
            for (size_t c = 0; c < MOST_CHUNKS; c++)
                assert_int_equal(atomic_load(&t.chunk[c]), c < numbers[i]);
        }
    }
}

static void no_threads_means_one(void **state)
{
    (void)state;
    for (int threads = -1; threads <= 0; threads++) {
        struct tally t = {.threads = 1};
        sb_threads_run(threads, 5, count, &t);
        assert_int_equal(atomic_load(&t.bad), 0);
        for (size_t c = 0; c < 5; c++)
            assert_int_equal(atomic_load(&t.chunk[c]), 1);
    }
}

struct order {
    size_t next;
    int in_order;
};

static void expect_next(void *context, size_t chunk, int worker)
{
    struct order *o = context;
    o->in_order &= chunk == o->next && worker == 0;
    o->next = chunk + 1;
}

static void one_thread_goes_in_order(void **state)
{
    (void)state;
    struct order o = {.in_order = 1};
    sb_threads_run(1, 100, expect_next, &o);
    assert_true(o.in_order);
    assert_int_equal(o.next, 100);
}

enum { OUTER = 6, INNER = 50 };

/* Each outer chunk owns an order: a nested call spread over threads would upset it. */
static void nest(void *context, size_t chunk, int worker)
{
    (void)worker;
    struct order *o = (struct order *)context + chunk;
    sb_threads_run(3, INNER, expect_next, o);
}

static void nested_calls_stay_on_their_thread(void **state)
{
    (void)state;
    omp_set_max_active_levels(2); /* OpenMP itself would spread them now */
    for (int threads = 2; threads <= MOST_THREADS; threads++) {
        struct order o[OUTER];
        for (size_t i = 0; i < OUTER; i++)
            o[i] = (struct order){.in_order = 1};
        sb_threads_run(threads, OUTER, nest, o);
        for (size_t i = 0; i < OUTER; i++) {
            assert_true(o[i].in_order);
            assert_int_equal(o[i].next, INNER);
        }
    }
}

/* Both chunks wait until the other has begun: one thread alone would never finish, so the
 * wait is bounded by a count, not by time. */
static void meet(void *context, size_t chunk, int worker)
{
    (void)chunk;
    (void)worker;
    atomic_int *begun = context;
    atomic_fetch_add(begun, 1);
    for (long spin = 0; spin < 200000000 && atomic_load(begun) < 2; spin++)
        ;
    if (atomic_load(begun) >= 2)
        atomic_fetch_add(begun, 10);
}

static void two_threads_run_at_the_same_time(void **state)
{
    (void)state;
    atomic_int begun = 0;
    sb_threads_run(2, 2, meet, &begun);
    assert_int_equal(atomic_load(&begun), 22);
}

static void some_processor_is_available(void **state)
{
    (void)state;
    assert_true(sb_threads_available() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chunk_runs_once),
        cmocka_unit_test(no_threads_means_one),
        cmocka_unit_test(one_thread_goes_in_order),
        cmocka_unit_test(nested_calls_stay_on_their_thread),
        cmocka_unit_test(two_threads_run_at_the_same_time),
        cmocka_unit_test(some_processor_is_available),
    };
    return cmocka_run_group_tests_name("base/threads", tests, NULL, NULL);
}
