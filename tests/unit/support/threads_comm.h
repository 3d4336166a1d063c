/* threads_comm - processes that train together, as threads of one: exchanges are copies
 * between two barriers. For tests that need no MPI. */
#ifndef SB_TESTS_THREADS_COMM_H
#define SB_TESTS_THREADS_COMM_H

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/comm.h"

enum { THREADS_COMM_MOST = 8 };

struct threads_comm {
    pthread_barrier_t barrier;
    const char *data[THREADS_COMM_MOST];                /* what each rank gives ... */
    const struct sb_comm_span *span[THREADS_COMM_MOST]; /* ... and to whom */
    struct sb_comm comm[THREADS_COMM_MOST];
};

static inline struct threads_comm *threads_comm_of(const struct sb_comm *c)
{
    return c->state;
}

static inline void threads_comm_meet(const struct sb_comm *c)
{
    (void)pthread_barrier_wait(&threads_comm_of(c)->barrier);
}

static inline sb_status threads_comm_broadcast(const struct sb_comm *c, void *data,
                                               size_t bytes, uint32_t root,
                                               struct sb_comm_request *r)
{
    struct threads_comm *t = threads_comm_of(c);
    (void)r;
    t->data[c->rank] = data;
    threads_comm_meet(c);
    if (c->rank != root)
        memcpy(data, t->data[root], bytes);
    threads_comm_meet(c);
    return SB_OK;
}

static inline sb_status threads_comm_gather(const struct sb_comm *c, const void *mine,
                                            void *all, const struct sb_comm_span *part,
                                            struct sb_comm_request *r)
{
    struct threads_comm *t = threads_comm_of(c);
    char *to = all;
    (void)r;
    t->data[c->rank] = mine ? mine : to + part[c->rank].offset;
    threads_comm_meet(c);
    for (uint32_t k = 0; k < c->size; k++)
        if (part[k].bytes > 0 && t->data[k] != to + part[k].offset)
            memcpy(to + part[k].offset, t->data[k], part[k].bytes);
    threads_comm_meet(c);
    return SB_OK;
}

static inline sb_status threads_comm_exchange(const struct sb_comm *c, const void *out,
                                              const struct sb_comm_span *to, void *in,
                                              const struct sb_comm_span *from,
                                              struct sb_comm_request *r)
{
    struct threads_comm *t = threads_comm_of(c);
    sb_status st = SB_OK;
    (void)r;
    t->data[c->rank] = out;
    t->span[c->rank] = to;
    threads_comm_meet(c);
    for (uint32_t k = 0; k < c->size; k++) {
        struct sb_comm_span s = t->span[k][c->rank];
        if (s.bytes != from[k].bytes)
            st = sb_fail(SB_EARG, "rank %u sends %zu bytes, %zu are expected", k, s.bytes,
                         from[k].bytes);
        else if (s.bytes > 0)
            memcpy((char *)in + from[k].offset, t->data[k] + s.offset, s.bytes);
    }
    threads_comm_meet(c);
    return st;
}

static inline sb_status threads_comm_barrier(const struct sb_comm *c,
                                             struct sb_comm_request *r)
{
    (void)r;
    threads_comm_meet(c);
    return SB_OK;
}

static inline sb_status threads_comm_wait(const struct sb_comm *c,
                                          struct sb_comm_request *r)
{
    (void)c, (void)r;
    return SB_OK;
}

static inline void threads_comm_nothing(const struct sb_comm *c)
{
    (void)c;
}

static inline void threads_comm_init(struct threads_comm *t, uint32_t size)
{
    memset(t, 0, sizeof *t);
    (void)pthread_barrier_init(&t->barrier, NULL, size);
    for (uint32_t i = 0; i < size; i++)
        t->comm[i] = (struct sb_comm){
            .rank = i,
            .size = size,
            .name = "threads",
            .state = t,
            .start_broadcast = threads_comm_broadcast,
            .start_all_gather = threads_comm_gather,
            .start_exchange = threads_comm_exchange,
            .start_barrier = threads_comm_barrier,
            .wait = threads_comm_wait,
            .poll = threads_comm_nothing,
            .abort = threads_comm_nothing,
        };
}

static inline void threads_comm_fini(struct threads_comm *t)
{
    (void)pthread_barrier_destroy(&t->barrier);
}

#endif
