/* act - activations of a batch, with the images of a block innermost.
 *
 *     data[block][channel][row][column][lane]      lane = image within its block
 *
 * One weight then multiplies a vector of images: no gathers, the order of a sum does not
 * depend on the vector width, and the same loop serves any kernel size. A block is 8 or 16
 * images, as many as the kernels have lanes. A batch is padded to whole blocks; what the
 * padding lanes hold is finite and never read back, and gradients are zero there.
 *
 * Planes are an odd number of cache lines apart once they are large, so that the same
 * pixel of many channels does not fall into one cache set. A vector of features (a linear
 * layer's input) is an act of height and width 1.
 *
 * What only convolutions read may be sliced instead:
 *
 *     data[block][slice][row][channel][8 columns, 2 more][lane]
 *
 * A slice is eight columns, whole cache lines. Behind them are the column to their right
 * and the one to the left of the next channel's: they repeat a neighbour's or, at the sides
 * of a plane, are zero. What a convolution sees from eight pixels of a row is then one piece
 * of memory, a few rows of all channels, and is read where it is. Only sparse products write
 * such an act (if they land, see sparse_parts.h) and read it.
 *
 * An act with a scale and a shift is a norm with a ReLU that nobody stores: its data are the
 * norm's input x, and who reads it takes relu(scale x + shift) for x, with the bits that
 * storing it would give. Only products on planes of more than a pixel and max pooling do.
 */
#ifndef SB_KERNELS_ACT_H
#define SB_KERNELS_ACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"

enum {
    SB_MAX_LANES = 16,
    SB_SLICE = 8, /* columns of a slice, without its neighbours' */
};

struct sb_act {
    uint32_t batch, channels, height, width;
    uint32_t lanes;  /* images of a block: 8 or 16 */
    uint32_t blocks; /* ceil(batch / lanes) */
    bool sliced;
    size_t pitch; /* floats from one row to the next */
    size_t slice; /* floats from one slice to the next */
    size_t plane; /* floats from one channel to the next, a multiple of lanes */
    size_t block; /* floats from one block of images to the next */
    float *data;  /* the first pixel, sb_act_lead floats into its memory; owned if made by
                   * sb_act_init */
    const float *scale,
        *shift; /* [channels] of a norm that is made by who reads it; NULL:
                                 * data are read as they are */
};

/* Fills in the shape, for kernels with that many lanes; data stays NULL. SB_EARG for lanes
 * that no kernels have, a zero size, or one whose elements do not fit memory's address
 * space. */
sb_status sb_act_shape(struct sb_act *a, uint32_t lanes, uint32_t batch,
                       uint32_t channels, uint32_t height, uint32_t width);

/* Floats from a row of a slice to the next. */
size_t sb_act_slice_pitch(uint32_t lanes, uint32_t channels);

/* The same, sliced. SB_EARG, too, when the width is not a multiple of SB_SLICE. */
sb_status sb_act_shape_sliced(struct sb_act *a, uint32_t lanes, uint32_t batch,
                              uint32_t channels, uint32_t height, uint32_t width);

/* As sb_act_shape, with memory, all zero. Give it back with sb_act_fini. */
sb_status sb_act_init(struct sb_act *a, uint32_t lanes, uint32_t batch, uint32_t channels,
                      uint32_t height, uint32_t width);
void sb_act_fini(struct sb_act *a);

/* Floats of memory before the first pixel: the column to its left, in whole cache lines. */
static inline size_t sb_act_lead(const struct sb_act *a)
{
    return a->sliced ? SB_MAX_LANES : 0;
}

/* Floats of memory. */
static inline size_t sb_act_size(const struct sb_act *a)
{
    return sb_act_lead(a) + (size_t)a->blocks * a->block;
}

/* Changes the number of images (at most what the memory was made for: the caller's
 * promise); the shape of an image stays. */
void sb_act_set_batch(struct sb_act *a, uint32_t batch);

/* Lanes of a block that hold images: all, but for the last block of an odd batch. */
static inline uint32_t sb_act_lanes(const struct sb_act *a, uint32_t block)
{
    uint32_t rest = a->batch - block * a->lanes;
    return rest < a->lanes ? rest : a->lanes;
}

static inline float *sb_act_plane(const struct sb_act *a, uint32_t block,
                                  uint32_t channel)
{
    return a->data + block * a->block + channel * a->plane;
}

/* A pixel of channel 0, its first lane. */
static inline float *sb_act_pixel(const struct sb_act *a, uint32_t block, uint32_t row,
                                  uint32_t col)
{
    float *at = a->data + block * a->block + row * a->pitch;
    return a->sliced ? at + col / SB_SLICE * a->slice + col % SB_SLICE * (size_t)a->lanes
                     : at + col * (size_t)a->lanes;
}

/* Scale and shift of a channel, in affine; NULL: there are none. */
static inline const float *sb_act_affine(const struct sb_act *a, uint32_t channel,
                                         float affine[2])
{
    if (!a->scale)
        return NULL;
    affine[0] = a->scale[channel];
    affine[1] = a->shift[channel];
    return affine;
}

/* The first pixel of image n; the next one is `lanes` floats further on. */
static inline float *sb_act_image(const struct sb_act *a, uint32_t n, uint32_t channel)
{
    return sb_act_plane(a, n / a->lanes, channel) + n % a->lanes;
}

/* From and to [batch][channels][height][width]. Loading clears the padding lanes. */
void sb_act_load(struct sb_act *a, const float *nchw);
void sb_act_store(const struct sb_act *a, float *nchw);

/* Element by element; shapes are the same. */
void sb_act_multiply(const struct sb_env *env, struct sb_act *a, const struct sb_act *b);
void sb_act_add(const struct sb_env *env, struct sb_act *a, const struct sb_act *b);
void sb_act_relu(const struct sb_env *env, struct sb_act *a);
/* dy = 0 where y <= 0 */
void sb_act_relu_gradient(const struct sb_env *env, struct sb_act *dy,
                          const struct sb_act *y);

/* out[c] = the sum of channel c over images and pixels, folded in double: a bias' gradient. */
void sb_act_channel_sums(const struct sb_env *env, const struct sb_act *a, float *out);

#endif
