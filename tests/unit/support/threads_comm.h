/* threads_comm - processes that train together, as threads of one: exchanges are copies
 * between two barriers. For tests that need no MPI.
 *
 * As with a slow network, what a gather or an exchange brings is there after its wait and not
 * before: until then its places hold NANs, which whoever looks too early will show. */
#ifndef SB_TESTS_THREADS_COMM_H
#define SB_TESTS_THREADS_COMM_H

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"

enum { THREADS_COMM_MOST = 8, THREADS_COMM_STARTED = 16 };

/* What has come for one rank and was not waited for. */
struct threads_comm_late {
    char *data; /* owned; NULL: the place is free */
    char *to;
    struct sb_comm_span span[THREADS_COMM_MOST];
};

struct threads_comm {
    struct threads_comm_late late[THREADS_COMM_MOST][THREADS_COMM_STARTED];
    uint32_t most_late; /* exchanges of rank 0 under way at a time, so far */
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

/* A place for what comes at these spans of `to`; before the others' copies are made. */
static inline struct threads_comm_late *
threads_comm_later(const struct sb_comm *c, void *to, const struct sb_comm_span *span,
                   struct sb_comm_request *r)
{
    struct threads_comm *t = threads_comm_of(c);
    struct threads_comm_late *l = NULL;
    uint32_t used = 0;
    for (uint32_t i = THREADS_COMM_STARTED; i-- > 0;) {
        used += t->late[c->rank][i].data != NULL;
        if (!t->late[c->rank][i].data)
            r->slot = i;
    }
    if (c->rank == 0 && used + 1 > t->most_late)
        t->most_late = used + 1;
    l = &t->late[c->rank][r->slot];
    size_t bytes = 1;
    for (uint32_t k = 0; k < c->size; k++) {
        size_t end = span[k].offset + span[k].bytes;
        bytes = end > bytes ? end : bytes;
        l->span[k] = span[k];
    }
    l->data = malloc(bytes);
    l->to = to;
    return l;
}

static inline sb_status threads_comm_broadcast(const struct sb_comm *c, void *data,
                                               size_t bytes, uint32_t root,
                                               struct sb_comm_request *r)
{
    struct threads_comm *t = threads_comm_of(c);
    r->slot = THREADS_COMM_STARTED;
    t->data[c->rank] = data;
    threads_comm_meet(c);
    if (c->rank != root)
        memcpy(data, t->data[root], bytes);
    threads_comm_meet(c);
    return SB_OK;
}

static inline void threads_comm_poison(const struct threads_comm_late *l, uint32_t rank,
                                       uint32_t size)
{
    for (uint32_t k = 0; k < size; k++)
        if (k != rank)
            memset(l->to + l->span[k].offset, 0xff, l->span[k].bytes);
}

static inline sb_status threads_comm_gather(const struct sb_comm *c, const void *mine,
                                            void *all, const struct sb_comm_span *part,
                                            struct sb_comm_request *r)
{
    struct threads_comm *t = threads_comm_of(c);
    struct threads_comm_late *l = threads_comm_later(c, all, part, r);
    t->data[c->rank] = mine ? mine : (char *)all + part[c->rank].offset;
    threads_comm_meet(c);
    for (uint32_t k = 0; k < c->size; k++)
        if (part[k].bytes > 0)
            memcpy(l->data + part[k].offset, t->data[k], part[k].bytes);
    threads_comm_meet(c);
    threads_comm_poison(l, c->rank, c->size);
    return SB_OK;
}

static inline sb_status threads_comm_exchange(const struct sb_comm *c, const void *out,
                                              const struct sb_comm_span *to, void *in,
                                              const struct sb_comm_span *from,
                                              struct sb_comm_request *r)
{
    struct threads_comm *t = threads_comm_of(c);
    struct threads_comm_late *l = threads_comm_later(c, in, from, r);
    sb_status st = SB_OK;
    t->data[c->rank] = out;
    t->span[c->rank] = to;
    threads_comm_meet(c);
    for (uint32_t k = 0; k < c->size; k++) {
        struct sb_comm_span s = t->span[k][c->rank];
        if (s.bytes != from[k].bytes)
            st = sb_fail(SB_EARG, "rank %u sends %zu bytes, %zu are expected", k, s.bytes,
                         from[k].bytes);
        else if (s.bytes > 0)
            memcpy(l->data + from[k].offset, t->data[k] + s.offset, s.bytes);
    }
    threads_comm_meet(c);
    threads_comm_poison(l, c->size, c->size);
    return st;
}

static inline sb_status threads_comm_barrier(const struct sb_comm *c,
                                             struct sb_comm_request *r)
{
    r->slot = THREADS_COMM_STARTED; /* nothing comes later */
    threads_comm_meet(c);
    return SB_OK;
}

static inline sb_status threads_comm_wait(const struct sb_comm *c,
                                          struct sb_comm_request *r)
{
    if (r->slot >= THREADS_COMM_STARTED)
        return SB_OK;
    struct threads_comm_late *l = &threads_comm_of(c)->late[c->rank][r->slot];
    for (uint32_t k = 0; k < c->size; k++)
        if (l->span[k].bytes > 0)
            memcpy(l->to + l->span[k].offset, l->data + l->span[k].offset,
                   l->span[k].bytes);
    free(l->data);
    l->data = NULL;
    return SB_OK;
}

/* Whoever has started has met the others. */
static inline sb_status threads_comm_test(const struct sb_comm *c,
                                          struct sb_comm_request *r, bool *done)
{
    (void)c, (void)r;
    *done = true;
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
            .test = threads_comm_test,
            .poll = threads_comm_nothing,
            .abort = threads_comm_nothing,
        };
}

static inline void threads_comm_fini(struct threads_comm *t)
{
    (void)pthread_barrier_destroy(&t->barrier);
}

#endif
