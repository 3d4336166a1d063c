/* epilogue - what becomes of a tile's sums while they are still in cache.
 *
 * A box is a piece of the grid of a product's outputs; sums of one output row over a box
 * are `vectors` consecutive vectors, vector v at
 *
 *     image block v % blocks, grid column v / blocks % width, grid row v / (blocks * width)
 *
 * Parts of a box that hang over the grid's edge are dropped. A row is an output channel
 * and, where the outputs are split by a stride, a phase (see corr.h).
 */
#ifndef SB_KERNELS_EPILOGUE_H
#define SB_KERNELS_EPILOGUE_H

#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "kernels/act.h"
#include "kernels/corr.h"
#include "kernels/noise.h"
#include "kernels/product.h"

static inline size_t sb_box_vectors(const struct sb_box *b)
{
    return (size_t)b->blocks * b->height * b->width;
}

/* Sums of rows [row, row_end). */
struct sb_sums {
    uint32_t row, row_end;
    float *mean; /* [rows][vectors][lanes] */
    float *var;  /* the same; NULL: mean only */
};

/* What a layer's sums turn into. */
struct sb_outcome {
    const struct sb_noise *noise;       /* may be NULL */
    const struct sb_epilogue *epilogue; /* may be NULL */
    struct sb_act *y, *slope;           /* slope with var only */
    float *
        scratch; /* scratch: [SB_QUAD][vectors][lanes], and one row more with an epilogue */
};

/* y = mean, or with var: y = mean + sqrt(var + 1e-8) eps, slope = eps / (2 sqrt(...));
 * without noise y = mean, slope = var. Then the epilogue. Overwrites the sums. */
void sb_epilogue_forward(const struct sb_env *env, const struct sb_side *to,
                         const struct sb_box *box, const struct sb_sums *s,
                         const struct sb_outcome *o);

/* dx = mean, or with var: dx = mean + 2 x var; add: dx += that. Overwrites the sums. */
void sb_epilogue_gradient(const struct sb_env *env, const struct sb_side *to,
                          const struct sb_box *box, const struct sb_sums *s,
                          const struct sb_act *x, struct sb_act *dx, int add);

/* out[vectors][lanes] = row `row` of a over the box, zero where it hangs over. */
void sb_box_gather(const struct sb_side *side, const struct sb_box *box,
                   const struct sb_act *a, uint32_t row, float *out);

#endif
