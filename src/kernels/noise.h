/* noise - the standard normals of a layer's pre-activations, by place.
 *
 * eps of (image, channel, row, column) is a function of the stream and of that place
 * alone. One draw gives four numbers to each image of a block: they go to four columns of a
 * row or, where planes are 1 x 1, to four channels.
 */
#ifndef SB_KERNELS_NOISE_H
#define SB_KERNELS_NOISE_H

#include <stdint.h>

#include "base/rng.h"
#include "kernels/act.h"
#include "kernels/kernels.h"

enum { SB_QUAD = 4 };

/* Where a layer's noise comes from. */
struct sb_noise {
    const struct sb_act *eps; /* given, shaped like the output; NULL: drawn from stream */
    struct sb_stream stream;
    uint32_t image; /* index of the batch's first image */
    const float
        *weights; /* of weights drawn for groups: given, see draw.h; NULL: drawn */
};

static inline int sb_noise_flat(const struct sb_act *y)
{
    return y->height * y->width == 1;
}

/* out[rows][4][lanes]: for image block `block` of y, channel, rows row .. row + rows - 1 and
 * columns col .. col + 3 (col a multiple of 4), or for channels channel .. channel + 3 (a
 * multiple of 4) of a flat y. */
static inline void sb_noise_draw(const struct sb_kernels *k, const struct sb_noise *noise,
                                 const struct sb_act *y, uint32_t block, uint32_t channel,
                                 uint32_t row, uint32_t rows, uint32_t col, float *out)
{
    uint32_t quads = (y->width + SB_QUAD - 1) / SB_QUAD;
    uint32_t quad = sb_noise_flat(y)
                        ? channel / SB_QUAD
                        : (channel * y->height + row) * quads + col / SB_QUAD;
    k->normal(&noise->stream, noise->image + block * y->lanes, quad, quads, rows, out);
}

#endif
