/* lanes_dense - products with all weights on vectors, for every instruction set that has some.
 *
 * Both loops hold a tile of sums in registers, as many as there is room for beside what they
 * are made of. dense has a few rows times a group of vectors: a vector of the strip serves
 * all rows, a weight, read where it lies and spread over the lanes, the whole group. outer
 * has outputs times columns: one vector of dy serves all columns, one of the strip all outputs.
 * With 16 registers both read 7 vectors for 12 multiply-adds, so loads do not limit them.
 *
 * The order of a sum is that of the weights (dense) or the pixels (outer), whatever the tile.
 */
#ifndef SB_KERNELS_LANES_DENSE_H
#define SB_KERNELS_LANES_DENSE_H

#include "kernels/act.h"
#include "kernels/kernels.h"
#include "kernels/lanes.h"
#include "kernels/lanes_sparse.h"

/* Sums in registers: half as many again as the latency of two multipliers asks for, or twice
 * that where there are 32 registers of a vector each. */
#if defined(__AVX512F__)
enum { TILE_ROWS = 6, OUTER_COLS = 6 };
#else
enum { TILE_ROWS = 3, OUTER_COLS = 3 };
#endif
enum {
    OUTER_OUTS =
        4, /* outputs of a tile of outer; one of dense is SB_GROUP vectors wide */
    LINE_FLOATS = 16,
};

/* ---- forward and input gradient ------------------------------------------------------ */

/* Group g of n rows. */
SB_INLINE void dense_tile(const struct sb_dense_rows *r, uint32_t row, const size_t n,
                          uint32_t g)
{
    const float *strip = r->strip + g * r->pitch;
    const float *w = r->weight + row * r->weight_row;
    float *acc = r->acc + (row - r->row) * r->acc_row + (size_t)g * SB_GROUP * VF_LANES;
    vf a[TILE_ROWS][SB_GROUP];
#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++) {
        float start = r->start ? r->start[row + i] : 0.0f;
#pragma GCC unroll 4
        for (size_t v = 0; v < SB_GROUP; v++)
            a[i][v] =
                r->first ? vf_set(start) : vf_load(acc + i * r->acc_row + v * VF_LANES);
    }
    for (size_t k = 0; k < r->cols; k++, w++) {
        const float *x = strip + r->off[k];
        vf b[TILE_ROWS];
#pragma GCC unroll 8
        for (size_t i = 0; i < n; i++)
            b[i] = vf_set(w[i * r->weight_row]);
#pragma GCC unroll 4
        for (size_t v = 0; v < SB_GROUP; v++) {
            vf xv = vf_load(x + v * VF_LANES);
#pragma GCC unroll 8
            for (size_t i = 0; i < n; i++)
                a[i][v] = vf_fma(b[i], xv, a[i][v]);
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++) {
        if (r->epilogue)
            land_group(r->epilogue, ANY_LANDING, row + (uint32_t)i, g, a[i]);
        else
            store_group(acc + i * r->acc_row, a[i]);
    }
}

/* How many of the rows that are left to take at once: a single one at the end would leave
 * the multipliers waiting for each other. */
SB_INLINE uint32_t rows_at_once(uint32_t left)
{
    if (left > TILE_ROWS && left < 2 * TILE_ROWS)
        return (left + 1) / 2;
    return left < TILE_ROWS ? left : TILE_ROWS;
}

/* Weights of n rows from `row` on: rows are so far apart that no prefetcher follows. */
SB_INLINE void ask_for_rows(const struct sb_dense_rows *r, uint32_t row, uint32_t n)
{
    for (uint32_t i = row; i < row + n; i++)
        for (uint32_t k = 0; k < r->cols + LINE_FLOATS; k += LINE_FLOATS)
            __builtin_prefetch(r->weight + i * r->weight_row + k);
}

/* Fewer rows than a tile has. */
static __attribute__((noinline)) void dense_few(const struct sb_dense_rows *r,
                                                uint32_t row, uint32_t n, uint32_t g)
{
    switch (n) {
    case 1:
        dense_tile(r, row, 1, g);
        break;
    case 2:
        dense_tile(r, row, 2, g);
        break;
#if defined(__AVX512F__)
    case 3:
        dense_tile(r, row, 3, g);
        break;
    case 4:
        dense_tile(r, row, 4, g);
        break;
    case 5:
        dense_tile(r, row, 5, g);
        break;
#endif
    default:
        break;
    }
}

static void dense(const struct sb_dense_rows *r)
{
    uint32_t end = r->row + r->rows;
    for (uint32_t row = r->row, n; row < end; row += n) {
        n = rows_at_once(end - row);
        ask_for_rows(r, row + n, rows_at_once(end - row - n));
        for (uint32_t g = 0; g < r->groups; g++)
            if (n == TILE_ROWS)
                dense_tile(r, row, TILE_ROWS, g);
            else
                dense_few(r, row, n, g);
    }
}

/* ---- weight gradient ----------------------------------------------------------------- */

/* outs outputs and cols columns. Those that a register tile has more repeat the last one,
 * and are dropped. */
SB_INLINE void outer_tile(const struct sb_dense_outer *o, uint32_t out, uint32_t col,
                          const size_t outs, const size_t cols, const int first)
{
    const float *d[OUTER_OUTS], *x[OUTER_COLS];
    vf a[OUTER_OUTS][OUTER_COLS];
    float *acc = o->acc + ((size_t)out * o->cols + col) * SB_PARTIALS;
    const size_t acc_out = (size_t)o->cols * SB_PARTIALS;
#pragma GCC unroll 8
    for (size_t j = 0; j < OUTER_COLS; j++)
        x[j] = o->strip + o->off[col + (j < cols ? j : cols - 1)];
#pragma GCC unroll 8
    for (size_t i = 0; i < OUTER_OUTS; i++) {
        d[i] = o->dy + (out + (i < outs ? i : outs - 1)) * o->dy_out;
#pragma GCC unroll 8
        for (size_t j = 0; j < OUTER_COLS; j++)
            a[i][j] = first || i >= outs || j >= cols
                          ? vf_set(0.0f)
                          : vf_load(acc + i * acc_out + j * SB_PARTIALS);
    }
    for (size_t r = 0; r < o->rows; r++) {
        size_t at_x = o->x_row[r], at_d = o->dy_row[r];
        for (size_t k = 0; k < o->width; k++, at_x += VF_LANES, at_d += VF_LANES) {
            vf xv[OUTER_COLS];
#pragma GCC unroll 8
            for (size_t j = 0; j < OUTER_COLS; j++)
                xv[j] = vf_load(x[j] + at_x);
#pragma GCC unroll 8
            for (size_t i = 0; i < OUTER_OUTS; i++) {
                vf dv = vf_load(d[i] + at_d);
#pragma GCC unroll 8
                for (size_t j = 0; j < OUTER_COLS; j++)
                    a[i][j] = vf_fma(dv, xv[j], a[i][j]);
            }
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < OUTER_OUTS; i++)
#pragma GCC unroll 8
        for (size_t j = 0; j < OUTER_COLS; j++)
            if (i < outs && j < cols)
                vf_store(acc + i * acc_out + j * SB_PARTIALS, a[i][j]);
}

SB_INLINE void outer_tiles(const struct sb_dense_outer *o, const int first)
{
    for (uint32_t out = 0; out < o->outs; out += OUTER_OUTS) {
        uint32_t outs = o->outs - out, col = 0;
        if (outs >= OUTER_OUTS)
            for (; col + OUTER_COLS <= o->cols; col += OUTER_COLS)
                outer_tile(o, out, col, OUTER_OUTS, OUTER_COLS, first);
        for (; col < o->cols; col += OUTER_COLS)
            outer_tile(o, out, col, outs, o->cols - col, first);
    }
}

static void outer(const struct sb_dense_outer *o)
{
    if (o->first)
        outer_tiles(o, 1);
    else
        outer_tiles(o, 0);
}

/* Partial sums are folded eight wide on every instruction set. */
SB_INLINE v8 fold_halves(const float *s)
{
    v8 low, high;
    memcpy(&low, s, sizeof low);
    memcpy(&high, s + SB_PARTIALS / 2, sizeof high);
    return low + high;
}

SB_INLINE float fold_one(const float *s)
{
    v8 h = fold_halves(s);
    return ((h[0] + h[1]) + (h[2] + h[3])) + ((h[4] + h[5]) + (h[6] + h[7]));
}

#if defined(__AVX2__)
/* Neighbours added up, of two sums: those of a in even lanes, those of b in odd ones. */
SB_INLINE v8 add_neighbours(v8 a, v8 b)
{
    __m256 right = _mm256_blend_ps((__m256)b, (__m256)a, 0xaa);
    return (v8)_mm256_blend_ps((__m256)a, (__m256)b, 0xaa) +
           (v8)_mm256_permute_ps(right, 0xb1);
}

/* Four sums, of which the lower and the upper half of the lanes are still to be added. */
SB_INLINE v8 fold_four(const float *s)
{
    v8 a = add_neighbours(fold_halves(s), fold_halves(s + SB_PARTIALS));
    v8 b = add_neighbours(fold_halves(s + 2 * SB_PARTIALS),
                          fold_halves(s + 3 * SB_PARTIALS));
    return (v8)_mm256_blend_ps((__m256)a, (__m256)b, 0xcc) +
           (v8)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x4e);
}

SB_INLINE void fold_eight(const float *s, float *out)
{
    __m256 a = (__m256)fold_four(s), b = (__m256)fold_four(s + 4 * SB_PARTIALS);
    v8 sum =
        (v8)_mm256_permute2f128_ps(a, b, 0x20) + (v8)_mm256_permute2f128_ps(a, b, 0x31);
    memcpy(out, &sum, sizeof sum);
}
#else
SB_INLINE void fold_eight(const float *s, float *out)
{
    for (size_t i = 0; i < 8; i++)
        out[i] = fold_one(s + i * SB_PARTIALS);
}
#endif

static void fold(const float *partial, size_t n, float *out)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        fold_eight(partial + i * SB_PARTIALS, out + i);
    for (; i < n; i++)
        out[i] = fold_one(partial + i * SB_PARTIALS);
}

/* ---- weight gradient of linear layers ------------------------------------------------- */

enum { LEVELS = 4 }; /* of a fold: SB_PARTIALS is 2^LEVELS */

/* The partial sum of images n, n + SB_PARTIALS, ... for rows outputs and a group of inputs. */
SB_INLINE void linear_leaf(const struct sb_dense_linear *l, const float *dy,
                           const float *x, uint32_t n, const size_t rows,
                           vf a[TILE_ROWS][SB_GROUP])
{
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (size_t v = 0; v < SB_GROUP; v++)
            a[i][v] = vf_set(0.0f);
    x += n * l->x_image;
    for (; n < l->images; n += SB_PARTIALS, x += SB_PARTIALS * l->x_image) {
        vf b[TILE_ROWS];
#pragma GCC unroll 8
        for (size_t i = 0; i < rows; i++)
            b[i] = vf_set(dy[i * l->dy_out + n]);
#pragma GCC unroll 4
        for (size_t v = 0; v < SB_GROUP; v++) {
            vf xv = vf_load(x + v * VF_LANES);
#pragma GCC unroll 8
            for (size_t i = 0; i < rows; i++)
                a[i][v] = vf_fma(b[i], xv, a[i][v]);
        }
    }
}

/* rows outputs of a group of inputs. The partial sums come in the order in which fold adds
 * them, so that no more than one of each level waits. */
SB_INLINE void linear_tile(const struct sb_dense_linear *l, uint32_t out, uint32_t col,
                           const size_t rows)
{
    const float *dy = l->dy + out * l->dy_out;
    vf a[TILE_ROWS][SB_GROUP], waits[LEVELS][TILE_ROWS][SB_GROUP];
    for (uint32_t leaf = 0; leaf < SB_PARTIALS; leaf++) {
        uint32_t level = 0;
        linear_leaf(l, dy, l->x + col, leaf / 2 + leaf % 2 * (SB_PARTIALS / 2), rows, a);
        for (; leaf >> level & 1; level++)
#pragma GCC unroll 8
            for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
                for (size_t v = 0; v < SB_GROUP; v++)
                    a[i][v] += waits[level][i][v];
        for (size_t i = 0; i < rows && level < LEVELS; i++)
#pragma GCC unroll 4
            for (size_t v = 0; v < SB_GROUP; v++)
                waits[level][i][v] = a[i][v];
    }
    const size_t cols = l->cols - col;
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        float *to = l->out + (out + i) * l->out_row + col, part[SB_GROUP * VF_LANES];
        float *at = cols < SB_GROUP * VF_LANES ? part : to;
#pragma GCC unroll 4
        for (size_t v = 0; v < SB_GROUP; v++)
            vf_storeu(at + v * VF_LANES, a[i][v]);
        if (at == part)
            memcpy(to, part, cols * sizeof(float));
    }
}

/* Fewer outputs than a tile has. */
static __attribute__((noinline)) void linear_few(const struct sb_dense_linear *l,
                                                 uint32_t out, uint32_t col, uint32_t n)
{
    for (; n > 1; n -= 2, out += 2)
        linear_tile(l, out, col, 2);
    if (n > 0)
        linear_tile(l, out, col, 1);
}

static void linear(const struct sb_dense_linear *l)
{
    for (uint32_t col = 0; col < l->cols; col += SB_GROUP * VF_LANES) {
        uint32_t out = 0;
        for (; out + TILE_ROWS <= l->outs; out += TILE_ROWS)
            linear_tile(l, out, col, TILE_ROWS);
        linear_few(l, out, col, l->outs - out);
    }
}

/* The table's rows that this file fills. */
#define SB_DENSE_ROWS .dense = dense, .outer = outer, .fold = fold, .linear = linear

#endif
