/* dense - a layer all of whose weights exist: the products of sparse.h, without a pattern.
 *
 * The layers an allocation makes dense, dense networks, and the gradient of every position of
 * a layer that growth ranks. Weights are [out][in][kh][kw], read where they lie.
 *
 * What they compute is defined to the bit, for any tile, number of threads, instruction
 * set and width of a vector:
 *
 *     forward          a sum begins with the bias or 0 and takes its weights by fused
 *                      multiply-adds in increasing order of (input channel, kernel row,
 *                      kernel column); a tap beyond the plane's edge multiplies a 0
 *     input gradient   begins with 0, in increasing order of (output channel, row, column)
 *     weight gradient  sixteen sums, of the images n with the same n mod 16; each takes its
 *                      images in increasing order, and of an image the output's pixels row by
 *                      row, left to right. They are folded: s[j] + s[j + 8] for eight sums,
 *                      neighbours of these for four, for two, for one
 *
 * So forward and input gradient have the bits of the same layer on the sparse kernels, and
 * an image's outputs depend on nothing but the image.
 */
#ifndef SB_KERNELS_DENSE_H
#define SB_KERNELS_DENSE_H

#include <stddef.h>

#include "base/env.h"
#include "base/status.h"
#include "kernels/act.h"
#include "kernels/conv.h"
#include "kernels/product.h"

/* Bytes of scratch a thread needs; calls take env->threads times as many, 64-byte
 * aligned. */
size_t sb_dense_scratch(const struct sb_conv *c);

/* As sb_sparse_forward, with mu and s2 of all weights. */
sb_status sb_dense_forward(const struct sb_env *env, const struct sb_conv *c,
                           const struct sb_forward *w, const struct sb_act *x,
                           struct sb_act *y, struct sb_act *slope, void *scratch);

/* Weights in the order the input gradient takes them: by phase of the stride, then
 * [in][out][taps of the phase]. */
void sb_dense_transpose(const struct sb_env *env, const struct sb_conv *c,
                        const float *value, float *out);

sb_status sb_dense_input_gradient(const struct sb_env *env, const struct sb_conv *c,
                                  const struct sb_backward *b, const float *mu_t,
                                  const float *s2_t, struct sb_act *dx, int add,
                                  void *scratch);

/* dmu and, with dv, ds2 of every position: [out][in][kh][kw]. */
sb_status sb_dense_weight_gradient(const struct sb_env *env, const struct sb_conv *c,
                                   const struct sb_backward *b, float *dmu, float *ds2,
                                   void *scratch);

#endif
