/* base/threads: every chunk once, workers in range, nesting, several callers, fork, and
 * life without helpers. The pool is the process's, so what needs a new one runs in a
 * child.
 *
 * Built with -fsanitize=thread (CMAKE_C_FLAGS and CMAKE_EXE_LINKER_FLAGS) and run with
 * TSAN_OPTIONS=die_after_fork=0 it shows whether the pool races. */
#include "base/threads.h"

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    MOST_CHUNKS = 20000,
    MOST_THREADS = 18 /* more than a job has shares */,
    LONG = 1000000000
};

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

/* Whether every chunk ran once, on a worker of its own. */
static bool runs_once(int threads, size_t chunks)
{
    static _Thread_local struct tally t;
    t.threads = threads < 1 ? 1 : threads;
    t.bad = 0;
    for (size_t c = 0; c < MOST_CHUNKS; c++)
        t.chunk[c] = 0;
    sb_threads_run(threads, chunks, count, &t);
    bool good = t.bad == 0;
    for (size_t c = 0; c < MOST_CHUNKS; c++)
        good &= t.chunk[c] == (c < chunks);
    return good;
}

static bool all_shapes_run_once(void)
{
    static const size_t numbers[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, MOST_CHUNKS};
    bool good = true;
    for (int threads = 1; threads <= MOST_THREADS; threads++)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            good &= runs_once(threads, numbers[i]);
    return good;
}

static void every_chunk_runs_once(void **state)
{
    (void)state;
    assert_true(all_shapes_run_once());
    for (int i = 0; i < 300; i++) /* one call after another, faster than threads sleep */
        assert_true(runs_once(2 + i % 7, (size_t)(2 + i)));
}

static void no_threads_means_one(void **state)
{
    (void)state;
    for (int threads = -1; threads <= 0; threads++)
        assert_true(runs_once(threads, 5));
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
    for (long spin = 0; spin < LONG && atomic_load(begun) < 2; spin++)
        ;
    if (atomic_load(begun) >= 2)
        atomic_fetch_add(begun, 10);
}

static bool two_meet(void)
{
    atomic_int begun = 0;
    sb_threads_run(2, 2, meet, &begun);
    return atomic_load(&begun) == 22;
}

static void two_threads_run_at_the_same_time(void **state)
{
    (void)state;
    assert_true(two_meet());
}

/* A call inside a chunk that is not shared may be spread: nothing else runs. */
static void meet_below(void *context, size_t chunk, int worker)
{
    (void)chunk;
    (void)worker;
    *(bool *)context = two_meet();
}

static void one_chunk_leaves_the_threads_to_calls_below(void **state)
{
    (void)state;
    bool met = false;
    sb_threads_run(4, 1, meet_below, &met);
    assert_true(met);
    met = false;
    sb_threads_run(1, 1, meet_below, &met);
    assert_true(met);
}

/* ---- a helper that the system puts aside ---- */

enum { PIECES = 200 };

struct aside {
    atomic_int done;
    atomic_bool first; /* a helper has begun */
    atomic_int others; /* chunks that were done when it went on */
};

/* The helper's first chunk takes until all others are done; the caller waits for that chunk
 * at its end, and does the others meanwhile. */
static void stop_helper(void *context, size_t chunk, int worker)
{
    (void)chunk;
    struct aside *a = context;
    if (worker != 0 && !atomic_exchange(&a->first, true)) {
        for (long spin = 0; spin < LONG && atomic_load(&a->done) < PIECES - 1; spin++)
            ;
        atomic_store(&a->others, atomic_load(&a->done));
    }
    if (worker == 0) /* so that the helper has time to come */
        for (long spin = 0; spin < LONG / 10 && !atomic_load(&a->first); spin++)
            ;
    atomic_fetch_add(&a->done, 1);
}

static void a_slow_helper_holds_one_chunk(void **state)
{
    (void)state;
    struct aside a = {.done = 0};
    sb_threads_run(2, PIECES, stop_helper, &a);
    assert_int_equal(atomic_load(&a.done), PIECES);
    assert_true(atomic_load(&a.first));
    assert_int_equal(atomic_load(&a.others), PIECES - 1);
}

/* ---- the threads there are ---- */

/* Threads of this process; with asleep, only those that sleep. */
static int tasks(bool asleep)
{
    DIR *d = opendir("/proc/self/task");
    int n = 0;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        char path[300], state = ' ';
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1)
            n += !asleep || state == 'S';
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return n;
}

static void idle_helpers_sleep(void **state)
{
    (void)state;
    assert_true(runs_once(4, 100));
    int all = tasks(false);
    bool quiet = false;
    for (int i = 0; i < 100000 && !quiet; i++)
        quiet = tasks(true) == all - 1;
    assert_true(quiet);
    assert_true(runs_once(4, 100)); /* and wake up again */
    assert_true(two_meet());
}

enum { CALLERS = 8, CALLS = 200 };

struct caller {
    pthread_t thread;
    int number;
    bool good;
};

static void *call_often(void *context)
{
    struct caller *c = context;
    c->good = true;
    for (int i = 0; i < CALLS; i++)
        c->good &= runs_once(2 + (c->number + i) % 3, (size_t)(1 + 7 * i));
    return NULL;
}

/* More than one caller asked for, or than processors, does not help anybody. */
static bool callers_share_helpers(void)
{
    static struct caller c[CALLERS];
    int before = tasks(false), processors = sb_threads_available(), most = 0;
    for (int i = 0; i < CALLERS; i++) {
        c[i].number = i;
        if (pthread_create(&c[i].thread, NULL, call_often, &c[i]) != 0)
            return false;
    }
    bool good = true;
    for (int i = 0; i < CALLERS; i++) {
        int now = tasks(false);
        most = now > most ? now : most;
        good &= pthread_join(c[i].thread, NULL) == 0 && c[i].good;
    }
    int helpers = (processors > 4 ? processors : 4) - 1;
    return good && most <= before + CALLERS + helpers;
}

/* Runs a test in a child, where there are no helpers yet. */
static bool in_child(bool (*test)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(test() ? 0 : 1);
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void several_callers_do_not_multiply_threads(void **state)
{
    (void)state;
    assert_true(in_child(callers_share_helpers));
}

/* More calls at a time than the pool has room for. Each has a chunk that waits for those
 * of all others, so that they are all there at once. */
enum { MANY = 80 };
static pthread_barrier_t all_there;

static void meet_all(void *context, size_t chunk, int worker)
{
    (void)worker;
    if (chunk == 0)
        pthread_barrier_wait(&all_there);
    atomic_fetch_add((atomic_int *)context, 1);
}

static void *call_once(void *context)
{
    sb_threads_run(2, 3, meet_all, context);
    return NULL;
}

static void more_callers_than_jobs(void **state)
{
    (void)state;
    static pthread_t thread[MANY];
    static atomic_int done[MANY];
    assert_int_equal(pthread_barrier_init(&all_there, NULL, MANY), 0);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, call_once, &done[i]), 0);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(atomic_load(&done[i]), 3);
    }
    pthread_barrier_destroy(&all_there);
}

/* ---- fork, and no threads at all ---- */

static bool works_as_ever(void)
{
    return tasks(false) == 1 && all_shapes_run_once() && two_meet();
}

static void a_child_has_helpers_of_its_own(void **state)
{
    (void)state;
    assert_true(runs_once(4, 100)); /* there are some that the child does not have */
    assert_true(in_child(works_as_ever));
    assert_true(two_meet());
}

static atomic_bool enough;

static void *call_until_enough(void *context)
{
    struct caller *c = context;
    c->good = true;
    while (!atomic_load(&enough))
        c->good &= runs_once(3, 1 + 100 * (size_t)c->number);
    return NULL;
}

static bool a_few_calls(void)
{
#ifdef __SANITIZE_THREAD__
    sb_threads_fail_after(0); /* which mistakes new threads for those of the parent */
#endif
    return runs_once(3, 100) && runs_once(4, 1000);
}

/* Whatever the parent's other threads were doing. */
static void a_child_of_busy_threads(void **state)
{
    (void)state;
    static struct caller c[3];
    atomic_store(&enough, false);
    for (int i = 0; i < 3; i++) {
        c[i].number = i;
        assert_int_equal(pthread_create(&c[i].thread, NULL, call_until_enough, &c[i]), 0);
    }
    bool good = true;
    for (int i = 0; i < 50; i++)
        good &= in_child(a_few_calls);
    atomic_store(&enough, true);
    for (int i = 0; i < 3; i++)
        assert_true(pthread_join(c[i].thread, NULL) == 0 && c[i].good);
    assert_true(good);
}

static bool alone(void)
{
    struct order o = {.in_order = 1};
    sb_threads_fail_after(0);
    bool good = all_shapes_run_once();
    sb_threads_run(4, 100, expect_next, &o);
    good &= tasks(false) == 1 && o.in_order && o.next == 100;
    sb_threads_fail_after(-1);
    return good && two_meet(); /* the next call gets what there is now */
}

static void without_helpers_the_caller_does_it_all(void **state)
{
    (void)state;
    assert_true(in_child(alone));
}

static void at_most_one(void *context, size_t chunk, int worker)
{
    (void)chunk;
    if (worker > 1)
        atomic_store((atomic_bool *)context, false);
}

static bool one_helper(void)
{
    atomic_bool good = true;
    sb_threads_fail_after(1);
    for (int i = 0; i < 50; i++)
        sb_threads_run(8, 1000, at_most_one, &good);
    return atomic_load(&good) && tasks(false) == 2 && all_shapes_run_once() && two_meet();
}

static void some_helpers_are_better_than_none(void **state)
{
    (void)state;
    assert_true(in_child(one_helper));
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
        cmocka_unit_test(one_chunk_leaves_the_threads_to_calls_below),
        cmocka_unit_test(a_slow_helper_holds_one_chunk),
        cmocka_unit_test(idle_helpers_sleep),
        cmocka_unit_test(several_callers_do_not_multiply_threads),
        cmocka_unit_test(more_callers_than_jobs),
        cmocka_unit_test(a_child_has_helpers_of_its_own),
        cmocka_unit_test(a_child_of_busy_threads),
        cmocka_unit_test(without_helpers_the_caller_does_it_all),
        cmocka_unit_test(some_helpers_are_better_than_none),
        cmocka_unit_test(some_processor_is_available),
    };
    return cmocka_run_group_tests_name("base/threads", tests, NULL, NULL);
}
