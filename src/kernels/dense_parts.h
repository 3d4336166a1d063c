/* dense_parts - what the drivers of the dense products share. Internal to dense*.c. */
#ifndef SB_KERNELS_DENSE_PARTS_H
#define SB_KERNELS_DENSE_PARTS_H

#include <stdbool.h>

#include "kernels/dense.h"
#include "kernels/kernels.h"

static inline uint32_t sb_smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t sb_divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* Floats that end with a cache line. */
static inline size_t sb_whole_lines(size_t floats)
{
    return (floats + 15) / 16 * 16;
}

/* Taps of a direction that fall on a phase of the stride. */
static inline uint32_t sb_phase_taps(uint32_t taps, uint32_t stride, uint32_t phase)
{
    return phase < taps ? (taps - phase - 1) / stride + 1 : 0;
}

/* Blocks of images from one to the next that feeds the same partial sums. */
static inline uint32_t sb_shares(const struct sb_act *a)
{
    return SB_PARTIALS / a->lanes;
}

/* Bytes of scratch of the weight gradient, of a thread. */
size_t sb_dense_weight_scratch(const struct sb_conv *c);

/* The weight gradient where planes are single pixels, in batches of up to some hundred
 * images. */
bool sb_dense_is_linear(const struct sb_conv *c, const struct sb_act *dy);
void sb_dense_linear_gradient(const struct sb_env *env, const struct sb_conv *c,
                              const struct sb_backward *b, float *dmu, float *ds2,
                              void *scratch);
size_t sb_dense_linear_scratch(const struct sb_conv *c);

#endif
