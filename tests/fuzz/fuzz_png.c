/* fuzz_png - chunks of any bytes; their checksums are set right, else nothing would get
 * past those. */
#include <stdlib.h>
#include <zlib.h>

#include "fuzz_image.h"

static uint32_t big_endian(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static void mend(uint8_t *b, size_t size)
{
    size_t at = 8; /* after the magic */
    while (size >= 12 && at <= size - 12) {
        size_t length = big_endian(b + at);
        if (length > size - 12 - at)
            return;
        uint32_t sum = (uint32_t)crc32(0, b + at + 4, (uInt)length + 4);
        for (int i = 0; i < 4; i++)
            b[at + 8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
        at += 12 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    mend(copy, size);
    fuzz_image(copy, size);
    free(copy);
    return 0;
}
