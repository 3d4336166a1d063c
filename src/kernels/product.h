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

/* Groups of rows whose weights were drawn for them (method.md: estimators). Nobody has rows
 * of two groups in hand at once. */
struct sb_groups {
    uint32_t rows; /* of a group, a multiple of 16; 0: all rows have the same weights */
    size_t apart;  /* floats from a group's weights to the next one's */
    const float *eps; /* [groups][apart] of the weight gradient: what was drawn */
};

/* Image blocks of a group; 0: there are no groups. */
static inline uint32_t sb_group_blocks(const struct sb_groups *g, uint32_t lanes)
{
    return g->rows / lanes;
}

/* Which group an image block is of. */
static inline uint32_t sb_group_of(const struct sb_groups *g, uint32_t block,
                                   uint32_t lanes)
{
    return g->rows ? block / (g->rows / lanes) : 0;
}

/* An act that ends where a group does, or NULL for NULL. The memory is its own. */
struct sb_act *sb_group_end(const struct sb_groups *g, const struct sb_act *a,
                            uint32_t group, struct sb_act *view);

/* Takes up what a group's weights [first, first + n) have as gradients, groups in order:
 * dmu += d, dsigma += d eps; the first sets them. */
void sb_group_add(const struct sb_groups *g, uint32_t group, size_t first, size_t n,
                  const float *d, float *dmu, float *dsigma);

struct sb_forward {
    const float *mu;              /* one a weight */
    const float *s2;              /* the same; NULL: mean only */
    const float *bias;            /* [out], may be NULL */
    const struct sb_noise *noise; /* NULL with s2: y and slope get mean and variance */
    const struct sb_epilogue *epilogue; /* may be NULL */
    struct sb_groups groups;            /* without s2 only: mu is [groups][apart] */
};

struct sb_backward {
    const struct sb_act *dy;
    const struct sb_act *dv; /* NULL: mean only */
    const struct sb_act *x;  /* needed with dv, and by the weight gradient */
    /* without dv only: weights are [groups][apart], and the weight gradient gives, in place of
     * ds2, the sum over groups of their dmu times eps */
    struct sb_groups groups;
};

/* Whether shapes fit the layer: SB_EARG with a sentence if not. */
sb_status sb_check_forward(const struct sb_conv *c, const struct sb_forward *w,
                           const struct sb_act *x, const struct sb_act *y,
                           const struct sb_act *slope);
sb_status sb_check_input_gradient(const struct sb_conv *c, const struct sb_backward *b,
                                  const struct sb_act *dx);
sb_status sb_check_weight_gradient(const struct sb_conv *c, const struct sb_backward *b);

#endif
