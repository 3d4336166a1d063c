/* act - activations of a batch, with the images of a block innermost.
 *
 *     data[block][channel][row][column][lane]      lane = image within its block of 8
 *
 * One weight then multiplies a vector of eight images: no gathers, the order of a sum
 * does not depend on the vector width, and the same loop serves any kernel size. A batch
 * is padded to whole blocks; what the padding lanes hold is finite and never read back,
 * and gradients are zero there.
 *
 * Planes are an odd number of cache lines apart once they are large, so that the same
 * pixel of many channels does not fall into one cache set. A vector of features (a linear
 * layer's input) is an act of height and width 1.
 */
#ifndef SB_KERNELS_ACT_H
#define SB_KERNELS_ACT_H

#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"

enum { SB_LANES = 8 };

struct sb_act {
    uint32_t batch, channels, height, width;
    uint32_t blocks; /* ceil(batch / 8) */
    size_t plane;    /* floats from one channel to the next, a multiple of 8 */
    size_t block;    /* floats from one block of images to the next */
    float *data;     /* [blocks][channels][plane]; owned if made by sb_act_init */
};

/* Fills in the shape; data stays NULL. SB_EARG for a zero size or one whose elements do
 * not fit memory's address space. */
sb_status sb_act_shape(struct sb_act *a, uint32_t batch, uint32_t channels,
                       uint32_t height, uint32_t width);

/* The same, with memory, all zero. Give it back with sb_act_fini. */
sb_status sb_act_init(struct sb_act *a, uint32_t batch, uint32_t channels,
                      uint32_t height, uint32_t width);
void sb_act_fini(struct sb_act *a);

/* Floats of data. */
static inline size_t sb_act_size(const struct sb_act *a)
{
    return (size_t)a->blocks * a->block;
}

/* Changes the number of images (at most what the memory was made for: the caller's
 * promise); the shape of an image stays. */
void sb_act_set_batch(struct sb_act *a, uint32_t batch);

/* Lanes of a block that hold images: 8, but for the last block of an odd batch. */
static inline uint32_t sb_act_lanes(const struct sb_act *a, uint32_t block)
{
    uint32_t rest = a->batch - block * SB_LANES;
    return rest < SB_LANES ? rest : SB_LANES;
}

static inline float *sb_act_plane(const struct sb_act *a, uint32_t block,
                                  uint32_t channel)
{
    return a->data + block * a->block + channel * a->plane;
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
