/* exchange - a process of a job that tests base/comm.h against what every rank must have.
 *
 *     exchange PLUGIN [SIZE [LIMIT [wait]]]
 *
 * Each rank makes the same bytes of everything, a function of who sends what to whom, and
 * looks whether it was sent those. SIZE: how many ranks there must be. "wait": the last rank says
 * its process id on stdout and all go round barriers for ever, for the test to kill or to
 * stop one; what happens then is the time LIMIT's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "dist/ranks.h"

enum { LARGE = 1 << 18 };

static const struct sb_comm *comm;

static void stop(const char *why)
{
    fprintf(stderr, "exchange: rank %u: %s\n", sb_comm_rank(comm), why);
    /* MPICH's launcher throws away what it has not read when a job is aborted */
    (void)nanosleep(&(struct timespec){.tv_nsec = 300000000L}, NULL);
    sb_comm_abort(comm);
    exit(1);
}

static void check(sb_status st)
{
    if (st != SB_OK)
        stop(sb_message());
}

static void want(bool right, const char *what)
{
    if (!right)
        stop(what);
}

/* Byte i of what `from` sends `to`. */
static unsigned char byte_of(uint32_t from, uint32_t to, size_t i)
{
    return (unsigned char)(7 * from + 13 * to + i + (i >> 8));
}

/* How many they are; some are none, some are many. */
static size_t bytes_of(uint32_t from, uint32_t to)
{
    return (from + 2 * to) % 3 == 0 ? 0 : 5 + LARGE * (from % 2) + 1000 * to;
}

static void fill(unsigned char *at, uint32_t from, uint32_t to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = byte_of(from, to, i);
}

static bool is(const unsigned char *at, uint32_t from, uint32_t to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (at[i] != byte_of(from, to, i))
            return false;
    return true;
}

/* ---- the calls ---- */

static void test_broadcast(void)
{
    static unsigned char data[LARGE];
    for (uint32_t root = 0; root < comm->size; root++)
        for (size_t n = 0; n <= LARGE; n = n * 64 + 1) {
            memset(data, 0, sizeof data);
            if (comm->rank == root)
                fill(data, root, root, n);
            check(sb_comm_broadcast(comm, "bytes", data, n, root));
            want(is(data, root, root, n), "a broadcast brought other bytes");
        }
}

struct lists {
    struct sb_comm_span *to, *from; /* [size] */
    unsigned char *out, *in;
    size_t in_bytes;
};

static struct lists make_lists(void)
{
    uint32_t n = comm->size, me = comm->rank;
    struct lists l = {.to = sb_calloc(n, sizeof *l.to),
                      .from = sb_calloc(n, sizeof *l.from)};
    size_t out = 0;
    for (uint32_t r = 0; r < n; r++) {
        l.to[r] = (struct sb_comm_span){out, bytes_of(me, r)};
        l.from[r] = (struct sb_comm_span){l.in_bytes, bytes_of(r, me)};
        out += l.to[r].bytes;
        l.in_bytes += l.from[r].bytes;
    }
    l.out = sb_malloc(out + 1, 1);
    l.in = sb_calloc(l.in_bytes + 1, 1);
    for (uint32_t r = 0; r < n; r++)
        fill(l.out + l.to[r].offset, me, r, l.to[r].bytes);
    return l;
}

static void end_lists(struct lists *l)
{
    for (uint32_t r = 0; r < comm->size; r++)
        want(is(l->in + l->from[r].offset, r, comm->rank, l->from[r].bytes),
             "an exchange brought other bytes");
    sb_free(l->to);
    sb_free(l->from);
    sb_free(l->out);
    sb_free(l->in);
}

static void test_exchange(void)
{
    struct lists l = make_lists();
    check(sb_comm_exchange(comm, "slices", l.out, l.to, l.in, l.from));
    end_lists(&l);
}

/* Many at a time, waited for in another order than they were started. */
static void test_started(void)
{
    enum { MANY = 20 };
    struct lists l[MANY];
    struct sb_comm_request r[MANY];
    for (int i = 0; i < MANY; i++) {
        l[i] = make_lists();
        check(sb_comm_start_exchange(comm, "slices", l[i].out, l[i].to, l[i].in,
                                     l[i].from, &r[i]));
        sb_comm_poll(comm);
    }
    for (int i = 0; i < 3000; i++)
        sb_comm_poll(comm);
    for (int i = MANY; i-- > 0;) {
        check(sb_comm_wait(comm, &r[i]));
        end_lists(&l[i]);
    }
}

/* More than there are slots for is refused, and those that were begun end well. */
static void test_too_many(void)
{
    static struct sb_comm_request r[SB_COMM_STARTED + 1];
    struct sb_comm_span *none = sb_calloc(comm->size, sizeof *none);
    char nothing[1];
    for (int i = 0; i < SB_COMM_STARTED; i++)
        check(sb_comm_start_all_gather(comm, "nothing", nothing, nothing, none, &r[i]));
    sb_status st = sb_comm_start_all_gather(comm, "one more", nothing, nothing, none,
                                            &r[SB_COMM_STARTED]);
    want(st == SB_EARG && strstr(sb_message(), "one more"),
         "more exchanges than there is room for were started");
    for (int i = 0; i < SB_COMM_STARTED; i++)
        check(sb_comm_wait(comm, &r[i]));
    sb_free(none);
}

static void test_all_gather(bool in_place)
{
    uint32_t n = comm->size, me = comm->rank;
    struct sb_comm_span *part = sb_calloc(n, sizeof *part);
    size_t bytes = 0;
    for (uint32_t r = 0; r < n; r++) {
        part[r] = (struct sb_comm_span){bytes, bytes_of(r, 1)};
        bytes += part[r].bytes;
    }
    unsigned char *all = sb_calloc(bytes + 1, 1),
                  *mine = sb_malloc(part[me].bytes + 1, 1);
    fill(in_place ? all + part[me].offset : mine, me, 1, part[me].bytes);
    check(sb_comm_all_gather(comm, "sums", in_place ? NULL : mine, all, part));
    for (uint32_t r = 0; r < n; r++)
        want(is(all + part[r].offset, r, 1, part[r].bytes),
             "a gather brought other bytes");
    sb_free(all);
    sb_free(mine);
    sb_free(part);
}

static void test_agreement(void)
{
    check(sb_comm_same(comm, "recipe", "abc", 3));
    char other = (char)('a' + comm->rank);
    sb_status st = sb_comm_same(comm, "recipe", &other, 1);
    want(comm->size == 1 ? st == SB_OK
                         : st == SB_EARG && strstr(sb_message(), "rank 1 of") &&
                               strstr(sb_message(), "another recipe"),
         "different recipes went unnoticed");
}

/* Odd and even ranks, as groups of their own, each with its own words. */
static void test_groups(void)
{
    struct sb_comm *group = NULL;
    uint32_t odd = comm->rank % 2, own[2], all[64][2];
    struct sb_comm_span part[64];
    check(sb_comm_split(comm, odd, &group));
    want(comm->size > 1 || !group, "one process alone has a group");
    uint32_t size = (comm->size + 1 - odd) / 2;
    want(sb_comm_size(group) == (comm->size > 1 ? size : 1) &&
             sb_comm_rank(group) == comm->rank / 2,
         "a group has other ranks");
    own[0] = odd;
    own[1] = comm->rank;
    sb_comm_equal_spans(part, sb_comm_size(group), sizeof own);
    check(sb_comm_all_gather(group, "numbers", own, all, part));
    for (uint32_t i = 0; i < sb_comm_size(group); i++)
        want(all[i][0] == odd && all[i][1] == 2 * i + odd, "a group mixed its words");
    sb_comm_release(group);
    check(sb_comm_barrier(comm, "groups that are gone"));
}

/* A test says no as long as a rank has not come, and yes some time later. */
static void test_asked(void)
{
    struct sb_comm_request r = {.what = "a barrier"};
    bool done = false;
    if (comm->size == 1)
        return;
    check(comm->start_barrier(comm, &r));
    while (!done)
        check(sb_comm_test(comm, &r, &done));
    check(sb_comm_test(comm, &r, &done));
    want(done, "what was done is not any more");
    check(sb_comm_wait(comm, &r));
}

static void go_round(void)
{
    if (comm->rank == comm->size - 1) {
        printf("%ld\n", (long)getpid());
        fflush(stdout);
    }
    for (;;)
        check(sb_comm_barrier(comm, "barrier"));
}

/* Joins; every allocation fails once before that. */
static struct sb_ranks *join(const char *plugin, double limit)
{
    struct sb_ranks *ranks = NULL;
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st == SB_ENOMEM && n < 20; n++) {
        sb_mem_fail_after(n);
        st = sb_ranks_join(plugin, limit, &ranks);
        sb_mem_fail_after(-1);
        want(st == SB_OK || sb_mem_live() == 0, "a join that failed kept memory");
    }
    check(st);
    want(n == 5, "not four allocations");
    return ranks;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        stop("which plugin?");
    struct sb_ranks *ranks = join(argv[1], argc > 3 ? strtod(argv[3], NULL) : 60.0);
    comm = sb_ranks_comm(ranks);
    if (argc > 2)
        want(comm->size == strtoul(argv[2], NULL, 10), "not as many ranks as wanted");
    if (argc > 4)
        go_round();
    test_broadcast();
    test_exchange();
    test_started();
    if (comm->size > 1) /* one process has no limit */
        test_too_many();
    test_all_gather(false);
    test_all_gather(true);
    test_agreement();
    test_groups();
    test_asked();
    check(sb_comm_barrier(comm, "the end"));
    if (comm->rank == 0)
        printf("%u ranks, %s\n", comm->size, sb_ranks_mpi(ranks));
    sb_ranks_leave(ranks);
    return sb_mem_live() == 0 ? 0 : 1;
}
