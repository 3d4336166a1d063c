/* corrupt_blur - gaussian, glass, defocus, motion and zoom blur. */
#include "corrupt/corrupt_parts.h"

#include <math.h>
#include <string.h>

static const double gaussian_sd[SB_SEVERITIES] = {.4, .6, .7, .8, 1};

void sb_gaussian_blur_prepare(struct sb_corrupt_plan *p)
{
    sb_taps_gauss(&p->taps[0], gaussian_sd[p->severity], 4.0);
}

void sb_gaussian_blur_paint(struct sb_canvas *v)
{
    for (uint32_t c = 0; c < v->plan->channels; c++)
        sb_filter_blur(v, 0, SB_BORDER_EDGE, v->image + c * v->plan->plane, v->layer[0]);
}

/* ---- glass: blur, let pixels move to a neighbour, blur again ---- */

static const struct {
    double sd;
    uint32_t times;
} glass[SB_SEVERITIES] = {{.05, 1}, {.25, 1}, {.4, 1}, {.25, 2}, {.4, 2}};

void sb_glass_blur_prepare(struct sb_corrupt_plan *p)
{
    sb_taps_gauss(&p->taps[0], glass[p->severity].sd, 4.0);
}

/* Meant as exchanges with the neighbour above, to the left, or both, from the last pixel to
 * the first; but the published sets were made by a program that only takes: there, the
 * second half of an exchange reads what the first has just written. As the places taken
 * from come later, no pixel is taken twice. The first two rows and columns stay. */
static void take_neighbours(struct sb_canvas *v, uint32_t use)
{
    const struct sb_corrupt_plan *p = v->plan;
    struct sb_stream s = sb_canvas_stream(v, use);
    uint32_t word[4] = {0};
    size_t drawn = SIZE_MAX; /* 64 pixels, two bits each, to an element of the stream */
    for (uint32_t y = p->height; y-- > 2;)
        for (uint32_t x = p->width; x-- > 2;) {
            size_t at = (size_t)y * p->width + x, from = at;
            if (at / 64 != drawn)
                sb_rng_bits(&s, drawn = at / 64, word);
            uint32_t bits = word[at % 64 / 16] >> (2 * (at % 16));
            from -= (bits & 1u) + (bits & 2u ? p->width : 0);
            for (uint32_t c = 0; c < p->channels; c++)
                v->image[c * p->plane + at] = v->image[c * p->plane + from];
        }
}

void sb_glass_blur_paint(struct sb_canvas *v)
{
    sb_gaussian_blur_paint(v);
    for (size_t i = 0; i < v->plan->channels * v->plan->plane; i++)
        v->image[i] = (float)sb_floor(v->image[i] + 0x1p-10f);
    for (uint32_t i = 0; i < glass[v->plan->severity].times; i++)
        take_neighbours(v, i);
    sb_gaussian_blur_paint(v);
}

/* ---- defocus: a disk of light, its rim softened ---- */

static const struct {
    double radius, soft;
} defocus[SB_SEVERITIES] = {{.3, .4}, {.4, .5}, {.5, .6}, {1, .2}, {1.5, .1}};

enum { DISK = 2, DISK_SIDE = 2 * DISK + 1 }; /* the largest radius and the rim */

/* Share of the disk that is at (y, x), the rim softened by a 3 x 3 normal density. */
static double disk_at(double radius, double soft, int y, int x)
{
    double side = exp(-0.5 / (soft * soft)),
           all = (1.0 + 2.0 * side) * (1.0 + 2.0 * side);
    double inside = 0.0, here = 0.0;
    for (int i = -DISK; i <= DISK; i++)
        for (int j = -DISK; j <= DISK; j++) {
            if (i * i + j * j > radius * radius)
                continue;
            inside += 1.0;
            if (i - y >= -1 && i - y <= 1 && j - x >= -1 && j - x <= 1)
                here += (i != y ? side : 1.0) * (j != x ? side : 1.0) / all;
        }
    return here / inside;
}

void sb_defocus_blur_paint(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    struct sb_tap taps[DISK_SIDE * DISK_SIDE];
    size_t n = 0;
    for (int y = -DISK; y <= DISK; y++)
        for (int x = -DISK; x <= DISK; x++) {
            double weight =
                disk_at(defocus[p->severity].radius, defocus[p->severity].soft, y, x);
            if (weight > 0.0)
                taps[n++] = (struct sb_tap){y, x, (float)weight};
        }
    for (uint32_t c = 0; c < p->channels; c++) {
        float *plane = v->image + c * p->plane;
        sb_filter_stencil(v, SB_BORDER_REFLECT, taps, n, plane, plane);
    }
}

/* ---- motion ---- */

static const struct {
    uint32_t radius;
    double sd;
} motion[SB_SEVERITIES] = {{6, 1}, {6, 1.5}, {6, 2}, {8, 2}, {9, 2.5}};

void sb_motion_blur_paint(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    struct sb_tap taps[SB_STENCIL_MOST];
    struct sb_stream s = sb_canvas_stream(v, 0);
    double degrees = 90.0 * (double)sb_rng_uniform(&s, 0) - 45.0;
    size_t n = sb_stencil_motion(taps, motion[p->severity].radius, motion[p->severity].sd,
                                 degrees);
    for (uint32_t c = 0; c < p->channels; c++) {
        float *plane = v->image + c * p->plane;
        sb_filter_stencil(v, SB_BORDER_EDGE, taps, n, plane, plane);
    }
}

/* ---- zoom: the mean of the image at rising enlargements, in steps of .01 ---- */

/* The largest factors are meant as 1.05 1.10 ...; where the step does not end there exactly
 * in binary, the published sets have one more. */
static const uint32_t zoom_steps[SB_SEVERITIES] = {7, 12, 16, 21, 26};

void sb_zoom_blur_prepare(struct sb_corrupt_plan *p)
{
    p->zooms = zoom_steps[p->severity];
    for (uint32_t k = 0; k < p->zooms; k++) {
        sb_zoom_set(&p->rows[k], p->height, 1.0 + 0.01 * k);
        sb_zoom_set(&p->columns[k], p->width, 1.0 + 0.01 * k);
    }
}

/* The image itself counts once more. */
void sb_zoom_blur_paint(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    float share = 1.0f / (float)(p->zooms + 1);
    memcpy(v->other, v->image, p->channels * p->plane * sizeof *v->other);
    for (uint32_t c = 0; c < p->channels; c++)
        for (uint32_t k = 0; k < p->zooms; k++)
            sb_filter_zoom(v, k, true, v->other + c * p->plane, v->image + c * p->plane,
                           v->layer[0]);
    for (size_t i = 0; i < p->channels * p->plane; i++)
        v->image[i] *= share;
}
