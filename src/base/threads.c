/* threads - see threads.h. The pool is the library's, not a caller's: what it stands for,
 * the processors, is shared as well. It needs no memory and no lock:
 *
 *     taken   one bit a job that has a caller       a job is a call of sb_threads_run
 *     open    one bit a job that has places left
 *     job[]   state: places that are left, helpers inside, whether the caller sleeps
 *             share: a range of chunks, and the first of it that nobody has taken
 *
 * A thread begins with a share of its own and then goes on to those of others. Chunks are in
 * the order in which data lie, and are so from one call to the next: what a thread finds in
 * its cache is then more often what it left there.
 *
 * A helper joins by turning a place into an inside, which says that the rest of the job is
 * valid until it leaves again. The caller runs chunks until there are none, takes back the
 * places nobody came for, and waits until nobody is inside. Jobs lie in the pool and not
 * on callers' stacks, so a helper may always look at one that has just ended.
 *
 * Who waits looks for a while (patience) and then sleeps in the kernel (futex). Not a moment
 * is spent looking if the process has more threads than processors, and the look ends when
 * the system took the processor away meanwhile: somebody else has work for it. Before a
 * helper sleeps it counts itself as asleep and then looks once more; a caller opens its job
 * and then reads the count: one of them sees the other. All of that is in the one order of
 * sequentially consistent atomics.
 */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT, syscall */
#include "base/threads.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/quota.h"

enum {
    JOBS = 64, /* bits of a mask; a call that finds none free is run by its caller */
    MOST_TEAM = 1024, /* threads of a call, whatever is asked for */
    TURNS = 64,       /* how often a thread asks, at least, where there is enough to do */
    PAUSE = 1000,     /* calls before helpers are asked for again, if none was given */
    SHARES = 16,      /* of a job's chunks, at most */
    LINE = 64         /* bytes of a cache line */
};

/* A job's state. */
enum {
    INSIDE = 1,
    INSIDES = 0xfff,
    PLACE = 1 << 12,
    PLACES = 0xfff << 12,
    ASLEEP = 1 << 24
};

/* Nanoseconds. Without patience one image of a small network takes 1.2 to 1.8 times as long
 * on a quiet machine, with 20 us up to 2 % longer; 200 us gain nothing more. */
enum { PATIENCE = 50000, PUT_ASIDE = 20000 };

struct share {
    _Alignas(LINE) atomic_size_t next;
    size_t end;
};

struct job {
    _Alignas(LINE) atomic_uint state;
    int team, shares; /* caller and places */
    size_t several;   /* chunks taken at a time: asking costs as much as a small chunk */
    sb_chunk_fn *fn;
    void *context;
    struct share share[SHARES];
};

static struct {
    _Alignas(LINE) atomic_uint_least64_t open;
    _Alignas(LINE) atomic_uint_least64_t taken;
    atomic_int wanted;     /* places of all jobs that are taken */
    atomic_int workers;    /* helpers there are */
    atomic_int most;       /* helpers there may be */
    atomic_int processors; /* 0: not counted yet */
    atomic_int pause;      /* calls that start no helper, after one could not be had */
    atomic_bool hooked;    /* fork() is known to forget the pool */
    _Alignas(LINE) atomic_uint calls; /* what helpers sleep on */
    atomic_int asleep;                /* helpers that sleep, or are about to */
    atomic_int awake;                 /* helpers that wait without sleeping */
    struct job job[JOBS];
} pool;

static atomic_long fail_after = -1;
static _Thread_local bool inside; /* this thread runs chunks */

/* ---- waiting ------------------------------------------------------------------------- */

static void futex_wait(atomic_uint *word, unsigned value)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(atomic_uint *word, int threads)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

static int64_t now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* More threads of this process want to run than there are processors. */
static bool crowded(void)
{
    return __builtin_popcountll(atomic_load(&pool.taken)) + atomic_load(&pool.workers) >
           atomic_load(&pool.processors);
}

/* Looks until ready says so, or patience ends. */
static bool look(bool (*ready)(void *), void *context)
{
    if (crowded())
        return ready(context);
    int64_t start = now(), last = start;
    for (unsigned turn = 1;; turn++) {
        if (ready(context))
            return true;
        relax();
        if (turn % 16 != 0)
            continue;
        int64_t time = now();
        if (time - start > PATIENCE || time - last > PUT_ASIDE)
            return false;
        last = time;
    }
}

/* ---- helpers ------------------------------------------------------------------------- */

static void run_share(const struct job *j, struct share *s, int worker)
{
    for (;;) {
        size_t chunk =
            atomic_fetch_add_explicit(&s->next, j->several, memory_order_relaxed);
        if (chunk >= s->end)
            return;
        size_t end = s->end - chunk < j->several ? s->end : chunk + j->several;
        for (; chunk < end; chunk++)
            j->fn(j->context, chunk, worker);
    }
}

static void run_chunks(struct job *j, int worker)
{
    for (int i = 0; i < j->shares; i++)
        run_share(j, &j->share[(worker + i) % j->shares], worker);
}

struct helper {
    struct job *job; /* that it is inside of; NULL: none */
    unsigned first;  /* job to ask first, the one after the last: all get a turn */
    int worker;
};

/* Takes a place of job number i, if it has one left. */
static bool join(struct helper *h, unsigned i)
{
    struct job *j = &pool.job[i];
    unsigned state = atomic_load(&j->state), places;
    do {
        places = (state & PLACES) / PLACE;
        if (places == 0)
            return false;
    } while (!atomic_compare_exchange_weak(&j->state, &state, state - PLACE + INSIDE));
    if (places == 1)
        atomic_fetch_and(&pool.open, ~(UINT64_C(1) << i));
    *h = (struct helper){
        .job = j, .first = (i + 1) % JOBS, .worker = j->team - (int)places};
    return true;
}

static bool join_any(void *context)
{
    struct helper *h = context;
    uint64_t open = atomic_load(&pool.open), later = open >> h->first << h->first;
    for (uint64_t bits = later; bits; bits &= bits - 1)
        if (join(h, (unsigned)__builtin_ctzll(bits)))
            return true;
    for (uint64_t bits = open & ~later; bits; bits &= bits - 1)
        if (join(h, (unsigned)__builtin_ctzll(bits)))
            return true;
    return false;
}

static void leave(struct helper *h)
{
    struct job *j = h->job;
    h->job = NULL;
    unsigned before = atomic_fetch_sub(&j->state, INSIDE);
    if ((before & INSIDES) == INSIDE && (before & ASLEEP))
        futex_wake(&j->state, 1);
}

/* Waits for a place: awake at first, then asleep. May return without one. */
static void wait_for_job(struct helper *h)
{
    atomic_fetch_add(&pool.awake, 1);
    bool joined = look(join_any, h);
    atomic_fetch_sub(&pool.awake, 1);
    if (joined)
        return;
    unsigned calls = atomic_load(&pool.calls);
    atomic_fetch_add(&pool.asleep, 1);
    if (!join_any(h))
        futex_wait(&pool.calls, calls);
    atomic_fetch_sub(&pool.asleep, 1);
}

static void *help(void *unused)
{
    (void)unused;
    struct helper h = {0};
    inside = true;
    for (;;) {
        if (!join_any(&h))
            wait_for_job(&h);
        if (h.job) {
            run_chunks(h.job, h.worker);
            leave(&h);
        }
    }
    return NULL;
}

/* ---- starting helpers ----------------------------------------------------------------- */

/* Whether the fault injector lets one more thread through. */
static bool allowed(void)
{
    long n = atomic_load(&fail_after);
    while (n > 0)
        if (atomic_compare_exchange_weak(&fail_after, &n, n - 1))
            return true;
    return n < 0;
}

bool sb_threads_start(pthread_t *thread, void *(*fn)(void *), void *context)
{
    sigset_t all, before;
    if (!allowed())
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, fn, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0;
}

/* In the child of a fork(), whose only thread is the one that forked: no helper is left,
 * and no job of other callers. (No chunk forks, so it has no job itself.) */
static void forget(void)
{
    atomic_store(&pool.open, 0);
    atomic_store(&pool.taken, 0);
    atomic_store(&pool.wanted, 0);
    atomic_store(&pool.workers, 0);
    atomic_store(&pool.most, 0);
    atomic_store(&pool.processors, 0);
    atomic_store(&pool.pause, 0);
    atomic_store(&pool.asleep, 0);
    atomic_store(&pool.awake, 0);
}

/* The first call counts processors; should forget not be called after a fork, for want of
 * memory, the child has jobs that nobody helps with. */
static void prepare(void)
{
    if (atomic_load(&pool.processors) == 0)
        atomic_store(&pool.processors, sb_threads_available());
    if (!atomic_exchange(&pool.hooked, true))
        (void)pthread_atfork(NULL, NULL, forget);
}

static void raise_to(atomic_int *most, int n)
{
    int have = atomic_load(most);
    while (have < n && !atomic_compare_exchange_weak(most, &have, n))
        ;
}

/* So many helpers are wanted for one more job: starts those that are missing. */
static void hire(int helpers)
{
    pthread_t thread;
    int wanted = atomic_fetch_add(&pool.wanted, helpers) + helpers;
    int have = atomic_load(&pool.workers);
    if (have >= wanted || atomic_fetch_sub(&pool.pause, 1) > 0)
        return;
    atomic_store(&pool.pause, 0);
    prepare();
    raise_to(&pool.most, atomic_load(&pool.processors) - 1);
    raise_to(&pool.most, helpers);
    while (have < wanted && have < atomic_load(&pool.most)) {
        if (!atomic_compare_exchange_weak(&pool.workers, &have, have + 1))
            continue;
        if (!sb_threads_start(&thread, help, NULL)) {
            atomic_fetch_sub(&pool.workers, 1);
            atomic_store(&pool.pause, PAUSE);
            return;
        }
        (void)pthread_detach(thread);
        have++;
    }
}

/* ---- callers -------------------------------------------------------------------------- */

/* A job nobody has, which is now the caller's; NULL: there is none. */
static struct job *claim_job(void)
{
    uint64_t taken = atomic_load(&pool.taken);
    while (taken != UINT64_MAX) {
        unsigned i = (unsigned)__builtin_ctzll(~taken);
        if (atomic_compare_exchange_weak(&pool.taken, &taken, taken | UINT64_C(1) << i))
            return &pool.job[i];
    }
    return NULL;
}

static uint64_t bit_of(const struct job *j)
{
    return UINT64_C(1) << (j - pool.job);
}

static void deal(struct job *j, size_t chunks)
{
    j->shares = j->team < SHARES ? j->team : SHARES;
    size_t shares = (size_t)j->shares, each = chunks / shares, more = chunks % shares;
    for (size_t i = 0, from = 0; i < shares; i++, from = j->share[i - 1].end) {
        atomic_store(&j->share[i].next, from);
        j->share[i].end = from + each + (i < more);
    }
}

static void open_places(struct job *j, int places)
{
    atomic_store(&j->state, (unsigned)places * PLACE);
    atomic_fetch_or(&pool.open, bit_of(j));
    int missing = places - atomic_load(&pool.awake);
    if (missing <= 0 || atomic_load(&pool.asleep) == 0)
        return;
    atomic_fetch_add(&pool.calls, 1);
    futex_wake(&pool.calls, missing);
}

static bool nobody_inside(void *job)
{
    return (atomic_load(&((struct job *)job)->state) & INSIDES) == 0;
}

static void close_places(struct job *j)
{
    atomic_fetch_and(&j->state, ~(unsigned)PLACES);
    atomic_fetch_and(&pool.open, ~bit_of(j));
    if (nobody_inside(j) || look(nobody_inside, j))
        return;
    unsigned state = atomic_fetch_or(&j->state, ASLEEP) | ASLEEP;
    while (state & INSIDES) {
        futex_wait(&j->state, state);
        state = atomic_load(&j->state);
    }
}

static void run_together(struct job *j, int team)
{
    hire(team - 1);
    open_places(j, team - 1);
    run_chunks(j, 0);
    close_places(j);
    atomic_fetch_sub(&pool.wanted, team - 1);
    atomic_fetch_and(&pool.taken, ~bit_of(j));
}

static void run_alone(size_t chunks, sb_chunk_fn *fn, void *context)
{
    for (size_t chunk = 0; chunk < chunks; chunk++)
        fn(context, chunk, 0);
}

void sb_threads_run(int threads, size_t chunks, sb_chunk_fn *fn, void *context)
{
    if (threads <= 1 || chunks <= 1 || inside) {
        run_alone(chunks, fn, context);
        return;
    }
    int team = threads < MOST_TEAM ? threads : MOST_TEAM;
    team = chunks < (size_t)team ? (int)chunks : team;
    size_t several = chunks / ((size_t)team * TURNS);
    struct job *j = claim_job();
    inside = true;
    if (j) {
        j->team = team;
        j->several = several > 0 ? several : 1;
        j->fn = fn;
        j->context = context;
        deal(j, chunks);
        run_together(j, team);
    } else
        run_alone(chunks, fn, context);
    inside = false;
}

void sb_threads_fail_after(long n)
{
    atomic_store(&fail_after, n < 0 ? -1 : n);
    atomic_store(&pool.pause, 0);
}

int sb_threads_available(void)
{
    cpu_set_t set[8]; /* 8192 processors */
    CPU_ZERO_S(sizeof set, set);
    long n;
    if (sched_getaffinity(0, sizeof set, set) == 0)
        n = CPU_COUNT_S(sizeof set, set);
    else
        n = sysconf(_SC_NPROCESSORS_ONLN);
    int quota = sb_quota_processors("");
    n = quota > 0 && quota < n ? quota : n;
    return n < 1 ? 1 : (int)n;
}
