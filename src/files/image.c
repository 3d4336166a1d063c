/* image - see image.h: which decoder, and colours. */
#include "files/image.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

typedef sb_status decode_fn(const struct sb_image_file *f, struct sb_image_shape *shape,
                            const struct sb_image_shape *want, struct sb_pixels *p);

static const unsigned char png_magic[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
static const unsigned char jpeg_magic[] = {0xff, 0xd8, 0xff};

static bool begins(const struct sb_image_file *f, const unsigned char *magic, size_t size)
{
    return f->size >= size && memcmp(f->data, magic, size) == 0;
}

bool sb_image_is(const unsigned char *head, size_t size)
{
    struct sb_image_file f = {.data = head, .size = size};
    return begins(&f, png_magic, sizeof png_magic) ||
           begins(&f, jpeg_magic, sizeof jpeg_magic);
}

/* By content: the name's ending may be wrong. */
static sb_status choose(const struct sb_image_file *f, decode_fn **decode)
{
    if (begins(f, png_magic, sizeof png_magic))
        *decode = sb_png_decode;
    else if (begins(f, jpeg_magic, sizeof jpeg_magic))
        *decode = sb_jpeg_decode;
    else
        return sb_fail(SB_EFORMAT, "%s: it does not begin like a PNG or JPEG file",
                       f->name);
    return SB_OK;
}

sb_status sb_image_check(const char *name, uint32_t height, uint32_t width)
{
    if (height == 0 || width == 0 || height > SB_IMAGE_SIDE_MOST ||
        width > SB_IMAGE_SIDE_MOST || (uint64_t)height * width > SB_IMAGE_PIXELS_MOST)
        return sb_fail(SB_EFORMAT,
                       "%s: its header says %u x %u pixels; want sides from 1 to %d and "
                       "at most %d pixels",
                       name, height, width, SB_IMAGE_SIDE_MOST, SB_IMAGE_PIXELS_MOST);
    return SB_OK;
}

sb_status sb_pixels_init(struct sb_pixels *p, const char *name)
{
    const struct sb_image_shape *s = &p->shape;
    p->data = sb_malloc((size_t)s->height * s->width, s->channels);
    if (!p->data)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u x %u pixels", name, s->height,
                       s->width);
    return SB_OK;
}

/* In place. */
static void make_grey(struct sb_pixels *p)
{
    size_t pixels = (size_t)p->shape.height * p->shape.width;
    const uint8_t *from = p->data;
    for (size_t i = 0; i < pixels; i++, from += 3)
        p->data[i] = (uint8_t)((19595u * from[0] + 38470u * from[1] + 7471u * from[2] +
                                (1u << 15)) >>
                               16);
    p->shape.channels = 1;
}

sb_status sb_image_look(const struct sb_image_file *f, struct sb_image_shape *shape)
{
    decode_fn *decode = NULL;
    sb_status st = choose(f, &decode);
    return st == SB_OK ? decode(f, shape, NULL, NULL) : st;
}

sb_status sb_image_decode(const struct sb_image_file *f,
                          const struct sb_image_shape *shape, uint8_t *out)
{
    decode_fn *decode = NULL;
    struct sb_image_shape own;
    struct sb_pixels p = {0};
    assert(shape->channels == 1 || shape->channels == 3);
    sb_status st = choose(f, &decode);
    if (st == SB_OK)
        st = decode(f, &own, shape, &p);
    if (st != SB_OK)
        goto done;
    if (p.shape.channels == 3 && shape->channels == 1)
        make_grey(&p);
    st = sb_resize(&p, shape, out);
    size_t plane = (size_t)shape->height * shape->width;
    for (size_t c = p.shape.channels; st == SB_OK && c < shape->channels; c++)
        memcpy(out + c * plane, out, plane);
done:
    sb_free(p.data);
    return st;
}

/* A side in digits up to `end`; 0: it is none. */
static uint32_t read_side(const char *text, const char *end)
{
    uint32_t side = 0;
    for (; text < end && *text >= '0' && *text <= '9' && side <= SB_IMAGE_SIDE_MOST;
         text++)
        side = 10 * side + (uint32_t)(*text - '0');
    return text == end && side <= SB_IMAGE_SIDE_MOST ? side : 0;
}

bool sb_image_size(const char *text, uint32_t *height, uint32_t *width)
{
    const char *cross = strchr(text, 'x');
    *height = *width = 0;
    if (strcmp(text, "auto") == 0)
        return true;
    if (!cross)
        return false;
    *height = read_side(text, cross);
    *width = read_side(cross + 1, text + strlen(text));
    return *height > 0 && *width > 0;
}
