/* corrupt_digital - contrast, saturate, pixelate and elastic transform. */
#include "corrupt/corrupt_parts.h"

#include <math.h>
#include <string.h>

/* ---- contrast: towards the mean of each channel ---- */

static const float contrast[SB_SEVERITIES] = {.75f, .5f, .4f, .3f, .15f};

void sb_contrast_paint(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    float keep = contrast[p->severity];
    for (uint32_t c = 0; c < p->channels; c++) {
        float *x = v->image + c * p->plane;
        double sum = 0.0;
        for (size_t i = 0; i < p->plane; i++)
            sum += (double)x[i];
        float mean = (float)(sum / (double)p->plane);
        for (size_t i = 0; i < p->plane; i++)
            x[i] = (x[i] - mean) * keep + mean;
    }
}

/* ---- saturate ---- */

static const struct {
    float scale, more;
} saturate[SB_SEVERITIES] = {{.3f, 0}, {.1f, 0}, {1.5f, 0}, {2, .1f}, {2.5f, .2f}};

/* With hue and value kept, the distances of the channels from the largest one scale with
 * the saturation, 1 - least / most. A grey pixel has the hue of red. */
void sb_saturate_paint(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    float scale = saturate[p->severity].scale, more = saturate[p->severity].more;
    if (p->channels != 3)
        return;
    float *r = v->image, *g = r + p->plane, *b = g + p->plane;
    for (size_t i = 0; i < p->plane; i++) {
        float most = r[i] > g[i] ? r[i] : g[i], least = r[i] < g[i] ? r[i] : g[i];
        most = most > b[i] ? most : b[i];
        least = least < b[i] ? least : b[i];
        float gap = most - least, want = most > 0.0f ? gap / most * scale + more : 0.0f;
        want = (want < 1.0f ? want : 1.0f) * most; /* the new gap */
        if (gap > 0.0f) {
            r[i] = most - (most - r[i]) * want / gap;
            g[i] = most - (most - g[i]) * want / gap;
            b[i] = most - (most - b[i]) * want / gap;
        } else {
            g[i] = b[i] = most - want;
        }
    }
}

/* ---- pixelate: the mean over boxes, then as large as before ---- */

static const double pixelate[SB_SEVERITIES] = {.95, .9, .85, .75, .65};

/* Box i of `boxes` over n pixels: whole pixels, the border rounded. */
static uint32_t box_start(uint32_t i, uint32_t boxes, uint32_t n)
{
    return (uint32_t)((double)i * n / boxes + 0.5);
}

/* to[i * stride] = the rounded mean of box i of from[x * stride], x < n. */
static void box_means(const uint8_t *from, uint8_t *to, uint32_t n, uint32_t boxes,
                      size_t stride)
{
    for (uint32_t i = 0; i < boxes; i++) {
        uint32_t start = box_start(i, boxes, n), end = box_start(i + 1, boxes, n),
                 sum = 0;
        for (uint32_t x = start; x < end; x++)
            sum += from[x * stride];
        to[i * stride] = (uint8_t)((2 * sum + (end - start)) / (2 * (end - start)));
    }
}

/* Rows first and rounded, as Pillow does; then every pixel looks into its box. */
static void pixelate_plane(struct sb_canvas *v, uint32_t high, uint32_t wide,
                           const uint8_t *in, uint8_t *out)
{
    uint32_t height = v->plan->height, width = v->plan->width;
    for (uint32_t y = 0; y < height; y++)
        box_means(in + (size_t)y * width, out + (size_t)y * width, width, wide, 1);
    for (uint32_t x = 0; x < wide; x++)
        box_means(out + x, v->bytes + x, height, high, width);
    for (uint32_t y = 0; y < height; y++) {
        const uint8_t *row =
            v->bytes + (size_t)(((double)y + 0.5) * high / height) * width;
        for (uint32_t x = 0; x < width; x++)
            out[(size_t)y * width + x] = row[(size_t)(((double)x + 0.5) * wide / width)];
    }
}

void sb_pixelate_recode(struct sb_canvas *v, const uint8_t *in, uint8_t *out)
{
    const struct sb_corrupt_plan *p = v->plan;
    uint32_t high = (uint32_t)(p->height * pixelate[p->severity]);
    uint32_t wide = (uint32_t)(p->width * pixelate[p->severity]);
    for (uint32_t c = 0; c < p->channels; c++)
        pixelate_plane(v, high > 0 ? high : 1, wide > 0 ? wide : 1, in + c * p->plane,
                       out + c * p->plane);
}

/* ---- elastic: an affine map of three corners, then a random smooth displacement ---- */

/* In sides of the image: how far pixels move, over what distance that changes, how far
 * corners move. */
static const struct {
    double push, smooth, corner;
} elastic[SB_SEVERITIES] = {
    {0, 0, .08}, {.05, .2, .07}, {.08, .06, .06}, {.1, .04, .05}, {.1, .03, .03}};

static uint32_t short_side(const struct sb_corrupt_plan *p)
{
    return p->height < p->width ? p->height : p->width;
}

void sb_elastic_prepare(struct sb_corrupt_plan *p)
{
    sb_taps_gauss(&p->taps[0], elastic[p->severity].smooth * short_side(p), 3.0);
}

/* x' = m[0] x + m[1] y + m[2], y' = m[3] x + m[4] y + m[5] */
struct affine {
    double m[6];
};

/* The map that takes from[i] to to[i], i < 3; the identity if from has no area. */
static struct affine affine_of(double from[3][2], double to[3][2])
{
    double ux = from[1][0] - from[0][0], uy = from[1][1] - from[0][1];
    double vx = from[2][0] - from[0][0], vy = from[2][1] - from[0][1];
    double area = ux * vy - uy * vx;
    struct affine a = {{1, 0, 0, 0, 1, 0}};
    if (fabs(area) < 1e-6)
        return a;
    for (int k = 0; k < 2; k++) { /* k: x' or y' */
        double du = to[1][k] - to[0][k], dv = to[2][k] - to[0][k];
        double *m = a.m + (size_t)3 * (size_t)k;
        m[0] = (du * vy - dv * uy) / area;
        m[1] = (dv * ux - du * vx) / area;
        m[2] = to[0][k] - m[0] * from[0][0] - m[1] * from[0][1];
    }
    return a;
}

/* Where the corners of a square in the middle come from after each has been pushed. */
static struct affine random_affine(const struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    uint32_t third = short_side(p) / 3, x = p->width / 2, y = p->height / 2;
    double far = elastic[p->severity].corner * short_side(p), reach = third;
    double cx = x, cy = y;
    double corners[3][2] = {
        {cx + reach, cy + reach}, {cx + reach, cy - reach}, {cx - reach, cy - reach}};
    double pushed[3][2];
    float push[6];
    sb_canvas_uniforms(v, 0, 6, push);
    for (int i = 0; i < 6; i++)
        pushed[i / 2][i % 2] = corners[i / 2][i % 2] + far * (double)push[i];
    return affine_of(pushed, corners);
}

/* other = image at the places x[plane], y[plane], between pixels linearly. */
static void sample(struct sb_canvas *v, enum sb_border border, const float *x,
                   const float *y)
{
    const struct sb_corrupt_plan *p = v->plan;
    for (size_t i = 0; i < p->plane; i++) {
        int32_t column = sb_floor(x[i]), row = sb_floor(y[i]);
        float px = x[i] - (float)column, py = y[i] - (float)row;
        size_t left = sb_border_at(border, column, p->width);
        size_t right = sb_border_at(border, column + 1, p->width);
        size_t top = (size_t)sb_border_at(border, row, p->height) * p->width;
        size_t below = (size_t)sb_border_at(border, row + 1, p->height) * p->width;
        for (uint32_t c = 0; c < p->channels; c++) {
            const float *at = v->image + c * p->plane;
            float a = at[top + left] + px * (at[top + right] - at[top + left]);
            float b = at[below + left] + px * (at[below + right] - at[below + left]);
            v->other[c * p->plane + i] = a + py * (b - a);
        }
    }
    memcpy(v->image, v->other, p->channels * p->plane * sizeof *v->image);
}

void sb_elastic_paint(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    float *x = v->layer[0], *y = v->layer[1];
    float push = (float)(elastic[p->severity].push * short_side(p));
    struct affine a = random_affine(v);
    for (size_t i = 0; i < p->plane; i++) {
        size_t row = i / p->width, column = i % p->width;
        x[i] = (float)(a.m[0] * (double)column + a.m[1] * (double)row + a.m[2]);
        y[i] = (float)(a.m[3] * (double)column + a.m[4] * (double)row + a.m[5]);
    }
    sample(v, SB_BORDER_REFLECT, x, y);
    if (push <= 0.0f)
        return;
    sb_canvas_uniforms(v, 1, p->plane, x);
    sb_canvas_uniforms(v, 2, p->plane, y);
    sb_filter_blur(v, 0, SB_BORDER_MIRROR, x, v->layer[2]);
    sb_filter_blur(v, 0, SB_BORDER_MIRROR, y, v->layer[2]);
    for (size_t i = 0; i < p->plane; i++) {
        size_t row = i / p->width, column = i % p->width;
        x[i] = push * x[i] + (float)column;
        y[i] = push * y[i] + (float)row;
    }
    sample(v, SB_BORDER_MIRROR, x, y);
}
