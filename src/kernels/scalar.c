/* scalar - the definition of correct.
 *
 * The sparse products are written out here once more, one float at a time, straight from
 * their statement in kernels.h, on eight lanes; every faster table must reproduce these bits. Slow: on a
 * processor without fused multiply-add each fmaf is a library call.
 */
#include "kernels/lanes_elementwise.h"

#include <math.h>
#include <string.h>

/* What row and column of a phase, counted from the tile, show of image block b, in one
 * lane. */
static float pixel(const struct sb_window *w, uint32_t channel, uint32_t phase,
                   uint32_t row, uint32_t col, uint32_t b, int32_t lane)
{
    const struct sb_side *s = w->side;
    int32_t y = (int32_t)(s->step * w->row + w->tile->row_step * row) + s->origin_y[0];
    int32_t x = (int32_t)(s->step * (w->col + col)) + s->origin_x[phase];
    if (s->bands) { /* the row of the whole image, then its band again */
        int32_t height = (int32_t)s->height;
        y += lane * height;
        if (y < 0 || y >= (int32_t)s->bands * height)
            return 0.0f;
        lane = y / height;
        y %= height;
    }
    if (b >= w->blocks || y < 0 || y >= (int32_t)s->height || x < 0 ||
        x >= (int32_t)s->width)
        return 0.0f;
    float z = w->data[b * w->block + channel * w->plane +
                      ((size_t)y * s->width + (size_t)x) * 8 + (size_t)lane];
    if (!w->scale)
        return z;
    z = fmaf(z, w->scale[channel], w->shift[channel]);
    return z < 0.0f ? 0.0f : z;
}

static void pack(const struct sb_window *w, float *strip)
{
    const struct sb_tile *t = w->tile;
    for (uint32_t c = w->channel; c < w->channel_end; c++)
        for (uint32_t row = 0; row < t->strip_rows; row++)
            for (uint32_t f = 0; f < w->side->phases; f++)
                for (uint32_t i = t->phase_col[f] * t->blocks;
                     i < t->phase_col[f + 1] * t->blocks; i++)
                    for (int l = 0; l < 8; l++)
                        *strip++ = pixel(w, c, f, row, i / t->blocks - t->phase_col[f],
                                         i % t->blocks, l);
}

/* One finished sum of a row, i floats from its group's first. */
static void land(const struct sb_epilogue_at *l, uint32_t row, size_t group, size_t i,
                 float sum)
{
    size_t side = row * l->side_plane + group * l->side_pitch + i;
    float *y = l->y + row * l->plane + group * l->pitch + i;
    ptrdiff_t left = l->left[group % 2], right = l->right[group % 2];
    if (l->add)
        sum += l->add[side];
    if (l->sum)
        l->sum[side] = sum;
    if (l->scale)
        sum = fmaf(sum, l->scale[row], l->shift[row]);
    if (l->after)
        sum += l->after[side];
    *y = l->relu && sum < 0.0f ? 0.0f : sum;
    if (left && i / 8 == 0)
        y[left] = l->left_outer ? 0.0f : *y;
    if (right && i / 8 == SB_GROUP - 1)
        y[right] = l->right_outer ? 0.0f : *y;
}

static void accumulate_row(const struct sb_runs *r, const struct sb_run *run,
                           const float *weight, float *acc)
{
    for (size_t i = 0; i < (size_t)r->groups * SB_GROUP * 8; i++) {
        size_t group = i / 32, at = i % 32;
        const float *x = r->strip + group * r->pitch + at / 8 * r->step * 8 + at % 8;
        float sum = !r->first ? acc[i] : r->start ? r->start[run->row] : 0.0f;
        for (size_t k = run->first; k < run->first + run->count; k++)
            sum = fmaf(weight[k], x[r->off[k] * 8], sum);
        if (r->epilogue)
            land(r->epilogue, run->row, group, at, sum);
        else
            acc[i] = sum;
    }
}

static void accumulate(const struct sb_runs *r, const float *weight, float *acc)
{
    size_t floats = (size_t)r->groups * SB_GROUP * 8;
    for (size_t i = 0; i < r->count; i++)
        accumulate_row(r, &r->run[i], weight, acc + (r->run[i].row - r->row0) * floats);
}

/* The sum of one weight over the tile: x is what it meets, d its row of dy. */
static float contract_weight(const struct sb_runs *r, const float *x, const float *d,
                             size_t dy_pitch)
{
    float s[8] = {0};
    size_t each = r->single ? 1 : SB_GROUP;
    for (size_t v = 0; v < r->groups * each; v++) {
        size_t in_group = v % each * r->step * 8;
        const float *xv = x + v / each * r->pitch + in_group;
        const float *dv = d + v / each * dy_pitch + in_group;
        for (size_t l = 0; l < 8; l++)
            s[l] = fmaf(dv[l], xv[l], s[l]);
    }
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

static void contract(const struct sb_runs *r, const float *dy, size_t dy_row,
                     size_t dy_pitch, float *const to[2])
{
    float *gradient = to[0];
    for (size_t i = 0; i < r->count; i++) {
        const struct sb_run *run = &r->run[i];
        const float *d = dy + (run->row - r->row0) * dy_row;
        for (size_t k = run->first; k < run->first + run->count; k++)
            *gradient++ += contract_weight(r, r->strip + r->off[k] * 8, d, dy_pitch);
    }
}

#include "kernels/scalar_dense.h" /* on what is above */

const struct sb_kernels sb_kernels_scalar = {
    .name = "scalar",
    .lanes = 8,
    .pack = pack,
    .accumulate = accumulate,
    .contract = contract,
    .dense = dense,
    .outer = outer,
    .fold = fold,
    .linear = linear,
    SB_ELEMENTWISE_ROWS,
};
