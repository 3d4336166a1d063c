/* lanes_sparse - forward and input gradient on vectors, for every instruction set that has
 * some; lanes_gradient has the weight gradient.
 *
 * Both loops are bound by loads: each fused multiply-add reads one vector of the strip.
 * accumulate holds a pair of groups (8 vectors of one output row), or with twice the
 * registers four, and adds weights four at a time: on AVX2 their values are one load and
 * four shuffles, their places one load and some shifts, so 34 loads for 32 multiply-adds.
 * Where all weights exist, a few rows share a vector of the strip: 7 loads for 12, or 10
 * for 24.
 */
#ifndef SB_KERNELS_LANES_SPARSE_H
#define SB_KERNELS_LANES_SPARSE_H

#include <stdbool.h>

#include "kernels/kernels.h"
#include "kernels/lanes.h"
#include "kernels/lanes_pack.h"

enum {
#if VF_LANES == 16
    AT_ONCE = 4,    /* groups whose sums are in registers */
    DENSE_ROWS = 6, /* rows of a layer all of whose weights exist, taken at once */
#else
    AT_ONCE = 2,
    DENSE_ROWS = 3,
#endif
    GROUP_FLOATS = SB_GROUP * VF_LANES,
    LINE = 16, /* floats of a cache line */
    OUT_AHEAD = 4,
    AHEAD = 3,          /* runs from asking for what is added to a row to adding it */
    WEIGHTS_AHEAD = 48, /* from asking for weights that follow each other to using them */
    OFFSETS_AHEAD = 64,
};

/* ---- forward and input gradient ------------------------------------------------------ */

/* What becomes of sums. */
enum landing_kind { TO_ACC, STORED, NORM_RELU, ANY_LANDING };

/* What the loops are built for, so that they need not ask at every row. */
struct form {
    uint32_t groups; /* at once */
    size_t step;     /* floats in the strip from a vector of a group to the next */
    size_t pitch;    /* and from a group to the next */
    bool first;      /* sums begin here */
    enum landing_kind kind;
};

/* Vectors of one output row, group by group. */
struct sums {
    vf a[AT_ONCE * SB_GROUP];
};

/* The vectors of the strip that a weight meets, from its place on. */
SB_INLINE void add_weight(struct sums *s, const float *strip, size_t off,
                          const struct form f, vf w)
{
    const bool step_on =
        f.groups > 2; /* more vectors than there are registers for places */
    const float *x = strip + off * VF_LANES;
#pragma GCC unroll 4
    for (size_t g = 0; g < f.groups; g++) {
        const float *at = step_on ? x : x + g * f.pitch;
        if (step_on)
            SB_ONE_REGISTER(at);
#pragma GCC unroll 4
        for (size_t v = 0; v < SB_GROUP; v++) {
            vf *a = &s->a[g * SB_GROUP + v];
            *a = vf_fma(w, vf_load(at + v * f.step), *a);
        }
        x = step_on ? at + f.pitch : x;
    }
}

SB_INLINE void add_weights(struct sums *s, const float *strip, const struct form f,
                           const uint16_t *off, const float *weight, size_t n)
{
    size_t k = 0;
    for (; k + 4 <= n; k += 4) { /* little-endian, as all with vectors are here */
        struct vf_quad w = vf_quad(weight + k);
        uint64_t at;
        memcpy(&at, off + k, sizeof at);
        add_weight(s, strip, at & 0xffff, f, vf_of_quad(w, 0));
        add_weight(s, strip, at >> 16 & 0xffff, f, vf_of_quad(w, 1));
        add_weight(s, strip, at >> 32 & 0xffff, f, vf_of_quad(w, 2));
        add_weight(s, strip, at >> 48, f, vf_of_quad(w, 3));
    }
    for (; k < n; k++)
        add_weight(s, strip, off[k], f, vf_set(weight[k]));
}

SB_INLINE void begin_sums(struct sums *s, const struct sb_runs *r, uint32_t row,
                          const float *acc, const struct form f)
{
    vf start = vf_set(f.first && r->start ? r->start[row] : 0.0f);
#pragma GCC unroll 16
    for (size_t v = 0; v < f.groups * SB_GROUP; v++)
        s->a[v] = f.first ? start : vf_load(acc + v * VF_LANES);
}

SB_INLINE void store_group(float *to, const vf a[SB_GROUP])
{
#pragma GCC unroll 4
    for (size_t v = 0; v < SB_GROUP; v++)
        vf_store(to + v * VF_LANES, a[v]);
}

SB_INLINE void add_group(vf a[SB_GROUP], const float *x)
{
#pragma GCC unroll 4
    for (size_t v = 0; v < SB_GROUP; v++)
        a[v] += vf_load(x + v * VF_LANES);
}

SB_INLINE enum landing_kind landing_kind(const struct sb_epilogue_at *l)
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
SB_INLINE void land_group(const struct sb_epilogue_at *l, const enum landing_kind kind,
                          uint32_t row, size_t g, vf a[SB_GROUP])
{
    const bool any = kind == ANY_LANDING;
    size_t side = row * l->side_plane + g * l->side_pitch;
    if (any && l->add)
        add_group(a, l->add + side);
    if (any && l->sum)
        store_group(l->sum + side, a);
    if (any ? l->scale != NULL : kind == NORM_RELU) {
        vf m = vf_set(l->scale[row]), n = vf_set(l->shift[row]);
#pragma GCC unroll 4
        for (size_t v = 0; v < SB_GROUP; v++)
            a[v] = vf_fma(a[v], m, n);
    }
    if (any && l->after)
        add_group(a, l->after + side);
    if (any ? l->relu : kind == NORM_RELU) {
#pragma GCC unroll 4
        for (size_t v = 0; v < SB_GROUP; v++)
            a[v] = vf_relu(a[v]);
    }
    float *y = l->y + row * l->plane + g * l->pitch;
    store_group(y, a);
    if (l->left[g % 2])
        vf_store(y + l->left[g % 2], l->left_outer ? vf_set(0.0f) : a[0]);
    y += (SB_GROUP - 1) * VF_LANES;
    if (l->right[g % 2])
        vf_store(y + l->right[g % 2], l->right_outer ? vf_set(0.0f) : a[SB_GROUP - 1]);
}

/* What is added to a later row: rows are planes apart, which no prefetcher follows. */
SB_INLINE void ask_for_summand(const struct sb_runs *r, const struct sb_run *run,
                               const float *summand)
{
    const float *x = summand + run->row * r->epilogue->side_plane;
    for (uint32_t g = 0; g < r->groups; g++, x += r->epilogue->side_pitch)
        for (size_t i = 0; i < GROUP_FLOATS; i += LINE)
            __builtin_prefetch(x + i);
}

/* Where a later row is stored: a line that is not there is brought in first, and stores
 * that wait for theirs soon fill their queue. */
SB_INLINE void ask_for_outputs(const struct sb_runs *r, const struct sb_run *run)
{
    const float *y = r->epilogue->y + run->row * r->epilogue->plane;
    for (uint32_t g = 0; g < r->groups; g++, y += r->epilogue->pitch)
        for (size_t i = 0; i < GROUP_FLOATS; i += LINE)
            __builtin_prefetch(y + i, 1);
}

SB_INLINE void ask_for_summands(const struct sb_runs *r, const struct sb_run *run)
{
    if (r->epilogue && r->epilogue->add)
        ask_for_summand(r, run, r->epilogue->add);
    if (r->epilogue && r->epilogue->after)
        ask_for_summand(r, run, r->epilogue->after);
}

/* Groups of a run from g on, as many as the form has. */
SB_INLINE void accumulate_groups(const struct sb_runs *r, const struct sb_run *run,
                                 const float *weight, size_t g, float *acc,
                                 const struct form f)
{
    struct sums s;
    begin_sums(&s, r, run->row, acc, f);
    add_weights(&s, r->strip + g * f.pitch, f, r->off + run->first, weight + run->first,
                run->count);
#pragma GCC unroll 4
    for (size_t i = 0; i < f.groups; i++)
        if (f.kind == TO_ACC)
            store_group(acc + i * GROUP_FLOATS, s.a + i * SB_GROUP);
        else
            land_group(r->epilogue, f.kind, run->row, g + i, s.a + i * SB_GROUP);
}

/* In the pattern's order, runs lie anywhere, since they are sorted by length. */
SB_INLINE void ask_for_places(const struct sb_runs *r, const struct sb_run *run)
{
    const uint16_t *off = r->off + run->first;
    __builtin_prefetch(off);
    __builtin_prefetch(off + run->count);
}

SB_INLINE void ask_for_run(const struct sb_runs *r, const struct sb_run *run,
                           const float *weight)
{
    ask_for_places(r, run);
    for (size_t k = 0; k < run->count + LINE; k += LINE)
        __builtin_prefetch(weight + run->first + k);
}

/* In the order of runs, what comes next is known, but not to the processor in time. */
SB_INLINE void ask_for_weights(const struct sb_runs *r, const struct sb_run *run,
                               const float *weight)
{
    const float *next = weight + run->first + WEIGHTS_AHEAD;
    __builtin_prefetch(r->off + run->first + OFFSETS_AHEAD);
    __builtin_prefetch(next);
    if (run->count > LINE)
        __builtin_prefetch(next + LINE);
    if (run->count > 2 * LINE)
        __builtin_prefetch(next + 2 * LINE);
}

/* One group of n runs with the same places: a vector of the strip serves n weights. */
SB_INLINE void accumulate_rows(const struct sb_runs *r, const struct sb_run *run,
                               const size_t n, const float *weight, size_t g, float *acc,
                               const struct form f)
{
    const float *strip = r->strip + g * f.pitch, *w[DENSE_ROWS];
    const uint16_t *off = r->off + run->first;
    size_t floats = (size_t)r->groups * GROUP_FLOATS;
    vf a[DENSE_ROWS][SB_GROUP];
#pragma GCC unroll 6
    for (size_t i = 0; i < n; i++) {
        const float *from = acc + (run[i].row - r->row0) * floats + g * GROUP_FLOATS;
        float start = r->start ? r->start[run[i].row] : 0.0f;
        w[i] = weight + run[i].first;
#pragma GCC unroll 4
        for (size_t v = 0; v < SB_GROUP; v++)
            a[i][v] = r->first ? vf_set(start) : vf_load(from + v * VF_LANES);
    }
    for (size_t k = 0; k < run->count; k++) {
        const float *x = strip + (size_t)off[k] * VF_LANES;
        vf b[DENSE_ROWS];
#pragma GCC unroll 6
        for (size_t i = 0; i < n; i++)
            b[i] = vf_set(w[i][k]);
#pragma GCC unroll 4
        for (size_t v = 0; v < SB_GROUP; v++) {
            vf xv = vf_load(x + f.step * v);
#pragma GCC unroll 6
            for (size_t i = 0; i < n; i++)
                a[i][v] = vf_fma(b[i], xv, a[i][v]);
        }
    }
#pragma GCC unroll 6
    for (size_t i = 0; i < n; i++)
        if (r->epilogue)
            land_group(r->epilogue, ANY_LANDING, run[i].row, g, a[i]);
        else
            store_group(acc + (run[i].row - r->row0) * floats + g * GROUP_FLOATS, a[i]);
}

SB_INLINE void accumulate_dense(const struct sb_runs *r, const float *weight, float *acc,
                                const struct form f)
{
    size_t i = 0;
    for (; i + DENSE_ROWS <= r->count; i += DENSE_ROWS) {
        for (size_t k = i + DENSE_ROWS; k < i + 2 * DENSE_ROWS && k < r->count; k++)
            ask_for_summands(r, r->run + k);
        for (size_t g = 0; g < r->groups; g++)
            accumulate_rows(r, r->run + i, DENSE_ROWS, weight, g, acc, f);
    }
    for (; i < r->count; i++)
        for (size_t g = 0; g < r->groups; g++)
            accumulate_rows(r, r->run + i, 1, weight, g, acc, f);
}

SB_INLINE void accumulate_runs(const struct sb_runs *r, const float *weight, float *acc,
                               const struct form f)
{
    size_t floats = (size_t)r->groups * GROUP_FLOATS;
    for (size_t i = 0; i < r->count; i++) {
        const struct sb_run *run = &r->run[i];
        float *sums = acc + (run->row - r->row0) * floats;
        if (r->in_order)
            ask_for_weights(r, run, weight);
        else if (i + 2 < r->count)
            ask_for_run(r, run + 2, weight);
        if (f.kind == ANY_LANDING && i + AHEAD < r->count)
            ask_for_summands(r, run + AHEAD);
        if (f.kind != TO_ACC && i + OUT_AHEAD < r->count)
            ask_for_outputs(r, run + OUT_AHEAD);
        for (size_t g = 0; g < r->groups; g += f.groups)
            accumulate_groups(r, run, weight, g, sums + g * GROUP_FLOATS, f);
    }
}

SB_INLINE void accumulate_to(const struct sb_runs *r, const float *weight, float *acc,
                             const struct form f, const bool first,
                             const enum landing_kind kind)
{
    accumulate_runs(r, weight, acc,
                    (struct form){f.groups, f.step, f.pitch, first, kind});
}

SB_INLINE void accumulate_from(const struct sb_runs *r, const float *weight, float *acc,
                               const struct form f, const bool first)
{
    switch (landing_kind(r->epilogue)) {
    case TO_ACC:
        accumulate_to(r, weight, acc, f, first, TO_ACC);
        break;
    case STORED:
        accumulate_to(r, weight, acc, f, first, STORED);
        break;
    case NORM_RELU:
        accumulate_to(r, weight, acc, f, first, NORM_RELU);
        break;
    case ANY_LANDING:
        accumulate_to(r, weight, acc, f, first, ANY_LANDING);
        break;
    }
}

SB_INLINE void accumulate_by(const struct sb_runs *r, const float *weight, float *acc,
                             const uint32_t groups, const size_t step, const size_t pitch)
{
    const struct form f = {.groups = groups, .step = step, .pitch = pitch};
    if (r->first)
        accumulate_from(r, weight, acc, f, true);
    else
        accumulate_from(r, weight, acc, f, false);
}

/* Functions of their own: what is built of all of them at once is more than tools that
 * watch every access take. */
#define SB_APART static __attribute__((noinline)) void

SB_APART accumulate_all(const struct sb_runs *r, const float *weight, float *acc)
{
    if (r->step == 2)
        accumulate_dense(r, weight, acc,
                         (struct form){.step = 2 * VF_LANES, .pitch = r->pitch});
    else
        accumulate_dense(r, weight, acc,
                         (struct form){.step = VF_LANES, .pitch = r->pitch});
}

/* Every other vector. */
SB_APART accumulate_strided(const struct sb_runs *r, const float *weight, float *acc)
{
    accumulate_by(r, weight, acc, 2, 2 * VF_LANES, r->pitch);
}

/* Eight vectors side by side. */
SB_APART accumulate_row(const struct sb_runs *r, const float *weight, float *acc)
{
    accumulate_by(r, weight, acc, 2, VF_LANES, GROUP_FLOATS);
}

SB_APART accumulate_pairs(const struct sb_runs *r, const float *weight, float *acc)
{
    accumulate_by(r, weight, acc, 2, VF_LANES, r->pitch);
}

#if VF_LANES == 16
SB_APART accumulate_group(const struct sb_runs *r, const float *weight, float *acc)
{
    accumulate_by(r, weight, acc, 1, VF_LANES, GROUP_FLOATS);
}

SB_APART accumulate_tile(const struct sb_runs *r, const float *weight, float *acc)
{
    accumulate_by(r, weight, acc, 4, VF_LANES, r->pitch);
}
#endif

static void accumulate(const struct sb_runs *r, const float *weight, float *acc)
{
    if (r->dense)
        accumulate_all(r, weight, acc);
    else if (r->step == 2)
        accumulate_strided(r, weight, acc);
#if VF_LANES == 16
    else if (r->groups == 1)
        accumulate_group(r, weight, acc);
    else if (r->groups == 4)
        accumulate_tile(r, weight, acc);
#endif
    else if (r->pitch == GROUP_FLOATS)
        accumulate_row(r, weight, acc);
    else
        accumulate_pairs(r, weight, acc);
}

#endif
