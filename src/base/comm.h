/* comm - the processes that train together, as the library sees them.
 *
 * Bytes are moved here and never added: what is summed over processes is gathered and then
 * folded by the library in an order of its own, so that the number of processes changes no
 * bit. The vtable travels in struct sb_env; NULL is one process alone, for which every call
 * is a copy. src/dist has the one for MPI.
 *
 *     ranks      0 .. size-1; rank 0 writes files and talks to the user
 *     order      all ranks make the same calls in the same order, from one thread; what
 *                was started may be waited for later, in any order
 *     what       names the data in sentences: "gradients of layer 3"
 *     spans      what is moved is a list of one span a rank, counted in bytes from a base
 *     time       an exchange that takes longer than the job's limit fails with SB_EIO and a
 *                sentence; the others may be waiting by then, so that whoever gets a failure
 *                of these functions, or fails otherwise, ends the job (sb_comm_abort)
 *     memory     none is taken; what was given to a start belongs to it until its wait
 */
#ifndef SB_BASE_COMM_H
#define SB_BASE_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { SB_COMM_STARTED = 256 }; /* exchanges that may be under way at a time */

struct sb_comm_span {
    size_t offset, bytes;
};

/* An exchange under way. */
struct sb_comm_request {
    uint32_t slot;    /* the implementation's */
    const char *what; /* borrowed */
};

struct sb_comm {
    uint32_t rank, size;
    double limit;     /* seconds that one exchange may take; 0: any */
    const char *name; /* of what is behind it: "alone", "openmpi", ... */
    void *state;      /* the implementation's */

    sb_status (*start_broadcast)(const struct sb_comm *c, void *data, size_t bytes,
                                 uint32_t root, struct sb_comm_request *r);
    sb_status (*start_all_gather)(const struct sb_comm *c, const void *mine, void *all,
                                  const struct sb_comm_span *part,
                                  struct sb_comm_request *r);
    sb_status (*start_exchange)(const struct sb_comm *c, const void *out,
                                const struct sb_comm_span *to, void *in,
                                const struct sb_comm_span *from,
                                struct sb_comm_request *r);
    sb_status (*start_barrier)(const struct sb_comm *c, struct sb_comm_request *r);
    sb_status (*wait)(const struct sb_comm *c, struct sb_comm_request *r);
    sb_status (*test)(const struct sb_comm *c, struct sb_comm_request *r, bool *done);
    sb_status (*split)(const struct sb_comm *c, uint32_t colour, struct sb_comm **out);
    void (*release)(struct sb_comm *c);
    void (*poll)(const struct sb_comm *c);
    void (*abort)(const struct sb_comm *c);
};

/* Of env->comm, which may be NULL. */
static inline uint32_t sb_comm_rank(const struct sb_comm *c)
{
    return c ? c->rank : 0;
}

static inline uint32_t sb_comm_size(const struct sb_comm *c)
{
    return c ? c->size : 1;
}

/* ---- exchanges, each done when it returns ---- */

/* data[bytes] of every rank becomes that of root. */
sb_status sb_comm_broadcast(const struct sb_comm *c, const char *what, void *data,
                            size_t bytes, uint32_t root);

/* Rank r gives part[r].bytes bytes at `mine`; every rank has them at all + part[r].offset
 * then. part: [size], the same on all ranks. mine NULL: it lies there already. */
sb_status sb_comm_all_gather(const struct sb_comm *c, const char *what, const void *mine,
                             void *all, const struct sb_comm_span *part);

/* Rank r gets to[r] of out, and this rank gets from rank r what from[r] of in has room for:
 * from[r].bytes here is to[this].bytes there. Spans of a list do not overlap; 0 bytes are
 * fine. to, from: [size]. */
sb_status sb_comm_exchange(const struct sb_comm *c, const char *what, const void *out,
                           const struct sb_comm_span *to, void *in,
                           const struct sb_comm_span *from);

/* Nobody returns before all have come. */
sb_status sb_comm_barrier(const struct sb_comm *c, const char *what);

/* ---- the same, begun now and waited for later, while something else is computed ---- */

sb_status sb_comm_start_all_gather(const struct sb_comm *c, const char *what,
                                   const void *mine, void *all,
                                   const struct sb_comm_span *part,
                                   struct sb_comm_request *r);
sb_status sb_comm_start_exchange(const struct sb_comm *c, const char *what,
                                 const void *out, const struct sb_comm_span *to, void *in,
                                 const struct sb_comm_span *from,
                                 struct sb_comm_request *r);
sb_status sb_comm_wait(const struct sb_comm *c, struct sb_comm_request *r);

/* *done: whether a wait would return at once; it must be called all the same. */
sb_status sb_comm_test(const struct sb_comm *c, struct sb_comm_request *r, bool *done);

/* Lets what is under way move on; a few microseconds. Without a call now and then, between
 * two layers say, a large exchange moves only while somebody waits for it. */
void sb_comm_poll(const struct sb_comm *c);

/* ---- groups ---- */

/* Those of c's ranks that give the same colour, in their old order; all of c call it. Of one
 * process alone *out is NULL. The caller calls sb_comm_release, before c is gone. */
sb_status sb_comm_split(const struct sb_comm *c, uint32_t colour, struct sb_comm **out);
void sb_comm_release(struct sb_comm *c);

/* ---- made of these ---- */

/* SB_EARG, on all ranks, with the sentence that rank N's `what` differ from rank 0's, unless
 * data[bytes] are the same everywhere. Fingerprints are compared. */
sb_status sb_comm_same(const struct sb_comm *c, const char *what, const void *data,
                       size_t bytes);

/* Spans of n ranks, so many bytes each, one behind the other. */
void sb_comm_equal_spans(struct sb_comm_span *span, uint32_t n, size_t bytes);

/* Ends the other processes of the job, and this one if it is not alone. The caller has said
 * why: nobody is left to. */
void sb_comm_abort(const struct sb_comm *c);

#endif
