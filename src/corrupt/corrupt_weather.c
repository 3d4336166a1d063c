/* corrupt_weather - snow, frost, fog and brightness.
 *
 * Fog and frost are clouds of light: a plasma by diamond and square. Published frost is cut
 * out of photographs; here it is grown: needles of ice in the three directions of its
 * crystals, 60 degrees apart, brighter where a plasma says that there is more of it.
 */
#include "corrupt/corrupt_parts.h"

#include <math.h>

/* ---- snow: flakes in flight, and a paler picture ---- */

static const struct {
    float mean, sd; /* of the noise that flakes are made of, in [0, 1] */
    double zoom;    /* their size */
    float least;    /* what is darker is no flake */
    uint32_t radius;
    double trail; /* motion */
    float keep;   /* share of the picture's own contrast */
} snow[SB_SEVERITIES] = {{.1f, .2f, 1, .6f, 8, 3, .95f},
                         {.1f, .2f, 1, .5f, 10, 4, .9f},
                         {.15f, .3f, 1.75, .55f, 10, 4, .9f},
                         {.25f, .3f, 2.25, .6f, 12, 6, .85f},
                         {.3f, .3f, 1.25, .65f, 14, 12, .8f}};

void sb_snow_prepare(struct sb_corrupt_plan *p)
{
    sb_zoom_set(&p->rows[0], p->height, snow[p->severity].zoom);
    sb_zoom_set(&p->columns[0], p->width, snow[p->severity].zoom);
}

/* layer 0 = the flakes, 0 to 255. */
static void snow_flakes(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    uint32_t s = p->severity;
    float *flakes = v->layer[0], *noise = v->layer[1];
    struct sb_tap taps[SB_STENCIL_MOST];
    struct sb_stream wind = sb_canvas_stream(v, 1);
    double degrees = 90.0 * (double)sb_rng_uniform(&wind, 0) - 135.0;
    sb_canvas_normals(v, 0, 255.0f * snow[s].mean, 255.0f * snow[s].sd, noise);
    sb_filter_zoom(v, 0, false, noise, flakes, v->layer[2]);
    for (size_t i = 0; i < p->plane; i++) {
        float value = flakes[i] < 255.0f * snow[s].least ? 0.0f : flakes[i];
        flakes[i] = value < 255.0f ? value : 255.0f;
    }
    size_t n = sb_stencil_motion(taps, snow[s].radius, snow[s].trail, degrees);
    sb_filter_stencil(v, SB_BORDER_EDGE, taps, n, flakes, flakes);
}

/* Each flake also falls at the place turned by 180 degrees. */
void sb_snow_paint(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    float keep = snow[p->severity].keep, *flakes = v->layer[0], *pale = v->layer[1];
    snow_flakes(v);
    for (size_t i = 0; i < p->plane; i++)
        pale[i] = 1.5f * sb_canvas_grey(v, i) + 127.5f;
    for (uint32_t c = 0; c < p->channels; c++) {
        float *x = v->image + c * p->plane;
        for (size_t i = 0; i < p->plane; i++) {
            float paler = x[i] > pale[i] ? x[i] : pale[i];
            x[i] = keep * x[i] + (1.0f - keep) * paler + flakes[i] +
                   flakes[p->plane - 1 - i];
        }
    }
}

/* ---- plasma ---- */

struct plasma {
    float *map;        /* [side][side], wraps around */
    const float *wild; /* [side][side] uniform in [-1, 1), one number a point */
    uint32_t side;
    float sway; /* how far a point may be from the mean of its four neighbours */
};

/* The point (y, x) from those at +-dy and +-dx, or at its corners. */
static void sway(const struct plasma *m, uint32_t y, uint32_t x, uint32_t step,
                 bool corners)
{
    uint32_t mask = m->side - 1, up = (y - step) & mask, down = (y + step) & mask;
    uint32_t left = (x - step) & mask, right = (x + step) & mask;
    const float *map = m->map;
    size_t n = m->side, at = y * n + x;
    float sum = corners ? map[up * n + left] + map[up * n + right] +
                              map[down * n + left] + map[down * n + right]
                        : map[up * n + x] + map[down * n + x] + map[y * n + left] +
                              map[y * n + right];
    m->map[at] = 0.25f * sum + m->sway * m->wild[at];
}

/* One round: centres of the squares, then the middles of their sides. */
static void refine(const struct plasma *m, uint32_t step)
{
    uint32_t half = step / 2;
    for (uint32_t y = half; y < m->side; y += step)
        for (uint32_t x = half; x < m->side; x += step)
            sway(m, y, x, half, true);
    for (uint32_t y = 0; y < m->side; y += step)
        for (uint32_t x = 0; x < m->side; x += step) {
            sway(m, y, x + half, half, false);
            sway(m, y + half, x, half, false);
        }
}

/* map[side][side] in [0, 1]: a cloud by diamond and square, rough if decay is small; use
 * is sb_canvas_stream's. */
static void plasma(struct sb_canvas *v, uint32_t use, float decay, float *map)
{
    size_t n = (size_t)v->plan->side * v->plan->side;
    float *wild = v->plasma + n, low = 0.0f, high = 0.0f;
    sb_canvas_uniforms(v, use, n, wild);
    struct plasma m = {map, wild, v->plan->side, 1.0f};
    map[0] = 0.0f;
    for (uint32_t step = m.side; step >= 2; step /= 2) {
        refine(&m, step);
        m.sway /= decay * decay;
    }
    for (size_t i = 0; i < n; i++) {
        low = map[i] < low ? map[i] : low;
        high = map[i] > high ? map[i] : high;
    }
    for (size_t i = 0; i < n; i++)
        map[i] = high > low ? (map[i] - low) / (high - low) : 0.0f;
}

/* ---- fog ---- */

static const struct {
    float amount, decay;
} fog[SB_SEVERITIES] = {{.2f, 3}, {.5f, 3}, {.75f, 2.5f}, {1, 2}, {1.5f, 1.75f}};

/* Adds the cloud and scales back, so that the brightest pixel of old stays in range. */
void sb_fog_paint(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    float amount = 255.0f * fog[p->severity].amount, most = 0.0f;
    for (size_t i = 0; i < p->channels * p->plane; i++)
        most = v->image[i] > most ? v->image[i] : most;
    float scale = most / (most + amount);
    plasma(v, 0, fog[p->severity].decay, v->plasma);
    for (uint32_t c = 0; c < p->channels; c++)
        for (uint32_t y = 0; y < p->height; y++) {
            float *x = v->image + c * p->plane + (size_t)y * p->width;
            const float *cloud = v->plasma + (size_t)y * p->side;
            for (uint32_t i = 0; i < p->width; i++)
                x[i] = (x[i] + amount * cloud[i]) * scale;
        }
}

/* ---- frost ---- */

static const struct {
    float image, ice;
} frost[SB_SEVERITIES] = {{1, .2f}, {1, .3f}, {.9f, .4f}, {.85f, .4f}, {.75f, .45f}};

/* Fitted to what the published photographs do to the first 1000 test images of CIFAR-10
 * (docs/corruptions.md): mean and spread of the ice, and how fast it changes along a row. */
static const struct {
    float mean, spread; /* of a picture's ice, in [0, 1]; spread is uniform, half width */
    float cloud, needle; /* how much of each */
} ice = {.66f, .235f, .6f, .28f};
static const float tint[3] = {.94f, 1.0f, 1.06f}; /* ice is a little blue */

/* layer 0 = needles in three directions, the strongest at each pixel; about 0 to 1. */
static void needles(struct sb_canvas *v, double degrees)
{
    const struct sb_corrupt_plan *p = v->plan;
    float *strongest = v->layer[0], *noise = v->layer[1], *trail = v->layer[2];
    for (uint32_t k = 0; k < 3; k++) {
        struct sb_tap taps[SB_STENCIL_MOST];
        size_t n = sb_stencil_motion(taps, 8, 4.0, degrees + 60.0 * k);
        sb_canvas_normals(v, 1 + k, 0.0f, 1.0f, noise);
        sb_filter_stencil(v, SB_BORDER_EDGE, taps, n, noise, trail);
        for (size_t i = 0; i < p->plane; i++)
            strongest[i] = k > 0 && strongest[i] > trail[i] ? strongest[i] : trail[i];
    }
}

void sb_frost_paint(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    struct sb_stream s = sb_canvas_stream(v, 0);
    float keep = frost[p->severity].image, amount = 255.0f * frost[p->severity].ice;
    float mean = ice.mean + ice.spread * (2.0f * sb_rng_uniform(&s, 0) - 1.0f);
    needles(v, 60.0 * (double)sb_rng_uniform(&s, 1));
    plasma(v, 4, 1.5f, v->plasma);
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
            size_t i = (size_t)y * p->width + x;
            float cloud = v->plasma[(size_t)y * p->side + x] - 0.5f;
            float here = mean + ice.cloud * cloud + ice.needle * (v->layer[0][i] - 0.4f);
            here = here < 0.0f ? 0.0f : here;
            for (uint32_t c = 0; c < p->channels; c++) {
                float shade = p->channels == 3 ? tint[c] * here : here;
                float *at = v->image + c * p->plane + i;
                *at = keep * *at + amount * (shade < 1.0f ? shade : 1.0f);
            }
        }
}

/* ---- brightness: the value of hue, saturation, value ---- */

static const float bright[SB_SEVERITIES] = {.05f, .1f, .15f, .2f, .3f};

/* The value is the largest channel; with hue and saturation kept, all scale with it. */
void sb_brightness_paint(struct sb_canvas *v)
{
    const struct sb_corrupt_plan *p = v->plan;
    float more = 255.0f * bright[p->severity];
    for (size_t i = 0; i < p->plane; i++) {
        float most = 0.0f;
        for (uint32_t c = 0; c < p->channels; c++) {
            float x = v->image[c * p->plane + i];
            most = x > most ? x : most;
        }
        float brighter = most + more < 255.0f ? most + more : 255.0f;
        for (uint32_t c = 0; c < p->channels; c++) {
            float *x = v->image + c * p->plane + i;
            *x = most > 0.0f ? *x * brighter / most : brighter;
        }
    }
}
