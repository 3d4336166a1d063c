/* product - see product.h. */
#include "kernels/product.h"

#include <stdbool.h>

struct sb_act *sb_group_end(const struct sb_groups *g, const struct sb_act *a,
                            uint32_t group, struct sb_act *view)
{
    if (!a)
        return NULL;
    uint32_t end = (group + 1) * g->rows;
    *view = *a;
    if (end < a->batch)
        sb_act_set_batch(view, end);
    return view;
}

void sb_group_add(const struct sb_groups *g, uint32_t group, size_t first, size_t n,
                  const float *restrict d, float *restrict dmu, float *restrict dsigma)
{
    const float *eps = g->eps + group * g->apart;
    for (size_t k = 0; k < n && group == 0; k++) {
        dmu[first + k] = d[k];
        dsigma[first + k] = d[k] * eps[first + k];
    }
    for (size_t k = 0; k < n && group > 0; k++) {
        dmu[first + k] += d[k];
        dsigma[first + k] += d[k] * eps[first + k];
    }
}

/* like: of the same batch, for the same kernels; NULL: there is none. */
static sb_status check(const char *what, const struct sb_act *a,
                       const struct sb_act *like, uint32_t channels, uint32_t height,
                       uint32_t width)
{
    uint32_t batch = like ? like->batch : 1;
    if (!a || !a->data)
        return sb_fail(SB_EARG, "%s is missing; want %u x %u x %u x %u", what, batch,
                       channels, height, width);
    if (a->batch != batch || a->channels != channels || a->height != height ||
        a->width != width)
        return sb_fail(SB_EARG, "%s is %u x %u x %u x %u; want %u x %u x %u x %u", what,
                       a->batch, a->channels, a->height, a->width, batch, channels,
                       height, width);
    if (like && a->lanes != like->lanes)
        return sb_fail(SB_EARG, "%s has %u images side by side; want %u", what, a->lanes,
                       like->lanes);
    return SB_OK;
}

static sb_status check_in(const struct sb_conv *c, const char *what,
                          const struct sb_act *a, const struct sb_act *like)
{
    sb_status st = check(what, a, like, c->in, c->height, c->width);
    if (st == SB_OK && a->scale && (!sb_conv_has_planes(c) || a->sliced))
        return sb_fail(SB_EARG,
                       "%s is a norm that was not stored; want one, or planes of more "
                       "than a pixel that are not sliced",
                       what);
    return st;
}

static sb_status check_out(const struct sb_conv *c, const char *what,
                           const struct sb_act *a, const struct sb_act *like)
{
    return check(what, a, like, c->out, c->out_height, c->out_width);
}

sb_status sb_check_forward(const struct sb_conv *c, const struct sb_forward *w,
                           const struct sb_act *x, const struct sb_act *y,
                           const struct sb_act *slope)
{
    sb_status st = check_in(c, "input", x, x);
    if (st == SB_OK)
        st = check_out(c, "output", y, x);
    if (st == SB_OK && w->s2)
        st = check_out(c, "slope", slope, x);
    if (st == SB_OK && w->s2 && w->noise && w->noise->eps)
        st = check_out(c, "noise", w->noise->eps, x);
    const struct sb_epilogue *t = w->epilogue;
    if (st == SB_OK && t && t->add)
        st = check_out(c, "what is added", t->add, x);
    if (st == SB_OK && t && t->sum)
        st = check_out(c, "the sum", t->sum, x);
    if (st == SB_OK && t && t->after)
        st = check_out(c, "the residual", t->after, x);
    return st;
}

static sb_status check_gradients(const struct sb_conv *c, const struct sb_backward *b,
                                 bool need_x)
{
    sb_status st = check_out(c, "output gradient", b->dy, b->dy);
    if (st == SB_OK && b->dv)
        st = check_out(c, "variance gradient", b->dv, b->dy);
    if (st == SB_OK && need_x)
        st = check_in(c, "input", b->x, b->dy);
    return st;
}

sb_status sb_check_input_gradient(const struct sb_conv *c, const struct sb_backward *b,
                                  const struct sb_act *dx)
{
    sb_status st = check_gradients(c, b, b->dv != NULL);
    return st == SB_OK ? check_in(c, "input gradient", dx, b->dy) : st;
}

sb_status sb_check_weight_gradient(const struct sb_conv *c, const struct sb_backward *b)
{
    return check_gradients(c, b, true);
}
