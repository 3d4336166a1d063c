/* sparse_check - what the sparse products refuse, with a sentence. */
#include "kernels/sparse_parts.h"

sb_status sb_sparse_check_pattern(const struct sb_sparse *s, const uint32_t *row_ptr,
                                  const uint32_t *col)
{
    uint32_t rows = s->conv.out, cols = sb_conv_cols(&s->conv);
    if (row_ptr[0] != 0)
        return sb_fail(SB_EARG, "pattern: row 0 begins at %u, not 0", row_ptr[0]);
    for (uint32_t r = 0; r < rows; r++)
        if (row_ptr[r + 1] < row_ptr[r] || row_ptr[r + 1] > s->forward.capacity)
            return sb_fail(SB_EARG, "pattern: row %u ends at %u; must be %u to %u", r,
                           row_ptr[r + 1], row_ptr[r], s->forward.capacity);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t k = row_ptr[r]; k < row_ptr[r + 1]; k++) {
            if (col[k] >= cols)
                return sb_fail(SB_EARG, "pattern: row %u has column %u of %u", r, col[k],
                               cols);
            if (k > row_ptr[r] && col[k] <= col[k - 1])
                return sb_fail(SB_EARG, "pattern: row %u has column %u after column %u",
                               r, col[k], col[k - 1]);
        }
    return SB_OK;
}

sb_status sb_sparse_check_batch(const struct sb_env *env, const struct sb_sparse *s,
                                const struct sb_act *a)
{
    uint32_t lanes = env->kernels->lanes;
    if (lanes != s->lanes || (a && a->lanes != lanes))
        return sb_fail(SB_EARG,
                       "kernels with %u lanes on a layer planned for %u and activations "
                       "of %u",
                       lanes, s->lanes, a ? a->lanes : lanes);
    if (a && a->batch > s->max_batch)
        return sb_fail(SB_EARG,
                       "a batch of %u images; the layer was planned for up to %u",
                       a->batch, s->max_batch);
    return SB_OK;
}

sb_status sb_sparse_check_slices(const struct sb_sparse *s, const struct sb_forward *w,
                                 const struct sb_act *x, const struct sb_act *y)
{
    if (x->sliced != s->forward.sliced)
        return sb_fail(SB_EARG, "a layer planned for %s inputs got %s ones",
                       s->forward.sliced ? "sliced" : "plain",
                       x->sliced ? "sliced" : "plain");
    if (s->forward.sliced && w->s2)
        return sb_fail(SB_EARG, "a layer with sliced inputs takes no variances");
    if ((s->forward.sliced || y->sliced) &&
        (w->s2 || !sb_sparse_stores_directly(&s->forward, w->epilogue)))
        return sb_fail(SB_EARG, "outputs of a layer with slices must land");
    return SB_OK;
}
