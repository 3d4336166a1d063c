/* dense - a layer all of whose weights exist, on OpenBLAS and the same activations.
 *
 * The layers an allocation makes dense, dense baselines, and the gradient of every
 * position of a layer that growth ranks. Products and forms are those of sparse.h; weights
 * are [out][in][kh][kw].
 *
 * A tile is a few rows of a plane (or, where planes are 1 x 1, 16 blocks of images). Its
 * input pixels are laid out as a panel, one row per (channel, tap), a block of channels at
 * a time, and one sgemm adds the block's share to the tile's outputs:
 *
 *     panel[channel of the block][tap][vector][lane]
 *
 * BLAS runs single-threaded inside our own parallel loop, so that the number of threads
 * does not matter. Its bits are its own, though: they follow the machine's BLAS, not the
 * chosen kernel table.
 */
#ifndef SB_KERNELS_DENSE_H
#define SB_KERNELS_DENSE_H

#include <stddef.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/act.h"
#include "kernels/conv.h"
#include "kernels/product.h"

/* Bytes of scratch a thread needs; calls take env->threads times as many. */
size_t sb_dense_scratch(const struct sb_conv *c);

/* As sb_sparse_forward, with mu and s2 of all weights. */
sb_status sb_dense_forward(const struct sb_env *env, const struct sb_conv *c,
                           const struct sb_forward *w, const struct sb_act *x,
                           struct sb_act *y, struct sb_act *slope, void *scratch);

/* Weights in the order the input gradient takes them: by phase of the stride, then
 * [in][out][taps of the phase]. */
void sb_dense_transpose(const struct sb_conv *c, const float *value, float *out);

sb_status sb_dense_input_gradient(const struct sb_env *env, const struct sb_conv *c,
                                  const struct sb_backward *b, const float *mu_t,
                                  const float *s2_t, struct sb_act *dx, int add,
                                  void *scratch);

/* dmu and, with dv, ds2 of every position: [out][in][kh][kw]. */
sb_status sb_dense_weight_gradient(const struct sb_env *env, const struct sb_conv *c,
                                   const struct sb_backward *b, float *dmu, float *ds2,
                                   void *scratch);

#endif
