/* dense_weight - driver of the weight gradient.
 *
 * A chunk is some outputs and some input channels, and walks the batch: the sums of a weight
 * belong to one chunk. They are SB_PARTIALS a weight, kept in the second-level cache from
 * one piece of the batch to the next, and folded at the end.
 *
 * A piece is some rows of one image block's planes, or where planes are small some blocks
 * whose images feed the same partial sums, i.e. every second one if a block is 8 images. What
 * it sees of the chunk's input channels is packed as for a sparse product, all columns of a
 * row at once; the gradient of the outputs is read where it lies. Linear layers, whose planes
 * are single vectors far from each other, have a driver of their own (dense_linear.c).
 *
 * Where groups of rows have weights of their own, each has sums of its own, which are folded
 * and added up group after group.
 */
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/threads.h"
#include "kernels/dense_parts.h"
#include "kernels/kernels.h"

enum {
    PIECE_VECTORS = 128, /* of a plane's pixels in a piece, about */
    OUTS = 32,           /* outputs of a chunk, at most */
    COLS = 128,          /* columns of a chunk, about at most */
    OUT_STEP = 4,        /* chunks are multiples of a register tile */
    CHUNKS_EACH = 4,     /* pieces of work a thread should find */
};

struct gradient {
    const struct sb_env *env;
    const struct sb_conv *c;
    const struct sb_backward *b;
    float *dmu, *ds2;
    struct sb_side side;     /* the input */
    struct sb_tile tile;     /* the pixels of a piece, one block */
    uint32_t blocks;         /* of a piece */
    uint32_t row_pitch;      /* rows of the strip from a row of outputs to the next */
    uint32_t outs, channels; /* of a chunk */
    uint32_t out_chunks, channel_chunks;
    float *scratch;
    size_t strip, acc, worker; /* floats */
    uint32_t lanes;
};

/* ---- planning ------------------------------------------------------------------------ */

/* The pixels of a piece, and what they see of a plane. */
static void plan_piece(struct gradient *g)
{
    const struct sb_conv *c = g->c;
    uint32_t rows = sb_smaller(
        c->out_height, c->out_width < PIECE_VECTORS ? PIECE_VECTORS / c->out_width : 1);
    uint32_t pixels = rows * c->out_width;
    g->row_pitch = c->kh == 1 ? 1 : c->stride;
    g->tile = (struct sb_tile){
        .height = rows,
        .width = c->out_width,
        .blocks = 1,
        .strip_rows = (rows - 1) * g->row_pitch + c->kh,
        .row_step = c->kh == 1 ? c->stride : 1,
    };
    g->side = (struct sb_side){
        .channels = c->in,
        .height = c->height,
        .width = c->width,
        .step = c->stride,
        .phases = sb_smaller(c->stride, c->kw),
    };
    for (uint32_t f = 0; f < g->side.phases; f++) {
        g->side.origin_y[f] = -(int32_t)c->pad;
        g->side.origin_x[f] = (int32_t)f - (int32_t)c->pad;
        g->tile.phase_col[f + 1] =
            g->tile.phase_col[f] + c->out_width + (c->kw - 1 - f) / c->stride;
    }
    g->tile.strip_cols = g->tile.phase_col[g->side.phases];
    g->tile.strip_plane = (size_t)g->tile.strip_rows * g->tile.strip_cols * g->lanes;
    assert(pixels > 0);
    g->blocks =
        rows == c->out_height && pixels < PIECE_VECTORS ? PIECE_VECTORS / pixels : 1;
}

/* Outputs and input channels of a chunk: many, so that what is read serves many, but every
 * thread wants several chunks. Whoever adds up a weight's gradient does it in the same order,
 * so this may depend on the number of threads. */
static void plan_chunks(struct gradient *g, int threads)
{
    const struct sb_conv *c = g->c;
    uint32_t taps = c->kh * c->kw,
             want = threads > 1 ? CHUNKS_EACH * (uint32_t)threads : 1;
    assert(taps > 0);
    uint32_t most = taps < COLS ? COLS / taps : 1;
    g->outs = OUTS;
    g->channels = sb_divide_up(c->in, sb_divide_up(c->in, most));
    for (;;) {
        g->out_chunks = sb_divide_up(c->out, g->outs);
        g->channel_chunks = sb_divide_up(c->in, g->channels);
        bool halves_outs = g->outs > OUT_STEP && g->outs >= 2 * g->channels;
        if (g->out_chunks * g->channel_chunks >= want ||
            (g->outs == OUT_STEP && g->channels == 1))
            return;
        if (halves_outs || g->channels == 1)
            g->outs /= 2;
        else
            g->channels = sb_divide_up(g->channels, 2);
    }
}

static void plan_scratch(struct gradient *g)
{
    g->strip = sb_whole_lines(g->channels * g->tile.strip_plane * g->blocks);
    g->acc = (size_t)OUTS * g->channels * g->c->kh * g->c->kw * SB_PARTIALS;
    size_t places = sb_whole_lines((size_t)g->channels * g->c->kh * g->c->kw);
    g->worker = places + g->strip + 2 * g->acc; /* the second: ds2, or a group folded */
}

static struct gradient plan(const struct sb_env *env, const struct sb_conv *c,
                            uint32_t lanes)
{
    struct gradient g = {.env = env, .c = c, .lanes = lanes};
    plan_piece(&g);
    plan_chunks(&g, env ? env->threads : 1);
    plan_scratch(&g);
    return g;
}

size_t sb_dense_weight_scratch(const struct sb_conv *c)
{
    size_t narrow = plan(NULL, c, SB_MAX_LANES / 2).worker * sizeof(float),
           wide = plan(NULL, c, SB_MAX_LANES).worker * sizeof(float),
           linear = sb_dense_linear_scratch(c), most = narrow > wide ? narrow : wide;
    return most > linear ? most : linear;
}

/* ---- running ------------------------------------------------------------------------- */

/* A chunk at work. */
struct chunk {
    const struct gradient *g;
    uint32_t out, out_end, channel, channel_end;
    uint32_t *off;     /* [columns] */
    float *strip;      /* x, packed */
    float *acc, *acc2; /* [outs][columns][SB_PARTIALS], of dmu and ds2 */
    size_t x_row[PIECE_VECTORS], dy_row[PIECE_VECTORS];
    struct sb_dense_outer o; /* all but dy, acc and first */
};

static uint32_t columns(const struct chunk *k)
{
    return (k->channel_end - k->channel) * k->g->c->kh * k->g->c->kw;
}

/* Adds what a piece has, of one stream. */
static void add_piece(const struct chunk *k, const struct sb_act *dy, uint32_t block,
                      uint32_t row, float *acc)
{
    struct sb_dense_outer o = k->o;
    o.dy = sb_act_plane(dy, block, k->out) + (size_t)row * dy->width * dy->lanes;
    o.dy_out = dy->plane;
    o.acc = acc + block % sb_shares(dy) * dy->lanes;
    k->g->env->kernels->outer(&o);
}

/* Packs x for a piece and says where its rows are; `blocks` of it, `rows` of each. */
static void see_piece(struct chunk *k, uint32_t block, uint32_t blocks, uint32_t row,
                      uint32_t rows)
{
    const struct gradient *g = k->g;
    const struct sb_act *x = g->b->x, *dy = g->b->dy;
    size_t one = (k->channel_end - k->channel) * g->tile.strip_plane;
    for (uint32_t b = 0; b < blocks; b++) {
        struct sb_window w = {
            .data = sb_act_plane(x, block + b * sb_shares(x), 0),
            .plane = x->plane,
            .block = x->block,
            .side = &g->side,
            .tile = &g->tile,
            .blocks = 1,
            .row = row,
            .channel = k->channel,
            .channel_end = k->channel_end,
            .scale = x->scale,
            .shift = x->shift,
        };
        g->env->kernels->pack(&w, k->strip + b * one);
        for (uint32_t r = 0; r < rows; r++) {
            k->x_row[b * rows + r] =
                b * one + (size_t)r * g->row_pitch * g->tile.strip_cols * g->lanes;
            k->dy_row[b * rows + r] =
                b * sb_shares(dy) * dy->block + (size_t)r * dy->width * dy->lanes;
        }
    }
    k->o.rows = blocks * rows;
}

/* The pieces of all blocks before `all` that feed the same partial sums as block `first`. */
static void add_share(struct chunk *k, uint32_t first, uint32_t all)
{
    const struct gradient *g = k->g;
    const struct sb_backward *b = g->b;
    uint32_t height = g->c->out_height;
    size_t one = (k->channel_end - k->channel) * g->tile.strip_plane / g->lanes;
    for (uint32_t block = first; block < all; block += g->blocks * sb_shares(b->dy)) {
        uint32_t blocks =
            sb_smaller(g->blocks, sb_divide_up(all - block, sb_shares(b->dy)));
        for (uint32_t row = 0; row < height; row += g->tile.height) {
            see_piece(k, block, blocks, row, sb_smaller(g->tile.height, height - row));
            k->o.first = block == first && row == 0;
            add_piece(k, b->dy, block, row, k->acc);
            if (!b->dv)
                continue;
            g->env->kernels->square(k->strip, one * blocks);
            add_piece(k, b->dv, block, row, k->acc2);
        }
    }
}

/* One stream's sums of outputs [out, out_end), into the gradient. */
static void fold_outs(const struct chunk *k, const float *acc, float *gradient,
                      uint32_t out, uint32_t out_end)
{
    const struct sb_conv *c = k->g->c;
    size_t cols = columns(k), all = sb_conv_cols(c);
    for (uint32_t o = out; o < out_end; o++)
        k->g->env->kernels->fold(acc + (o - out) * cols * SB_PARTIALS, cols,
                                 gradient + o * all + (size_t)k->channel * c->kh * c->kw);
}

/* Sums that no image feeds: those of the second half of 16 in a batch of up to 8. */
static void clear_share(const struct chunk *k, uint32_t share, float *acc)
{
    size_t n = (size_t)(k->out_end - k->out) * columns(k), lanes = k->g->lanes;
    for (size_t i = 0; i < n; i++)
        memset(acc + i * SB_PARTIALS + share * lanes, 0, lanes * sizeof(float));
}

/* All sums of image blocks [first, end). */
static void add_blocks(struct chunk *k, uint32_t first, uint32_t end)
{
    const struct gradient *g = k->g;
    for (uint32_t s = 0; s < sb_shares(g->b->dy); s++) {
        if (first + s < end) {
            add_share(k, first + s, end);
            continue;
        }
        clear_share(k, s, k->acc);
        if (g->b->dv)
            clear_share(k, s, k->acc2);
    }
}

static void add_groups(struct chunk *k)
{
    const struct gradient *g = k->g;
    const struct sb_groups *groups = &g->b->groups;
    uint32_t all = g->b->dy->blocks, step = sb_group_blocks(groups, g->lanes);
    size_t cols = columns(k), row = sb_conv_cols(g->c),
           col = (size_t)k->channel * g->c->kh * g->c->kw;
    for (uint32_t group = 0; group * step < all; group++) {
        add_blocks(k, group * step, sb_smaller(all, (group + 1) * step));
        for (uint32_t o = k->out; o < k->out_end; o++) {
            g->env->kernels->fold(k->acc + (o - k->out) * cols * SB_PARTIALS, cols,
                                  k->acc2);
            sb_group_add(groups, group, o * row + col, cols, k->acc2, g->dmu, g->ds2);
        }
    }
}

static void add_planes(struct chunk *k)
{
    const struct gradient *g = k->g;
    if (g->b->groups.rows) {
        add_groups(k);
        return;
    }
    add_blocks(k, 0, g->b->dy->blocks);
    fold_outs(k, k->acc, g->dmu, k->out, k->out_end);
    if (g->b->dv)
        fold_outs(k, k->acc2, g->ds2, k->out, k->out_end);
}

static void place_columns(struct chunk *k)
{
    const struct sb_conv *c = k->g->c;
    const struct sb_tile *t = &k->g->tile;
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->channel_end - k->channel; i++)
        for (uint32_t a = 0; a < c->kh; a++)
            for (uint32_t b = 0; b < c->kw; b++)
                k->off[n++] = (uint32_t)(i * t->strip_plane +
                                         ((size_t)a * t->strip_cols +
                                          t->phase_col[b % c->stride] + b / c->stride) *
                                             k->g->lanes);
}

static void gradient_chunk(void *context, size_t chunk, int worker)
{
    const struct gradient *g = context;
    float *m = g->scratch + (size_t)worker * g->worker;
    uint32_t out = (uint32_t)(chunk % g->out_chunks) * g->outs;
    uint32_t channel = (uint32_t)(chunk / g->out_chunks) * g->channels;
    struct chunk k = {
        .g = g,
        .out = out,
        .out_end = sb_smaller(out + g->outs, g->c->out),
        .channel = channel,
        .channel_end = sb_smaller(channel + g->channels, g->c->in),
        .strip = m,
        .acc = m + g->strip,
        .acc2 = m + g->strip + g->acc,
        .off = (uint32_t *)(void *)(m + g->strip + 2 * g->acc),
    };
    place_columns(&k);
    k.o = (struct sb_dense_outer){
        .strip = k.strip,
        .off = k.off,
        .x_row = k.x_row,
        .dy_row = k.dy_row,
        .outs = k.out_end - k.out,
        .cols = columns(&k),
        .width = g->c->out_width,
    };
    add_planes(&k);
}

sb_status sb_dense_weight_gradient(const struct sb_env *env, const struct sb_conv *c,
                                   const struct sb_backward *b, float *dmu, float *ds2,
                                   void *scratch)
{
    sb_status st = sb_check_weight_gradient(c, b);
    if (st != SB_OK)
        return st;
    if (!b->groups.rows && sb_dense_is_linear(c, b->dy)) {
        sb_dense_linear_gradient(env, c, b, dmu, ds2, scratch);
        return SB_OK;
    }
    struct gradient g = plan(env, c, b->dy->lanes);
    g.b = b;
    g.dmu = dmu;
    g.ds2 = ds2;
    g.scratch = scratch;
    sb_threads_run(env->threads, (size_t)g.out_chunks * g.channel_chunks, gradient_chunk,
                   &g);
    return SB_OK;
}
