/* conv - the geometry of a convolution; a linear layer is one of kernel 1 on 1 x 1
 * planes.
 *
 * Output pixel (i, j) sees input pixels (stride * i + a - pad, stride * j + b - pad) for
 * taps a < kh, b < kw. Weights are numbered as PyTorch lays them out: [out][in][kh][kw],
 * that is row `out` and column (in * kh + a) * kw + b.
 *
 * Bands: one image alone would leave seven of eight lanes idle. Cut into `bands` bands of
 * rows, a lane each, it fills them: height and out_height are then those of a band, and a
 * tap that reaches beyond its band reads the lane of the band above or below. Every sum
 * has the same terms in the same order as for the whole image, hence the same bits.
 */
#ifndef SB_KERNELS_CONV_H
#define SB_KERNELS_CONV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { SB_MAX_STRIDE = 4 };

struct sb_conv {
    uint32_t in, out;       /* channels */
    uint32_t kh, kw;        /* taps */
    uint32_t stride, pad;   /* the same in both directions */
    uint32_t height, width; /* of an input plane */
    uint32_t out_height, out_width;
    uint32_t bands; /* lanes one image is spread over; 0: a lane is an image */
};

/* Checks the sizes and computes the output's. SB_EARG with a sentence for a zero size, a
 * stride above SB_MAX_STRIDE, a kernel larger than the padded plane, padding not smaller
 * than the kernel, or more than 2^32 - 1 weights. */
sb_status sb_conv_init(struct sb_conv *c, uint32_t in, uint32_t out, uint32_t kh,
                       uint32_t kw, uint32_t stride, uint32_t pad, uint32_t height,
                       uint32_t width);
sb_status sb_conv_init_linear(struct sb_conv *c, uint32_t in, uint32_t out);

/* Cuts planes into bands, for forward only. False, and nothing changed, unless a band of the
 * output comes from the same band of the input: bands divides both heights, stride a band's. */
bool sb_conv_band(struct sb_conv *c, uint32_t bands);

/* Weights of an output channel, and of the layer. */
static inline uint32_t sb_conv_cols(const struct sb_conv *c)
{
    return c->in * c->kh * c->kw;
}

static inline uint32_t sb_conv_weights(const struct sb_conv *c)
{
    return c->out * sb_conv_cols(c);
}

/* Whether what goes in and what comes out are planes of more than a pixel. */
static inline bool sb_conv_has_planes(const struct sb_conv *c)
{
    return c->height * c->width > 1 && c->out_height * c->out_width > 1;
}

/* The first pixel that taps of this phase (tap mod stride) reach. */
static inline uint32_t sb_conv_phase_origin(uint32_t stride, uint32_t pad, uint32_t phase)
{
    return (phase + stride * pad - pad) % stride;
}

#endif
