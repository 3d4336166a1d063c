/* sparse - a pattern taken over, and the drivers of forward and input gradient: cutting,
 * packing, and what follows a product. The weight gradient is in sparse_weight.c.
 *
 * A chunk is one tile and one band of output rows; its sums stay in the second-level cache
 * until all channel blocks have been added.
 */
#include "kernels/sparse.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"
#include "kernels/sparse_parts.h"

enum {
    BAND_ROWS = 256, /* output rows whose sums fit the second-level cache, both streams */
    FEW_TILES = 32,  /* fewer, and bands are single parts, so that threads find work */
};

/* ---- life ---------------------------------------------------------------------------- */

sb_status sb_sparse_init_forward(struct sb_sparse *s, const struct sb_conv *c,
                                 uint32_t max_batch, uint32_t capacity)
{
    *s = (struct sb_sparse){.conv = *c, .max_batch = max_batch};
    if (max_batch == 0)
        return sb_fail(SB_EARG, "a layer for batches of 0 images: must be at least 1");
    if (capacity == 0 || capacity > sb_conv_weights(c))
        return sb_fail(SB_EARG, "%u of %u weights: must be at least 1 and at most all",
                       capacity, sb_conv_weights(c));
    return sb_corr_init_forward(&s->forward, c, max_batch, capacity);
}

sb_status sb_sparse_init(struct sb_sparse *s, const struct sb_conv *c, uint32_t max_batch,
                         uint32_t capacity)
{
    sb_status st = sb_sparse_init_forward(s, c, max_batch, capacity);
    if (st == SB_OK)
        st = sb_corr_init_backward(&s->backward, c, max_batch, capacity);
    if (st != SB_OK)
        return st;
    s->perm = sb_malloc(capacity, sizeof *s->perm);
    if (!s->perm)
        return sb_fail(SB_ENOMEM, "no memory to transpose %u weights", capacity);
    return SB_OK;
}

void sb_sparse_fini(struct sb_sparse *s)
{
    if (!s)
        return;
    sb_corr_fini(&s->forward);
    sb_corr_fini(&s->backward);
    sb_free(s->perm);
    *s = (struct sb_sparse){0};
}

static sb_status check_pattern(const struct sb_sparse *s, const uint32_t *row_ptr,
                               const uint32_t *col)
{
    uint32_t rows = s->conv.out, cols = sb_conv_cols(&s->conv);
    if (row_ptr[0] != 0)
        return sb_fail(SB_EARG, "pattern: row 0 begins at %u, not 0", row_ptr[0]);
    for (uint32_t r = 0; r < rows; r++)
        if (row_ptr[r + 1] < row_ptr[r] || row_ptr[r + 1] > s->forward.capacity)
            return sb_fail(SB_EARG, "pattern: row %u ends at %u; must be %u to %u", r,
                           row_ptr[r + 1], row_ptr[r], s->forward.capacity);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t k = row_ptr[r]; k < row_ptr[r + 1]; k++) {
            if (col[k] >= cols)
                return sb_fail(SB_EARG, "pattern: row %u has column %u of %u", r, col[k],
                               cols);
            if (k > row_ptr[r] && col[k] <= col[k - 1])
                return sb_fail(SB_EARG, "pattern: row %u has column %u after column %u",
                               r, col[k], col[k - 1]);
        }
    return SB_OK;
}

sb_status sb_sparse_set_pattern(struct sb_sparse *s, const uint32_t *row_ptr,
                                const uint32_t *col)
{
    sb_status st = check_pattern(s, row_ptr, col);
    if (st != SB_OK)
        return st;
    sb_corr_order_forward(&s->forward, &s->conv, row_ptr, col);
    if (s->perm)
        sb_corr_order_backward(&s->backward, &s->conv, row_ptr, col, s->perm);
    return SB_OK;
}

void sb_sparse_transpose(const struct sb_sparse *s, const float *value, float *out)
{
    for (uint32_t k = 0; k < s->forward.nnz; k++)
        out[k] = value[s->perm[k]];
}

/* ---- scratch ------------------------------------------------------------------------- */

static uint32_t band_parts(const struct sb_corr *r, uint32_t tiles)
{
    return tiles < FEW_TILES || r->part_rows >= BAND_ROWS ? 1 : BAND_ROWS / r->part_rows;
}

static size_t strip_floats(const struct sb_corr *r)
{
    return (size_t)r->block_channels * r->from.phases * r->tile.strip_plane;
}

/* Floats of the sums of the largest band, one stream. */
static size_t acc_floats(const struct sb_corr *r)
{
    size_t rows = r->parts ? (size_t)band_parts(r, FEW_TILES) * r->part_rows : 0;
    return rows * sb_tile_vectors(&r->tile) * SB_LANES;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t round_line(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

struct layout {
    size_t strip, acc, eps, all; /* floats */
};

static struct layout layout(const struct sb_sparse *s)
{
    struct layout l = {
        .strip =
            round_line(max_size(strip_floats(&s->forward), strip_floats(&s->backward))),
        .acc = round_line(max_size(acc_floats(&s->forward), acc_floats(&s->backward))),
        .eps = SB_QUAD * SB_TILE_VECTORS * SB_LANES,
    };
    l.all = l.strip + 2 * l.acc + l.eps;
    return l;
}

struct sb_sparse_room sb_sparse_room(const struct sb_sparse *s, void *scratch, int worker)
{
    struct layout l = layout(s);
    float *at = (float *)scratch + (size_t)worker * l.all;
    return (struct sb_sparse_room){at, at + l.strip, at + l.strip + l.acc,
                                   at + l.strip + 2 * l.acc};
}

size_t sb_sparse_scratch(const struct sb_sparse *s)
{
    return layout(s).all * sizeof(float);
}

/* ---- forward and input gradient ------------------------------------------------------ */

struct products;

/* What becomes of a band's sums. */
typedef void finish_fn(const struct products *p, const struct sb_box *box,
                       const struct sb_sums *s, const struct sb_sparse_room *m);

struct products {
    const struct sb_env *env;
    const struct sb_sparse *sparse;
    const struct sb_corr *corr;
    const struct sb_act *in; /* first stream */
    const struct sb_act
        *second;          /* second stream; NULL with w2: the square of the first */
    const float *w1, *w2; /* w2 NULL: one stream */
    const float *start;   /* [rows] what sums of the first stream begin with, or NULL */
    finish_fn *finish;
    const struct sb_forward *forward;
    struct sb_act *y, *slope; /* of forward */
    const struct sb_act *x;   /* of the input gradient */
    int add;
    uint32_t bands, band_parts;
    void *scratch;
};

struct sb_window sb_sparse_window(const struct sb_corr *r, const struct sb_act *a,
                                  const struct sb_box *at, uint32_t block)
{
    uint32_t left = a->blocks - at->block;
    uint32_t end = (block + 1) * r->block_channels;
    return (struct sb_window){
        .data = sb_act_plane(a, at->block, 0),
        .plane = a->plane,
        .block = a->block,
        .side = &r->from,
        .tile = &r->tile,
        .blocks = left < r->tile.blocks ? left : r->tile.blocks,
        .row = at->row,
        .col = at->col,
        .channel = block * r->block_channels,
        .channel_end = end < r->from.channels ? end : r->from.channels,
    };
}

size_t sb_sparse_strip_vectors(const struct sb_corr *r, const struct sb_window *w)
{
    size_t planes = (size_t)(w->channel_end - w->channel) * r->from.phases;
    return planes * (r->tile.strip_plane / SB_LANES);
}

/* Asks for what a later pack will read, so that it finds it in the second-level cache: a
 * window is many short pieces of rows, planes apart, which no hardware prefetcher follows. */
static void ask_for(const struct sb_window *w)
{
    const struct sb_side *s = w->side;
    const struct sb_tile *t = w->tile;
    int32_t y0 = (int32_t)(s->step * w->row) + s->origin_y[0];
    int32_t x0 = (int32_t)(s->step * w->col) + s->origin_x[0];
    int32_t height = (int32_t)(s->step * t->strip_rows), width = (int32_t)s->width;
    int32_t end = x0 + (int32_t)(s->step * t->strip_cols);
    x0 = x0 > 0 ? x0 : 0;
    end = end < width ? end : width;
    for (uint32_t c = w->channel; c < w->channel_end; c++)
        for (int32_t y = y0 > 0 ? y0 : 0; y < y0 + height && y < (int32_t)s->height;
             y++) {
            const float *row = w->data + c * w->plane + (size_t)y * s->width * SB_LANES;
            for (int32_t x = x0; x < end; x += 2)
                __builtin_prefetch(row + (size_t)x * SB_LANES, 0, 2);
        }
}

struct sb_runs sb_sparse_runs(const struct sb_corr *r, uint32_t block, uint32_t part,
                              uint32_t row0, const float *strip)
{
    const uint32_t *group = r->group_ptr + (size_t)block * r->parts + part;
    return (struct sb_runs){
        .run = r->runs + group[0],
        .count = group[1] - group[0],
        .row0 = row0,
        .groups = r->tile.groups,
        .pitch = r->tile.pitch,
        .off = r->off,
        .strip = strip,
    };
}

static void start_sums(const struct products *p, uint32_t row, uint32_t row_end,
                       const struct sb_sparse_room *m)
{
    size_t n = (size_t)sb_tile_vectors(&p->corr->tile) * SB_LANES;
    if (p->w2)
        memset(m->var, 0, (row_end - row) * n * sizeof(float));
    if (!p->start) {
        memset(m->acc, 0, (row_end - row) * n * sizeof(float));
        return;
    }
    for (uint32_t r = row; r < row_end; r++)
        for (size_t i = 0; i < n; i++)
            m->acc[(r - row) * n + i] = p->start[r];
}

/* One channel block: both streams over the parts of a band. */
static void add_block(const struct products *p, struct sb_box at, uint32_t block,
                      uint32_t part, uint32_t part_end, const struct sb_sparse_room *m)
{
    const struct sb_kernels *k = p->env->kernels;
    const struct sb_corr *r = p->corr;
    uint32_t row0 = part * r->part_rows;
    struct sb_window w = sb_sparse_window(r, p->in, &at, block);
    k->pack(&w, m->strip);
    if (block + 1 < r->blocks) {
        struct sb_window next = sb_sparse_window(r, p->in, &at, block + 1);
        ask_for(&next);
    }
    for (uint32_t q = part; q < part_end; q++) {
        struct sb_runs rs = sb_sparse_runs(r, block, q, row0, m->strip);
        k->accumulate(&rs, p->w1, m->acc);
    }
    if (!p->w2)
        return;
    if (p->second) {
        w = sb_sparse_window(r, p->second, &at, block);
        k->pack(&w, m->strip);
        if (block + 1 < r->blocks) {
            struct sb_window next = sb_sparse_window(r, p->second, &at, block + 1);
            ask_for(&next);
        }
    } else {
        k->square(m->strip, sb_sparse_strip_vectors(r, &w));
    }
    for (uint32_t q = part; q < part_end; q++) {
        struct sb_runs rs = sb_sparse_runs(r, block, q, row0, m->strip);
        k->accumulate(&rs, p->w2, m->var);
    }
}

static void products_chunk(void *context, size_t chunk, int worker)
{
    const struct products *p = context;
    const struct sb_corr *r = p->corr;
    struct sb_sparse_room m = sb_sparse_room(p->sparse, p->scratch, worker);
    struct sb_box at = sb_corr_tile(r, (uint32_t)(chunk / p->bands));
    uint32_t part = (uint32_t)(chunk % p->bands) * p->band_parts;
    uint32_t part_end = part + p->band_parts < r->parts ? part + p->band_parts : r->parts;
    uint32_t row = part * r->part_rows, row_end = part_end * r->part_rows;
    row_end = row_end < r->rows ? row_end : r->rows;
    start_sums(p, row, row_end, &m);
    for (uint32_t block = 0; block < r->blocks; block++)
        add_block(p, at, block, part, part_end, &m);
    struct sb_sums sums = {row, row_end, m.acc, p->w2 ? m.var : NULL};
    p->finish(p, &at, &sums, &m);
}

static void run_products(struct products *p, void *scratch)
{
    assert(p->in); /* shapes were checked */
    uint32_t tiles = sb_corr_tiles(p->corr, p->in->blocks);
    p->scratch = scratch;
    p->band_parts = band_parts(p->corr, tiles);
    p->bands = (p->corr->parts + p->band_parts - 1) / p->band_parts;
    sb_threads_run(p->env->threads, (size_t)tiles * p->bands, products_chunk, p);
}

/* ---- forward ------------------------------------------------------------------------- */

static void finish_forward(const struct products *p, const struct sb_box *box,
                           const struct sb_sums *s, const struct sb_sparse_room *m)
{
    sb_epilogue_forward(p->env, &p->corr->to, box, s, p->forward->noise, p->y, p->slope,
                        m->eps);
}

sb_status sb_sparse_check_batch(const struct sb_sparse *s, const struct sb_act *a)
{
    if (a && a->batch > s->max_batch)
        return sb_fail(SB_EARG,
                       "a batch of %u images; the layer was planned for up to %u",
                       a->batch, s->max_batch);
    return SB_OK;
}

sb_status sb_sparse_forward(const struct sb_env *env, const struct sb_sparse *s,
                            const struct sb_forward *w, const struct sb_act *x,
                            struct sb_act *y, struct sb_act *slope, void *scratch)
{
    sb_status st = sb_sparse_check_batch(s, x);
    if (st == SB_OK)
        st = sb_check_forward(&s->conv, w, x, y, slope);
    if (st != SB_OK)
        return st;
    struct products p = {
        .env = env,
        .sparse = s,
        .corr = &s->forward,
        .in = x,
        .w1 = w->mu,
        .w2 = w->s2,
        .start = w->bias,
        .finish = finish_forward,
        .forward = w,
        .y = y,
        .slope = slope,
    };
    run_products(&p, scratch);
    return SB_OK;
}

/* ---- input gradient ------------------------------------------------------------------ */

static void finish_input_gradient(const struct products *p, const struct sb_box *box,
                                  const struct sb_sums *s, const struct sb_sparse_room *m)
{
    (void)m;
    sb_epilogue_gradient(p->env, &p->corr->to, box, s, p->x, p->y, p->add);
}

sb_status sb_sparse_input_gradient(const struct sb_env *env, const struct sb_sparse *s,
                                   const struct sb_backward *b, const float *mu_t,
                                   const float *s2_t, struct sb_act *dx, int add,
                                   void *scratch)
{
    sb_status st = sb_sparse_check_batch(s, b->dy);
    if (st == SB_OK)
        st = sb_check_input_gradient(&s->conv, b, dx);
    if (st != SB_OK)
        return st;
    struct products p = {
        .env = env,
        .sparse = s,
        .corr = &s->backward,
        .in = b->dy,
        .second = b->dv,
        .w1 = mu_t,
        .w2 = b->dv ? s2_t : NULL,
        .finish = finish_input_gradient,
        .y = dx,
        .x = b->x,
        .add = add,
    };
    run_products(&p, scratch);
    return SB_OK;
}
