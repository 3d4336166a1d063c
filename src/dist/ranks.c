/* ranks - see ranks.h. */
#include "dist/ranks.h"

#include <limits.h>
#include <sched.h>
#include <time.h>

#include "base/mem.h"
#include "dist/find.h"

enum { TEXT_BYTES = 256 };

enum slot_state { FREE = 0, UNDER_WAY, DONE };

/* Some of the job's ranks, or all. */
struct group {
    struct sb_comm comm; /* what others see; its state is this struct */
    struct sb_ranks *job;
    union sb_plugin_handle handle;
    struct sb_plugin_slot *slot; /* [SB_COMM_STARTED] owned */
    enum slot_state *state;      /* [SB_COMM_STARTED] owned */
    int *lists;                  /* [SB_COMM_STARTED][4][size] owned */
    uint32_t next;               /* where a free slot is looked for */
};

struct sb_ranks {
    const struct sb_plugin *plugin;
    double limit;        /* seconds */
    uint32_t rank, size; /* of the job, as sentences say them */
    struct group all;
    char mpi[TEXT_BYTES];
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct group *group_of(const struct sb_comm *c)
{
    return c->state;
}

static const struct sb_ranks *job_of(const struct sb_comm *c)
{
    return group_of(c)->job;
}

/* ---- starting ------------------------------------------------------------------------- */

static sb_status failed(const struct sb_comm *c, const char *what, int code)
{
    char why[TEXT_BYTES];
    const struct sb_ranks *ranks = job_of(c);
    ranks->plugin->explain(code, why, sizeof why);
    return sb_fail(SB_EIO, "rank %u of %u: MPI failed to exchange %s: %s", ranks->rank,
                   ranks->size, what, why);
}

/* A free slot for r; NULL, and a sentence: there is none. */
static struct sb_plugin_slot *free_slot(const struct sb_comm *c,
                                        struct sb_comm_request *r)
{
    struct group *g = group_of(c);
    for (uint32_t tried = 0; tried < SB_COMM_STARTED; tried++) {
        uint32_t i = g->next;
        g->next = (i + 1) % SB_COMM_STARTED;
        if (g->state[i] != FREE)
            continue;
        g->state[i] = UNDER_WAY;
        r->slot = i;
        return &g->slot[i];
    }
    sb_fail(SB_EARG, "%d exchanges are under way; wait for one before %s",
            SB_COMM_STARTED, r->what);
    return NULL;
}

/* Gives the slot of what could not be started back. */
static sb_status started(const struct sb_comm *c, const struct sb_comm_request *r,
                         int code)
{
    if (code == 0)
        return SB_OK;
    group_of(c)->state[r->slot] = FREE;
    return failed(c, r->what, code);
}

/* Spans as MPI has them; false: they do not fit an int. */
static bool narrow(const struct sb_comm *c, const struct sb_comm_span *span, int *bytes,
                   int *at)
{
    for (uint32_t i = 0; i < c->size; i++) {
        if (span[i].bytes > INT_MAX || span[i].offset > INT_MAX)
            return false;
        bytes[i] = (int)span[i].bytes;
        at[i] = (int)span[i].offset;
    }
    return true;
}

static sb_status too_large(const struct sb_comm *c, const struct sb_comm_request *r)
{
    group_of(c)->state[r->slot] = FREE;
    return sb_fail(
        SB_EARG, "%s: more than 2 GiB in one exchange; it must be cut in parts", r->what);
}

static sb_status start_broadcast(const struct sb_comm *c, void *data, size_t bytes,
                                 uint32_t root, struct sb_comm_request *r)
{
    const struct sb_ranks *ranks = job_of(c);
    struct sb_plugin_slot *s = free_slot(c, r);
    if (!s)
        return SB_EARG;
    if (bytes > INT_MAX)
        return too_large(c, r);
    return started(c, r, ranks->plugin->broadcast(s, data, (int)bytes, (int)root));
}

static sb_status start_all_gather(const struct sb_comm *c, const void *mine, void *all,
                                  const struct sb_comm_span *part,
                                  struct sb_comm_request *r)
{
    const struct sb_ranks *ranks = job_of(c);
    struct sb_plugin_slot *s = free_slot(c, r);
    if (!s)
        return SB_EARG;
    if (!narrow(c, part, s->in_bytes, s->in_at))
        return too_large(c, r);
    if (mine == (const char *)all + part[c->rank].offset)
        mine = NULL; /* MPI forbids a buffer to be read and written but in place */
    int code = ranks->plugin->all_gather(s, mine, s->in_bytes[c->rank], all);
    return started(c, r, code);
}

static sb_status start_exchange(const struct sb_comm *c, const void *out,
                                const struct sb_comm_span *to, void *in,
                                const struct sb_comm_span *from,
                                struct sb_comm_request *r)
{
    const struct sb_ranks *ranks = job_of(c);
    struct sb_plugin_slot *s = free_slot(c, r);
    if (!s)
        return SB_EARG;
    if (!narrow(c, to, s->out_bytes, s->out_at) ||
        !narrow(c, from, s->in_bytes, s->in_at))
        return too_large(c, r);
    return started(c, r, ranks->plugin->exchange(s, out, in));
}

static sb_status start_barrier(const struct sb_comm *c, struct sb_comm_request *r)
{
    const struct sb_ranks *ranks = job_of(c);
    struct sb_plugin_slot *s = free_slot(c, r);
    return s ? started(c, r, ranks->plugin->barrier(s)) : SB_EARG;
}

/* ---- waiting -------------------------------------------------------------------------- */

/* Between two looks: at once for 50 us, then others may have the processor, then sleeping a
 * tenth of what was waited so far, at most a millisecond. */
static void pause_for(double waited)
{
    if (waited < 50e-6)
        return;
    if (waited < 500e-6) {
        sched_yield();
        return;
    }
    double nap = waited / 10.0 < 1e-3 ? waited / 10.0 : 1e-3;
    struct timespec t = {0, (long)(1e9 * nap)};
    nanosleep(&t, NULL); /* a signal ends it early: then it looks early */
}

static sb_status look(const struct sb_comm *c, const struct sb_comm_request *r, int *done)
{
    struct group *g = group_of(c);
    *done = g->state[r->slot] == DONE;
    int code = *done ? 0 : g->job->plugin->test(&g->slot[r->slot], done);
    return code == 0 ? SB_OK : failed(c, r->what, code);
}

static sb_status test_one(const struct sb_comm *c, struct sb_comm_request *r, bool *done)
{
    int is = 0;
    sb_status st = look(c, r, &is);
    *done = is != 0;
    if (is)
        group_of(c)->state[r->slot] = DONE;
    return st;
}

static sb_status wait_for(const struct sb_comm *c, struct sb_comm_request *r)
{
    const struct sb_ranks *ranks = job_of(c);
    double since = seconds();
    int done = 0;
    sb_status st = look(c, r, &done);
    while (st == SB_OK && !done) {
        double waited = seconds() - since;
        if (waited > ranks->limit)
            return sb_fail(SB_EIO,
                           "rank %u of %u waited %.0f s for the other ranks' %s, longer "
                           "than one exchange may take: a rank hangs, is gone or is cut "
                           "off",
                           ranks->rank, ranks->size, ranks->limit, r->what);
        pause_for(waited);
        st = look(c, r, &done);
    }
    group_of(c)->state[r->slot] = FREE;
    return st;
}

/* A test of one makes an MPI look after all that is under way; of what is done already it
 * does nothing, so that this is remembered. A failure comes again at the wait. */
static void poll_one(const struct sb_comm *c)
{
    struct group *g = group_of(c);
    for (uint32_t i = 0; i < SB_COMM_STARTED; i++) {
        int done = 0;
        if (g->state[i] != UNDER_WAY)
            continue;
        if (g->job->plugin->test(&g->slot[i], &done) == 0 && done)
            g->state[i] = DONE;
        return;
    }
}

/* A launcher may end a job before it has passed on what a rank wrote last, which is why the
 * job ends (MPICH's does): it is given time to. */
static void stop(const struct sb_comm *c)
{
    const struct sb_ranks *ranks = job_of(c);
    struct timespec pass_on = {0, 200000000L};
    if (ranks->size < 2)
        return;
    nanosleep(&pass_on, NULL);
    ranks->plugin->abort(1);
}

/* ---- groups --------------------------------------------------------------------------- */

static sb_status split(const struct sb_comm *c, uint32_t colour, struct sb_comm **out);
static void release(struct sb_comm *c);

static const struct sb_comm functions = {
    .start_broadcast = start_broadcast,
    .start_all_gather = start_all_gather,
    .start_exchange = start_exchange,
    .start_barrier = start_barrier,
    .wait = wait_for,
    .test = test_one,
    .split = split,
    .release = release,
    .poll = poll_one,
    .abort = stop,
};

static void free_memory(struct group *g)
{
    sb_free(g->slot);
    sb_free(g->state);
    sb_free(g->lists);
}

/* Of a group whose handle is there. The caller frees its memory, also after a failure. */
static sb_status open_group(struct group *g, struct sb_ranks *job, uint32_t rank,
                            uint32_t size)
{
    size_t n = size;
    g->job = job;
    g->comm = functions;
    g->comm.rank = rank;
    g->comm.size = size;
    g->comm.limit = job->limit;
    g->comm.name = job->mpi;
    g->comm.state = g;
    g->slot = sb_calloc(SB_COMM_STARTED, sizeof *g->slot);
    g->state = sb_calloc(SB_COMM_STARTED, sizeof *g->state);
    g->lists = sb_calloc((size_t)SB_COMM_STARTED * 4 * n, sizeof *g->lists);
    if (!g->slot || !g->state || !g->lists)
        return sb_fail(SB_ENOMEM, "no memory for exchanges of %zu ranks", n);
    for (size_t i = 0; i < SB_COMM_STARTED; i++) {
        struct sb_plugin_slot *s = &g->slot[i];
        s->group = &g->handle;
        s->out_bytes = g->lists + 4 * n * i;
        s->out_at = s->out_bytes + n;
        s->in_bytes = s->out_at + n;
        s->in_at = s->in_bytes + n;
    }
    return SB_OK;
}

static sb_status split(const struct sb_comm *c, uint32_t colour, struct sb_comm **out)
{
    struct group *old = group_of(c), *g = sb_calloc(1, sizeof *g);
    uint32_t rank, size;
    if (!g)
        return sb_fail(SB_ENOMEM, "no memory for a group of ranks");
    int code =
        old->job->plugin->split(&old->handle, (int)colour, &g->handle, &rank, &size);
    if (code != 0) {
        sb_free(g);
        return failed(c, "groups", code);
    }
    sb_status st = open_group(g, old->job, rank, size);
    *out = &g->comm;
    if (st == SB_OK)
        return SB_OK;
    release(*out);
    *out = NULL;
    return st;
}

static void release(struct sb_comm *c)
{
    struct group *g = group_of(c);
    g->job->plugin->release(&g->handle);
    free_memory(g);
    sb_free(g);
}

/* ---- joining and leaving -------------------------------------------------------------- */

static sb_status begin(struct sb_ranks *ranks, const char *mpi)
{
    int code = ranks->plugin->begin(&ranks->all.handle, &ranks->rank, &ranks->size);
    if (code != 0) {
        char why[TEXT_BYTES];
        ranks->plugin->explain(code, why, sizeof why);
        return sb_fail(SB_EIO, "%s could not be started: %s", mpi, why);
    }
    ranks->plugin->describe(ranks->mpi, sizeof ranks->mpi);
    return open_group(&ranks->all, ranks, ranks->rank, ranks->size);
}

sb_status sb_ranks_join(const char *mpi, double limit, struct sb_ranks **out)
{
    *out = NULL;
    if (!(limit > 0.0))
        return sb_fail(SB_EARG, "an exchange needs a time limit above 0 s, not %g",
                       limit);
    struct sb_ranks *ranks = sb_calloc(1, sizeof *ranks);
    if (!ranks)
        return sb_fail(SB_ENOMEM, "no memory to join other processes");
    ranks->limit = limit;
    sb_status st = sb_find_plugin(mpi, &ranks->plugin);
    if (st == SB_OK)
        st = begin(ranks, mpi);
    if (st == SB_OK) {
        *out = ranks;
        return SB_OK;
    }
    free_memory(&ranks->all);
    sb_free(ranks);
    return st;
}

const struct sb_comm *sb_ranks_comm(const struct sb_ranks *ranks)
{
    return &ranks->all.comm;
}

const char *sb_ranks_mpi(const struct sb_ranks *ranks)
{
    return ranks->mpi;
}

void sb_ranks_leave(struct sb_ranks *ranks)
{
    if (!ranks)
        return;
    (void)ranks->plugin->end();
    free_memory(&ranks->all);
    sb_free(ranks);
}
