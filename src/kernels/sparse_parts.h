/* sparse_parts - what the drivers of the sparse products share: scratch, windows, runs.
 * Internal to sparse.c and sparse_weight.c. */
#ifndef SB_KERNELS_SPARSE_PARTS_H
#define SB_KERNELS_SPARSE_PARTS_H

#include "kernels/epilogue.h"
#include "kernels/kernels.h"
#include "kernels/sparse.h"

/* A worker's piece of the scratch memory. */
struct sb_sparse_room {
    float *strip; /* [channels of a block][strip plane] */
    float *acc;   /* [band rows][tile vectors][8], sums of the first stream */
    float *var;   /* the same, of the second */
    float *eps;   /* [SB_QUAD + 1][tile vectors][8] */
};

struct sb_sparse_room sb_sparse_room(const struct sb_sparse *s, void *scratch,
                                     int worker);

static inline uint32_t sb_tile_vectors(const struct sb_tile *t)
{
    return t->groups * SB_GROUP;
}

/* What channel block `block` of `a` looks like from the tile at `at`. */
struct sb_window sb_sparse_window(const struct sb_corr *r, const struct sb_act *a,
                                  const struct sb_box *at, uint32_t block);

/* Vectors of that window in the strip. */
size_t sb_sparse_strip_vectors(const struct sb_corr *r, const struct sb_window *w);

/* The runs of (block, part) over a strip. */
struct sb_runs sb_sparse_runs(const struct sb_corr *r, uint32_t block, uint32_t part,
                              uint32_t row0, const float *strip);

/* SB_EARG when there are more images than the layer was planned for. */
sb_status sb_sparse_check_batch(const struct sb_sparse *s, const struct sb_act *a);

#endif
