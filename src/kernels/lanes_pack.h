/* lanes_pack - filling a strip with vectors, for every instruction set that has some. */
#ifndef SB_KERNELS_LANES_PACK_H
#define SB_KERNELS_LANES_PACK_H

#include <stdbool.h>

#include "kernels/kernels.h"
#include "kernels/lanes.h"

/* Strip columns of a phase that lie inside the plane: [lo, hi). */
SB_INLINE void inside(int32_t first, int32_t step, uint32_t size, uint32_t n,
                      uint32_t *lo, uint32_t *hi)
{
    int32_t below = first < 0 ? (-first + step - 1) / step : 0;
    int32_t until = (int32_t)size > first ? ((int32_t)size - first + step - 1) / step : 0;
    *hi = until < (int32_t)n ? (uint32_t)until : n;
    *lo = below < (int32_t)*hi ? (uint32_t)below : *hi;
}

SB_INLINE float *zero_vectors(float *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        vf_store(to + VF_LANES * i, vf_set(0.0f));
    return to + VF_LANES * n;
}

/* What a pixel is made into on its way: itself, or a norm's result with its ReLU. */
struct making {
    bool norm; /* a constant wherever this is inlined */
    vf scale, shift;
};

SB_INLINE struct making making_of(const struct sb_window *w, uint32_t channel,
                                  const bool norm)
{
    return norm ? (struct making){true, vf_set(w->scale[channel]),
                                  vf_set(w->shift[channel])}
                : (struct making){false, vf_set(0.0f), vf_set(0.0f)};
}

SB_INLINE vf make(const float *from, const struct making *m)
{
    vf x = vf_load(from);
    return m->norm ? vf_relu(vf_fma(x, m->scale, m->shift)) : x;
}

/* The columns of one phase: [lo, hi) lie inside the plane, the first of those at `from`. */
struct columns {
    uint32_t lo, hi, all;
    ptrdiff_t from;
};

/* Of all phases: the same for every row and channel of a window. */
SB_INLINE void find_columns(const struct sb_window *w, struct columns c[SB_MAX_STRIDE])
{
    const struct sb_side *s = w->side;
    for (uint32_t f = 0; f < s->phases; f++) {
        int32_t x0 = (int32_t)(s->step * w->col) + s->origin_x[f];
        c[f].all = w->tile->phase_col[f + 1] - w->tile->phase_col[f];
        inside(x0, (int32_t)s->step, s->width, c[f].all, &c[f].lo, &c[f].hi);
        c[f].from = (x0 + (ptrdiff_t)s->step * c[f].lo) * VF_LANES;
    }
}

SB_INLINE float *copy_columns(const float *from, const struct making *m, ptrdiff_t step,
                              uint32_t lo, uint32_t hi, uint32_t all, float *to)
{
    for (uint32_t i = 0; i < all; i++, to += VF_LANES) {
        bool in = i >= lo && i < hi;
        vf_store(to, in ? make(from, m) : vf_set(0.0f));
        from += in ? step : 0;
    }
    return to;
}

/* One row of one phase of one channel. from is the plane's row. */
SB_INLINE float *pack_columns(const struct sb_window *w, const struct columns *c,
                              const struct making *m, const float *from, float *to)
{
    uint32_t nb = w->tile->blocks;
    ptrdiff_t step = (ptrdiff_t)w->side->step * VF_LANES;
    uint32_t lo = c->lo, hi = c->hi, all = c->all;
    from += c->from;
    if (nb == 1) { /* 3x3 kernels with a stride of 2, unrolled; then any */
        if (all == 5 && lo == 0 && hi == 5)
            return copy_columns(from, m, step, 0, 5, 5, to);
        if (all == 5 && lo == 1 && hi == 5)
            return copy_columns(from, m, step, 1, 5, 5, to);
        if (all == 4 && lo == 0 && hi == 4)
            return copy_columns(from, m, step, 0, 4, 4, to);
        return copy_columns(from, m, step, lo, hi, all, to);
    }
    to = zero_vectors(to, (size_t)lo * nb);
    for (uint32_t i = lo; i < hi; i++, from += step) {
        for (uint32_t b = 0; b < w->blocks; b++, to += VF_LANES)
            vf_store(to, make(from + b * w->block, m));
        to = zero_vectors(to, nb - w->blocks);
    }
    return zero_vectors(to, (size_t)(all - hi) * nb);
}

SB_INLINE float *pack_row(const struct sb_window *w, const struct columns *c,
                          const struct making *m, const float *from, float *to)
{
    for (uint32_t f = 0; f < w->side->phases; f++)
        to = pack_columns(w, &c[f], m, from, to);
    return to;
}

/* A row beyond the plane: nothing, or, of an image in bands, a row of another lane. */
static float *pack_beyond(const struct sb_window *w, const struct columns *c,
                          const float *plane, int32_t y, float *to)
{
    const struct sb_side *s = w->side;
    size_t vectors = (size_t)w->tile->strip_cols * w->tile->blocks;
    int32_t height = (int32_t)s->height;
    if (s->bands == 0)
        return zero_vectors(to, vectors);
    int32_t by = y < 0 ? -((height - 1 - y) / height) : y / height;
    const struct making as_it_is = {.norm = false}; /* bands only predict */
    (void)pack_row(w, c, &as_it_is,
                   plane + (size_t)(y - by * height) * s->width * VF_LANES, to);
    for (size_t i = 0; i < vectors; i++)
        vf_store(to + VF_LANES * i,
                 vf_lanes_from(vf_load(to + VF_LANES * i), by, (int32_t)s->bands));
    return to + VF_LANES * vectors;
}

/* One plane, where a tile is one image block and the stride is 1: rows [top, bottom) of the
 * strip and columns [lo, hi) lie inside the plane. from is where row 0, column 0 would be. */
SB_INLINE float *pack_plane(const float *from, const struct making *m, size_t row,
                            uint32_t rows, uint32_t cols, uint32_t top, uint32_t bottom,
                            uint32_t lo, uint32_t hi, float *to)
{
    to = zero_vectors(to, (size_t)top * cols);
    from += top * row;
    for (uint32_t r = top; r < bottom; r++, from += row, to += VF_LANES * (size_t)cols) {
        for (size_t c = 0; c < lo; c++)
            vf_store(to + VF_LANES * c, vf_set(0.0f));
        for (size_t c = lo; c < hi; c++)
            vf_store(to + VF_LANES * c, make(from + VF_LANES * c, m));
        for (size_t c = hi; c < cols; c++)
            vf_store(to + VF_LANES * c, vf_set(0.0f));
    }
    return zero_vectors(to, (size_t)(rows - bottom) * cols);
}

SB_INLINE void pack_simple(const struct sb_window *w, float *strip, const bool norm)
{
    const struct sb_side *s = w->side;
    uint32_t rows = w->tile->strip_rows, cols = w->tile->strip_cols, top, bottom;
    struct columns all[SB_MAX_STRIDE];
    find_columns(w, all);
    uint32_t lo = all[0].lo, hi = all[0].hi;
    int32_t x0 = (int32_t)w->col + s->origin_x[0], y0 = (int32_t)w->row + s->origin_y[0];
    ptrdiff_t first = ((ptrdiff_t)y0 * (ptrdiff_t)s->width + x0) * VF_LANES;
    size_t row = s->width * (size_t)VF_LANES;
    inside(y0, 1, s->height, rows, &top, &bottom);
    for (uint32_t c = w->channel; c < w->channel_end; c++) {
        const float *from = w->data + c * w->plane + first;
        const struct making m = making_of(w, c, norm);
        float *plane = strip;
        /* 3x3 kernels, unrolled: away from the sides, and at one or both of them */
        if (cols == 6 && lo == 0 && hi == 6)
            strip = pack_plane(from, &m, row, rows, 6, top, bottom, 0, 6, strip);
        else if (cols == 6 && lo == 1 && hi == 6)
            strip = pack_plane(from, &m, row, rows, 6, top, bottom, 1, 6, strip);
        else if (cols == 6 && lo == 0 && hi == 5)
            strip = pack_plane(from, &m, row, rows, 6, top, bottom, 0, 5, strip);
        else if (cols == 4 && lo == 0 && hi == 4)
            strip = pack_plane(from, &m, row, rows, 4, top, bottom, 0, 4, strip);
        else
            strip = pack_plane(from, &m, row, rows, cols, top, bottom, lo, hi, strip);
        for (uint32_t r = 0; s->bands && r < rows; r++)
            if (r < top || r >= bottom)
                (void)pack_beyond(w, all, w->data + c * w->plane, y0 + (int32_t)r,
                                  plane + (size_t)r * cols * VF_LANES);
    }
}

SB_INLINE void pack_any(const struct sb_window *w, float *strip, const bool norm)
{
    const struct sb_side *s = w->side;
    const struct sb_tile *t = w->tile;
    struct columns all[SB_MAX_STRIDE];
    find_columns(w, all);
    for (uint32_t c = w->channel; c < w->channel_end; c++) {
        const float *plane = w->data + c * w->plane;
        const struct making m = making_of(w, c, norm);
        int32_t y = (int32_t)(s->step * w->row) + s->origin_y[0];
        for (uint32_t r = 0; r < t->strip_rows; r++, y += (int32_t)t->row_step)
            strip = y < 0 || y >= (int32_t)s->height
                        ? pack_beyond(w, all, plane, y, strip)
                        : pack_row(w, all, &m, plane + (size_t)y * s->width * VF_LANES,
                                   strip);
    }
}

static void pack(const struct sb_window *w, float *strip)
{
    bool simple = w->tile->blocks == 1 && w->side->step == 1;
    if (simple && w->scale)
        pack_simple(w, strip, true);
    else if (simple)
        pack_simple(w, strip, false);
    else if (w->scale)
        pack_any(w, strip, true);
    else
        pack_any(w, strip, false);
}

#endif
