/* adapt - see adapt.h. */
#include "data/adapt.h"

#include <string.h>

#include "base/mem.h"
#include "files/image.h"

/* Image i of from, in from's size, with `channels` planes; buffer: [3] planes. */
static sb_status with_channels(const struct sb_dataset *from, uint32_t i,
                               uint32_t channels, uint8_t *buffer, const uint8_t **out)
{
    size_t plane = (size_t)from->height * from->width;
    sb_status st = sb_dataset_image(from, i, buffer, out);
    if (st != SB_OK || channels == from->channels || channels == 3)
        return st; /* a grey plane is copied when it has its size */
    const uint8_t *r = *out, *g = r + plane, *b = g + plane;
    for (size_t k = 0; k < plane; k++)
        buffer[k] =
            (uint8_t)((19595u * r[k] + 38470u * g[k] + 7471u * b[k] + (1u << 15)) >> 16);
    *out = buffer;
    return st;
}

static sb_status fetch(const struct sb_dataset *d, uint32_t i, uint8_t *out)
{
    const struct sb_dataset *from = d->reader;
    const struct sb_image_shape to = {1, d->height, d->width};
    size_t old_plane = (size_t)from->height * from->width;
    size_t plane = (size_t)d->height * d->width;
    uint32_t planes = from->channels == 1 ? 1 : d->channels;
    const uint8_t *image;
    uint8_t *buffer = sb_malloc(3, old_plane);
    if (!buffer)
        return sb_fail(SB_ENOMEM, "%s: no memory for an image", d->path);
    sb_status st = with_channels(from, i, d->channels, buffer, &image);
    for (uint32_t c = 0; c < planes && st == SB_OK; c++) {
        struct sb_pixels p = {.shape = {1, from->height, from->width},
                              .data = (uint8_t *)(uintptr_t)(image + c * old_plane)};
        st = sb_resize(&p, &to, out + c * plane);
    }
    for (uint32_t c = planes; c < d->channels && st == SB_OK; c++)
        memcpy(out + c * plane, out, plane);
    sb_free(buffer);
    return st;
}

static bool colours(uint32_t channels)
{
    return channels == 1 || channels == 3;
}

sb_status sb_adapt(struct sb_dataset *out, const struct sb_dataset *from,
                   const struct sb_image_shape *shape)
{
    *out = *from;
    if (from->channels == shape->channels && from->height == shape->height &&
        from->width == shape->width)
        return SB_OK;
    bool sizes = from->element == SB_BYTES &&
                 (from->channels == shape->channels ||
                  (colours(from->channels) && colours(shape->channels)));
    bool bounded = from->height <= SB_IMAGE_SIDE_MOST &&
                   from->width <= SB_IMAGE_SIDE_MOST && from->channels <= 3;
    if (!sizes || !bounded)
        return sb_fail(SB_EARG,
                       "%s: examples of %u x %u x %u %s cannot become %u x %u x %u",
                       from->path, from->channels, from->height, from->width,
                       from->element == SB_BYTES ? "pixels" : "numbers", shape->channels,
                       shape->height, shape->width);
    out->channels = shape->channels;
    out->height = shape->height;
    out->width = shape->width;
    out->images = NULL;
    out->fetch = fetch;
    out->name_of = NULL;
    out->reader = (void *)(uintptr_t)from;
    return SB_OK;
}
