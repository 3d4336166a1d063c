/* png_write - an image as a PNG file of 8 bits a channel.
 *
 * Through libpng, which is optional: a build without it answers SB_EMISSING. The file
 * appears whole or not at all (base/file.h).
 */
#ifndef SB_FILES_PNG_WRITE_H
#define SB_FILES_PNG_WRITE_H

#include <stdint.h>

#include "base/status.h"

struct sb_image {
    const uint8_t *pixels; /* [height][width][channels] borrowed */
    uint32_t height, width;
    uint32_t channels; /* 1: grey, 3: red, green, blue */
};

sb_status sb_png_write(const char *path, const struct sb_image *image);

#endif
