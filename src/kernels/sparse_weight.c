/* sparse_weight - driver of the weight gradient.
 *
 * A chunk is some channel blocks and one part of the rows, and walks all tiles: a weight's
 * sum is owned by one chunk. The gradient of a weight is the sum, over tiles in their order,
 * of what the images with numbers 0 to 7 modulo 16 contribute, plus the same of the others;
 * within a tile each of these images' lanes adds up vector after vector, and the eight lanes
 * are folded (lanes.h). Kernels with 16 lanes give both sums at once. With 8, a tile of one
 * block of images belongs to one of them; in a tile of several, every other vector does.
 *
 * Where planes are single pixels (linear layers) a tile is many images. A shard of a batch
 * has fewer: then only what is there is packed, and dy is read where it is.
 *
 * Where groups of rows have weights of their own, each has such a sum, and they are added
 * up group after group.
 */
#include <string.h>

#include "base/threads.h"
#include "kernels/sparse_parts.h"

enum { MOST_BLOCKS = 4 }; /* channel blocks of a chunk */

struct gradient {
    const struct sb_env *env;
    const struct sb_sparse *sparse;
    const struct sb_backward *b;
    float *dmu, *ds2;
    void *scratch;
    uint32_t blocks; /* channel blocks of a chunk */
};

/* Where a part's rows of dy are for one tile: in place when the tile is whole, else
 * copied, with zeros where it hangs over. */
struct dy_view {
    const float *data;
    size_t row, pitch;
};

static struct dy_view view_dy(const struct sb_corr *r, const struct sb_act *dy,
                              struct sb_box at, uint32_t row, uint32_t row_end,
                              float *copy)
{
    const struct sb_tile *t = &r->tile;
    if (t->blocks == 1 && at.row + t->height <= r->to.height &&
        at.col + t->width <= r->to.width) {
        size_t pixel = (size_t)at.row * r->to.width + at.col;
        return (struct dy_view){sb_act_plane(dy, at.block, row) + pixel * r->lanes,
                                dy->plane, (size_t)r->to.width * r->lanes};
    }
    size_t n = (size_t)sb_tile_vectors(t) * r->lanes;
    for (uint32_t o = row; o < row_end; o++)
        sb_box_gather(&r->to, &at, dy, o, copy + (o - row) * n);
    return (struct dy_view){copy, n, (size_t)SB_GROUP * r->lanes};
}

/* The sums of one channel block's weights, in the order of its runs. */
struct block_sums {
    float *at;    /* [2 streams][2 parts][count] */
    size_t count; /* weights */
};

static float *part_of(const struct block_sums *b, int stream, size_t part)
{
    return b->at + (2 * (size_t)stream + part) * b->count;
}

static void contract(const struct gradient *g, const struct sb_runs *rs,
                     const struct dy_view *d, uint32_t image_block,
                     const struct block_sums *b, int stream)
{
    const struct sb_kernels *k = g->env->kernels;
    const struct sb_corr *r = &g->sparse->forward;
    float *to[] = {part_of(b, stream, 0), part_of(b, stream, 1), NULL}; /* 2 from any */
    if (r->lanes == SB_PARTIALS) {
        k->contract(rs, d->data, d->row, d->pitch, to);
    } else if (r->tile.blocks == 1) {
        k->contract(rs, d->data, d->row, d->pitch, &to[image_block % 2]);
    } else {
        struct sb_runs half = *rs;
        half.groups /= 2;
        half.pitch *= 2;
        half.step = 2;
        for (size_t p = 0; p < 2; p++, half.strip += r->lanes)
            k->contract(&half, d->data + p * r->lanes, d->row, 2 * d->pitch, &to[p]);
    }
}

/* ---- planes of one pixel ------------------------------------------------------------- */

static bool is_flat(const struct sb_corr *r)
{
    return r->tile.strip_rows == 1 && r->tile.strip_cols == 1 && r->to.height == 1 &&
           r->to.width == 1;
}

/* The strip of pixels, or of their squares; what has no image is left as it is. */
static void pack_flat(const struct sb_corr *r, const struct sb_window *w, bool squared,
                      float *strip)
{
    for (uint32_t c = w->channel; c < w->channel_end; c++, strip += r->tile.strip_plane)
        for (uint32_t b = 0; b < w->blocks; b++) {
            const float *from = w->data + b * w->block + c * w->plane;
            float *to = strip + (size_t)b * r->lanes;
            for (uint32_t l = 0; l < r->lanes; l++)
                to[l] = squared ? from[l] * from[l] : from[l];
        }
}

/* One stream: `blocks` of dy's image blocks, from `block` on. */
static void contract_flat(const struct gradient *g, const struct sb_runs *rs,
                          const struct sb_act *dy, uint32_t block, uint32_t blocks,
                          const struct block_sums *b, int stream)
{
    uint32_t lanes = g->sparse->forward.lanes, shares = SB_PARTIALS / lanes;
    float *to[] = {part_of(b, stream, 0), part_of(b, stream, 1), NULL}; /* 2 from any */
    for (uint32_t p = 0; p < shares && p < blocks; p++) {
        struct sb_runs share = *rs;
        share.single = 1;
        share.groups = (blocks - p + shares - 1) / shares;
        share.pitch = (size_t)shares * lanes;
        share.strip += (size_t)p * lanes;
        g->env->kernels->contract(&share, sb_act_plane(dy, block + p, rs->row0),
                                  dy->plane, shares * dy->block, &to[p]);
    }
}

static void gradient_flat(const struct gradient *g, struct sb_box at, uint32_t block,
                          uint32_t part, const struct sb_sparse_buffers *m,
                          const struct block_sums *sums)
{
    const struct sb_corr *r = &g->sparse->forward;
    struct sb_window w = sb_sparse_window(r, g->b->x, &at, block);
    struct sb_runs rs = sb_sparse_runs(r, block, part, part * r->part_rows, m->strip);
    pack_flat(r, &w, false, m->strip);
    contract_flat(g, &rs, g->b->dy, at.block, w.blocks, sums, 0);
    if (!g->b->dv)
        return;
    pack_flat(r, &w, true, m->strip);
    contract_flat(g, &rs, g->b->dv, at.block, w.blocks, sums, 1);
}

/* ---- planes -------------------------------------------------------------------------- */

static void gradient_tile(const struct gradient *g, struct sb_box at, uint32_t block,
                          uint32_t part, const struct sb_sparse_buffers *m,
                          const struct block_sums *sums)
{
    const struct sb_kernels *k = g->env->kernels;
    const struct sb_corr *r = &g->sparse->forward;
    const struct sb_act *x = g->b->x, *dy = g->b->dy;
    struct sb_act own_x, own_dy;
    if (g->b->groups.rows && r->tile.blocks > 1) {
        uint32_t group = sb_group_of(&g->b->groups, at.block, r->lanes);
        x = sb_group_end(&g->b->groups, x, group, &own_x);
        dy = sb_group_end(&g->b->groups, dy, group, &own_dy);
    }
    uint32_t row = part * r->part_rows;
    uint32_t row_end = row + r->part_rows < r->rows ? row + r->part_rows : r->rows;
    struct sb_window w = sb_sparse_window(r, x, &at, block);
    struct sb_runs rs = sb_sparse_runs(r, block, part, row, m->strip);
    struct dy_view d = view_dy(r, dy, at, row, row_end, m->acc);
    k->pack(&w, m->strip);
    contract(g, &rs, &d, at.block, sums, 0);
    if (!g->b->dv)
        return;
    k->square(m->strip, sb_sparse_strip_vectors(r, &w));
    d = view_dy(r, g->b->dv, at, row, row_end, m->acc);
    contract(g, &rs, &d, at.block, sums, 1);
}

/* A weight's two sums become its gradient, in the order of the pattern. */
static void fold_stream(const struct sb_runs *rs, const struct block_sums *b, int stream,
                        float *gradient)
{
    const float *lower = part_of(b, stream, 0), *upper = part_of(b, stream, 1);
    for (size_t i = 0; i < rs->count; i++)
        for (uint32_t k = 0; k < rs->run[i].count; k++)
            gradient[rs->run[i].first + k] = *lower++ + *upper++;
}

typedef void tile_fn(const struct gradient *g, struct sb_box at, uint32_t block,
                     uint32_t part, const struct sb_sparse_buffers *m,
                     const struct block_sums *sums);

/* Adds a group's sums, of the first stream, to both gradients, and clears them. */
static void fold_group(const struct gradient *g, const struct sb_runs *rs,
                       const struct block_sums *b, uint32_t group)
{
    float *sum = part_of(b, 0, 0), *upper = part_of(b, 0, 1);
    for (size_t k = 0; k < b->count; k++)
        sum[k] += upper[k];
    for (size_t i = 0; i < rs->count; sum += rs->run[i++].count)
        sb_group_add(&g->b->groups, group, rs->run[i].first, rs->run[i].count, sum,
                     g->dmu, g->ds2);
    memset(part_of(b, 0, 0), 0, 2 * b->count * sizeof(float));
}

/* What a chunk has added up, at the end of a group or, where there are none, of all. */
static void fold(const struct gradient *g, const struct block_sums *sums, uint32_t block,
                 uint32_t blocks, uint32_t part, uint32_t group)
{
    for (uint32_t b = 0; b < blocks; b++) {
        struct sb_runs rs = sb_sparse_runs(&g->sparse->forward, block + b, part, 0, NULL);
        if (g->b->groups.rows) {
            fold_group(g, &rs, &sums[b], group);
            continue;
        }
        fold_stream(&rs, &sums[b], 0, g->dmu);
        if (g->b->dv)
            fold_stream(&rs, &sums[b], 1, g->ds2);
    }
}

/* What the same channel block sees from the next tile. */
static void ask_for_next(const struct gradient *g, uint32_t tile, uint32_t block)
{
    const struct sb_corr *r = &g->sparse->forward;
    if (sb_sparse_near(g->b->x))
        return;
    struct sb_box at = sb_corr_tile(r, tile, sb_group_blocks(&g->b->groups, r->lanes));
    struct sb_window w = sb_sparse_window(r, g->b->x, &at, block);
    sb_sparse_ask_for(&w, r->lanes);
}

static void gradient_chunk(void *context, size_t chunk, int worker)
{
    const struct gradient *g = context;
    const struct sb_corr *r = &g->sparse->forward;
    uint32_t part = (uint32_t)(chunk % r->parts);
    uint32_t block = (uint32_t)(chunk / r->parts) * g->blocks;
    uint32_t blocks = block + g->blocks < r->blocks ? g->blocks : r->blocks - block;
    struct sb_sparse_buffers m = sb_sparse_buffers(g->sparse, g->scratch, worker);
    struct block_sums sums[MOST_BLOCKS];
    size_t used = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        struct sb_runs rs = sb_sparse_runs(r, block + b, part, 0, NULL);
        sums[b] = (struct block_sums){.at = m.gradient + used};
        for (size_t i = 0; i < rs.count; i++)
            sums[b].count += rs.run[i].count;
        used += 4 * sums[b].count;
    }
    memset(m.gradient, 0, used * sizeof(float));
    tile_fn *tile = is_flat(r) && !g->b->groups.rows ? gradient_flat : gradient_tile;
    uint32_t group_blocks = sb_group_blocks(&g->b->groups, r->lanes), group = 0;
    uint32_t tiles = sb_corr_tiles(r, g->b->x->blocks, group_blocks);
    for (uint32_t t = 0; t < tiles; t++) {
        struct sb_box at = sb_corr_tile(r, t, group_blocks);
        if (sb_group_of(&g->b->groups, at.block, r->lanes) != group)
            fold(g, sums, block, blocks, part, group++);
        for (uint32_t b = 0; b < blocks; b++) {
            if (t + 1 < tiles)
                ask_for_next(g, t + 1, block + b);
            tile(g, at, block + b, part, &m, &sums[b]);
        }
    }
    fold(g, sums, block, blocks, part, group);
}

size_t sb_sparse_chunk_weights(const struct sb_sparse *s)
{
    const struct sb_corr *r = &s->forward;
    size_t cols = (size_t)r->block_channels * s->conv.kh * s->conv.kw;
    return MOST_BLOCKS * r->part_rows * cols;
}

/* Channel blocks of a chunk: the more, the more often a tile of dy is found in cache; but
 * every thread wants several chunks. Whoever adds up a weight's gradient does it in the
 * same order, so this may depend on the number of threads. */
static uint32_t chunk_blocks(const struct sb_corr *r, int threads)
{
    uint32_t most = r->blocks * r->parts / (2 * (uint32_t)threads);
    return most < 1 ? 1 : most < MOST_BLOCKS ? most : MOST_BLOCKS;
}

sb_status sb_sparse_weight_gradient(const struct sb_env *env, const struct sb_sparse *s,
                                    const struct sb_backward *b, float *dmu, float *ds2,
                                    void *scratch)
{
    sb_status st = sb_sparse_check_batch(env, s, b->dy);
    if (st == SB_OK)
        st = sb_check_weight_gradient(&s->conv, b);
    if (st != SB_OK)
        return st;
    const struct sb_corr *r = &s->forward;
    struct gradient g = {env, s, b, dmu, ds2, scratch, chunk_blocks(r, env->threads)};
    size_t groups = (r->blocks + g.blocks - 1) / g.blocks;
    sb_threads_run(env->threads, groups * r->parts, gradient_chunk, &g);
    return SB_OK;
}
