/* fuzz_idx - any bytes as an IDX image file beside sound labels, and as a label file beside
 * sound images: the first byte says which. */
#include "fuzz_file.h"

static const uint8_t images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0,
                                 0, 1, 0, 0, 0, 2, 9, 8, 7, 6};
static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 0, 1};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sb_open_options train = {.split = SB_SPLIT_TRAIN};
    if (size < 1)
        return 0;
    const char *mine =
        data[0] & 1 ? "train-labels-idx1-ubyte" : "train-images-idx3-ubyte";
    fuzz_put("train-images-idx3-ubyte", images, sizeof images);
    fuzz_put("train-labels-idx1-ubyte", labels, sizeof labels);
    fuzz_put(mine, data + 1, size - 1);
    fuzz_open("train-images-idx3-ubyte", &train, size);
    return 0;
}
