/* spread - a batch over several processes, and the sums that they take together.
 *
 * Each process has whole shards (shards.h), neighbours of each other: of S shards of a full
 * batch and n processes, process r has [r S / n, (r + 1) S / n). It adds up what it can, the
 * largest subtrees it has all of; bytes are exchanged (base/comm.h), and the tree is ended
 * by all of them, or for arrays by the owner of a slice:
 *
 *     few numbers   everybody gets everybody's subtrees and ends every tree
 *     arrays        process r gets slice r of everybody's subtrees, ends the trees of that
 *                   slice, and everybody gets all slices
 *
 * So nothing depends on the number of processes but who computes what. What subtrees others
 * have follows from the number of rows, and is never sent. Memory is taken when a network
 * is planned.
 *
 * Arrays need not be waited for where they come up. Each started one has a lane of a ring:
 * its subtrees are copied there and on their way while the next layer is computed; one start
 * later they are waited for, the slice's trees are ended, and the slice goes to everybody,
 * which is waited for when the lane is needed again. All processes must begin exchanges in
 * one order, so these points are fixed, and not when something happens to have come.
 */
#ifndef SB_KERNELS_SPREAD_H
#define SB_KERNELS_SPREAD_H

#include "base/comm.h"
#include "base/env.h"
#include "base/status.h"
#include "kernels/shards.h"

enum { SB_SPREAD_LANES = 3 }; /* arrays under way at a time */

/* An array under way. */
struct sb_spread_lane {
    char *out, *in; /* owned: subtrees sent; those of the own slice that come */
    float *first;   /* borrowed: where the result goes; NULL: the lane is free */
    size_t n;
    bool sent; /* the own slice is ended and on its way to all */
    const char *what;
    struct sb_comm_request request;
};

struct sb_spread {
    const struct sb_comm *comm;     /* of more than one process */
    uint32_t width, shards;         /* rows of a shard; shards of a full batch */
    struct sb_tree *part;           /* [size] owned: subtrees of this batch, by process */
    struct sb_comm_span *to, *from; /* [size] owned */
    char *in;                       /* owned: few numbers of all */
    size_t in_bytes;
    size_t sums; /* of two numbers, in the exchange at hand */
    struct sb_spread_lane lane[SB_SPREAD_LANES];
    uint32_t next;                        /* the lane of the next array */
    size_t lane_out_bytes, lane_in_bytes; /* of each */
};

/* SB_EARG if there are more processes than shards. The caller calls sb_spread_fini, also
 * after a failure. */
sb_status sb_spread_init(struct sb_spread *s, const struct sb_comm *comm, uint32_t width,
                         uint32_t rows);
void sb_spread_fini(struct sb_spread *s);

/* Memory for so many sums of two numbers, and for arrays of so many floats; none is under
 * way. */
sb_status sb_spread_reserve(struct sb_spread *s, size_t sums, size_t floats);

/* The shards that a process has of a batch of so many rows: [*first, *first + return). */
uint32_t sb_spread_shards(const struct sb_spread *s, uint32_t rows, uint32_t rank,
                          uint32_t *first);

/* The rows that this process has of them: [*first, *first + return). */
uint32_t sb_spread_rows(const struct sb_spread *s, uint32_t rows, uint32_t *first);

/* The next sums are over a batch of so many rows. */
void sb_spread_set(struct sb_spread *s, uint32_t rows);

/* Begins n sums of two numbers. Returns where this process puts those of its subtrees,
 * [n][subtrees][2]; how many subtrees that are says sb_spread_parts. */
double *sb_spread_begin(struct sb_spread *s, size_t n);
uint32_t sb_spread_parts(const struct sb_spread *s);

/* Exchanges them; then sum i over all, in out->sum[0]. */
sb_status sb_spread_gather(struct sb_spread *s, const char *what);
void sb_spread_sum(const struct sb_spread *s, size_t i, struct sb_tree_sums *out);

/* Of a fold whose shards here have come: f->first is the sum over all processes after
 * sb_spread_settle, and nobody's before. what must live as long. */
sb_status sb_spread_start(const struct sb_env *env, struct sb_spread *s,
                          const struct sb_fold *f, const char *what);

/* Ends all that was started. */
sb_status sb_spread_settle(const struct sb_env *env, struct sb_spread *s);

#endif
