/* corrupt_filter - blurs, stencils and zooms of one plane, see corrupt_parts.h.
 *
 * Every inner loop runs along a row with unit stride and no condition, for the compiler to
 * make vectors of: what lies beyond a row's ends is copied beside it first, and rows beyond
 * the top and bottom are found by index.
 */
#include "corrupt/corrupt_parts.h"

#include <assert.h>
#include <math.h>

uint32_t sb_border_at(enum sb_border border, int32_t i, uint32_t n)
{
    int32_t last = (int32_t)n - 1;
    if (i >= 0 && i <= last)
        return (uint32_t)i;
    if (border == SB_BORDER_EDGE || last == 0)
        return i < 0 ? 0 : (uint32_t)last;
    bool mirror = border == SB_BORDER_MIRROR;
    int32_t period = mirror ? 2 * (int32_t)n : 2 * last;
    i %= period;
    i = i < 0 ? i + period : i;
    return (uint32_t)(i <= last ? i : period - (mirror ? 1 : 0) - i);
}

void sb_taps_gauss(struct sb_taps *t, double sd, double cut)
{
    double sum = 0.0;
    t->radius = (uint32_t)(cut * sd + 0.5);
    for (uint32_t i = 0; i <= 2 * t->radius; i++) {
        double d = (double)i - (double)t->radius;
        double weight = sd > 0.0 ? exp(-0.5 * d * d / (sd * sd)) : 1.0;
        t->weight[i] = (float)weight;
        sum += weight;
    }
    for (uint32_t i = 0; i <= 2 * t->radius; i++)
        t->weight[i] = (float)((double)t->weight[i] / sum);
}

/* to[-reach .. width + reach) = the row and what lies beside it. */
static void pad_row(enum sb_border border, const float *row, uint32_t width,
                    uint32_t reach, float *to)
{
    for (uint32_t x = 0; x < reach; x++) {
        to[x] = row[sb_border_at(border, (int32_t)x - (int32_t)reach, width)];
        to[reach + width + x] = row[sb_border_at(border, (int32_t)(width + x), width)];
    }
    for (uint32_t x = 0; x < width; x++)
        to[reach + x] = row[x];
}

/* to += weight * from, or = for the first of several. */
static void add_row(float *restrict to, const float *restrict from, float weight,
                    uint32_t n, bool first)
{
    if (first)
        for (uint32_t x = 0; x < n; x++)
            to[x] = weight * from[x];
    else
        for (uint32_t x = 0; x < n; x++)
            to[x] += weight * from[x];
}

void sb_filter_blur(const struct sb_canvas *v, uint32_t k, enum sb_border border,
                    float *plane, float *temp)
{
    const struct sb_taps *t = &v->plan->taps[k];
    uint32_t height = v->plan->height, width = v->plan->width, n = 2 * t->radius + 1;
    assert(t->radius <= v->plan->radius);
    if (t->radius == 0)
        return;
    for (uint32_t y = 0; y < height; y++) {
        pad_row(border, plane + (size_t)y * width, width, t->radius, v->line);
        for (uint32_t i = 0; i < n; i++)
            add_row(temp + (size_t)y * width, v->line + i, t->weight[i], width, i == 0);
    }
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t i = 0; i < n; i++) {
            int32_t from = (int32_t)(y + i) - (int32_t)t->radius;
            add_row(plane + (size_t)y * width,
                    temp + (size_t)sb_border_at(border, from, height) * width,
                    t->weight[i], width, i == 0);
        }
}

void sb_filter_stencil(const struct sb_canvas *v, enum sb_border border,
                       const struct sb_tap *taps, size_t n, const float *plane,
                       float *out)
{
    uint32_t height = v->plan->height, width = v->plan->width;
    uint32_t reach = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t dx = (uint32_t)(taps[i].dx < 0 ? -taps[i].dx : taps[i].dx);
        reach = dx > reach ? dx : reach;
    }
    assert(reach <= SB_REACH);
    size_t pitch = width + 2 * reach;
    for (uint32_t y = 0; y < height; y++)
        pad_row(border, plane + (size_t)y * width, width, reach, v->padded + y * pitch);
    for (uint32_t y = 0; y < height; y++)
        for (size_t i = 0; i < n; i++) {
            size_t row = sb_border_at(border, (int32_t)y + taps[i].dy, height);
            const float *from = v->padded + row * pitch + (int32_t)reach + taps[i].dx;
            add_row(out + (size_t)y * width, from, taps[i].weight, width, i == 0);
        }
}

/* Offsets round halves down, and the trail runs to one side only: so does ImageMagick, with
 * which CIFAR-10-C was made. Taps too faint to change a byte are left out. */
size_t sb_stencil_motion(struct sb_tap taps[SB_STENCIL_MOST], uint32_t radius, double sd,
                         double degrees)
{
    const double turn = degrees * 3.14159265358979323846 / 180.0, faint = 1e-5;
    double sum = 0.0;
    size_t n = 0;
    for (uint32_t i = 0; i <= 2 * radius && n < SB_STENCIL_MOST; i++) {
        double weight = exp(-0.5 * i * i / (sd * sd));
        if (weight < faint)
            break;
        taps[n++] = (struct sb_tap){.dy = (int32_t)ceil(i * sin(turn) - 0.5),
                                    .dx = (int32_t)ceil(i * cos(turn) - 0.5),
                                    .weight = (float)weight};
        sum += weight;
    }
    for (size_t i = 0; i < n; i++)
        taps[i].weight = (float)((double)taps[i].weight / sum);
    return n;
}

/* The crop is enlarged so that its outermost pixels stay the outermost; what is then too
 * much is trimmed off evenly. */
void sb_zoom_set(struct sb_zoom *z, uint32_t n, double factor)
{
    uint32_t crop = (uint32_t)ceil((double)n / factor), top = (n - crop) / 2;
    uint32_t large = (uint32_t)lround((double)crop * factor);
    uint32_t trim = large > n ? (large - n) / 2 : 0;
    double step = large > 1 ? (double)(crop - 1) / (double)(large - 1) : 0.0;
    for (uint32_t i = 0; i < n; i++) {
        double at = (double)(i + trim) * step;
        uint32_t low = (uint32_t)at;
        low = low < crop ? low : crop - 1;
        z->low[i] = top + low;
        z->high[i] = top + (low + 1 < crop ? low + 1 : low);
        z->part[i] = (float)(at - (double)low);
    }
}

void sb_filter_zoom(const struct sb_canvas *v, uint32_t k, bool add, const float *plane,
                    float *out, float *temp)
{
    const struct sb_zoom *rows = &v->plan->rows[k], *columns = &v->plan->columns[k];
    uint32_t height = v->plan->height, width = v->plan->width;
    for (uint32_t y = 0; y < height; y++) {
        const float *low = plane + (size_t)rows->low[y] * width;
        const float *high = plane + (size_t)rows->high[y] * width;
        float part = rows->part[y], *to = out + (size_t)y * width;
        for (uint32_t x = 0; x < width; x++)
            temp[x] = low[x] + part * (high[x] - low[x]);
        for (uint32_t x = 0; x < width; x++) {
            float a = temp[columns->low[x]], b = temp[columns->high[x]];
            float value = a + columns->part[x] * (b - a);
            to[x] = add ? to[x] + value : value;
        }
    }
}
