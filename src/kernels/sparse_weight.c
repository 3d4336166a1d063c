/* sparse_weight - driver of the weight gradient.
 *
 * A chunk is some channel blocks and one part of the rows, and walks all tiles: a weight's
 * sum is owned by one chunk, so no partial sums are folded.
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
        return (struct dy_view){sb_act_plane(dy, at.block, row) + pixel * SB_LANES,
                                dy->plane, (size_t)r->to.width * SB_LANES};
    }
    size_t n = sb_tile_vectors(t);
    for (uint32_t o = row; o < row_end; o++)
        sb_box_gather(&r->to, &at, dy, o, copy + (o - row) * n * SB_LANES);
    return (struct dy_view){copy, n * SB_LANES, SB_GROUP * SB_LANES};
}

static void gradient_tile(const struct gradient *g, struct sb_box at, uint32_t block,
                          uint32_t part, const struct sb_sparse_room *m)
{
    const struct sb_kernels *k = g->env->kernels;
    const struct sb_corr *r = &g->sparse->forward;
    uint32_t row = part * r->part_rows;
    uint32_t row_end = row + r->part_rows < r->rows ? row + r->part_rows : r->rows;
    struct sb_window w = sb_sparse_window(r, g->b->x, &at, block);
    struct sb_runs rs = sb_sparse_runs(r, block, part, row, m->strip);
    struct dy_view d = view_dy(r, g->b->dy, at, row, row_end, m->acc);
    k->pack(&w, m->strip);
    k->contract(&rs, d.data, d.row, d.pitch, g->dmu);
    if (!g->b->dv)
        return;
    k->square(m->strip, sb_sparse_strip_vectors(r, &w));
    d = view_dy(r, g->b->dv, at, row, row_end, m->acc);
    k->contract(&rs, d.data, d.row, d.pitch, g->ds2);
}

static void clear_gradient(const struct gradient *g, uint32_t block, uint32_t part)
{
    struct sb_runs rs = sb_sparse_runs(&g->sparse->forward, block, part, 0, NULL);
    for (size_t i = 0; i < rs.count; i++) {
        memset(g->dmu + rs.run[i].first, 0, rs.run[i].count * sizeof(float));
        if (g->b->dv)
            memset(g->ds2 + rs.run[i].first, 0, rs.run[i].count * sizeof(float));
    }
}

static void gradient_chunk(void *context, size_t chunk, int worker)
{
    const struct gradient *g = context;
    const struct sb_corr *r = &g->sparse->forward;
    uint32_t part = (uint32_t)(chunk % r->parts);
    uint32_t block = (uint32_t)(chunk / r->parts) * g->blocks;
    uint32_t block_end = block + g->blocks < r->blocks ? block + g->blocks : r->blocks;
    struct sb_sparse_room m = sb_sparse_room(g->sparse, g->scratch, worker);
    for (uint32_t b = block; b < block_end; b++)
        clear_gradient(g, b, part);
    uint32_t tiles = sb_corr_tiles(r, g->b->x->blocks);
    for (uint32_t t = 0; t < tiles; t++)
        for (uint32_t b = block; b < block_end; b++)
            gradient_tile(g, sb_corr_tile(r, t), b, part, &m);
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
    sb_status st = sb_sparse_check_batch(s, b->dy);
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
