/* conv - see conv.h. */
#include "kernels/conv.h"

/* Sizes above this would overflow the signed arithmetic on coordinates. */
enum { MAX_EXTENT = 1 << 20 };

static sb_status check_sizes(uint32_t in, uint32_t out, uint32_t kh, uint32_t kw,
                             uint32_t height, uint32_t width)
{
    if (in == 0 || out == 0 || kh == 0 || kw == 0 || height == 0 || width == 0)
        return sb_fail(
            SB_EARG,
            "convolution %u -> %u, kernel %u x %u on %u x %u: every size must be "
            "at least 1",
            in, out, kh, kw, height, width);
    if (height > MAX_EXTENT || width > MAX_EXTENT)
        return sb_fail(SB_EARG, "planes of %u x %u: at most %d pixels a side", height,
                       width, MAX_EXTENT);
    uint32_t cols, weights;
    if (__builtin_mul_overflow(in, kh, &cols) ||
        __builtin_mul_overflow(cols, kw, &cols) ||
        __builtin_mul_overflow(cols, out, &weights))
        return sb_fail(SB_EARG,
                       "convolution %u -> %u, kernel %u x %u: more than 2^32 - 1 weights",
                       in, out, kh, kw);
    return SB_OK;
}

sb_status sb_conv_init(struct sb_conv *c, uint32_t in, uint32_t out, uint32_t kh,
                       uint32_t kw, uint32_t stride, uint32_t pad, uint32_t height,
                       uint32_t width)
{
    *c = (struct sb_conv){0};
    sb_status st = check_sizes(in, out, kh, kw, height, width);
    if (st != SB_OK)
        return st;
    if (stride == 0 || stride > SB_MAX_STRIDE)
        return sb_fail(SB_EARG, "stride %u: must be 1 to %d", stride, SB_MAX_STRIDE);
    if (pad >= kh || pad >= kw)
        return sb_fail(SB_EARG, "padding %u: must be smaller than the kernel, %u x %u",
                       pad, kh, kw);
    if (kh > height + 2 * pad || kw > width + 2 * pad)
        return sb_fail(SB_EARG, "kernel %u x %u: larger than the padded plane, %u x %u",
                       kh, kw, height + 2 * pad, width + 2 * pad);
    *c = (struct sb_conv){
        .in = in,
        .out = out,
        .kh = kh,
        .kw = kw,
        .stride = stride,
        .pad = pad,
        .height = height,
        .width = width,
        .out_height = (height + 2 * pad - kh) / stride + 1,
        .out_width = (width + 2 * pad - kw) / stride + 1,
    };
    return SB_OK;
}

bool sb_conv_band(struct sb_conv *c, uint32_t bands)
{
    if (bands == 0 || c->height % bands || c->height / bands % c->stride ||
        c->out_height * c->stride != c->height)
        return false;
    c->bands = bands;
    c->height /= bands;
    c->out_height /= bands;
    return true;
}

sb_status sb_conv_init_linear(struct sb_conv *c, uint32_t in, uint32_t out)
{
    return sb_conv_init(c, in, out, 1, 1, 1, 0, 1, 1);
}
