/* product - what a layer's three products take, sparse or dense; see sparse.h for what they
 * compute. */
#ifndef SB_KERNELS_PRODUCT_H
#define SB_KERNELS_PRODUCT_H

#include "base/status.h"
#include "kernels/act.h"
#include "kernels/conv.h"
#include "kernels/noise.h"

/* What else is done to a layer's outputs before they are stored, in this order; a pointer
 * that is NULL leaves its part out. */
struct sb_epilogue {
    const struct sb_act *add;   /* y += add */
    struct sb_act *sum;         /* keeps y as it is then; may be add */
    const float *scale, *shift; /* [out] y = y * scale + shift: a norm */
    const struct sb_act *after; /* y += after */
    int relu;
};

struct sb_forward {
    const float *mu;              /* one a weight */
    const float *s2;              /* the same; NULL: mean only */
    const float *bias;            /* [out], may be NULL */
    const struct sb_noise *noise; /* NULL with s2: y and slope get mean and variance */
    const struct sb_epilogue *epilogue; /* may be NULL */
};

struct sb_backward {
    const struct sb_act *dy;
    const struct sb_act *dv; /* NULL: mean only */
    const struct sb_act *x;  /* needed with dv, and by the weight gradient */
};

/* Whether shapes fit the layer: SB_EARG with a sentence if not. */
sb_status sb_check_forward(const struct sb_conv *c, const struct sb_forward *w,
                           const struct sb_act *x, const struct sb_act *y,
                           const struct sb_act *slope);
sb_status sb_check_input_gradient(const struct sb_conv *c, const struct sb_backward *b,
                                  const struct sb_act *dx);
sb_status sb_check_weight_gradient(const struct sb_conv *c, const struct sb_backward *b);

#endif
