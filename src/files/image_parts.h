/* image_parts - what image.c and the decoders share. */
#ifndef SB_FILES_IMAGE_PARTS_H
#define SB_FILES_IMAGE_PARTS_H

#include "files/image.h"

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
