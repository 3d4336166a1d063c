/* fuzz_image - any bytes as an image file, into shapes that shrink, grow and change colour. */
#ifndef SB_TESTS_FUZZ_IMAGE_H
#define SB_TESTS_FUZZ_IMAGE_H

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "files/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_image(const uint8_t *data, size_t size)
{
    static const struct sb_image_shape shapes[] = {{3, 16, 16}, {1, 40, 5}};
    struct sb_image_file f = {.name = "fuzz", .data = data, .size = size};
    struct sb_image_shape own = {0};
    uint8_t out[3 * 16 * 16];
    sb_status looked = sb_image_look(&f, &own);
    for (size_t i = 0; i < 2; i++) {
        (void)sb_fail(SB_OK, "%s", "");
        sb_status st = sb_image_decode(&f, &shapes[i], out);
        assert(st == SB_OK || strncmp(sb_message(), "fuzz: ", 6) == 0);
        assert(st != SB_OK || looked == SB_OK); /* pixels only after a sound header */
    }
    assert(looked != SB_OK || (own.height > 0 && own.height <= SB_IMAGE_SIDE_MOST));
    assert(sb_mem_live() == 0);
}

#endif
