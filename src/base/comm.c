/* comm - see comm.h. What every implementation shares, and the one of a process alone. */
#include "base/comm.h"

#include <string.h>

#include "base/hash.h"

/* ---- alone ---------------------------------------------------------------------------- */

static void move(void *to, const void *from, size_t bytes)
{
    if (bytes > 0 && to != from)
        memmove(to, from, bytes);
}

static sb_status alone_broadcast(const struct sb_comm *c, void *data, size_t bytes,
                                 uint32_t root, struct sb_comm_request *r)
{
    (void)c, (void)data, (void)bytes, (void)root, (void)r;
    return SB_OK;
}

static sb_status alone_all_gather(const struct sb_comm *c, const void *mine, void *all,
                                  const struct sb_comm_span *part,
                                  struct sb_comm_request *r)
{
    (void)c, (void)r;
    if (mine)
        move((char *)all + part[0].offset, mine, part[0].bytes);
    return SB_OK;
}

static sb_status alone_exchange(const struct sb_comm *c, const void *out,
                                const struct sb_comm_span *to, void *in,
                                const struct sb_comm_span *from,
                                struct sb_comm_request *r)
{
    (void)c, (void)r;
    if (to[0].bytes != from[0].bytes)
        return sb_fail(SB_EARG, "an exchange sends %zu bytes where %zu are expected",
                       to[0].bytes, from[0].bytes);
    move((char *)in + from[0].offset, (const char *)out + to[0].offset, to[0].bytes);
    return SB_OK;
}

static sb_status alone_done(const struct sb_comm *c, struct sb_comm_request *r)
{
    (void)c, (void)r;
    return SB_OK;
}

static sb_status alone_test(const struct sb_comm *c, struct sb_comm_request *r,
                            bool *done)
{
    (void)c, (void)r;
    *done = true;
    return SB_OK;
}

static void alone_nothing(const struct sb_comm *c)
{
    (void)c;
}

static const struct sb_comm alone = {
    .rank = 0,
    .size = 1,
    .name = "alone",
    .start_broadcast = alone_broadcast,
    .start_all_gather = alone_all_gather,
    .start_exchange = alone_exchange,
    .start_barrier = alone_done,
    .wait = alone_done,
    .test = alone_test,
    .poll = alone_nothing,
    .abort = alone_nothing,
};

/* A job of one is alone, whatever is behind it. */
static const struct sb_comm *of(const struct sb_comm *c)
{
    return c && c->size > 1 ? c : &alone;
}

/* ---- exchanges ------------------------------------------------------------------------ */

static sb_status finish(const struct sb_comm *c, sb_status st, struct sb_comm_request *r)
{
    return st == SB_OK ? c->wait(c, r) : st;
}

sb_status sb_comm_broadcast(const struct sb_comm *c, const char *what, void *data,
                            size_t bytes, uint32_t root)
{
    struct sb_comm_request r = {.what = what};
    c = of(c);
    return finish(c, c->start_broadcast(c, data, bytes, root, &r), &r);
}

sb_status sb_comm_all_gather(const struct sb_comm *c, const char *what, const void *mine,
                             void *all, const struct sb_comm_span *part)
{
    struct sb_comm_request r;
    c = of(c);
    return finish(c, sb_comm_start_all_gather(c, what, mine, all, part, &r), &r);
}

sb_status sb_comm_exchange(const struct sb_comm *c, const char *what, const void *out,
                           const struct sb_comm_span *to, void *in,
                           const struct sb_comm_span *from)
{
    struct sb_comm_request r;
    c = of(c);
    return finish(c, sb_comm_start_exchange(c, what, out, to, in, from, &r), &r);
}

sb_status sb_comm_barrier(const struct sb_comm *c, const char *what)
{
    struct sb_comm_request r = {.what = what};
    c = of(c);
    return finish(c, c->start_barrier(c, &r), &r);
}

sb_status sb_comm_start_all_gather(const struct sb_comm *c, const char *what,
                                   const void *mine, void *all,
                                   const struct sb_comm_span *part,
                                   struct sb_comm_request *r)
{
    *r = (struct sb_comm_request){.what = what};
    c = of(c);
    return c->start_all_gather(c, mine, all, part, r);
}

sb_status sb_comm_start_exchange(const struct sb_comm *c, const char *what,
                                 const void *out, const struct sb_comm_span *to, void *in,
                                 const struct sb_comm_span *from,
                                 struct sb_comm_request *r)
{
    *r = (struct sb_comm_request){.what = what};
    c = of(c);
    return c->start_exchange(c, out, to, in, from, r);
}

sb_status sb_comm_wait(const struct sb_comm *c, struct sb_comm_request *r)
{
    return of(c)->wait(of(c), r);
}

sb_status sb_comm_test(const struct sb_comm *c, struct sb_comm_request *r, bool *done)
{
    return of(c)->test(of(c), r, done);
}

sb_status sb_comm_split(const struct sb_comm *c, uint32_t colour, struct sb_comm **out)
{
    *out = NULL;
    if (sb_comm_size(c) < 2)
        return SB_OK;
    /* An implementation may wait for the others without a limit: they are all there. */
    sb_status st = sb_comm_barrier(c, "groups");
    return st == SB_OK ? c->split(c, colour, out) : st;
}

void sb_comm_release(struct sb_comm *c)
{
    if (c)
        c->release(c);
}

void sb_comm_poll(const struct sb_comm *c)
{
    of(c)->poll(of(c));
}

void sb_comm_abort(const struct sb_comm *c)
{
    of(c)->abort(of(c));
}

/* ---- made of these -------------------------------------------------------------------- */

void sb_comm_equal_spans(struct sb_comm_span *span, uint32_t n, size_t bytes)
{
    for (uint32_t i = 0; i < n; i++)
        span[i] = (struct sb_comm_span){i * bytes, bytes};
}

/* Each rank's turn as root: no memory is needed for all their answers at once, and these
 * are a few bytes now and then. */
sb_status sb_comm_same(const struct sb_comm *c, const char *what, const void *data,
                       size_t bytes)
{
    uint64_t mine = sb_hash_on(0, data, bytes), first = mine;
    uint32_t other = 0;
    for (uint32_t r = 0; r < sb_comm_size(c); r++) {
        uint64_t theirs = mine;
        sb_status st = sb_comm_broadcast(c, what, &theirs, sizeof theirs, r);
        if (st != SB_OK)
            return st;
        if (r == 0)
            first = theirs;
        else if (theirs != first && other == 0)
            other = r;
    }
    if (other == 0)
        return SB_OK;
    return sb_fail(
        SB_EARG,
        "rank %u of %u has another %s than rank 0; all processes of a job need "
        "the same",
        other, sb_comm_size(c), what);
}
