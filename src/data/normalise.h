/* normalise - (pixel / 255 - mean) / sd per channel, as a table of 256 floats.
 *
 * The arithmetic is float's, in this order, which gives torchvision's bits. Mean and sd
 * are given, or computed from the training examples: sums of bytes and of their squares
 * are integers, so every thread count gives the same numbers.
 */
#ifndef SB_DATA_NORMALISE_H
#define SB_DATA_NORMALISE_H

#include "base/env.h"
#include "base/status.h"
#include "data/dataset.h"

enum { SB_CHANNELS_MOST = 16, SB_BYTE_VALUES = 256 };

struct sb_normalise {
    uint32_t channels;
    float mean[SB_CHANNELS_MOST], sd[SB_CHANNELS_MOST];
    float table[SB_CHANNELS_MOST][SB_BYTE_VALUES]; /* [channel][byte] */
};

/* SB_EARG unless channels is 1 to 16, every mean finite and every sd finite and positive.
 */
sb_status sb_normalise_given(struct sb_normalise *m, uint32_t channels, const float *mean,
                             const float *sd);

/* Over the examples index[n] of d; sd is the population's, and 1 for a constant channel.
 */
sb_status sb_normalise_computed(struct sb_normalise *m, const struct sb_env *env,
                                const struct sb_dataset *d, const uint32_t *index,
                                uint32_t n);

#endif
