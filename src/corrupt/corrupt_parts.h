/* corrupt_parts - what the kinds of corruption share, inside corrupt*.c only.
 *
 * A kind has one image at a time. Most work on a canvas: the image as float planes in the
 * units of bytes, 0 to 255, which the driver loads before and stores after, cutting off the
 * fraction as CIFAR-10-C does. Noise, JPEG and pixelation go from bytes to bytes.
 *
 * What depends on kind and severity alone is in the plan, made once and then only read:
 *
 *     plan  (one)           noise table, blur weights, zoom positions, shape, seed
 *     canvas (one a worker) planes and layers
 */
#ifndef SB_CORRUPT_CORRUPT_PARTS_H
#define SB_CORRUPT_CORRUPT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/rng.h"
#include "corrupt/corrupt.h"

enum {
    SB_SHADES = 256,
    SB_LAYERS = 6,       /* float planes for a kind's own use */
    SB_REACH = 32,       /* a stencil's largest offset */
    SB_KNIGHT = 2,       /* rows of margin for distances */
    SB_STENCIL_MOST = 32 /* taps */
};

/* What lies beyond the edge of a line of n pixels, for abcd: */
enum sb_border {
    SB_BORDER_EDGE,    /* aaa|abcd|ddd */
    SB_BORDER_MIRROR,  /* cba|abcd|dcb */
    SB_BORDER_REFLECT, /* dcb|abcd|cba, the edge itself is not repeated */
};

/* The whole number below x; without a call, which floorf is on plain x86-64. */
static inline int32_t sb_floor(float x)
{
    int32_t whole = (int32_t)x;
    return whole - ((float)whole > x);
}

uint32_t sb_border_at(enum sb_border border, int32_t i, uint32_t n);

/* ---- what is the same for all images ---- */

/* Weights of a symmetric separable blur. */
struct sb_taps {
    float *weight; /* [2 radius + 1] */
    uint32_t radius;
};

/* Where the pixels of a zoomed line lie between those of the original. */
struct sb_zoom {
    uint32_t *low, *high; /* [n] */
    float *part;          /* [n] of high */
};

enum { SB_ZOOMS_MOST = 26 };

struct sb_corrupt_plan {
    const struct sb_env *env;
    uint32_t channels, height, width;
    size_t plane;    /* height * width */
    uint32_t side;   /* of the plasma: a power of two, at least height, width and 2 */
    uint32_t radius; /* the largest of taps */

    enum sb_corruption kind;
    uint32_t severity; /* from 0 */
    uint64_t seed;
    uint32_t *noise; /* [256][256] see corrupt_noise.c */
    struct sb_taps taps[2];
    uint32_t zooms;
    struct sb_zoom rows[SB_ZOOMS_MOST], columns[SB_ZOOMS_MOST];
};

/* taps = a normal density of this sd, cut off at cut sd and normalised. */
void sb_taps_gauss(struct sb_taps *t, double sd, double cut);

/* The middle of a line of n pixels, enlarged by factor to n again. */
void sb_zoom_set(struct sb_zoom *z, uint32_t n, double factor);

/* ---- one image ---- */

struct sb_recoder;

struct sb_canvas {
    const struct sb_corrupt_plan *plan; /* borrowed */
    uint32_t index;                     /* of the image */
    struct sb_arena arena;
    float *image, *other;    /* [channels][height][width] */
    float *layer[SB_LAYERS]; /* [height * width, rounded up to 32] */
    float *padded;           /* [height + 2 SB_KNIGHT][width + 2 SB_REACH] */
    float *line;             /* [width + 2 plan->radius] */
    float *plasma;           /* [2][side][side] */
    uint8_t *bytes;          /* [height][width] */
    uint32_t *stack;         /* [height * width] */
    struct sb_recoder *jpeg; /* owned; NULL until JPEG is chosen */
    bool failed;             /* libjpeg did */
};

/* A stream of its own for each use < 16 of random numbers by one image. */
struct sb_stream sb_canvas_stream(const struct sb_canvas *v, uint32_t use);

/* out[plane] = mean + sd * normal. */
void sb_canvas_normals(const struct sb_canvas *v, uint32_t use, float mean, float sd,
                       float *out);

/* out[n] = uniform in [-1, 1). */
void sb_canvas_uniforms(const struct sb_canvas *v, uint32_t use, size_t n, float *out);

/* Luminance of pixel p of the image. */
float sb_canvas_grey(const struct sb_canvas *v, size_t p);

/* ---- filters of one plane [height][width] ---- */

/* With taps[k] of the plan, in place; temp is a layer. */
void sb_filter_blur(const struct sb_canvas *v, uint32_t k, enum sb_border border,
                    float *plane, float *temp);

struct sb_tap {
    int32_t dy, dx; /* within SB_REACH */
    float weight;
};

/* out[y][x] = sum of weight * plane[y + dy][x + dx]; out may be plane. */
void sb_filter_stencil(const struct sb_canvas *v, enum sb_border border,
                       const struct sb_tap *taps, size_t n, const float *plane,
                       float *out);

/* The trail of a moving camera: half a normal density of this sd, length 2 radius + 1, at
 * degrees to the horizontal. Returns the number of taps. */
size_t sb_stencil_motion(struct sb_tap taps[SB_STENCIL_MOST], uint32_t radius, double sd,
                         double degrees);

/* out += (or =) plane enlarged by zoom k of the plan; temp is a layer. */
void sb_filter_zoom(const struct sb_canvas *v, uint32_t k, bool add, const float *plane,
                    float *out, float *temp);

/* ---- the kinds; prepare fills the plan, paint and recode do one image ---- */

struct sb_corruption_kind {
    const char *name;
    void (*prepare)(struct sb_corrupt_plan *p);                           /* or NULL */
    void (*paint)(struct sb_canvas *v);                                   /* or: */
    void (*recode)(struct sb_canvas *v, const uint8_t *in, uint8_t *out); /* bytes */
};

void sb_noise_prepare(struct sb_corrupt_plan *p);
void sb_noise_recode(struct sb_canvas *v, const uint8_t *in, uint8_t *out);

void sb_gaussian_blur_prepare(struct sb_corrupt_plan *p);
void sb_gaussian_blur_paint(struct sb_canvas *v);
void sb_glass_blur_prepare(struct sb_corrupt_plan *p);
void sb_glass_blur_paint(struct sb_canvas *v);
void sb_defocus_blur_paint(struct sb_canvas *v);
void sb_motion_blur_paint(struct sb_canvas *v);
void sb_zoom_blur_prepare(struct sb_corrupt_plan *p);
void sb_zoom_blur_paint(struct sb_canvas *v);

void sb_snow_prepare(struct sb_corrupt_plan *p);
void sb_snow_paint(struct sb_canvas *v);
void sb_frost_paint(struct sb_canvas *v);
void sb_fog_paint(struct sb_canvas *v);
void sb_brightness_paint(struct sb_canvas *v);
void sb_spatter_prepare(struct sb_corrupt_plan *p);
void sb_spatter_paint(struct sb_canvas *v);

void sb_contrast_paint(struct sb_canvas *v);
void sb_saturate_paint(struct sb_canvas *v);
void sb_pixelate_recode(struct sb_canvas *v, const uint8_t *in, uint8_t *out);
void sb_elastic_prepare(struct sb_corrupt_plan *p);
void sb_elastic_paint(struct sb_canvas *v);

/* libjpeg's state for one worker; SB_EMISSING in a build without it. */
sb_status sb_recoder_new(struct sb_recoder **out, uint32_t channels, uint32_t height,
                         uint32_t width);
void sb_recoder_free(struct sb_recoder *j); /* accepts NULL */
void sb_recoder_recode(struct sb_canvas *v, const uint8_t *in, uint8_t *out);

/* What went wrong with the canvas that failed, as an error. */
sb_status sb_recoder_status(const struct sb_recoder *j);

#endif
