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
 */
#ifndef SB_KERNELS_SPREAD_H
#define SB_KERNELS_SPREAD_H

#include "base/comm.h"
#include "base/env.h"
#include "base/status.h"
#include "kernels/shards.h"

struct sb_spread {
    const struct sb_comm *comm;     /* of more than one process */
    uint32_t width, shards;         /* rows of a shard; shards of a full batch */
    struct sb_tree *part;           /* [size] owned: subtrees of this batch, by process */
    struct sb_comm_span *to, *from; /* [size] owned */
    char *out, *in;                 /* owned: what is sent and received */
    size_t out_bytes, in_bytes;
    size_t sums; /* of two numbers, in the exchange at hand */
};

/* SB_EARG if there are more processes than shards. The caller calls sb_spread_fini, also
 * after a failure. */
sb_status sb_spread_init(struct sb_spread *s, const struct sb_comm *comm, uint32_t width,
                         uint32_t rows);
void sb_spread_fini(struct sb_spread *s);

/* Memory for so many sums of two numbers, and for arrays of so many floats. */
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

/* Ends a fold whose shards here have come: f->first is the sum over all processes. */
sb_status sb_spread_fold(const struct sb_env *env, struct sb_spread *s, struct sb_fold *f,
                         const char *what);

#endif
