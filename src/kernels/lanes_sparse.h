/* lanes_sparse - the sparse products on vectors, for every instruction set that has some.
 *
 * Both loops are bound by loads: each fused multiply-add reads one vector of the strip.
 * accumulate holds a pair of groups (8 vectors of one output row) in registers and adds
 * weights four at a time: their values are one load and four shuffles, their places one
 * load and some shifts, so 34 loads for 32 multiply-adds. Where all weights exist, three
 * rows share a vector of the strip: 7 loads for 12. contract holds the sums of
 * 8 weights in registers and walks the tile, one vector of dy serving all 8: 9 loads for 8,
 * and nothing but the 8 finished sums goes back to memory.
 */
#ifndef SB_KERNELS_LANES_SPARSE_H
#define SB_KERNELS_LANES_SPARSE_H

#include <stdbool.h>

#include "kernels/kernels.h"
#include "kernels/lanes.h"
#include "kernels/lanes_pack.h"

/* ---- forward and input gradient ------------------------------------------------------ */

enum {
    DENSE_ROWS = 3,     /* rows of a layer all of whose weights exist, taken at once */
    AHEAD = 3,          /* runs from asking for what is added to a row to adding it */
    WEIGHTS_AHEAD = 48, /* from asking for weights that follow each other to using them */
    OFFSETS_AHEAD = 64,
};

/* Eight vectors of one output row: a group at x and one at x + pitch. */
struct sums8 {
    v8 a0, a1, a2, a3, a4, a5, a6, a7;
};

/* Eight vectors of the strip, from the place of a weight on: step floats apart, and the
 * second group pitch floats behind the first. */
SB_INLINE void add_weight(struct sums8 *s, const float *strip, size_t off,
                          const size_t step, const size_t pitch, v8 w)
{
    const float *x = strip + off * 8, *y = x + pitch;
    s->a0 = v8_fma(w, v8_load(x), s->a0);
    s->a1 = v8_fma(w, v8_load(x + step), s->a1);
    s->a2 = v8_fma(w, v8_load(x + 2 * step), s->a2);
    s->a3 = v8_fma(w, v8_load(x + 3 * step), s->a3);
    s->a4 = v8_fma(w, v8_load(y), s->a4);
    s->a5 = v8_fma(w, v8_load(y + step), s->a5);
    s->a6 = v8_fma(w, v8_load(y + 2 * step), s->a6);
    s->a7 = v8_fma(w, v8_load(y + 3 * step), s->a7);
}

SB_INLINE void add_weights(struct sums8 *s, const float *strip, const size_t step,
                           const size_t pitch, const uint16_t *off, const float *weight,
                           size_t n)
{
    size_t k = 0;
    for (; k + 4 <= n; k += 4) { /* little-endian, as AVX2 and NEON are here */
        v8 w = v8_quad(weight + k);
        uint64_t at;
        memcpy(&at, off + k, sizeof at);
        add_weight(s, strip, at & 0xffff, step, pitch, v8_of_quad(w, 0));
        add_weight(s, strip, at >> 16 & 0xffff, step, pitch, v8_of_quad(w, 1));
        add_weight(s, strip, at >> 32 & 0xffff, step, pitch, v8_of_quad(w, 2));
        add_weight(s, strip, at >> 48, step, pitch, v8_of_quad(w, 3));
    }
    for (; k < n; k++)
        add_weight(s, strip, off[k], step, pitch, v8_set(weight[k]));
}

SB_INLINE struct sums8 begin_sums(const struct sb_runs *r, uint32_t row, const float *acc,
                                  const int first)
{
    if (first) {
        v8 x = v8_set(r->start ? r->start[row] : 0.0f);
        return (struct sums8){x, x, x, x, x, x, x, x};
    }
    return (struct sums8){v8_load(acc),      v8_load(acc + 8),  v8_load(acc + 16),
                          v8_load(acc + 24), v8_load(acc + 32), v8_load(acc + 40),
                          v8_load(acc + 48), v8_load(acc + 56)};
}

SB_INLINE void store_group(float *to, v8 a, v8 b, v8 c, v8 d)
{
    v8_store(to, a);
    v8_store(to + 8, b);
    v8_store(to + 16, c);
    v8_store(to + 24, d);
}

/* What the loops are built for, so that they need not ask at every row. */
enum landing_kind { TO_ACC, STORED, NORM_RELU, ANY_LANDING };

SB_INLINE enum landing_kind landing_kind(const struct sb_landing *l)
{
    if (!l)
        return TO_ACC;
    if (l->add || l->sum || l->after)
        return ANY_LANDING;
    if (!l->scale && !l->relu)
        return STORED;
    return l->scale && l->relu ? NORM_RELU : ANY_LANDING;
}

/* Four vectors of the output: group g of a row. */
SB_INLINE void land_group(const struct sb_landing *l, const enum landing_kind kind,
                          uint32_t row, uint32_t g, v8 a, v8 b, v8 c, v8 d)
{
    const bool any = kind == ANY_LANDING;
    size_t side = row * l->side_plane + g * l->side_pitch;
    if (any && l->add) {
        const float *x = l->add + side;
        a += v8_load(x), b += v8_load(x + 8), c += v8_load(x + 16), d += v8_load(x + 24);
    }
    if (any && l->sum)
        store_group(l->sum + side, a, b, c, d);
    if (any ? l->scale != NULL : kind == NORM_RELU) {
        v8 m = v8_set(l->scale[row]), n = v8_set(l->shift[row]);
        a = v8_fma(a, m, n), b = v8_fma(b, m, n), c = v8_fma(c, m, n),
        d = v8_fma(d, m, n);
    }
    if (any && l->after) {
        const float *x = l->after + side;
        a += v8_load(x), b += v8_load(x + 8), c += v8_load(x + 16), d += v8_load(x + 24);
    }
    if (any ? l->relu : kind == NORM_RELU)
        a = v8_relu(a), b = v8_relu(b), c = v8_relu(c), d = v8_relu(d);
    float *y = l->y + row * l->plane + g * l->pitch;
    store_group(y, a, b, c, d);
    if (l->left[g % 2])
        v8_store(y + l->left[g % 2], l->left_outer ? v8_set(0.0f) : a);
    if (l->right[g % 2])
        v8_store(y + 24 + l->right[g % 2], l->right_outer ? v8_set(0.0f) : d);
}

/* What is added to a later row: rows are planes apart, which no prefetcher follows. */
SB_INLINE void ask_for_summand(const struct sb_runs *r, const struct sb_run *run,
                               const float *summand)
{
    const float *x = summand + run->row * r->landing->side_plane;
    for (uint32_t g = 0; g < r->groups; g++, x += r->landing->side_pitch) {
        __builtin_prefetch(x); /* four vectors are two cache lines */
        __builtin_prefetch(x + 16);
    }
}

SB_INLINE void ask_for_summands(const struct sb_runs *r, const struct sb_run *run)
{
    if (r->landing && r->landing->add)
        ask_for_summand(r, run, r->landing->add);
    if (r->landing && r->landing->after)
        ask_for_summand(r, run, r->landing->after);
}

/* Groups g and g + 1 of a run. */
SB_INLINE void accumulate_pair(const struct sb_runs *r, const struct sb_run *run,
                               const float *weight, uint32_t g, float *acc,
                               const size_t step, const size_t pitch, const int first,
                               const enum landing_kind kind)
{
    struct sums8 s = begin_sums(r, run->row, acc, first);
    add_weights(&s, r->strip + g * pitch, step, pitch, r->off + run->first,
                weight + run->first, run->count);
    if (kind != TO_ACC) {
        land_group(r->landing, kind, run->row, g, s.a0, s.a1, s.a2, s.a3);
        land_group(r->landing, kind, run->row, g + 1, s.a4, s.a5, s.a6, s.a7);
        return;
    }
    store_group(acc, s.a0, s.a1, s.a2, s.a3);
    store_group(acc + 32, s.a4, s.a5, s.a6, s.a7);
}

/* In the pattern's order, runs lie anywhere, since they are sorted by length. */
SB_INLINE void ask_for_run(const struct sb_runs *r, const struct sb_run *run,
                           const float *weight)
{
    const uint16_t *off = r->off + run->first;
    __builtin_prefetch(off);
    __builtin_prefetch(off + run->count);
    for (size_t k = 0; k < run->count + 16; k += 16)
        __builtin_prefetch(weight + run->first + k);
}

/* In the order of runs, what comes next is known, but not to the processor in time. */
SB_INLINE void ask_for_weights(const struct sb_runs *r, const struct sb_run *run,
                               const float *weight)
{
    const float *next = weight + run->first + WEIGHTS_AHEAD;
    __builtin_prefetch(r->off + run->first + OFFSETS_AHEAD);
    __builtin_prefetch(next);
    if (run->count > 16) /* floats of a cache line */
        __builtin_prefetch(next + 16);
    if (run->count > 32)
        __builtin_prefetch(next + 32);
}

/* One group of n runs with the same places: a vector of the strip serves n weights. */
SB_INLINE void accumulate_rows(const struct sb_runs *r, const struct sb_run *run,
                               const size_t n, const float *weight, uint32_t g,
                               float *acc, const size_t step, const size_t pitch)
{
    const float *strip = r->strip + g * pitch, *w[DENSE_ROWS];
    const uint16_t *off = r->off + run->first;
    size_t floats = (size_t)r->groups * SB_GROUP * 8;
    v8 a[DENSE_ROWS][4];
#pragma GCC unroll 3
    for (size_t i = 0; i < n; i++) {
        const float *from = acc + (run[i].row - r->row0) * floats + g * 32;
        float start = r->start ? r->start[run[i].row] : 0.0f;
        w[i] = weight + run[i].first;
#pragma GCC unroll 4
        for (size_t v = 0; v < 4; v++)
            a[i][v] = r->first ? v8_set(start) : v8_load(from + 8 * v);
    }
    for (size_t k = 0; k < run->count; k++) {
        const float *x = strip + (size_t)off[k] * 8;
        v8 b[DENSE_ROWS];
#pragma GCC unroll 3
        for (size_t i = 0; i < n; i++)
            b[i] = v8_set(w[i][k]);
#pragma GCC unroll 4
        for (size_t v = 0; v < 4; v++) {
            v8 xv = v8_load(x + step * v);
#pragma GCC unroll 3
            for (size_t i = 0; i < n; i++)
                a[i][v] = v8_fma(b[i], xv, a[i][v]);
        }
    }
#pragma GCC unroll 3
    for (size_t i = 0; i < n; i++) {
        if (r->landing)
            land_group(r->landing, ANY_LANDING, run[i].row, g, a[i][0], a[i][1], a[i][2],
                       a[i][3]);
        else
            store_group(acc + (run[i].row - r->row0) * floats + g * 32, a[i][0], a[i][1],
                        a[i][2], a[i][3]);
    }
}

SB_INLINE void accumulate_dense(const struct sb_runs *r, const float *weight, float *acc,
                                const size_t step, const size_t pitch)
{
    size_t i = 0;
    for (; i + DENSE_ROWS <= r->count; i += DENSE_ROWS) {
        for (size_t k = i + DENSE_ROWS; k < i + 2 * DENSE_ROWS && k < r->count; k++)
            ask_for_summands(r, r->run + k);
        for (uint32_t g = 0; g < r->groups; g++)
            accumulate_rows(r, r->run + i, DENSE_ROWS, weight, g, acc, step, pitch);
    }
    for (; i < r->count; i++)
        for (uint32_t g = 0; g < r->groups; g++)
            accumulate_rows(r, r->run + i, 1, weight, g, acc, step, pitch);
}

SB_INLINE void accumulate_runs(const struct sb_runs *r, const float *weight, float *acc,
                               const size_t step, const size_t pitch, const int first,
                               const enum landing_kind kind)
{
    size_t floats = (size_t)r->groups * SB_GROUP * 8;
    for (size_t i = 0; i < r->count; i++) {
        const struct sb_run *run = &r->run[i];
        float *sums = acc + (run->row - r->row0) * floats;
        if (r->in_order)
            ask_for_weights(r, run, weight);
        else if (i + 2 < r->count)
            ask_for_run(r, run + 2, weight);
        if (kind == ANY_LANDING && i + AHEAD < r->count)
            ask_for_summands(r, run + AHEAD);
        accumulate_pair(r, run, weight, 0, sums, step, pitch, first, kind);
        if (r->groups == 4)
            accumulate_pair(r, run, weight, 2, sums + 64, step, pitch, first, kind);
    }
}

SB_INLINE void accumulate_from(const struct sb_runs *r, const float *weight, float *acc,
                               const size_t step, const size_t pitch, const int first)
{
    switch (landing_kind(r->landing)) {
    case TO_ACC:
        accumulate_runs(r, weight, acc, step, pitch, first, TO_ACC);
        break;
    case STORED:
        accumulate_runs(r, weight, acc, step, pitch, first, STORED);
        break;
    case NORM_RELU:
        accumulate_runs(r, weight, acc, step, pitch, first, NORM_RELU);
        break;
    case ANY_LANDING:
        accumulate_runs(r, weight, acc, step, pitch, first, ANY_LANDING);
        break;
    }
}

SB_INLINE void accumulate_by(const struct sb_runs *r, const float *weight, float *acc,
                             const size_t step, const size_t pitch)
{
    if (r->dense)
        accumulate_dense(r, weight, acc, step, pitch);
    else if (r->first)
        accumulate_from(r, weight, acc, step, pitch, 1);
    else
        accumulate_from(r, weight, acc, step, pitch, 0);
}

/* Functions of their own: what is built of all three at once is more than tools that watch
 * every access take. */
#define SB_APART static __attribute__((noinline)) void

/* Eight vectors side by side. */
SB_APART accumulate_row(const struct sb_runs *r, const float *weight, float *acc)
{
    accumulate_by(r, weight, acc, 8, 32);
}

SB_APART accumulate_strided(const struct sb_runs *r, const float *weight, float *acc)
{
    accumulate_by(r, weight, acc, 16, r->pitch);
}

SB_APART accumulate_tile(const struct sb_runs *r, const float *weight, float *acc)
{
    accumulate_by(r, weight, acc, 8, r->pitch);
}

static void accumulate(const struct sb_runs *r, const float *weight, float *acc)
{
    if (r->step == 2)
        accumulate_strided(r, weight, acc);
    else if (r->pitch == 32)
        accumulate_row(r, weight, acc);
    else
        accumulate_tile(r, weight, acc);
}

/* ---- weight gradient ----------------------------------------------------------------- */

/* The sums of eight weights over the tile. */
SB_INLINE v8 contract8(const struct sb_runs *r, const uint16_t off[8], const float *dy,
                       size_t dy_pitch)
{
    const float *x0 = r->strip + (size_t)off[0] * 8, *x1 = r->strip + (size_t)off[1] * 8;
    const float *x2 = r->strip + (size_t)off[2] * 8, *x3 = r->strip + (size_t)off[3] * 8;
    const float *x4 = r->strip + (size_t)off[4] * 8, *x5 = r->strip + (size_t)off[5] * 8;
    const float *x6 = r->strip + (size_t)off[6] * 8, *x7 = r->strip + (size_t)off[7] * 8;
    v8 s0 = v8_set(0.0f), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    size_t end = r->groups * r->pitch;
    for (size_t at = 0; at < end; at += r->pitch, dy += dy_pitch) {
#pragma GCC unroll 4
        for (size_t i = 0; i < 32; i += 8) {
            v8 d = v8_load(dy + i);
            s0 = v8_fma(d, v8_load(x0 + at + i), s0);
            s1 = v8_fma(d, v8_load(x1 + at + i), s1);
            s2 = v8_fma(d, v8_load(x2 + at + i), s2);
            s3 = v8_fma(d, v8_load(x3 + at + i), s3);
            s4 = v8_fma(d, v8_load(x4 + at + i), s4);
            s5 = v8_fma(d, v8_load(x5 + at + i), s5);
            s6 = v8_fma(d, v8_load(x6 + at + i), s6);
            s7 = v8_fma(d, v8_load(x7 + at + i), s7);
        }
    }
    return v8_sums(s0, s1, s2, s3, s4, s5, s6, s7);
}

/* The same for four; the upper half of the result is not used. */
SB_INLINE v8 contract4(const struct sb_runs *r, const uint16_t off[4], const float *dy,
                       size_t dy_pitch)
{
    const float *x0 = r->strip + (size_t)off[0] * 8, *x1 = r->strip + (size_t)off[1] * 8;
    const float *x2 = r->strip + (size_t)off[2] * 8, *x3 = r->strip + (size_t)off[3] * 8;
    v8 s0 = v8_set(0.0f), s1 = s0, s2 = s0, s3 = s0;
    size_t end = r->groups * r->pitch;
    for (size_t at = 0; at < end; at += r->pitch, dy += dy_pitch) {
#pragma GCC unroll 4
        for (size_t i = 0; i < 32; i += 8) {
            v8 d = v8_load(dy + i);
            s0 = v8_fma(d, v8_load(x0 + at + i), s0);
            s1 = v8_fma(d, v8_load(x1 + at + i), s1);
            s2 = v8_fma(d, v8_load(x2 + at + i), s2);
            s3 = v8_fma(d, v8_load(x3 + at + i), s3);
        }
    }
    return v8_sums(s0, s1, s2, s3, s0, s1, s2, s3);
}

/* What is left of a run, n < 8 weights; places beyond n repeat the last one and are
 * dropped. */
SB_INLINE void contract_rest(const struct sb_runs *r, const uint16_t *off, size_t n,
                             const float *dy, size_t dy_pitch, float *g)
{
    uint16_t place[8];
    for (size_t i = 0; i < 8; i++)
        place[i] = off[i < n ? i : n - 1];
    v8 sums =
        n > 4 ? contract8(r, place, dy, dy_pitch) : contract4(r, place, dy, dy_pitch);
    for (size_t i = 0; i < n; i++)
        g[i] += sums[i];
}

static void contract(const struct sb_runs *r, const float *dy, size_t dy_row,
                     size_t dy_pitch, float *gradient)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct sb_run *run = &r->run[i];
        const uint16_t *off = r->off + run->first;
        const float *d = dy + (run->row - r->row0) * dy_row;
        float *g = gradient + run->first;
        size_t k = 0;
        if (i + 2 < r->count) { /* no prefetcher follows rows that are planes apart */
            const float *next = dy + (run[2].row - r->row0) * dy_row;
            ask_for_run(r, run + 2, gradient);
            for (uint32_t j = 0; j < r->groups; j++) {
                __builtin_prefetch(next + j * dy_pitch);
                __builtin_prefetch(next + j * dy_pitch + 16);
            }
        }
        for (; k + 8 <= run->count; k += 8)
            v8_storeu(g + k, v8_loadu(g + k) + contract8(r, off + k, d, dy_pitch));
        if (k < run->count)
            contract_rest(r, off + k, run->count - k, d, dy_pitch, g + k);
    }
}

#endif
