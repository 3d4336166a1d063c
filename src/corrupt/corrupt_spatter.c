/* corrupt_spatter - drops of water (severities 1 to 3) or mud (4 and 5).
 *
 * Blurred noise above a level is liquid. Mud covers. Water shines: its shade comes from how
 * far a pixel is from the outline of a drop, lit from the upper left,
 *
 *     liquid -> outline (Canny) -> distance -> spread over all bytes -> relief -> light
 *
 * with the operators and constants of the program that made CIFAR-10-C: it is OpenCV's Canny
 * with thresholds 50 and 150, its 5 x 5 distances and its histogram equalisation. Values are
 * whole numbers from 0 to 255 wherever that program has bytes.
 */
#include "corrupt/corrupt_parts.h"

#include <math.h>
#include <string.h>

static const struct {
    double size;     /* sd of the blur */
    double strength; /* water: light; mud: sd of the blur of its outline */
    float mean, sd;  /* of the noise, in [0, 1] */
    float level;
    bool mud;
} spatter[SB_SEVERITIES] = {{.7, .5, .62f, .1f, .7f, false},
                            {.8, .5, .65f, .1f, .7f, false},
                            {1, .5, .65f, .3f, .69f, false},
                            {.7, .6, .65f, .1f, .69f, true},
                            {.5, .6, .65f, .1f, .68f, true}};

static const float water[3] = {175, 238, 238}, mud[3] = {63, 42, 20};

void sb_spatter_prepare(struct sb_corrupt_plan *p)
{
    sb_taps_gauss(&p->taps[0], spatter[p->severity].size, 4.0);
    sb_taps_gauss(&p->taps[1], spatter[p->severity].strength, 4.0);
}

/* Of the colour as this image can show it. */
static float shade(const struct sb_canvas *v, const float colour[3], uint32_t c)
{
    float grey = 0.299f * colour[0] + 0.587f * colour[1] + 0.114f * colour[2];
    return v->plan->channels == 3 ? colour[c] : grey;
}

/* ---- outlines ---- */

static const struct sb_tap along_x[] = {{-1, -1, -1}, {-1, 1, 1},  {0, -1, -2},
                                        {0, 1, 2},    {1, -1, -1}, {1, 1, 1}};
static const struct sb_tap along_y[] = {{-1, -1, -1}, {-1, 0, -2}, {-1, 1, -1},
                                        {1, -1, 1},   {1, 0, 2},   {1, 1, 1}};

/* Sobel's gradient, and the sum of the absolute values of its parts. */
static void gradient(const struct sb_canvas *v, const float *plane, float *gx, float *gy,
                     float *size)
{
    sb_filter_stencil(v, SB_BORDER_EDGE, along_x, sizeof along_x / sizeof *along_x, plane,
                      gx);
    sb_filter_stencil(v, SB_BORDER_EDGE, along_y, sizeof along_y / sizeof *along_y, plane,
                      gy);
    for (size_t i = 0; i < v->plan->plane; i++)
        size[i] = fabsf(gx[i]) + fabsf(gy[i]);
}

/* The size of the gradient, 0 outside. */
static float size_at(const struct sb_corrupt_plan *p, const float *size, uint32_t y,
                     int dy, uint32_t x, int dx)
{
    uint32_t row = y + (uint32_t)dy, column = x + (uint32_t)dx; /* -1 wraps: outside */
    return row < p->height && column < p->width ? size[(size_t)row * p->width + column]
                                                : 0.0f;
}

/* Whether a pixel is a ridge across its gradient, which points along a row, along a column
 * or along a diagonal. Of two equal neighbours in a row or column the first one counts. */
static bool is_ridge(const struct sb_corrupt_plan *p, const float *size, uint32_t y,
                     uint32_t x, float gx, float gy)
{
    const float tan_22 = 0.41421356f, tan_67 = 2.41421356f;
    float here = size[(size_t)y * p->width + x], ax = fabsf(gx), ay = fabsf(gy);
    if (ay < tan_22 * ax)
        return here > size_at(p, size, y, 0, x, -1) &&
               here >= size_at(p, size, y, 0, x, 1);
    if (ay > tan_67 * ax)
        return here > size_at(p, size, y, -1, x, 0) &&
               here >= size_at(p, size, y, 1, x, 0);
    int s = (gx < 0.0f) != (gy < 0.0f) ? -1 : 1;
    return here > size_at(p, size, y, -1, x, -s) && here > size_at(p, size, y, 1, x, s);
}

enum { NONE, WEAK, OUTLINE };

/* Weak ridges are outline where they touch it. */
static void follow(const struct sb_canvas *v, size_t waiting)
{
    const struct sb_corrupt_plan *p = v->plan;
    while (waiting > 0) {
        uint32_t i = v->stack[--waiting], y = i / p->width, x = i % p->width;
        for (uint32_t k = 0; k < 9; k++) {
            uint32_t row = y + k / 3 - 1, column = x + k % 3 - 1;
            size_t at = (size_t)row * p->width + column;
            if (row >= p->height || column >= p->width || v->bytes[at] != WEAK)
                continue;
            v->bytes[at] = OUTLINE;
            v->stack[waiting++] = (uint32_t)at;
        }
    }
}

/* bytes = OUTLINE or not, of a plane; uses layers 2 to 4. */
static void outlines(const struct sb_canvas *v, const float *plane)
{
    const struct sb_corrupt_plan *p = v->plan;
    const float low = 50.0f, high = 150.0f;
    float *gx = v->layer[2], *gy = v->layer[3], *size = v->layer[4];
    size_t waiting = 0;
    gradient(v, plane, gx, gy, size);
    for (size_t i = 0; i < p->plane; i++) {
        uint32_t y = (uint32_t)(i / p->width), x = (uint32_t)(i % p->width);
        v->bytes[i] = NONE;
        if (size[i] <= low || !is_ridge(p, size, y, x, gx[i], gy[i]))
            continue;
        v->bytes[i] = size[i] > high ? OUTLINE : WEAK;
        if (v->bytes[i] == OUTLINE)
            v->stack[waiting++] = (uint32_t)i;
    }
    follow(v, waiting);
}

/* ---- distance ---- */

/* Steps of a king and a knight, to pixels seen before in reading order. */
static const struct {
    int dy, dx;
    float length;
} steps[] = {{0, -1, 1.0f},     {-1, 0, 1.0f},    {-1, -1, 1.4f},    {-1, 1, 1.4f},
             {-1, -2, 2.1969f}, {-1, 2, 2.1969f}, {-2, -1, 2.1969f}, {-2, 1, 2.1969f}};
enum { STEPS = sizeof steps / sizeof *steps };

/* to = distance from the outline in bytes, at most 20: once in reading order, once back, in
 * a copy with a margin as wide as a knight's step, so that no step leaves it. */
static void distances(const struct sb_canvas *v, float *to)
{
    const struct sb_corrupt_plan *p = v->plan;
    const float most = 20.0f;
    size_t pitch = p->width + 2 * SB_KNIGHT, all = (p->height + 2 * SB_KNIGHT) * pitch;
    float *first = v->padded + SB_KNIGHT * pitch + SB_KNIGHT;
    for (size_t i = 0; i < all; i++)
        v->padded[i] = most;
    for (size_t i = 0; i < p->plane; i++)
        if (v->bytes[i] == OUTLINE)
            first[i / p->width * pitch + i % p->width] = 0.0f;
    for (ptrdiff_t way = 1; way >= -1; way -= 2)
        for (uint32_t k = 0; k < p->height; k++) {
            float *row = first + (way > 0 ? k : p->height - 1 - k) * pitch;
            for (uint32_t n = 0; n < p->width; n++) {
                float *at = row + (way > 0 ? n : p->width - 1 - n), least = *at;
                for (int s = 0; s < STEPS; s++) {
                    ptrdiff_t step = steps[s].dy * (ptrdiff_t)pitch + steps[s].dx;
                    float d = at[way * step] + steps[s].length;
                    least = d < least ? d : least;
                }
                *at = least;
            }
        }
    for (uint32_t y = 0; y < p->height; y++)
        memcpy(to + (size_t)y * p->width, first + y * pitch, p->width * sizeof *to);
}

/* ---- water ---- */

/* Histogram equalisation of bytes. */
static void equalise(float *plane, size_t n)
{
    uint32_t count[SB_SHADES] = {0}, first = 0, sum = 0;
    float to[SB_SHADES] = {0};
    for (size_t i = 0; i < n; i++)
        count[(uint8_t)plane[i]]++;
    while (count[first] == 0)
        first++;
    if (count[first] == n)
        return;
    float scale = 255.0f / (float)(n - count[first]);
    for (uint32_t k = first + 1; k < SB_SHADES; k++) {
        sum += count[k];
        to[k] = (float)sb_floor((float)sum * scale + 0.5f);
    }
    for (size_t i = 0; i < n; i++)
        plane[i] = to[(uint8_t)plane[i]];
}

static void blur_3x3(const struct sb_canvas *v, float *plane)
{
    struct sb_tap taps[9];
    for (int k = 0; k < 9; k++)
        taps[k] = (struct sb_tap){k / 3 - 1, k % 3 - 1, 1.0f / 9.0f};
    sb_filter_stencil(v, SB_BORDER_REFLECT, taps, 9, plane, plane);
}

/* light = the shine of every pixel, were it liquid. */
static void shine(const struct sb_canvas *v, float *light)
{
    static const struct sb_tap relief[] = {
        {-1, -1, -2.0f}, {-1, 0, -1.0f}, {0, -1, -1.0f}, {0, 0, 1.0f},
        {0, 1, 1.0f},    {1, 0, 1.0f},   {1, 1, 2.0f}};
    size_t n = v->plan->plane;
    distances(v, light);
    blur_3x3(v, light);
    for (size_t i = 0; i < n; i++)
        light[i] = (float)sb_floor(light[i] + 0x1p-10f);
    equalise(light, n);
    sb_filter_stencil(v, SB_BORDER_REFLECT, relief, sizeof relief / sizeof *relief, light,
                      light);
    for (size_t i = 0; i < n; i++)
        light[i] = light[i] < 0.0f ? 0.0f : light[i] > 255.0f ? 255.0f : light[i];
    blur_3x3(v, light);
    for (size_t i = 0; i < n; i++)
        light[i] = (float)sb_floor(light[i] + 0.5f);
}

/* A picture without liquid stays as it is. */
static void paint_water(struct sb_canvas *v, float *liquid)
{
    const struct sb_corrupt_plan *p = v->plan;
    float *light = v->layer[1], most = 0.0f;
    for (size_t i = 0; i < p->plane; i++)
        liquid[i] = (float)sb_floor(liquid[i]);
    outlines(v, liquid);
    shine(v, light);
    for (size_t i = 0; i < p->plane; i++) {
        light[i] *= liquid[i];
        most = light[i] > most ? light[i] : most;
    }
    if (most <= 0.0f)
        return;
    for (uint32_t c = 0; c < p->channels; c++) {
        float scale = (float)spatter[p->severity].strength * shade(v, water, c) / most;
        for (size_t i = 0; i < p->plane; i++)
            v->image[c * p->plane + i] += scale * light[i];
    }
}

static void paint_mud(struct sb_canvas *v, float *liquid)
{
    const struct sb_corrupt_plan *p = v->plan;
    for (size_t i = 0; i < p->plane; i++)
        liquid[i] = liquid[i] > 0.0f ? 1.0f : 0.0f;
    sb_filter_blur(v, 1, SB_BORDER_EDGE, liquid, v->layer[1]);
    for (size_t i = 0; i < p->plane; i++)
        liquid[i] = liquid[i] < 0.8f ? 0.0f : liquid[i];
    for (uint32_t c = 0; c < p->channels; c++) {
        float *x = v->image + c * p->plane, colour = shade(v, mud, c);
        for (size_t i = 0; i < p->plane; i++)
            x[i] += liquid[i] * (colour - x[i]);
    }
}

void sb_spatter_paint(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    uint32_t s = p->severity;
    float *liquid = v->layer[0];
    sb_canvas_normals(v, 0, 255.0f * spatter[s].mean, 255.0f * spatter[s].sd, liquid);
    sb_filter_blur(v, 0, SB_BORDER_EDGE, liquid, v->layer[1]);
    for (size_t i = 0; i < p->plane; i++)
        liquid[i] = liquid[i] < 255.0f * spatter[s].level ? 0.0f : liquid[i];
    if (spatter[s].mud)
        paint_mud(v, liquid);
    else
        paint_water(v, liquid);
}
