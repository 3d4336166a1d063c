/* sparse_parts - what the drivers of the sparse products share: scratch, windows, runs.
 * Internal to sparse*.c. */
#ifndef SB_KERNELS_SPARSE_PARTS_H
#define SB_KERNELS_SPARSE_PARTS_H

#include "kernels/epilogue.h"
#include "kernels/kernels.h"
#include "kernels/sparse.h"

/* A worker's piece of the scratch memory. */
struct sb_sparse_buffers {
    float *strip;    /* [channels of a block][strip plane] */
    float *acc;      /* [band rows][tile vectors][lanes], sums of the first stream */
    float *var;      /* the same, of the second */
    float *eps;      /* [SB_QUAD + 1][tile vectors][lanes] */
    float *gradient; /* [2 streams][2 parts][weights of a chunk], see sparse_weight.c */
};

/* Weights of a chunk of the weight gradient, at most. */
size_t sb_sparse_chunk_weights(const struct sb_sparse *s);

struct sb_sparse_buffers sb_sparse_buffers(const struct sb_sparse *s, void *scratch,
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

/* Whether activations are few enough to be found in a cache without asking. */
bool sb_sparse_near(const struct sb_act *a);

/* Asks for what a later pack will read, so that it finds it in the second-level cache: a
 * window is many short pieces of rows, planes apart, which no hardware prefetcher follows. */
void sb_sparse_ask_for(const struct sb_window *w, size_t lanes);

/* Whether sums of a product without a second stream can be stored as they leave the
 * registers: tiles are rows of pixels and none hangs over. */
bool sb_sparse_stores_directly(const struct sb_corr *r, const struct sb_epilogue *t);

/* Where those of the tile at `at` go, of a tile of slices those of its first row; t may be
 * NULL. And a row further down. */
struct sb_epilogue_at sb_sparse_epilogue(const struct sb_corr *r,
                                         const struct sb_epilogue *t,
                                         const struct sb_act *y, const struct sb_box *at);
void sb_sparse_epilogue_lower(struct sb_epilogue_at *l, const struct sb_epilogue *t,
                              const struct sb_act *y);

/* SB_EARG for a pattern that sb_sparse_set_pattern does not take. */
sb_status sb_sparse_check_pattern(const struct sb_sparse *s, const uint32_t *row_ptr,
                                  const uint32_t *col);

/* SB_EARG when inputs or outputs are sliced and the layer was not planned for it. */
sb_status sb_sparse_check_slices(const struct sb_sparse *s, const struct sb_forward *w,
                                 const struct sb_act *x, const struct sb_act *y);

/* SB_EARG when there are more images than the layer was planned for, or kernels, layer and
 * activations do not have the same lanes. */
sb_status sb_sparse_check_batch(const struct sb_env *env, const struct sb_sparse *s,
                                const struct sb_act *a);

#endif
