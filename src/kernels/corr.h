/* corr - a sparse correlation planned for the cache: what forward and input gradient
 * share.
 *
 * Both products are the same loop: every output row sums weight * input vector over the
 * weights that exist. Strides are removed beforehand by splitting planes into phases:
 *
 *     forward        rows of x are read as `stride` rows of every stride-th pixel, and the
 *                    next row of y begins `stride` rows below; y is one grid
 *     input gradient dy is one grid, dx is written as stride^2 planes; a tap contributes
 *                    to the one phase whose pixels it reaches
 *
 * so the loop itself always walks a grid with step 1. The grid is cut into tiles of up to
 * 16 vectors (a vector is one pixel of a block of images), kept as `groups` of 4:
 *
 *     planes      4 rows x 4 columns of one block of images; a group is a row
 *     bands       1 row x 8 columns, where a band of one image is a row (conv.h)
 *     narrow      2 columns of 32 images (planes 1 or 2 wide)
 *     1 x 1       64 or 128 images (linear layers)
 *
 * Which pixels and images are in a tile does not depend on how many images a block has: a
 * weight's gradient is summed tile by tile.
 *
 * For a tile, the input pixels it sees are copied channel by channel into a strip that
 * stays in the first-level cache, as many channels as fit ("block"), zero where the
 * kernel hangs over the edge:
 *
 *     strip[channel of the block][row][phase][column][image block][lane]
 *
 * and every weight of these channels is applied before the next block comes. off[k] is
 * weight k's place in the strip for the tile's first vector, in vectors. In the order of
 * the pattern (compressed rows), the weights of one row within one block are consecutive, a
 * `run`. Weights keep that order while they change; where they are only read, run follows
 * run, so that the processor sees them coming. Runs are grouped by (block,
 * part), a part being up to PART_ROWS rows, and sorted by length within a group: equal
 * lengths in a row let the branch predictor foresee where the loop ends.
 *
 * Sliced activations (act.h) are read where they are: a tile is eight pixels of a row, and
 * what it sees of all channels is its strip, with the places
 *
 *     [row][channel][column of the slice]
 *
 * There are no zeros above and below a plane. The first and the last row of a 3x3 kernel
 * have runs of their own instead, without the weights that would meet them: `edges`.
 *
 * The order of a sum - blocks ascending, within a block columns ascending - is thereby
 * fixed by the geometry alone, for every instruction set and number of threads.
 */
#ifndef SB_KERNELS_CORR_H
#define SB_KERNELS_CORR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "kernels/conv.h"

enum {
    SB_GROUP = 4,                   /* vectors of a group */
    SB_TILE_VECTORS = 4 * SB_GROUP, /* at most, of a tile */
    SB_MAX_PHASES = SB_MAX_STRIDE * SB_MAX_STRIDE,
};

/* A piece of the output grid. */
struct sb_box {
    uint32_t block, row, col;       /* first image block, grid row and column */
    uint32_t blocks, height, width; /* extent */
};

struct sb_tile {
    uint32_t height, width, blocks;  /* grid rows, grid columns, image blocks */
    uint32_t groups;                 /* 1, 2 or 4 */
    uint32_t strip_rows, strip_cols; /* of one channel; the columns of all phases */
    uint32_t
        phase_col[SB_MAX_STRIDE + 1]; /* where those of a phase begin; the last: end */
    uint32_t step;      /* vectors in the strip from a vector of a group to the next */
    uint32_t row_step;  /* rows of the plane from a row of the strip to the next */
    size_t pitch;       /* floats in the strip from a group to the next */
    size_t strip_plane; /* floats of one channel */
};

/* One side of the correlation: phase f of a plane, at grid position g, is pixel
 * step * g + origin[f]. What is read has phases of columns only. */
struct sb_side {
    uint32_t channels, height, width;
    uint32_t bands; /* see conv.h */
    uint32_t step, phases;
    int32_t origin_y[SB_MAX_PHASES], origin_x[SB_MAX_PHASES];
};

struct sb_run {
    uint32_t row;   /* output channel * phases + phase */
    uint32_t first; /* its first weight */
    uint32_t count;
};

struct sb_corr {
    uint32_t lanes; /* images of a block */
    struct sb_side from, to;
    uint32_t grid_height, grid_width;
    struct sb_tile tile;
    uint32_t rows;                   /* output channels * phases */
    uint32_t blocks, block_channels; /* of input channels */
    uint32_t parts, part_rows;
    uint32_t capacity; /* weights there is room for */
    uint32_t nnz;      /* weights there are */
    uint32_t edges;    /* 3: runs are there for inner, first and last rows; 1: for all */
    uint32_t placed;   /* weights in the order of the product, with those of edges */
    bool dense;        /* all there could be */
    bool in_order;     /* weights follow each other as runs do */
    bool sliced;       /* the input is, and read where it is */
    uint16_t *off;     /* [edges * capacity] owned; vectors */
    uint32_t *row_ptr; /* [rows + 1] owned */
    struct sb_run
        *runs; /* [edges][blocks * rows] owned; where sums neither begin nor end,
                          * empty ones are left out */
    uint32_t *group_ptr; /* [blocks * parts + 1] owned: runs of (block, part); those of an
                          * edge are that many further on as there are without edges */
    uint32_t *block_end; /* [rows][blocks] owned: where a row leaves a block */
};

/* Whether forward can read sliced activations: a lane is an image, and eight pixels of a
 * row see nothing beyond a slice, or two with a stride of 2. */
bool sb_corr_reads_slices(const struct sb_conv *c);

/* What is planned for. */
struct sb_corr_use {
    uint32_t lanes;     /* of the kernels */
    uint32_t max_batch; /* images */
    uint32_t capacity;  /* weights of a pattern, at most */
    bool gradient; /* of forward: the weight gradient, too, which wants larger tiles */
    bool sliced;   /* of forward: inputs are, which sb_corr_reads_slices allows; nobody
                  * squares them */
};

/* Sides, grid, tile and channel blocks alone, without memory for a pattern: what products
 * with all weights need. */
sb_status sb_corr_shape_forward(struct sb_corr *r, const struct sb_conv *c,
                                const struct sb_corr_use *use);
sb_status sb_corr_shape_backward(struct sb_corr *r, const struct sb_conv *c,
                                 const struct sb_corr_use *use);

/* Where tap (a, b) finds a channel's pixels in the strip, in vectors from the strip's begin
 * to what the tile's first vector takes. */
size_t sb_corr_place_forward(const struct sb_corr *r, const struct sb_conv *c,
                             uint32_t channel, uint32_t a, uint32_t b);
size_t sb_corr_place_backward(const struct sb_corr *r, const struct sb_conv *c,
                              uint32_t channel, uint32_t a, uint32_t b);

/* The caller calls sb_corr_fini, also after a failure. */
sb_status sb_corr_init_forward(struct sb_corr *r, const struct sb_conv *c,
                               const struct sb_corr_use *use);
sb_status sb_corr_init_backward(struct sb_corr *r, const struct sb_conv *c,
                                const struct sb_corr_use *use);
void sb_corr_fini(struct sb_corr *r);

/* Takes a pattern in compressed rows, [out] x [in * kh * kw], already checked, and tells
 * which weight the k-th of the product is: perm[k], k < placed; the first nnz are all
 * different. Forward without perm keeps the order of the pattern. No allocation. */
void sb_corr_order_forward(struct sb_corr *r, const struct sb_conv *c,
                           const uint32_t *row_ptr, const uint32_t *col, uint32_t *perm);
void sb_corr_order_backward(struct sb_corr *r, const struct sb_conv *c,
                            const uint32_t *row_ptr, const uint32_t *col, uint32_t *perm);

/* Tiles of a batch of this many image blocks. No tile has images of two groups of
 * group_blocks image blocks; 0: all are one group. */
uint32_t sb_corr_tiles(const struct sb_corr *r, uint32_t image_blocks,
                       uint32_t group_blocks);

/* Which runs a tile's row takes: 0, or 1 and 2 for the first and last row of a sliced
 * plane, if they have some of their own. */
uint32_t sb_corr_edge(const struct sb_corr *r, uint32_t row);

/* Where tile t lies. Its extent is always the plan's; see epilogue.h for its vectors. Where
 * it reaches into the next group, images of that are not its own. */
struct sb_box sb_corr_tile(const struct sb_corr *r, uint32_t t, uint32_t group_blocks);

#endif
