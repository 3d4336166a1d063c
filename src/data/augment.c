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

/* A row of the output as [padding | n elements | padding]. */
struct span {
    uint32_t before, n, after;
    size_t from; /* of the first element, in the plane */
};

static void fill(float *to, size_t stride, uint32_t n, float value)
{
    for (uint32_t x = 0; x < n; x++)
        to[x * stride] = value;
}

/* What the crop sees of the plane; mirrored, the output runs the other way, so its padding
 * changes sides. */
static struct span cut(const struct sb_crop *crop, const struct sb_row *r)
{
    int64_t row = (int64_t)r->y + crop->dy, dx = crop->dx, width = r->width;
    if (row < 0 || row >= r->height || dx <= -width || dx >= width)
        return (struct span){.before = r->width};
    uint32_t left = dx < 0 ? (uint32_t)-dx : 0, right = dx > 0 ? (uint32_t)dx : 0;
    return (struct span){.before = crop->flip ? right : left,
                         .n = r->width - left - right,
                         .after = crop->flip ? left : right,
                         .from = (size_t)row * r->width + right};
}

static float *pad(const struct sb_row *r, const struct span *s, float zero)
{
    float *to = r->to + s->before * r->stride;
    fill(r->to, r->stride, s->before, zero);
    fill(to + s->n * r->stride, r->stride, s->after, zero);
    return to;
}

void sb_augment_bytes(const struct sb_crop *crop, const struct sb_row *row,
                      const uint8_t *plane, const float *table)
{
    struct span s = cut(crop, row);
    float *to = pad(row, &s, table[0]);
    const uint8_t *from = plane + s.from;
    size_t stride = row->stride;
    if (crop->flip)
        for (uint32_t x = 0; x < s.n; x++)
            to[x * stride] = table[from[s.n - 1 - x]];
    else
        for (uint32_t x = 0; x < s.n; x++)
            to[x * stride] = table[from[x]];
}

void sb_augment_floats(const struct sb_crop *crop, const struct sb_row *row,
                       const float *plane, float mean, float sd)
{
    struct span s = cut(crop, row);
    float *to = pad(row, &s, (0.0f - mean) / sd);
    const float *from = plane + s.from;
    size_t stride = row->stride;
    for (uint32_t x = 0; x < s.n; x++)
        to[x * stride] = (from[crop->flip ? s.n - 1 - x : x] - mean) / sd;
}
