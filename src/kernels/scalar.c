/* scalar - the definition of correct.
 *
 * The sparse products are written out here once more, one float at a time, straight from
 * their statement in kernels.h; every faster table must reproduce these bits. Slow: on a
 * processor without fused multiply-add each fmaf is a library call.
 */
#include "kernels/lanes_elementwise.h"

#include <math.h>
#include <string.h>

/* What strip place (row, col) of a phase shows of image block b, in one lane. */
static float pixel(const struct sb_window *w, uint32_t channel, uint32_t phase,
                   uint32_t row, uint32_t col, uint32_t b, int32_t lane)
{
    const struct sb_side *s = w->side;
    int32_t y = (int32_t)(s->step * (w->row + row)) + s->origin_y[phase];
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
    return w->data[b * w->block + channel * w->plane +
                   ((size_t)y * s->width + (size_t)x) * 8 + (size_t)lane];
}

static void pack(const struct sb_window *w, float *strip)
{
    const struct sb_tile *t = w->tile;
    for (uint32_t c = w->channel; c < w->channel_end; c++)
        for (uint32_t f = 0; f < w->side->phases; f++)
            for (uint32_t i = 0; i < t->strip_rows * t->strip_cols * t->blocks; i++) {
                uint32_t col = i / t->blocks % t->strip_cols;
                uint32_t row = i / t->blocks / t->strip_cols;
                for (int l = 0; l < 8; l++)
                    *strip++ = pixel(w, c, f, row, col, i % t->blocks, l);
            }
}

static void accumulate(const struct sb_runs *r, const float *weight, float *acc)
{
    size_t vectors = (size_t)r->groups * SB_GROUP;
    for (size_t i = 0; i < r->count; i++) {
        const struct sb_run *run = &r->run[i];
        float *row = acc + (run->row - r->row0) * vectors * 8;
        for (size_t k = run->first; k < run->first + run->count; k++)
            for (size_t v = 0; v < vectors; v++) {
                const float *x = r->strip + r->off[k] * 8 + v / 4 * r->pitch + v % 4 * 8;
                for (size_t l = 0; l < 8; l++)
                    row[8 * v + l] = fmaf(weight[k], x[l], row[8 * v + l]);
            }
    }
}

static void contract(const struct sb_runs *r, const float *dy, size_t dy_row,
                     size_t dy_pitch, float *gradient)
{
    size_t vectors = (size_t)r->groups * SB_GROUP;
    for (size_t i = 0; i < r->count; i++) {
        const struct sb_run *run = &r->run[i];
        const float *row = dy + (run->row - r->row0) * dy_row;
        for (size_t k = run->first; k < run->first + run->count; k++) {
            float s[8] = {0};
            for (size_t v = 0; v < vectors; v++) {
                const float *x = r->strip + r->off[k] * 8 + v / 4 * r->pitch + v % 4 * 8;
                const float *d = row + v / 4 * dy_pitch + v % 4 * 8;
                for (size_t l = 0; l < 8; l++)
                    s[l] = fmaf(d[l], x[l], s[l]);
            }
            gradient[k] +=
                ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
        }
    }
}

const struct sb_kernels sb_kernels_scalar = {
    .name = "scalar",
    .pack = pack,
    .accumulate = accumulate,
    .contract = contract,
    SB_ELEMENTWISE_ROWS,
};
