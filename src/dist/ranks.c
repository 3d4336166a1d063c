/* ranks - see ranks.h. */
#include "dist/ranks.h"

#include <limits.h>
#include <sched.h>
#include <time.h>

#include "base/mem.h"
#include "dist/find.h"

enum { TEXT_BYTES = 256 };

enum slot_state { FREE = 0, UNDER_WAY, DONE };

struct sb_ranks {
    struct sb_comm comm; /* what others see; its state is this struct */
    const struct sb_plugin *plugin;
    double limit;                /* seconds */
    struct sb_plugin_slot *slot; /* [SB_COMM_STARTED] owned */
    enum slot_state *state;      /* [SB_COMM_STARTED] owned */
    int *lists;                  /* [SB_COMM_STARTED][4][size] owned */
    uint32_t next;               /* where a free slot is looked for */
    char mpi[TEXT_BYTES];
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- starting ------------------------------------------------------------------------- */

static sb_status failed(const struct sb_comm *c, const char *what, int code)
{
    char why[TEXT_BYTES];
    const struct sb_ranks *ranks = c->state;
    ranks->plugin->explain(code, why, sizeof why);
    return sb_fail(SB_EIO, "rank %u of %u: MPI failed to exchange %s: %s", c->rank,
                   c->size, what, why);
}

/* A free slot for r; NULL, and a sentence: there is none. */
static struct sb_plugin_slot *take(const struct sb_comm *c, struct sb_comm_request *r)
{
    struct sb_ranks *ranks = c->state;
    for (uint32_t tried = 0; tried < SB_COMM_STARTED; tried++) {
        uint32_t i = ranks->next;
        ranks->next = (i + 1) % SB_COMM_STARTED;
        if (ranks->state[i] != FREE)
            continue;
        ranks->state[i] = UNDER_WAY;
        r->slot = i;
        return &ranks->slot[i];
    }
    sb_fail(SB_EARG, "%d exchanges are under way; wait for one before %s",
            SB_COMM_STARTED, r->what);
    return NULL;
}

/* Gives the slot of what could not be started back. */
static sb_status started(const struct sb_comm *c, const struct sb_comm_request *r,
                         int code)
{
    struct sb_ranks *ranks = c->state;
    if (code == 0)
        return SB_OK;
    ranks->state[r->slot] = FREE;
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
    struct sb_ranks *ranks = c->state;
    ranks->state[r->slot] = FREE;
    return sb_fail(
        SB_EARG, "%s: more than 2 GiB in one exchange; it must be cut in parts", r->what);
}

static sb_status start_broadcast(const struct sb_comm *c, void *data, size_t bytes,
                                 uint32_t root, struct sb_comm_request *r)
{
    const struct sb_ranks *ranks = c->state;
    struct sb_plugin_slot *s = take(c, r);
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
    const struct sb_ranks *ranks = c->state;
    struct sb_plugin_slot *s = take(c, r);
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
    const struct sb_ranks *ranks = c->state;
    struct sb_plugin_slot *s = take(c, r);
    if (!s)
        return SB_EARG;
    if (!narrow(c, to, s->out_bytes, s->out_at) ||
        !narrow(c, from, s->in_bytes, s->in_at))
        return too_large(c, r);
    return started(c, r, ranks->plugin->exchange(s, out, in));
}

static sb_status start_barrier(const struct sb_comm *c, struct sb_comm_request *r)
{
    const struct sb_ranks *ranks = c->state;
    struct sb_plugin_slot *s = take(c, r);
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
    struct sb_ranks *ranks = c->state;
    *done = ranks->state[r->slot] == DONE;
    int code = *done ? 0 : ranks->plugin->test(&ranks->slot[r->slot], done);
    return code == 0 ? SB_OK : failed(c, r->what, code);
}

static sb_status wait_for(const struct sb_comm *c, struct sb_comm_request *r)
{
    struct sb_ranks *ranks = c->state;
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
                           c->rank, c->size, ranks->limit, r->what);
        pause_for(waited);
        st = look(c, r, &done);
    }
    ranks->state[r->slot] = FREE;
    return st;
}

/* A test of one makes an MPI look after all that is under way; of what is done already it
 * does nothing, so that this is remembered. A failure comes again at the wait. */
static void poll_one(const struct sb_comm *c)
{
    struct sb_ranks *ranks = c->state;
    for (uint32_t i = 0; i < SB_COMM_STARTED; i++) {
        int done = 0;
        if (ranks->state[i] != UNDER_WAY)
            continue;
        if (ranks->plugin->test(&ranks->slot[i], &done) == 0 && done)
            ranks->state[i] = DONE;
        return;
    }
}

/* A launcher may end a job before it has passed on what a rank wrote last, which is why the
 * job ends (MPICH's does): it is given time to. */
static void stop(const struct sb_comm *c)
{
    const struct sb_ranks *ranks = c->state;
    struct timespec pass_on = {0, 200000000L};
    if (c->size < 2)
        return;
    nanosleep(&pass_on, NULL);
    ranks->plugin->abort(1);
}

/* ---- joining and leaving -------------------------------------------------------------- */

static sb_status give_memory(struct sb_ranks *ranks)
{
    size_t n = ranks->comm.size;
    ranks->slot = sb_calloc(SB_COMM_STARTED, sizeof *ranks->slot);
    ranks->state = sb_calloc(SB_COMM_STARTED, sizeof *ranks->state);
    ranks->lists = sb_calloc((size_t)SB_COMM_STARTED * 4 * n, sizeof *ranks->lists);
    if (!ranks->slot || !ranks->state || !ranks->lists)
        return sb_fail(SB_ENOMEM, "no memory for exchanges of %zu ranks", n);
    for (size_t i = 0; i < SB_COMM_STARTED; i++) {
        struct sb_plugin_slot *s = &ranks->slot[i];
        s->out_bytes = ranks->lists + 4 * n * i;
        s->out_at = s->out_bytes + n;
        s->in_bytes = s->out_at + n;
        s->in_at = s->in_bytes + n;
    }
    return SB_OK;
}

static sb_status begin(struct sb_ranks *ranks, const char *mpi)
{
    uint32_t rank, size;
    int code = ranks->plugin->begin(&rank, &size);
    if (code != 0) {
        char why[TEXT_BYTES];
        ranks->plugin->explain(code, why, sizeof why);
        return sb_fail(SB_EIO, "%s could not be started: %s", mpi, why);
    }
    ranks->plugin->describe(ranks->mpi, sizeof ranks->mpi);
    ranks->comm = (struct sb_comm){
        .rank = rank,
        .size = size,
        .name = ranks->mpi,
        .state = ranks,
        .start_broadcast = start_broadcast,
        .start_all_gather = start_all_gather,
        .start_exchange = start_exchange,
        .start_barrier = start_barrier,
        .wait = wait_for,
        .poll = poll_one,
        .abort = stop,
    };
    return give_memory(ranks);
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
    sb_free(ranks->slot);
    sb_free(ranks->state);
    sb_free(ranks->lists);
    sb_free(ranks);
    return st;
}

const struct sb_comm *sb_ranks_comm(const struct sb_ranks *ranks)
{
    return &ranks->comm;
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
    sb_free(ranks->slot);
    sb_free(ranks->state);
    sb_free(ranks->lists);
    sb_free(ranks);
}
