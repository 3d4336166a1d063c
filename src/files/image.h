/* image - a PNG or JPEG file's bytes as planes of one size, whatever the file has.
 *
 *     bytes -> decoder (png.c, jpeg.c) -> [h][w][c] -> colours -> size -> [c][H][W]
 *
 * Colours: grey becomes three equal planes, colour becomes grey by ITU-R BT.601's weights
 * (19595 R + 38470 G + 7471 B) / 65536. Transparent pixels are shown on black, the value
 * that crops are padded with too. Palettes and 1, 2, 4 and 16 bits become 8; gamma and
 * colour profiles are ignored, and so is EXIF's orientation: pixels are taken as stored.
 *
 * Size: the image is stretched, each axis by itself. A shrinking axis averages areas, a
 * growing one is bilinear with pixel centres; the sums are exact integers that are rounded
 * once, so the result is the same everywhere. JPEGs that are at least twice too large are
 * shrunk by 2, 4 or 8 while they are decoded.
 *
 * Hostile files: no side above 16384, no more than 64 Mi pixels, no JPEG of more than 100
 * scans; a file whose pixels are not all there is refused, strange trailers are not. All
 * functions may be called from any thread. libpng's memory comes from base/mem; libjpeg
 * has its own, at most 640 MiB.
 */
#ifndef SB_FILES_IMAGE_H
#define SB_FILES_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { SB_IMAGE_SIDE_MOST = 16384, SB_IMAGE_PIXELS_MOST = 64 << 20 };

/* A file in memory; name is for messages. */
struct sb_image_file {
    const char *name;
    const unsigned char *data; /* [size] borrowed */
    size_t size;
};

struct sb_image_shape {
    uint32_t channels, height, width; /* channels: 1 grey, 3 colour */
};

/* Whether bytes begin like a PNG or JPEG file. */
bool sb_image_is(const unsigned char *head, size_t size);

/* What the file's header says. SB_EFORMAT; SB_EMISSING if this build cannot read it. */
sb_status sb_image_look(const struct sb_image_file *f, struct sb_image_shape *shape);

/* out[channels][height][width] = the image in that shape (1 or 3 channels,
 * sides from 1 to SB_IMAGE_SIDE_MOST: the caller's promise). SB_EFORMAT, SB_ENOMEM, SB_EMISSING. */
sb_status sb_image_decode(const struct sb_image_file *f,
                          const struct sb_image_shape *shape, uint8_t *out);

/* "32x32" as numbers, both 0 for "auto"; false if text is neither. */
bool sb_image_size(const char *text, uint32_t *height, uint32_t *width);

/* ---- writing ------------------------------------------------------------------------- */

struct sb_image {
    const uint8_t *pixels; /* [height][width][channels] borrowed */
    uint32_t height, width;
    uint32_t channels; /* 1: grey, 3: red, green, blue */
};

/* A PNG file of 8 bits a channel, whole or not at all (base/file.h). SB_EMISSING: this build
 * has no libpng. */
sb_status sb_png_write(const char *path, const struct sb_image *image);

/* ---- what decoders share ------------------------------------------------------------- */

struct sb_pixels {
    struct sb_image_shape shape;
    uint8_t *data; /* [height][width][channels] owned */
};

/* SB_EFORMAT unless the sides are within the limits. */
sb_status sb_image_check(const char *name, uint32_t height, uint32_t width);

/* Memory for the pixels of p->shape. */
sb_status sb_pixels_init(struct sb_pixels *p, const char *name);

/* Decoders: the header only if p is NULL, else all pixels into p, whose data the caller
 * frees, also after a failure. want is what p will be made into: a decoder may use it to
 * do less, and may give grey or colour. shape is the file's. */
sb_status sb_png_decode(const struct sb_image_file *f, struct sb_image_shape *shape,
                        const struct sb_image_shape *want, struct sb_pixels *p);
sb_status sb_jpeg_decode(const struct sb_image_file *f, struct sb_image_shape *shape,
                         const struct sb_image_shape *want, struct sb_pixels *p);

/* out[channels][shape->height][shape->width] = p in another size; channels are p's. */
sb_status sb_resize(const struct sb_pixels *p, const struct sb_image_shape *shape,
                    uint8_t *out);

#endif
