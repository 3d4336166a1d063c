/* product - see product.h. */
#include "kernels/product.h"

#include <stdbool.h>

static sb_status check(const char *what, const struct sb_act *a, uint32_t batch,
                       uint32_t channels, uint32_t height, uint32_t width)
{
    if (!a || !a->data)
        return sb_fail(SB_EARG, "%s is missing; want %u x %u x %u x %u", what, batch,
                       channels, height, width);
    if (a->batch != batch || a->channels != channels || a->height != height ||
        a->width != width)
        return sb_fail(SB_EARG, "%s is %u x %u x %u x %u; want %u x %u x %u x %u", what,
                       a->batch, a->channels, a->height, a->width, batch, channels,
                       height, width);
    return SB_OK;
}

static sb_status check_in(const struct sb_conv *c, const char *what,
                          const struct sb_act *a, uint32_t batch)
{
    return check(what, a, batch, c->in, c->height, c->width);
}

static sb_status check_out(const struct sb_conv *c, const char *what,
                           const struct sb_act *a, uint32_t batch)
{
    return check(what, a, batch, c->out, c->out_height, c->out_width);
}

sb_status sb_check_forward(const struct sb_conv *c, const struct sb_forward *w,
                           const struct sb_act *x, const struct sb_act *y,
                           const struct sb_act *slope)
{
    uint32_t batch = x ? x->batch : 1;
    sb_status st = check_in(c, "input", x, batch);
    if (st == SB_OK)
        st = check_out(c, "output", y, batch);
    if (st == SB_OK && w->s2)
        st = check_out(c, "slope", slope, batch);
    if (st == SB_OK && w->s2 && w->noise && w->noise->eps)
        st = check_out(c, "noise", w->noise->eps, batch);
    const struct sb_tail *t = w->tail;
    if (st == SB_OK && t && t->add)
        st = check_out(c, "what is added", t->add, batch);
    if (st == SB_OK && t && t->sum)
        st = check_out(c, "the sum", t->sum, batch);
    if (st == SB_OK && t && t->after)
        st = check_out(c, "the residual", t->after, batch);
    return st;
}

static sb_status check_gradients(const struct sb_conv *c, const struct sb_backward *b,
                                 bool need_x)
{
    uint32_t batch = b->dy ? b->dy->batch : 1;
    sb_status st = check_out(c, "output gradient", b->dy, batch);
    if (st == SB_OK && b->dv)
        st = check_out(c, "variance gradient", b->dv, batch);
    if (st == SB_OK && need_x)
        st = check_in(c, "input", b->x, batch);
    return st;
}

sb_status sb_check_input_gradient(const struct sb_conv *c, const struct sb_backward *b,
                                  const struct sb_act *dx)
{
    sb_status st = check_gradients(c, b, b->dv != NULL);
    return st == SB_OK ? check_in(c, "input gradient", dx, b->dy->batch) : st;
}

sb_status sb_check_weight_gradient(const struct sb_conv *c, const struct sb_backward *b)
{
    return check_gradients(c, b, true);
}
