/* rows - every row of a batch has factors of its own: one a channel, or one an element.
 *
 *     scale   y[i][c][p] = x[i][c][p] * f[i][c] + b[i][c]
 *     mask    y[i][c][p] = x[i][c][p] * keep[c][p]
 *
 * Factors of rows are an act of 1 x 1 planes. A sum over pixels goes from the first to the
 * last in each lane, a sum over rows from the first to the last in double, so neither
 * depends on how many lanes there are.
 */
#ifndef SB_KERNELS_ROWS_H
#define SB_KERNELS_ROWS_H

#include "base/env.h"
#include "kernels/act.h"

/* shift may be NULL. y may be x. */
void sb_rows_scale(const struct sb_env *env, const struct sb_act *x,
                   const struct sb_act *factor, const struct sb_act *shift,
                   struct sb_act *y);

struct sb_rows_backward {
    const struct sb_act *dy, *x, *factor;
    struct sb_act *dx; /* dy * factor; may be dy, if not added to. NULL: not wanted */
    bool add;          /* dx += */
    struct sb_act *dfactor; /* sum over pixels of dy * x */
    struct sb_act *dshift;  /* sum over pixels of dy; may be NULL */
};
void sb_rows_scale_backward(const struct sb_env *env, const struct sb_rows_backward *b);

/* y = x * factor, element by element; add: y += that. y may be x, if not added to. */
void sb_rows_multiply(const struct sb_env *env, const struct sb_act *x,
                      const struct sb_act *factor, struct sb_act *y, bool add);

/* The same with keep, [channels][height][width], for every row. bands > 0: lanes are so many
 * bands of rows of one image (conv.h), whose height is bands times x's. */
void sb_rows_mask(const struct sb_env *env, const struct sb_act *x, const float *keep,
                  uint32_t bands, struct sb_act *y, bool add);

#endif
