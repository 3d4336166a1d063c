/* shards - a batch's rows in fixed groups, and sums over them in one order.
 *
 * Shard k of a batch is its rows [k width, (k + 1) width). A sum over rows is first taken
 * over each shard alone, as partials.h says, and then over shards, in a binary tree over
 * their numbers:
 *
 *     level 2           (0 1 2 3)                  (4 5 6)
 *     level 1      (0 1)       (2 3)          (4 5)       6
 *     level 0     0     1     2     3        4     5      6
 *
 * where a shard without rows is left out. So the bits depend on the width alone, and not on
 * who takes which sum: a process that holds some neighbouring shards of a batch gives the
 * sums of the largest subtrees it holds all shards of, and whoever has those of all
 * processes ends the tree.
 *
 * While a tree grows, the sums of its subtrees stand beside each other, like the digits of
 * a binary counter: a new one comes to the right, and as long as the last two are siblings
 * they are added. At the end what is left is added from the right.
 */
#ifndef SB_KERNELS_SHARDS_H
#define SB_KERNELS_SHARDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/act.h"
#include "kernels/partials.h"

struct sb_spread;

/* Of a batch, as one process sees it. Zeroed: all rows are one shard. */
struct sb_shards {
    uint32_t width; /* rows of a shard, a multiple of SB_PARTIALS; 0: no limit */
    uint32_t first; /* number of the first shard that is here */
    uint32_t rows;  /* of the whole batch; 0: they are all here */
    struct sb_spread *spread; /* who has the others (spread.h); NULL: they are all here */
};

/* Rows of a shard when a full batch of `rows` is cut into at most `shards`: a multiple of
 * `step`, itself one of SB_PARTIALS. */
uint32_t sb_shards_width(uint32_t rows, uint32_t shards, uint32_t step);

/* Shards of so many rows; s may be NULL: one. */
uint32_t sb_shards_of(const struct sb_shards *s, uint32_t rows);

/* Rows of the whole batch, of which `here` are here; s may be NULL. */
static inline uint32_t sb_shards_rows(const struct sb_shards *s, uint32_t here)
{
    return s && s->rows ? s->rows : here;
}

/* The number of the first row here. */
static inline uint32_t sb_shards_row(const struct sb_shards *s)
{
    return s->first * s->width;
}

/* The rows of the i-th shard here, in a's memory. */
struct sb_act sb_shards_view(const struct sb_shards *s, const struct sb_act *a,
                             uint32_t i);

/* Image blocks [*begin, *end) of the i-th shard here. */
void sb_shards_blocks(const struct sb_shards *s, const struct sb_act *a, uint32_t i,
                      uint32_t *begin, uint32_t *end);

/* ---- the tree ------------------------------------------------------------------------ */

enum { SB_TREE_MOST = 32 }; /* subtrees beside each other: of up to 2^15 shards */

struct sb_subtree {
    uint32_t level, index; /* of shards [index 2^level, (index + 1) 2^level) */
};

struct sb_tree {
    struct sb_subtree part[SB_TREE_MOST];
    uint32_t parts;
};

/* A subtree comes to the right of the others. Returns how often the last sum is to be
 * added to the one before it, whose place it then has. */
uint32_t sb_tree_push(struct sb_tree *t, struct sb_subtree part);

/* Sums that stand beside each other while shards [first, first + n) come, at most: the
 * newest counts, and the result of a process that has no shard. */
uint32_t sb_tree_places(uint32_t first, uint32_t n);

/* Two sums in double, with their tree. Zeroed: none. */
struct sb_tree_sums {
    struct sb_tree tree;
    double sum[SB_TREE_MOST][2];
};

void sb_tree_sums_push(struct sb_tree_sums *t, struct sb_subtree part, double a,
                       double b);

/* Over all that came, in sum[0]. */
void sb_tree_sums_end(struct sb_tree_sums *t);

/* ---- sums of arrays ------------------------------------------------------------------ */

/* n floats a shard. The place of the first sum is where the result is wanted. */
struct sb_fold {
    size_t n;
    float *first; /* [n] */
    float *more;  /* [places - 1][stride]; NULL where there is one shard */
    size_t stride;
    struct sb_tree tree;
};

/* Where the i-th of the sums beside each other is, and where the next is to be put. */
float *sb_fold_place(const struct sb_fold *f, uint32_t i);
float *sb_fold_next(const struct sb_fold *f);

/* It is there. */
void sb_fold_push(const struct sb_env *env, struct sb_fold *f, struct sb_subtree part);

/* Over all shards of the batch, in f->first, which is nobody's until sb_shards_settle: other
 * processes' shards are on their way. s may be NULL: all have come. what: in sentences about
 * exchanges; lives as long. */
sb_status sb_fold_start(const struct sb_env *env, const struct sb_shards *s,
                        struct sb_fold *f, const char *what);

/* All sums that were started are there. */
sb_status sb_shards_settle(const struct sb_env *env, const struct sb_shards *s);

/* Lets exchanges under way move on, between two pieces of work. */
void sb_shards_poll(const struct sb_shards *s);

#endif
