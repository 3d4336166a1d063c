/* fuzz_mat - any bytes after the header of a MATLAB 5 file; the first one says whether it is
 * unpacked already: then the rest is packed here, as one variable, so that what lies behind
 * zlib is reached too. */
#include <zlib.h>

#include "fuzz_file.h"

enum { HEADER = 128, MOST = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t file[HEADER + 8 + 2 * MOST];
    const struct sb_open_options o = {.split = SB_SPLIT_TRAIN, .unlabelled = true};
    if (size < 1 || size > MOST)
        return 0;
    memset(file, ' ', HEADER);
    memcpy(file, "MATLAB 5.0", 10);
    memcpy(file + 124, "\0\1IM", 4);
    size_t end = HEADER;
    if (data[0] & 1) {
        uLongf packed = 2 * MOST;
        if (compress2(file + HEADER + 8, &packed, data + 1, size - 1, 1) != Z_OK)
            abort();
        const uint8_t tag[8] = {15,
                                0,
                                0,
                                0,
                                (uint8_t)packed,
                                (uint8_t)(packed >> 8),
                                (uint8_t)(packed >> 16)};
        memcpy(file + HEADER, tag, 8);
        end += 8 + packed;
    } else {
        memcpy(file + HEADER, data + 1, size - 1);
        end += size - 1;
    }
    fuzz_put("x.mat", file, end);
    fuzz_open("x.mat", &o, end);
    return 0;
}
