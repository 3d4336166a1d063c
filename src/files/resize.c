/* resize - another size for an image, exactly.
 *
 * An output pixel is sum_k v_k sum_j h_j p[k][j] / (V H) with whole weights that add up to
 * V and H. Along an axis of S pixels that becomes T:
 *
 *     S >= T   the area [i S, (i + 1) S) in units of 1/T pixel; a pixel is T of them   V = S
 *     S <  T   the two pixels around the centre ((2i + 1) S - T) / 2T               V = 2T
 *
 * With sides up to 2^14 a sum stays below 2^38, and it is divided, rounding halves up,
 * once. Rows are summed across first; two of them are kept, because neighbouring outputs
 * share at most two rows.
 */
#include "base/mem.h"
#include "files/image.h"

/* The pixels [first, first + count) with weights left, middle ..., right. */
struct span {
    uint32_t first, count;
    uint32_t left, middle, right;
};

/* All sums of one call. */
struct work {
    const struct sb_pixels *from;
    struct sb_image_shape to; /* channels: from's */
    uint32_t *row[2];         /* [width][channels] rows k with k % 2 == 0, 1, across */
    uint32_t has[2];          /* which rows these are */
    uint64_t *sum;            /* [width][channels] */
};

static uint32_t total(uint32_t size, uint32_t target)
{
    return size >= target ? size : 2 * target;
}

static struct span area(uint64_t size, uint64_t target, uint64_t i)
{
    uint64_t begin = i * size, end = begin + size;
    uint64_t first = begin / target, last = (end - 1) / target;
    if (first == last)
        return (struct span){
            .first = (uint32_t)first, .count = 1, .left = (uint32_t)size};
    return (struct span){.first = (uint32_t)first,
                         .count = (uint32_t)(last - first + 1),
                         .left = (uint32_t)((first + 1) * target - begin),
                         .middle = (uint32_t)target,
                         .right = (uint32_t)(end - last * target)};
}

static struct span between(uint64_t size, uint64_t target, uint64_t i)
{
    uint64_t centre = (2 * i + 1) * size;
    centre = centre > target ? centre - target : 0;
    uint64_t first = centre / (2 * target), rest = centre % (2 * target);
    if (rest == 0 || first + 1 == size) /* on a pixel, or beyond the last one */
        return (struct span){
            .first = (uint32_t)first, .count = 1, .left = (uint32_t)(2 * target)};
    return (struct span){.first = (uint32_t)first,
                         .count = 2,
                         .left = (uint32_t)(2 * target - rest),
                         .right = (uint32_t)rest};
}

static struct span span_of(uint32_t size, uint32_t target, uint32_t i)
{
    return size >= target ? area(size, target, i) : between(size, target, i);
}

static uint32_t weigh(const struct span *s, const uint8_t *p, uint32_t stride)
{
    uint32_t sum = s->left * p[0], middle = 0;
    if (s->count == 1)
        return sum;
    for (uint32_t k = 1; k + 1 < s->count; k++)
        middle += p[(size_t)k * stride];
    return sum + s->middle * middle + s->right * p[(size_t)(s->count - 1) * stride];
}

/* Row k of the source, summed across. */
static const uint32_t *row_of(struct work *w, uint32_t k)
{
    uint32_t slot = k % 2, channels = w->to.channels, width = w->from->shape.width;
    uint32_t *to = w->row[slot];
    if (w->has[slot] == k)
        return to;
    w->has[slot] = k;
    const uint8_t *from = w->from->data + (size_t)k * width * channels;
    for (uint32_t x = 0; x < w->to.width; x++) {
        struct span s = span_of(width, w->to.width, x);
        for (uint32_t c = 0; c < channels; c++)
            *to++ = weigh(&s, from + (size_t)s.first * channels + c, channels);
    }
    return w->row[slot];
}

static void sum_row(struct work *w, uint32_t y)
{
    size_t size = (size_t)w->to.width * w->to.channels;
    struct span s = span_of(w->from->shape.height, w->to.height, y);
    for (size_t i = 0; i < size; i++)
        w->sum[i] = 0;
    for (uint32_t k = 0; k < s.count; k++) {
        uint32_t weight = k == 0 ? s.left : k + 1 < s.count ? s.middle : s.right;
        const uint32_t *row = row_of(w, s.first + k);
        for (size_t i = 0; i < size; i++)
            w->sum[i] += (uint64_t)weight * row[i];
    }
}

static void resize(struct work *w, uint8_t *out)
{
    const struct sb_image_shape *from = &w->from->shape, *to = &w->to;
    uint64_t whole =
        (uint64_t)total(from->height, to->height) * total(from->width, to->width);
    size_t plane = (size_t)to->height * to->width;
    for (uint32_t y = 0; y < to->height; y++, out += to->width) {
        sum_row(w, y);
        for (uint32_t x = 0; x < to->width; x++)
            for (uint32_t c = 0; c < to->channels; c++)
                out[c * plane + x] =
                    (uint8_t)((w->sum[(size_t)x * to->channels + c] + whole / 2) / whole);
    }
}

sb_status sb_resize(const struct sb_pixels *p, const struct sb_image_shape *shape,
                    uint8_t *out)
{
    size_t size = (size_t)shape->width * p->shape.channels;
    uint64_t *memory =
        sb_malloc(size, 2 * sizeof *memory); /* sum, and two half as wide */
    if (!memory)
        return sb_fail(SB_ENOMEM, "no memory to resize an image to %u x %u",
                       shape->height, shape->width);
    struct work w = {
        .from = p,
        .to = *shape,
        .row = {(uint32_t *)(memory + size), (uint32_t *)(memory + size) + size},
        .has = {UINT32_MAX, UINT32_MAX},
        .sum = memory};
    w.to.channels = p->shape.channels;
    resize(&w, out);
    sb_free(memory);
    return SB_OK;
}
