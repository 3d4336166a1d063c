/* partials - sums over images whose bits do not depend on how many images are side by side.
 *
 * Every sum over the images of a batch is sixteen sums, one for each image number modulo 16,
 * which are folded at the end, in one order. Where a block has sixteen images, each lane has
 * a sum of its own; where it has eight, even blocks feed the first eight and odd blocks the
 * other eight.
 */
#ifndef SB_KERNELS_PARTIALS_H
#define SB_KERNELS_PARTIALS_H

#include <stddef.h>
#include <stdint.h>

enum { SB_PARTIALS = 16 };

/* Which of them the first lane of an image block feeds. */
static inline size_t sb_partials_of(uint32_t block, uint32_t lanes)
{
    return (size_t)block * lanes % SB_PARTIALS;
}

/* Takes what each of the first `images` lanes of a block adds up to. */
static inline void sb_partials_add(double part[SB_PARTIALS], uint32_t block,
                                   uint32_t lanes, uint32_t images, const float *lane)
{
    double *to = part + sb_partials_of(block, lanes);
    for (uint32_t l = 0; l < images; l++)
        to[l] += (double)lane[l];
}

/* Neighbours, then neighbouring pairs, ... */
static inline double sb_partials_fold(double part[SB_PARTIALS])
{
    for (size_t n = SB_PARTIALS / 2; n > 0; n /= 2)
        for (size_t i = 0; i < n; i++)
            part[i] = part[2 * i] + part[2 * i + 1];
    return part[0];
}

#endif
