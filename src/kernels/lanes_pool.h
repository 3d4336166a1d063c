/* lanes_pool - pooling of one plane of one image block, on vectors of images. */
#ifndef SB_KERNELS_LANES_POOL_H
#define SB_KERNELS_LANES_POOL_H

#include <string.h>

#include "kernels/lanes.h"

SB_INLINE void max_pool_by(const float *x, const float *affine, uint32_t height,
                           uint32_t width, const uint32_t size, float *y)
{
    for (uint32_t i = 0; i + size <= height; i += size)
        for (uint32_t j = 0; j + size <= width; j += size, y += VF_LANES) {
            vf best = vf_seen(x + ((size_t)i * width + j) * VF_LANES, affine);
            for (uint32_t k = 1; k < size * size; k++) {
                size_t at = ((size_t)(i + k / size) * width + j + k % size) * VF_LANES;
                best = vf_larger(best, vf_seen(x + at, affine));
            }
            vf_store(y, best);
        }
}

/* Windows of 2, which all networks have, unrolled. */
static void max_pool(const float *x, const float *affine, uint32_t height, uint32_t width,
                     uint32_t size, float *y)
{
    if (size == 2 && affine)
        max_pool_by(x, affine, height, width, 2, y);
    else if (size == 2)
        max_pool_by(x, NULL, height, width, 2, y);
    else
        max_pool_by(x, affine, height, width, size, y);
}

/* The gradient goes to the first maximum of a window, row by row. */
SB_INLINE void max_pool_gradient_by(const float *x, const float *affine, const float *y,
                                    const float *dy, uint32_t height, uint32_t width,
                                    const uint32_t size, float *dx)
{
    if (height % size || width % size) /* else every pixel is in a window */
        memset(dx, 0, (size_t)height * width * VF_LANES * sizeof(float));
    for (uint32_t i = 0; i + size <= height; i += size)
        for (uint32_t j = 0; j + size <= width;
             j += size, y += VF_LANES, dy += VF_LANES) {
            vi open = vi_set(-1);
            vf best = vf_load(y), d = vf_load(dy);
            for (uint32_t k = 0; k < size * size; k++) {
                size_t at = ((size_t)(i + k / size) * width + j + k % size) * VF_LANES;
                vi here = open & (vf_seen(x + at, affine) == best);
                vf_store(dx + at, (vf)((vi)d & here));
                open &= ~here;
            }
        }
}

static void max_pool_gradient(const float *x, const float *affine, const float *y,
                              const float *dy, uint32_t height, uint32_t width,
                              uint32_t size, float *dx)
{
    if (size == 2 && affine)
        max_pool_gradient_by(x, affine, y, dy, height, width, 2, dx);
    else if (size == 2)
        max_pool_gradient_by(x, NULL, y, dy, height, width, 2, dx);
    else
        max_pool_gradient_by(x, affine, y, dy, height, width, size, dx);
}

static void mean_pool(const float *x, size_t n, float *y)
{
    vf s = vf_set(0.0f);
    for (size_t i = 0; i < VF_LANES * n; i += VF_LANES)
        s += vf_load(x + i);
    vf_store(y, s / vf_set((float)n));
}

static void mean_pool_gradient(const float *dy, size_t n, float *dx)
{
    vf d = vf_load(dy) / vf_set((float)n);
    for (size_t i = 0; i < VF_LANES * n; i += VF_LANES)
        vf_store(dx + i, d);
}

#endif
