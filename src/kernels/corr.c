/* corr - see corr.h. */
#include "kernels/corr.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/act.h"

enum {
    /* A strip and what streams past it share a first-level cache of 32 KiB. */
    STRIP_FLOATS = 32 * 1024 / sizeof(float),
    SLICE_ROWS = 4, /* of a tile: each is a task, and done row by row */
    PART_ROWS = 80, /* rows a weight-gradient task owns: packing its strip must pay */
    NARROW_IMAGES = 32,
    FEW_IMAGES = 64, /* of a tile of 1 x 1 planes, if no more; else twice that */
};

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* ---- planning ---- */

/* How much of a plane a tile sees: strip rows from a grid row to the next, and how far a
 * grid row and each phase of columns reaches beyond its own. */
struct reach {
    uint32_t row_pitch, row_step, rows;
    uint32_t cols[SB_MAX_STRIDE];
    uint32_t height; /* of a tile of planes, at most */
    bool halve; /* rows into two parts, where there are few: more tasks of a gradient */
};

static void plan_tile(struct sb_corr *r, uint32_t max_batch, const struct reach *e)
{
    struct sb_tile *t = &r->tile;
    uint32_t flat = max_batch <= FEW_IMAGES ? FEW_IMAGES : 2 * FEW_IMAGES;
    if (r->grid_width * r->grid_height == 1)
        *t = (struct sb_tile){.height = 1, .width = 1, .blocks = flat / r->lanes};
    else if (r->grid_width <= 2)
        *t =
            (struct sb_tile){.height = 1, .width = 2, .blocks = NARROW_IMAGES / r->lanes};
    else if (r->from.bands && r->grid_height == 1 && r->grid_width % SB_SLICE == 0)
        *t = (struct sb_tile){.height = 1, .width = SB_SLICE, .blocks = 1};
    else
        *t = (struct sb_tile){.height = r->grid_height <= 2 ? 2 : e->height,
                              .width = SB_GROUP,
                              .blocks = 1};
    t->groups = t->height * t->width * t->blocks / SB_GROUP;
    t->step = 1;
    t->row_step = e->row_step;
    t->strip_rows = (t->height - 1) * e->row_pitch + 1 + e->rows;
    for (uint32_t f = 0; f < r->from.phases; f++)
        t->phase_col[f + 1] = t->phase_col[f] + t->width + e->cols[f];
    t->strip_cols = t->phase_col[r->from.phases];
    bool beside = t->blocks > 1 || t->height == 1; /* groups are */
    t->pitch =
        (size_t)r->lanes * (beside ? SB_GROUP : (size_t)e->row_pitch * t->strip_cols);
    t->strip_plane = (size_t)t->strip_rows * t->strip_cols * t->blocks * r->lanes;
}

/* Cuts channels into blocks of up to fit, and rows into parts. */
static sb_status plan_blocks(struct sb_corr *r, size_t fit, bool halve)
{
    r->blocks = divide_up(r->from.channels,
                          fit < r->from.channels ? (uint32_t)fit : r->from.channels);
    r->block_channels = divide_up(r->from.channels, r->blocks);
    r->blocks = divide_up(r->from.channels, r->block_channels);
    if (__builtin_mul_overflow(r->to.channels, r->to.phases, &r->rows))
        return sb_fail(SB_EARG, "%u channels in %u phases are too many rows",
                       r->to.channels, r->to.phases);
    r->parts = divide_up(r->rows, PART_ROWS);
    if (r->parts == 1 && r->rows >= 16 && halve)
        r->parts = 2;
    r->part_rows = divide_up(r->rows, r->parts);
    r->parts = divide_up(r->rows, r->part_rows);
    return SB_OK;
}

static sb_status allocate(struct sb_corr *r)
{
    uint32_t capacity = r->capacity;
    r->edges = r->edges ? r->edges : 1;
    r->off = sb_malloc((size_t)r->edges * capacity, sizeof *r->off);
    r->row_ptr = sb_calloc((size_t)r->rows + 1, sizeof *r->row_ptr);
    r->runs = sb_malloc((size_t)r->edges * r->blocks * r->rows, sizeof *r->runs);
    r->group_ptr = sb_calloc((size_t)r->blocks * r->parts + 1, sizeof *r->group_ptr);
    r->block_end = sb_malloc((size_t)r->blocks * r->rows, sizeof *r->block_end);
    if (!r->off || !r->row_ptr || !r->runs || !r->group_ptr || !r->block_end)
        return sb_fail(SB_ENOMEM, "no memory for the kernel order of %u weights",
                       capacity);
    return SB_OK;
}

static sb_status plan(struct sb_corr *r, uint32_t max_batch, const struct reach *e)
{
    plan_tile(r, max_batch, e);
    size_t channel = r->tile.strip_plane;
    assert(channel > 0);
    size_t fit = channel < STRIP_FLOATS ? STRIP_FLOATS / channel : 1;
    return plan_blocks(r, fit, e->halve);
}

/* A place in the strip is 16 bits of a weight of a pattern. */
static sb_status check_places(const struct sb_corr *r)
{
    if (r->tile.strip_plane / r->lanes > UINT16_MAX)
        return sb_fail(SB_EARG,
                       "kernel too large: one channel needs %zu vectors of a strip, "
                       "at most %d",
                       r->tile.strip_plane / r->lanes, UINT16_MAX);
    return SB_OK;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* ---- slices -------------------------------------------------------------------------- */

enum { INNER, TOP, BOTTOM, EDGES };

/* From a row of a slice to the next. */
static size_t slice_vectors(const struct sb_conv *c, uint32_t lanes)
{
    return sb_act_slice_pitch(lanes, c->in) / lanes;
}

bool sb_corr_reads_slices(const struct sb_conv *c)
{
    bool one = c->kh == 1 && c->kw == 1 && c->pad == 0;
    bool three = c->kh == 3 && c->kw == 3 && c->pad == 1 && c->height > 1;
    return (one || three) && c->bands == 0 && c->stride <= 2 &&
           c->height % c->stride == 0 && c->width % (c->stride * SB_SLICE) == 0 &&
           slice_vectors(c, 8) <= UINT16_MAX / c->kh &&
           slice_vectors(c, SB_MAX_LANES) <= UINT16_MAX / c->kh &&
           sb_conv_weights(c) <= UINT32_MAX / EDGES;
}

/* With a stride of 2, the second half of a tile sees the next slice. */
static sb_status plan_sliced(struct sb_corr *r, const struct sb_conv *c)
{
    r->sliced = true;
    r->edges = c->pad ? EDGES : 1;
    r->tile = (struct sb_tile){
        .height = c->out_height % SLICE_ROWS == 0 ? SLICE_ROWS : 1,
        .width = SB_SLICE,
        .blocks = 1,
        .groups = SB_SLICE / SB_GROUP,
        .step = c->stride,
        .pitch = c->stride == 1 ? (size_t)SB_GROUP * r->lanes
                                : c->height * sb_act_slice_pitch(r->lanes, c->in),
    };
    size_t channel = (size_t)c->kh * c->stride * (SB_SLICE + 2) * r->lanes;
    return plan_blocks(r, STRIP_FLOATS / channel, false);
}

uint32_t sb_corr_edge(const struct sb_corr *r, uint32_t row)
{
    if (r->edges == 1)
        return INNER;
    if (row == 0)
        return TOP;
    return r->from.step == 1 && row + 1 == r->grid_height ? BOTTOM : INNER;
}

/* Of the kernel's row and column, counted from the first row a tile sees. */
static uint16_t slice_place(const struct sb_corr *r, const struct sb_conv *c,
                            uint32_t channel, uint32_t row, uint32_t col)
{
    return (uint16_t)(row * slice_vectors(c, r->lanes) + channel * (SB_SLICE + 2) + col);
}

/* Gives the first and last rows runs of their own, without the kernel's first or last row. */
static void order_edges(struct sb_corr *r, const struct sb_conv *c, const uint32_t *col,
                        uint32_t *perm)
{
    uint32_t runs = r->group_ptr[(size_t)r->blocks * r->parts], n = r->nnz;
    size_t above = slice_vectors(c, r->lanes);
    for (uint32_t e = TOP; e < r->edges; e++)
        for (uint32_t i = 0; i < runs; i++) {
            const struct sb_run *from = &r->runs[i];
            struct sb_run *to = &r->runs[e * runs + i];
            *to = (struct sb_run){.row = from->row, .first = n};
            for (uint32_t k = from->first; k < from->first + from->count; k++) {
                uint32_t row = col[perm[k]] % (c->kh * c->kw) / c->kw;
                if (row == (e == TOP ? 0 : c->kh - 1))
                    continue;
                perm[n] = perm[k];
                r->off[n++] = (uint16_t)(r->off[k] - (e == TOP ? above : 0));
            }
            to->count = n - to->first;
        }
    r->placed = n;
}

sb_status sb_corr_shape_forward(struct sb_corr *r, const struct sb_conv *c,
                                const struct sb_corr_use *use)
{
    *r = (struct sb_corr){
        .lanes = use->lanes,
        .capacity = use->capacity,
        .from = {.channels = c->in,
                 .height = c->height,
                 .width = c->width,
                 .bands = c->bands,
                 .step = c->stride,
                 /* a kernel smaller than the stride does not reach all of them */
                 .phases = smaller(c->stride, c->kw)},
        .to = {.channels = c->out,
               .height = c->out_height,
               .width = c->out_width,
               .step = 1,
               .phases = 1},
        .grid_height = c->out_height,
        .grid_width = c->out_width,
    };
    if (use->sliced)
        return plan_sliced(r, c);
    /* A strided tile sees so much of a plane that a low one leaves room for twice the
     * channels, and so for runs of twice the length. */
    struct reach e = {.row_pitch = c->kh == 1 ? 1 : c->stride,
                      .row_step = c->kh == 1 ? c->stride : 1,
                      .rows = c->kh - 1,
                      .height = use->gradient || c->stride == 1 || c->kh == 1 ? 4 : 2,
                      .halve = use->gradient};
    for (uint32_t f = 0; f < r->from.phases; f++) {
        r->from.origin_y[f] = -(int32_t)c->pad;
        r->from.origin_x[f] = (int32_t)f - (int32_t)c->pad;
        e.cols[f] = (c->kw - 1 - f) / c->stride;
    }
    return plan(r, use->max_batch, &e);
}

sb_status sb_corr_init_forward(struct sb_corr *r, const struct sb_conv *c,
                               const struct sb_corr_use *use)
{
    sb_status st = sb_corr_shape_forward(r, c, use);
    if (st == SB_OK && !r->sliced)
        st = check_places(r);
    return st == SB_OK ? allocate(r) : st;
}

/* One direction of the input gradient. Pixel h of dx with h + pad = stride * q + phase
 * takes tap a = stride * t + phase from dy[q - t]; its grid position g counts from the
 * first such h: h = stride * g + origin, q = g + lead. */
struct phase_axis {
    uint32_t origin[SB_MAX_STRIDE], lead[SB_MAX_STRIDE];
    int32_t lowest; /* of lead - t over all phases and taps */
    uint32_t span;  /* highest - lowest */
};

static struct phase_axis phase_axis(uint32_t taps, uint32_t stride, uint32_t pad)
{
    struct phase_axis x = {.lowest = INT32_MAX};
    int32_t highest = INT32_MIN;
    for (uint32_t f = 0; f < stride; f++) {
        x.origin[f] = sb_conv_phase_origin(stride, pad, f);
        x.lead[f] = (x.origin[f] + pad) / stride;
        if (f >= taps)
            continue;
        int32_t lead = (int32_t)x.lead[f];
        int32_t low = lead - (int32_t)((taps - 1 - f) / stride);
        x.lowest = low < x.lowest ? low : x.lowest;
        highest = lead > highest ? lead : highest;
    }
    x.span = (uint32_t)(highest - x.lowest);
    return x;
}

sb_status sb_corr_shape_backward(struct sb_corr *r, const struct sb_conv *c,
                                 const struct sb_corr_use *use)
{
    struct phase_axis y = phase_axis(c->kh, c->stride, c->pad);
    struct phase_axis x = phase_axis(c->kw, c->stride, c->pad);
    *r = (struct sb_corr){
        .lanes = use->lanes,
        .capacity = use->capacity,
        .from = {.channels = c->out, .height = c->out_height, .width = c->out_width},
        .to = {.channels = c->in, .height = c->height, .width = c->width},
        .grid_height = divide_up(c->height, c->stride),
        .grid_width = divide_up(c->width, c->stride),
    };
    r->from.step = r->from.phases = 1;
    r->from.origin_y[0] = y.lowest;
    r->from.origin_x[0] = x.lowest;
    r->to.step = c->stride;
    r->to.phases = c->stride * c->stride;
    for (uint32_t f = 0; f < r->to.phases; f++) {
        r->to.origin_y[f] = (int32_t)y.origin[f / c->stride];
        r->to.origin_x[f] = (int32_t)x.origin[f % c->stride];
    }
    struct reach e = {.row_pitch = 1,
                      .row_step = 1,
                      .rows = y.span,
                      .cols = {x.span},
                      .height = 4,
                      .halve = true};
    return plan(r, use->max_batch, &e);
}

sb_status sb_corr_init_backward(struct sb_corr *r, const struct sb_conv *c,
                                const struct sb_corr_use *use)
{
    sb_status st = sb_corr_shape_backward(r, c, use);
    if (st == SB_OK)
        st = check_places(r);
    return st == SB_OK ? allocate(r) : st;
}

void sb_corr_fini(struct sb_corr *r)
{
    if (!r)
        return;
    sb_free(r->off);
    sb_free(r->row_ptr);
    sb_free(r->runs);
    sb_free(r->group_ptr);
    sb_free(r->block_end);
    *r = (struct sb_corr){0};
}

/* ---- ordering ---- */

/* A weight's place in the strip of its block. */
static size_t strip_place(const struct sb_corr *r, uint32_t channel, uint32_t phase,
                          uint32_t row, uint32_t col)
{
    size_t plane = channel % r->block_channels;
    size_t pixel = (size_t)row * r->tile.strip_cols + r->tile.phase_col[phase] + col;
    return plane * (r->tile.strip_plane / r->lanes) + pixel * r->tile.blocks;
}

size_t sb_corr_place_forward(const struct sb_corr *r, const struct sb_conv *c,
                             uint32_t channel, uint32_t a, uint32_t b)
{
    return strip_place(r, channel, b % c->stride, a, b / c->stride);
}

size_t sb_corr_place_backward(const struct sb_corr *r, const struct sb_conv *c,
                              uint32_t channel, uint32_t a, uint32_t b)
{
    struct phase_axis y = phase_axis(c->kh, c->stride, c->pad);
    struct phase_axis x = phase_axis(c->kw, c->stride, c->pad);
    int32_t row = (int32_t)y.lead[a % c->stride] - (int32_t)(a / c->stride) - y.lowest;
    int32_t col = (int32_t)x.lead[b % c->stride] - (int32_t)(b / c->stride) - x.lowest;
    return strip_place(r, channel, 0, (uint32_t)row, (uint32_t)col);
}

/* Longest first; equal ones keep the order of their rows. Groups are short. */
static void sort_runs(struct sb_run *runs, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct sb_run moved = runs[i];
        uint32_t j = i;
        for (; j > 0 && runs[j - 1].count < moved.count; j--)
            runs[j] = runs[j - 1];
        runs[j] = moved;
    }
}

/* Weight k, met in increasing order, belongs to this row and channel. */
static void note_end(struct sb_corr *r, uint32_t k, uint32_t row, uint32_t channel)
{
    r->block_end[(size_t)row * r->blocks + channel / r->block_channels] = k + 1;
}

/* Cuts the rows into runs. */
static void make_runs(struct sb_corr *r)
{
    uint32_t n = 0;
    for (uint32_t row = 0; row < r->rows; row++) {
        uint32_t *end = r->block_end + (size_t)row * r->blocks, last = r->row_ptr[row];
        for (uint32_t b = 0; b < r->blocks; b++)
            last = end[b] = end[b] ? end[b] : last; /* 0: no weight in this block */
    }
    for (uint32_t b = 0; b < r->blocks; b++)
        for (uint32_t p = 0; p < r->parts; p++) {
            uint32_t start = n, from = p * r->part_rows;
            uint32_t to = smaller(from + r->part_rows, r->rows);
            for (uint32_t row = from; row < to; row++) {
                const uint32_t *end = r->block_end + (size_t)row * r->blocks;
                uint32_t first = b == 0 ? r->row_ptr[row] : end[b - 1];
                if (end[b] > first || b == 0 || b + 1 == r->blocks)
                    r->runs[n++] = (struct sb_run){row, first, end[b] - first};
            }
            sort_runs(r->runs + start, n - start);
            r->group_ptr[b * r->parts + p + 1] = n;
        }
}

/* The places of a run's weights, which are the pattern's from first on. */
static void place_run(struct sb_corr *r, const struct sb_conv *c,
                      const struct sb_run *run, const uint32_t *col, uint32_t first)
{
    uint32_t taps = c->kh * c->kw;
    assert(taps > 0);
    for (uint32_t k = 0; k < run->count; k++) {
        uint32_t at = col[first + k], a = at % taps / c->kw, b = at % c->kw;
        r->off[run->first + k] =
            r->sliced ? slice_place(r, c, at / taps, a, b)
                      : (uint16_t)sb_corr_place_forward(r, c, at / taps, a, b);
    }
}

void sb_corr_order_forward(struct sb_corr *r, const struct sb_conv *c,
                           const uint32_t *row_ptr, const uint32_t *col, uint32_t *perm)
{
    uint32_t taps = c->kh * c->kw, n = 0;
    r->nnz = r->placed = row_ptr[c->out];
    r->dense = r->nnz == sb_conv_weights(c);
    r->in_order = perm != NULL;
    memcpy(r->row_ptr, row_ptr, ((size_t)c->out + 1) * sizeof *row_ptr);
    memset(r->block_end, 0, (size_t)r->rows * r->blocks * sizeof *r->block_end);
    for (uint32_t row = 0; row < c->out; row++)
        for (uint32_t k = row_ptr[row]; k < row_ptr[row + 1]; k++)
            note_end(r, k, row, col[k] / taps);
    make_runs(r);
    for (uint32_t i = 0; i < r->group_ptr[(size_t)r->blocks * r->parts]; i++) {
        struct sb_run *run = &r->runs[i];
        uint32_t first = run->first;
        if (perm)
            run->first = n;
        for (uint32_t k = 0; perm && k < run->count; k++)
            perm[n++] = first + k;
        place_run(r, c, run, col, first);
    }
    if (perm && r->edges > 1)
        order_edges(r, c, col, perm);
}

void sb_corr_order_backward(struct sb_corr *r, const struct sb_conv *c,
                            const uint32_t *row_ptr, const uint32_t *col, uint32_t *perm)
{
    struct phase_axis y = phase_axis(c->kh, c->stride, c->pad);
    struct phase_axis x = phase_axis(c->kw, c->stride, c->pad);
    uint32_t taps = c->kh * c->kw, nnz = row_ptr[c->out];
    assert(taps > 0);
    r->nnz = r->placed = nnz;
    r->dense = nnz == sb_conv_weights(c) && r->to.phases == 1;
    memset(r->row_ptr, 0, ((size_t)r->rows + 1) * sizeof *r->row_ptr);
    memset(r->block_end, 0, (size_t)r->rows * r->blocks * sizeof *r->block_end);
    for (int pass = 0; pass < 2; pass++) { /* count, then place: a counting sort by row */
        for (uint32_t from = 0; from < c->out; from++)
            for (uint32_t k = row_ptr[from]; k < row_ptr[from + 1]; k++) {
                uint32_t channel = col[k] / taps;
                uint32_t a = col[k] % taps / c->kw, b = col[k] % c->kw;
                uint32_t fy = a % c->stride, fx = b % c->stride;
                uint32_t row = channel * r->to.phases + fy * c->stride + fx;
                if (pass == 0) {
                    r->row_ptr[row]++;
                    continue;
                }
                int32_t sy = (int32_t)y.lead[fy] - (int32_t)(a / c->stride) - y.lowest;
                int32_t sx = (int32_t)x.lead[fx] - (int32_t)(b / c->stride) - x.lowest;
                uint32_t at = r->row_ptr[row]++;
                perm[at] = k;
                r->off[at] =
                    (uint16_t)strip_place(r, from, 0, (uint32_t)sy, (uint32_t)sx);
                note_end(r, at, row, from);
            }
        /* after pass 0: counts -> starts; after pass 1: ends -> starts again */
        if (pass == 0)
            for (uint32_t row = 0, sum = 0; row <= r->rows; row++) {
                uint32_t n = r->row_ptr[row];
                r->row_ptr[row] = sum;
                sum += n;
            }
    }
    memmove(r->row_ptr + 1, r->row_ptr, r->rows * sizeof *r->row_ptr);
    r->row_ptr[0] = 0;
    make_runs(r);
}
