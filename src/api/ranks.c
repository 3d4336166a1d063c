/* sebays_ranks - the part of include/sebays.h about several processes. */
#include "api/handles.h"

#include "api/need.h"
#include "base/mem.h"
#include "dist/ranks.h"

struct sebays_ranks {
    struct sb_ranks *job; /* owned */
    char *bytes;          /* owned: what was collected ... */
    size_t capacity;      /* ... and what there is room for */
};

sebays_status sebays_ranks_join(const char *mpi, double limit, struct sebays_ranks **out)
{
    SB_NEED(out);
    *out = NULL;
    SB_NEED(mpi);
    struct sebays_ranks *ranks = sb_calloc(1, sizeof *ranks);
    if (!ranks)
        return (sebays_status)sb_fail(SB_ENOMEM, "no memory to join other processes");
    sb_status st = sb_ranks_join(mpi, limit, &ranks->job);
    if (st == SB_OK)
        *out = ranks;
    else
        sb_free(ranks);
    return (sebays_status)st;
}

const struct sb_comm *sb_api_comm(const struct sebays_ranks *ranks)
{
    return ranks ? sb_ranks_comm(ranks->job) : NULL;
}

uint32_t sebays_ranks_rank(const struct sebays_ranks *ranks)
{
    return sb_comm_rank(sb_api_comm(ranks));
}

uint32_t sebays_ranks_size(const struct sebays_ranks *ranks)
{
    return sb_comm_size(sb_api_comm(ranks));
}

const char *sebays_ranks_mpi(const struct sebays_ranks *ranks)
{
    return ranks ? sb_ranks_mpi(ranks->job) : "";
}

/* Room for the bytes of all, one behind the other. */
static sb_status reserve(struct sebays_ranks *ranks, const uint64_t *sizes,
                         struct sb_comm_span *from)
{
    uint64_t at = 0;
    for (uint32_t r = 0; r < sebays_ranks_size(ranks); r++) {
        from[r] = (struct sb_comm_span){(size_t)at, (size_t)sizes[r]};
        at += sizes[r];
    }
    if (at <= ranks->capacity)
        return SB_OK;
    sb_free(ranks->bytes);
    ranks->capacity = 0;
    ranks->bytes = sb_malloc((size_t)at, 1);
    if (!ranks->bytes)
        return sb_fail(SB_ENOMEM, "no memory for %llu bytes of all processes",
                       (unsigned long long)at);
    ranks->capacity = (size_t)at;
    return SB_OK;
}

/* span: [2][size], whose second half, who gets what of mine, is zeroed. */
static sb_status collect(struct sebays_ranks *ranks, const void *mine, size_t bytes,
                         uint64_t *sizes, struct sb_comm_span *span)
{
    const struct sb_comm *c = sb_api_comm(ranks);
    struct sb_comm_span *from = span, *to = span + c->size;
    uint64_t own = bytes;
    sb_comm_equal_spans(from, c->size, sizeof own);
    sb_status st = sb_comm_all_gather(c, "sizes of answers", &own, sizes, from);
    if (st != SB_OK)
        return st;
    to[0].bytes = bytes;
    for (uint32_t r = 0; c->rank > 0 && r < c->size; r++)
        from[r] = (struct sb_comm_span){0, 0};
    if (c->rank == 0)
        st = reserve(ranks, sizes, from);
    return st == SB_OK ? sb_comm_exchange(c, "answers", mine, to, ranks->bytes, from)
                       : st;
}

sebays_status sebays_ranks_collect(struct sebays_ranks *ranks, const void *mine,
                                   size_t bytes, const void **all, uint64_t *sizes)
{
    SB_NEED(all);
    *all = NULL;
    SB_NEED(mine);
    SB_NEED(sizes);
    SB_NEED(ranks);
    struct sb_comm_span *span =
        sb_calloc(2 * (size_t)sebays_ranks_size(ranks), sizeof *span);
    if (!span)
        return (sebays_status)sb_fail(SB_ENOMEM, "no memory to collect answers");
    sb_status st = collect(ranks, mine, bytes, sizes, span);
    sb_free(span);
    if (st == SB_OK && sebays_ranks_rank(ranks) == 0)
        *all = ranks->bytes;
    return (sebays_status)st;
}

void sebays_ranks_leave(struct sebays_ranks *ranks)
{
    if (!ranks)
        return;
    sb_free(ranks->bytes);
    sb_ranks_leave(ranks->job);
    sb_free(ranks);
}

void sebays_ranks_abort(struct sebays_ranks *ranks)
{
    sb_comm_abort(sb_api_comm(ranks));
}
