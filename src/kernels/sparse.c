/* sparse - a pattern taken over, and the drivers of forward and input gradient: cutting,
 * packing, and what follows a product. The weight gradient is in sparse_weight.c.
 *
 * A chunk is one tile and one band of output rows; its sums stay in the second-level cache
 * until all channel blocks have been added.
 */
#include "kernels/sparse.h"

#include <assert.h>
#include <stdbool.h>

#include "base/mem.h"
#include "base/threads.h"
#include "kernels/sparse_parts.h"

enum {
    BAND_ROWS = 256, /* output rows whose sums fit the second-level cache, both streams */
    FEW_TILES = 32,  /* fewer, and bands are single parts, so that threads find work */
    FAR = 1 << 20,   /* bytes of activations from which they are far from the caches */
    LINE = 16,       /* floats of a cache line */
};

/* ---- life ---------------------------------------------------------------------------- */

static sb_status init(struct sb_sparse *s, const struct sb_conv *c,
                      const struct sb_corr_use *use)
{
    *s = (struct sb_sparse){.conv = *c, .lanes = use->lanes, .max_batch = use->max_batch};
    if (use->lanes != 8 && use->lanes != SB_MAX_LANES)
        return sb_fail(SB_EARG, "a layer for kernels with %u lanes; there are 8 or %d",
                       use->lanes, SB_MAX_LANES);
    if (use->max_batch == 0)
        return sb_fail(SB_EARG, "a layer for batches of 0 images: must be at least 1");
    if (use->capacity == 0 || use->capacity > sb_conv_weights(c))
        return sb_fail(SB_EARG, "%u of %u weights: must be at least 1 and at most all",
                       use->capacity, sb_conv_weights(c));
    sb_status st = sb_corr_init_forward(&s->forward, c, use);
    if (st != SB_OK)
        return st;
    s->perm = sb_malloc(sb_sparse_room_for(s), sizeof *s->perm);
    return s->perm ? SB_OK
                   : sb_fail(SB_ENOMEM, "no memory to order %u weights", use->capacity);
}

sb_status sb_sparse_init_forward(struct sb_sparse *s, const struct sb_conv *c,
                                 uint32_t lanes, uint32_t max_batch, uint32_t capacity,
                                 bool sliced)
{
    const struct sb_corr_use use = {
        .lanes = lanes, .max_batch = max_batch, .capacity = capacity, .sliced = sliced};
    return init(s, c, &use);
}

sb_status sb_sparse_init(struct sb_sparse *s, const struct sb_conv *c, uint32_t lanes,
                         uint32_t max_batch, uint32_t capacity)
{
    const struct sb_corr_use use = {
        .lanes = lanes, .max_batch = max_batch, .capacity = capacity, .gradient = true};
    sb_status st = init(s, c, &use);
    return st == SB_OK ? sb_corr_init_backward(&s->backward, c, &use) : st;
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

sb_status sb_sparse_set_pattern(struct sb_sparse *s, const uint32_t *row_ptr,
                                const uint32_t *col)
{
    sb_status st = sb_sparse_check_pattern(s, row_ptr, col);
    if (st != SB_OK)
        return st;
    bool gradient = s->backward.capacity > 0;
    sb_corr_order_forward(&s->forward, &s->conv, row_ptr, col, gradient ? NULL : s->perm);
    if (gradient)
        sb_corr_order_backward(&s->backward, &s->conv, row_ptr, col, s->perm);
    return SB_OK;
}

size_t sb_sparse_room_for(const struct sb_sparse *s)
{
    return (size_t)s->forward.edges * s->forward.capacity;
}

void sb_sparse_arrange(const struct sb_sparse *s, const float *value, float *out)
{
    for (uint32_t k = 0; k < s->forward.placed; k++)
        out[k] = value[s->perm[k]];
}

/* ---- scratch ------------------------------------------------------------------------- */

static uint32_t band_parts(const struct sb_corr *r, uint32_t tiles, int threads)
{
    return (tiles < FEW_TILES && threads > 1) || r->part_rows >= BAND_ROWS
               ? 1
               : BAND_ROWS / r->part_rows;
}

static size_t strip_floats(const struct sb_corr *r)
{
    return r->block_channels * r->tile.strip_plane; /* sliced: none */
}

/* Floats of the sums of the largest band, one stream. */
static size_t acc_floats(const struct sb_corr *r)
{
    size_t rows = r->parts ? (size_t)band_parts(r, FEW_TILES, 1) * r->part_rows : 0;
    return rows * sb_tile_vectors(&r->tile) * r->lanes;
}

/* Floats of a chunk of the weight gradient's sums: both halves of the lanes, both streams. */
static size_t gradient_floats(const struct sb_sparse *s)
{
    if (s->backward.capacity == 0)
        return 0;
    size_t most = sb_sparse_chunk_weights(s);
    return most < s->forward.capacity ? 4 * most : 4 * (size_t)s->forward.capacity;
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
    size_t strip, acc, eps, gradient, all; /* floats */
};

static struct layout layout(const struct sb_sparse *s)
{
    struct layout l = {
        .strip =
            round_line(max_size(strip_floats(&s->forward), strip_floats(&s->backward))),
        .acc = round_line(max_size(acc_floats(&s->forward), acc_floats(&s->backward))),
        .eps = (size_t)(SB_QUAD + 1) * SB_TILE_VECTORS * s->lanes,
        .gradient = round_line(gradient_floats(s)),
    };
    l.all = l.strip + 2 * l.acc + l.eps + l.gradient;
    return l;
}

struct sb_sparse_buffers sb_sparse_buffers(const struct sb_sparse *s, void *scratch,
                                           int worker)
{
    struct layout l = layout(s);
    float *at = (float *)scratch + (size_t)worker * l.all;
    float *acc = at + l.strip, *var = acc + l.acc, *eps = var + l.acc;
    return (struct sb_sparse_buffers){at, acc, var, eps, eps + l.eps};
}

size_t sb_sparse_scratch(const struct sb_sparse *s)
{
    return layout(s).all * sizeof(float);
}

/* ---- forward and input gradient ------------------------------------------------------ */

struct products;

/* What becomes of a band's sums. */
typedef void finish_fn(const struct products *p, const struct sb_box *box,
                       const struct sb_sums *s, const struct sb_sparse_buffers *m);

struct products {
    const struct sb_env *env;
    const struct sb_sparse *sparse;
    const struct sb_corr *corr;
    const struct sb_act *in; /* first stream */
    const struct sb_act
        *second;          /* second stream; NULL with w2: the square of the first */
    const float *w1, *w2; /* w2 NULL: one stream */
    const float *start;   /* [rows] what sums of the first stream begin with, or NULL */
    bool lands;           /* sums go from registers to where they belong: no finish */
    finish_fn *finish;
    const struct sb_forward *forward;
    const struct sb_epilogue *epilogue; /* of sums that land; may be NULL */
    struct sb_act *y, *slope;           /* of forward */
    const struct sb_act *x;             /* of the input gradient */
    int add;
    struct sb_groups groups;
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
        .scale = a->scale,
        .shift = a->shift,
    };
}

size_t sb_sparse_strip_vectors(const struct sb_corr *r, const struct sb_window *w)
{
    return (w->channel_end - w->channel) * (r->tile.strip_plane / r->lanes);
}

bool sb_sparse_near(const struct sb_act *a)
{
    return sb_act_size(a) * sizeof(float) < FAR;
}

void sb_sparse_ask_for(const struct sb_window *w, size_t lanes)
{
    const struct sb_side *s = w->side;
    const struct sb_tile *t = w->tile;
    int32_t y0 = (int32_t)(s->step * w->row) + s->origin_y[0];
    int32_t x0 = (int32_t)(s->step * w->col) + s->origin_x[0];
    int32_t height = (int32_t)(t->row_step * t->strip_rows), width = (int32_t)s->width;
    int32_t end = x0 + (int32_t)(s->step * t->phase_col[1]);
    x0 = x0 > 0 ? x0 : 0;
    end = end < 0 ? 0 : end < width ? end : width;
    for (uint32_t c = w->channel; c < w->channel_end; c++)
        for (int32_t y = y0 > 0 ? y0 : 0; y < y0 + height && y < (int32_t)s->height;
             y += (int32_t)t->row_step) {
            const float *row = w->data + c * w->plane + (size_t)y * s->width * lanes;
            for (size_t i = (size_t)x0 * lanes; i < (size_t)end * lanes; i += LINE)
                __builtin_prefetch(row + i, 0, 2);
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
        .step = r->tile.step,
        .pitch = r->tile.pitch,
        .off = r->off,
        .strip = strip,
        .dense = r->dense,
        .in_order = r->in_order,
    };
}

/* A piece of work: the parts of a band over one tile. */
struct piece {
    struct sb_box at;
    uint32_t part, part_end;
    const struct sb_sparse_buffers *m;
    struct sb_epilogue_at *epilogue; /* or NULL */
    const struct sb_box *next;       /* the tile after this one */
};

/* Puts a channel block of `in` into the strip, and asks for the next one. */
static void fill_strip(const struct products *p, const struct sb_act *in,
                       const struct piece *c, uint32_t block)
{
    struct sb_window w = sb_sparse_window(p->corr, in, &c->at, block);
    p->env->kernels->pack(&w, c->m->strip);
    if (sb_sparse_near(in))
        return;
    bool last = block + 1 == p->corr->blocks;
    if (last && c->next->block >= in->blocks)
        return;
    w = sb_sparse_window(p->corr, in, last ? c->next : &c->at, last ? 0 : block + 1);
    sb_sparse_ask_for(&w, in->lanes);
}

/* What the tile sees of a sliced input, from the first row and column it does. */
static const float *seen_slice(const struct products *p, const struct piece *c)
{
    const struct sb_conv *v = &p->sparse->conv;
    uint32_t row = v->stride * c->at.row;
    row -= row >= v->pad ? v->pad : row;
    return sb_act_pixel(p->in, c->at.block, row, v->stride * c->at.col) -
           v->pad * (size_t)p->in->lanes;
}

/* The strip times the weights of its channel block. */
static void add_stream(const struct products *p, const struct piece *c, uint32_t block,
                       const float *weight, const float *start, float *acc)
{
    const struct sb_corr *r = p->corr;
    const float *strip = r->sliced ? seen_slice(p, c) : c->m->strip;
    size_t edge =
        (size_t)sb_corr_edge(r, c->at.row) * r->group_ptr[(size_t)r->blocks * r->parts];
    for (uint32_t q = c->part; q < c->part_end; q++) {
        struct sb_runs rs = sb_sparse_runs(r, block, q, c->part * r->part_rows, strip);
        rs.run += edge;
        rs.first = block == 0;
        rs.start = start;
        rs.epilogue = block + 1 == r->blocks ? c->epilogue : NULL;
        p->env->kernels->accumulate(&rs, weight, acc);
    }
}

static void add_block(const struct products *p, const struct piece *c, uint32_t block)
{
    if (!p->corr->sliced)
        fill_strip(p, p->in, c, block);
    add_stream(p, c, block, p->w1, p->start, c->m->acc);
    if (!p->w2)
        return;
    if (p->second) {
        fill_strip(p, p->second, c, block);
    } else {
        struct sb_window w = sb_sparse_window(p->corr, p->in, &c->at, block);
        p->env->kernels->square(c->m->strip, sb_sparse_strip_vectors(p->corr, &w));
    }
    add_stream(p, c, block, p->w2, NULL, c->m->var);
}

/* A tile of slices is done row by row. */
static void next_row(const struct products *p, struct piece *c)
{
    assert(c->epilogue); /* slices land: sb_sparse_check_slices */
    c->at.row++;
    sb_sparse_epilogue_lower(c->epilogue, p->epilogue, p->y);
}

static void run_piece(const struct products *p, struct piece c)
{
    const struct sb_corr *r = p->corr;
    struct sb_epilogue_at land;
    if (p->lands) {
        land = sb_sparse_epilogue(r, p->epilogue, p->y, &c.at);
        c.epilogue = &land;
    }
    for (uint32_t row = 0; row < (r->sliced ? c.at.height : 1); row++) {
        for (uint32_t block = 0; block < r->blocks; block++)
            add_block(p, &c, block);
        if (r->sliced)
            next_row(p, &c);
    }
    if (p->lands)
        return;
    uint32_t row = c.part * r->part_rows, row_end = c.part_end * r->part_rows;
    row_end = row_end < r->rows ? row_end : r->rows;
    struct sb_sums sums = {row, row_end, c.m->acc, p->w2 ? c.m->var : NULL};
    p->finish(p, &c.at, &sums, c.m);
}

/* With the weights of the group that the tile is of, which may end within the tile. */
static void run_grouped(const struct products *p, const struct piece *c)
{
    struct products q = *p;
    struct sb_act in, y;
    uint32_t group = sb_group_of(&p->groups, c->at.block, p->in->lanes);
    q.w1 += group * p->groups.apart;
    if (p->corr->tile.blocks > 1) {
        q.in = sb_group_end(&p->groups, p->in, group, &in);
        q.y = sb_group_end(&p->groups, p->y, group, &y);
    }
    run_piece(&q, *c);
}

static void products_chunk(void *context, size_t chunk, int worker)
{
    const struct products *p = context;
    const struct sb_corr *r = p->corr;
    struct sb_sparse_buffers m = sb_sparse_buffers(p->sparse, p->scratch, worker);
    uint32_t part = (uint32_t)(chunk % p->bands) * p->band_parts;
    uint32_t group_blocks = sb_group_blocks(&p->groups, r->lanes);
    const struct sb_box next =
        sb_corr_tile(r, (uint32_t)((chunk + 1) / p->bands), group_blocks);
    struct piece c = {
        .at = sb_corr_tile(r, (uint32_t)(chunk / p->bands), group_blocks),
        .next = &next,
        .part = part,
        .part_end = part + p->band_parts < r->parts ? part + p->band_parts : r->parts,
        .m = &m,
    };
    if (p->groups.rows)
        run_grouped(p, &c);
    else
        run_piece(p, c);
}

static void run_products(struct products *p, void *scratch)
{
    assert(p->in); /* shapes were checked */
    uint32_t tiles = sb_corr_tiles(p->corr, p->in->blocks,
                                   sb_group_blocks(&p->groups, p->corr->lanes));
    p->scratch = scratch;
    p->band_parts = band_parts(p->corr, tiles, p->env->threads);
    p->bands = (p->corr->parts + p->band_parts - 1) / p->band_parts;
    sb_threads_run(p->env->threads, (size_t)tiles * p->bands, products_chunk, p);
}

/* ---- forward ------------------------------------------------------------------------- */

static void finish_forward(const struct products *p, const struct sb_box *box,
                           const struct sb_sums *s, const struct sb_sparse_buffers *m)
{
    struct sb_outcome o = {.noise = p->forward->noise,
                           .epilogue = p->forward->epilogue,
                           .y = p->y,
                           .slope = p->slope,
                           .scratch = m->eps};
    sb_epilogue_forward(p->env, &p->corr->to, box, s, &o);
}

sb_status sb_sparse_forward(const struct sb_env *env, const struct sb_sparse *s,
                            const struct sb_forward *w, const struct sb_act *x,
                            struct sb_act *y, struct sb_act *slope, void *scratch)
{
    sb_status st = sb_sparse_check_batch(env, s, x);
    if (st == SB_OK)
        st = sb_check_forward(&s->conv, w, x, y, slope);
    if (st == SB_OK)
        st = sb_sparse_check_slices(s, w, x, y);
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
        .lands = !w->s2 && sb_sparse_stores_directly(&s->forward, w->epilogue),
        .finish = finish_forward,
        .forward = w,
        .epilogue = w->epilogue,
        .y = y,
        .slope = slope,
        .groups = w->groups,
    };
    run_products(&p, scratch);
    return SB_OK;
}

/* ---- input gradient ------------------------------------------------------------------ */

static void finish_input_gradient(const struct products *p, const struct sb_box *box,
                                  const struct sb_sums *s,
                                  const struct sb_sparse_buffers *m)
{
    (void)m;
    sb_epilogue_gradient(p->env, &p->corr->to, box, s, p->x, p->y, p->add);
}

sb_status sb_sparse_input_gradient(const struct sb_env *env, const struct sb_sparse *s,
                                   const struct sb_backward *b, const float *mu_t,
                                   const float *s2_t, struct sb_act *dx, int add,
                                   void *scratch)
{
    sb_status st = sb_sparse_check_batch(env, s, b->dy);
    if (st == SB_OK)
        st = sb_check_input_gradient(&s->conv, b, dx);
    if (st != SB_OK)
        return st;
    const struct sb_epilogue sum = {.add = dx};
    struct products p = {
        .env = env,
        .sparse = s,
        .corr = &s->backward,
        .in = b->dy,
        .second = b->dv,
        .w1 = mu_t,
        .w2 = b->dv ? s2_t : NULL,
        .lands = !b->dv && s->backward.to.phases == 1 &&
                 sb_sparse_stores_directly(&s->backward, NULL),
        .finish = finish_input_gradient,
        .epilogue = add ? &sum : NULL,
        .y = dx,
        .x = b->x,
        .add = add,
        .groups = b->groups,
    };
    run_products(&p, scratch);
    return SB_OK;
}
