/* lanes_gradient - the weight gradient on vectors, for every instruction set that has some.
 *
 * contract holds the sums of 8 weights in registers and walks the tile, one vector of dy
 * serving all 8: 9 loads for 8 multiply-adds; nothing but the finished sums goes back to
 * memory. Fewer sums would take as long, since each waits for its last multiply-add. So
 * where a run ends, the first weights of the next one fill the registers up, with a vector
 * of another row of dy: 10 loads.
 */
#ifndef SB_KERNELS_LANES_GRADIENT_H
#define SB_KERNELS_LANES_GRADIENT_H

#include "kernels/lanes_sparse.h"

/* How vectors of a row of dy lie over the tile: those of a group, there and in the strip,
 * are `step` floats apart; every other one where the tile's image blocks are even and odd
 * ones. */
struct row_dy {
    size_t pitch, step, vectors; /* of a group */
};

enum { WEIGHTS = 8 }; /* whose sums are in registers */

/* Weights of a run up to its end, or 8 of them; then the first of the next run. */
struct filling {
    const uint16_t *off[2];
    const float *dy[2];
    size_t n[2], last; /* of the second ones: place to repeat */
};

struct gradients {
    const char *x[WEIGHTS]; /* what each weight meets: bytes, as `at` counts them */
    vf s[WEIGHTS];
};

/* n is f->n[0]. Where both runs together have fewer than 8, a place is repeated. */
SB_INLINE void begin_gradients(struct gradients *g, const struct sb_runs *r,
                               const struct filling *f, const size_t n)
{
#pragma GCC unroll 8
    for (size_t i = 0; i < WEIGHTS; i++) {
        size_t k = i - n;
        uint16_t off = i < n ? f->off[0][i] : f->off[1][k < f->n[1] ? k : f->last];
        g->x[i] = (const char *)(r->strip + (size_t)off * VF_LANES);
        g->s[i] = vf_set(0.0f);
    }
}

/* The first n weights meet one row of dy, the others another. */
SB_INLINE void walk_tile(struct gradients *g, const struct sb_runs *r,
                         const struct filling *f, const size_t n, const struct row_dy d)
{
    const float *dy0 = f->dy[0], *dy1 = f->dy[1];
    size_t pitch = r->pitch * sizeof(float), end = r->groups * pitch;
    begin_gradients(g, r, f, n);
    for (size_t at = 0; at < end; at += pitch, dy0 += d.pitch, dy1 += d.pitch) {
        SB_ONE_REGISTER(at);
        SB_ONE_REGISTER(dy0);
        SB_ONE_REGISTER(dy1);
#pragma GCC unroll 4
        for (size_t v = 0; v < d.vectors; v++) {
            vf d0 = vf_load(dy0 + v * d.step);
            vf d1 = n < WEIGHTS ? vf_load(dy1 + v * d.step) : d0;
#pragma GCC unroll 8
            for (size_t i = 0; i < WEIGHTS; i++) {
                const char *x = g->x[i] + at + v * d.step * sizeof(float);
                g->s[i] = vf_fma(i < n ? d0 : d1, vf_load((const float *)x), g->s[i]);
            }
        }
    }
}

SB_INLINE void walk_filled(struct gradients *g, const struct sb_runs *r,
                           const struct filling *f, const struct row_dy d)
{
    switch (f->n[0]) {
    case 1:
        walk_tile(g, r, f, 1, d);
        break;
    case 2:
        walk_tile(g, r, f, 2, d);
        break;
    case 3:
        walk_tile(g, r, f, 3, d);
        break;
    case 4:
        walk_tile(g, r, f, 4, d);
        break;
    case 5:
        walk_tile(g, r, f, 5, d);
        break;
    case 6:
        walk_tile(g, r, f, 6, d);
        break;
    case 7:
        walk_tile(g, r, f, 7, d);
        break;
    default:
        walk_tile(g, r, f, WEIGHTS, d);
    }
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

/* No prefetcher follows rows that are planes apart. */
SB_INLINE void ask_for_dy(const struct sb_runs *r, const float *dy, size_t pitch,
                          const size_t vectors)
{
    for (uint32_t g = 0; g < r->groups; g++, dy += pitch)
        for (size_t i = 0; i < vectors * VF_LANES; i += LINE)
            __builtin_prefetch(dy + i);
}

/* Where contract is: weight k of run i. */
struct cursor {
    size_t i, k;
};

/* To the next run that has weights. */
SB_INLINE void next_run(struct cursor *c, const struct sb_runs *r)
{
    c->k = 0;
    do
        c->i++;
    while (c->i < r->count && r->run[c->i].count == 0);
}

/* Takes up to n weights of the cursor's run. */
SB_INLINE void take(struct filling *f, const int half, size_t n, struct cursor *c,
                    const struct sb_runs *r, const float *dy, size_t dy_row)
{
    const struct sb_run *run = &r->run[c->i];
    size_t left = run->count - c->k;
    f->n[half] = left < n ? left : n;
    f->off[half] = r->off + run->first + c->k;
    f->dy[half] = dy + (run->row - r->row0) * dy_row;
    c->k += f->n[half];
    if (c->k == run->count)
        next_run(c, r);
}

SB_INLINE void contract_by(const struct sb_runs *r, const float *dy, size_t dy_row,
                           size_t dy_pitch, float *const to[2], const size_t step,
                           const size_t vectors)
{
    const struct row_dy d = {dy_pitch, step, vectors};
    struct cursor c = {.i = (size_t)-1};
    next_run(&c, r);
    for (size_t at = 0, asked = 0; c.i < r->count;) {
        for (; asked < c.i + 3 && asked < r->count; asked++) {
            ask_for_places(r, r->run + asked);
            ask_for_dy(r, dy + (r->run[asked].row - r->row0) * dy_row, dy_pitch, vectors);
        }
        struct filling f;
        struct gradients g;
        take(&f, 0, WEIGHTS, &c, r, dy, dy_row);
        f.n[1] = f.last = 0;
        f.off[1] = f.off[0];
        f.dy[1] = f.dy[0];
        if (f.n[0] < WEIGHTS && c.i < r->count) {
            take(&f, 1, WEIGHTS - f.n[0], &c, r, dy, dy_row);
            f.last = f.n[1] - 1;
        }
        walk_filled(&g, r, &f, d);
        keep_gradients(&g, f.n[0] + f.n[1], to, at);
        at += f.n[0] + f.n[1];
    }
}

SB_APART contract_single(const struct sb_runs *r, const float *dy, size_t dy_row,
                         size_t dy_pitch, float *const to[2])
{
    contract_by(r, dy, dy_row, dy_pitch, to, 0, 1);
}

SB_APART contract_strided(const struct sb_runs *r, const float *dy, size_t dy_row,
                          size_t dy_pitch, float *const to[2])
{
    contract_by(r, dy, dy_row, dy_pitch, to, 2 * VF_LANES, SB_GROUP);
}

SB_APART contract_groups(const struct sb_runs *r, const float *dy, size_t dy_row,
                         size_t dy_pitch, float *const to[2])
{
    contract_by(r, dy, dy_row, dy_pitch, to, VF_LANES, SB_GROUP);
}

static void contract(const struct sb_runs *r, const float *dy, size_t dy_row,
                     size_t dy_pitch, float *const to[2])
{
    if (r->single)
        contract_single(r, dy, dy_row, dy_pitch, to);
    else if (r->step == 2)
        contract_strided(r, dy, dy_row, dy_pitch, to);
    else
        contract_groups(r, dy, dy_row, dy_pitch, to);
}

/* The table's rows that this file and those it includes fill. */
#define SB_SPARSE_ROWS .pack = pack, .accumulate = accumulate, .contract = contract

#endif
