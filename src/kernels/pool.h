/* pool - max pooling over size x size windows that do not overlap (what does not fill a
 * window is left out), and global average pooling. */
#ifndef SB_KERNELS_POOL_H
#define SB_KERNELS_POOL_H

#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/act.h"

/* y: height / size x width / size. The gradient goes to the first maximum of a window. */
sb_status sb_pool_max(const struct sb_env *env, const struct sb_act *x, uint32_t size,
                      struct sb_act *y);
sb_status sb_pool_max_backward(const struct sb_env *env, const struct sb_act *x,
                               const struct sb_act *y, const struct sb_act *dy,
                               uint32_t size, struct sb_act *dx);

/* y: 1 x 1. */
sb_status sb_pool_mean(const struct sb_env *env, const struct sb_act *x,
                       struct sb_act *y);
/* The same of one image in bands, a lane each (see conv.h): y is in every lane. */
sb_status sb_pool_mean_bands(const struct sb_env *env, const struct sb_act *x,
                             uint32_t bands, struct sb_act *y);
sb_status sb_pool_mean_backward(const struct sb_env *env, const struct sb_act *dy,
                                struct sb_act *dx);

#endif
