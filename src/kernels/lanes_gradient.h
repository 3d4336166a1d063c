/* lanes_gradient - the weight gradient on vectors, for every instruction set that has some.
 *
 * contract holds the sums of 8 weights in registers and walks the tile, one vector of dy
 * serving all 8: 9 loads for 8 multiply-adds; nothing but the finished sums goes back to
 * memory.
 */
#ifndef SB_KERNELS_LANES_GRADIENT_H
#define SB_KERNELS_LANES_GRADIENT_H

#include "kernels/lanes_sparse.h"

/* A row of dy over the tile. The vectors of a group, there and in the strip, are `step`
 * floats apart; every other one where the tile's image blocks are even and odd ones. */
struct row_dy {
    const float *at;
    size_t pitch, step, vectors; /* of a group */
};

enum { WEIGHTS = 8 }; /* whose sums are in registers */

struct gradients {
    const float *x[WEIGHTS]; /* what each weight meets */
    vf s[WEIGHTS];
};

/* Beyond n < 8 weights, places repeat the last one's. */
SB_INLINE void begin_gradients(struct gradients *g, const struct sb_runs *r,
                               const uint16_t *off, size_t n)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < WEIGHTS; i++) {
        g->x[i] = r->strip + (size_t)off[i < n ? i : n - 1] * VF_LANES;
        g->s[i] = vf_set(0.0f);
    }
}

/* One vector of dy times the first n weights' vectors, `at` floats into them. */
SB_INLINE void add_vector(struct gradients *g, const size_t n, size_t at, vf d)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++)
        g->s[i] = vf_fma(d, vf_load(g->x[i] + at), g->s[i]);
}

SB_INLINE void walk_tile(struct gradients *g, const size_t n, const struct sb_runs *r,
                         const struct row_dy d)
{
    const float *dy = d.at;
    size_t end = r->groups * r->pitch;
    for (size_t at = 0; at < end; at += r->pitch, dy += d.pitch)
#pragma GCC unroll 4
        for (size_t v = 0; v < d.vectors; v++)
            add_vector(g, n, at + v * d.step, vf_load(dy + v * d.step));
}

/* to[part][k] += the sums of weight k, n of them */
SB_INLINE void keep_gradients(const struct gradients *g, size_t n, float *const to[2],
                              size_t at)
{
    struct vf_sums sums = vf_sums(g->s);
#pragma GCC unroll 2
    for (int p = 0; p < VF_LANES / 8; p++)
        if (n >= WEIGHTS)
            v8_addu(to[p] + at, sums.part[p]);
        else
            for (size_t i = 0; i < n; i++)
                to[p][at + i] += sums.part[p][i];
}

SB_INLINE void contract_run(const struct sb_runs *r, const struct sb_run *run,
                            const struct row_dy d, float *const to[2])
{
    const uint16_t *off = r->off + run->first;
    struct gradients g;
    size_t k = 0;
    for (; k + WEIGHTS <= run->count; k += WEIGHTS) {
        begin_gradients(&g, r, off + k, WEIGHTS);
        walk_tile(&g, WEIGHTS, r, d);
        keep_gradients(&g, WEIGHTS, to, k);
    }
    size_t left = run->count - k;
    if (left == 0)
        return;
    begin_gradients(&g, r, off + k, left);
    if (left > WEIGHTS / 2)
        walk_tile(&g, WEIGHTS, r, d);
    else
        walk_tile(&g, WEIGHTS / 2, r, d);
    keep_gradients(&g, left, to, k);
}

/* No prefetcher follows rows that are planes apart. */
SB_INLINE void ask_for_dy(const struct sb_runs *r, const float *dy, size_t pitch,
                          const size_t vectors)
{
    for (uint32_t g = 0; g < r->groups; g++, dy += pitch)
        for (size_t i = 0; i < vectors * VF_LANES; i += LINE)
            __builtin_prefetch(dy + i);
}

SB_INLINE void contract_by(const struct sb_runs *r, const float *dy, size_t dy_row,
                           size_t dy_pitch, float *const to[2], const size_t step,
                           const size_t vectors)
{
    float *at[2] = {to[0], VF_LANES > 8 ? to[1] : NULL};
    for (size_t i = 0; i < r->count; i++) {
        const struct sb_run *run = &r->run[i];
        if (i + 2 < r->count) {
            ask_for_places(r, run + 2);
            ask_for_dy(r, dy + (run[2].row - r->row0) * dy_row, dy_pitch, vectors);
        }
        const struct row_dy d = {dy + (run->row - r->row0) * dy_row, dy_pitch, step,
                                 vectors};
        contract_run(r, run, d, at);
        for (int p = 0; p < VF_LANES / 8; p++)
            at[p] += run->count;
    }
}

static void contract(const struct sb_runs *r, const float *dy, size_t dy_row,
                     size_t dy_pitch, float *const to[2])
{
    if (r->single)
        contract_by(r, dy, dy_row, dy_pitch, to, 0, 1);
    else if (r->step == 2)
        contract_by(r, dy, dy_row, dy_pitch, to, 2 * VF_LANES, SB_GROUP);
    else
        contract_by(r, dy, dy_row, dy_pitch, to, VF_LANES, SB_GROUP);
}

/* The table's rows that this file and those it includes fill. */
#define SB_SPARSE_ROWS .pack = pack, .accumulate = accumulate, .contract = contract

#endif
