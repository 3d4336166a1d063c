/* augment - see augment.h. */
#include "data/augment.h"

/* Uniform in [-pad, pad]. The high part of a product of 32 by less than 32 bits: no value
 * is more than (2 pad + 1) / 2^32 too likely. */
static int32_t shift(uint32_t bits, uint32_t pad)
{
    uint64_t places = 2 * (uint64_t)pad + 1;
    return (int32_t)((int64_t)(bits * places >> 32) - (int64_t)pad);
}

struct sb_crop sb_augment_draw(const struct sb_augment *a, const struct sb_stream *s,
                               uint64_t example)
{
    uint32_t bits[4];
    sb_rng_bits(s, example, bits);
    return (struct sb_crop){.dy = shift(bits[0], a->pad),
                            .dx = shift(bits[1], a->pad),
                            .flip = a->flip && bits[2] >> 31 != 0};
}

static void fill(float *to, size_t stride, uint32_t n, float value)
{
    for (uint32_t x = 0; x < n; x++)
        to[x * stride] = value;
}

/* Before mirroring, the row is [zeros | bytes | zeros]; mirrored, it is written from the
 * other end. */
void sb_augment_row(const struct sb_crop *crop, const uint8_t *plane, uint32_t height,
                    uint32_t width, uint32_t y, const float *table, float *to,
                    size_t stride)
{
    int64_t row = (int64_t)y + crop->dy, dx = crop->dx;
    if (row < 0 || row >= height || dx <= -(int64_t)width || dx >= width) {
        fill(to, stride, width, table[0]);
        return;
    }
    uint32_t before = dx < 0 ? (uint32_t)-dx : 0, after = dx > 0 ? (uint32_t)dx : 0;
    uint32_t n = width - before - after;
    const uint8_t *from = plane + (size_t)row * width + after;
    if (crop->flip) {
        fill(to, stride, after, table[0]);
        to += after * stride;
        for (uint32_t x = 0; x < n; x++)
            to[x * stride] = table[from[n - 1 - x]];
        fill(to + n * stride, stride, before, table[0]);
    } else {
        fill(to, stride, before, table[0]);
        to += before * stride;
        for (uint32_t x = 0; x < n; x++)
            to[x * stride] = table[from[x]];
        fill(to + n * stride, stride, after, table[0]);
    }
}
