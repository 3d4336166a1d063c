/* sebays_ranks - the part of include/sebays.h about several processes. */
#include "api/ranks.h"

#include "api/need.h"
#include "base/mem.h"
#include "dist/ranks.h"

struct sebays_ranks {
    struct sb_ranks *job; /* owned */
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

void sebays_ranks_leave(struct sebays_ranks *ranks)
{
    if (!ranks)
        return;
    sb_ranks_leave(ranks->job);
    sb_free(ranks);
}

void sebays_ranks_abort(struct sebays_ranks *ranks)
{
    sb_comm_abort(sb_api_comm(ranks));
}
