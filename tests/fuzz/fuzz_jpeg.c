/* fuzz_jpeg - see fuzz_image.h. */
#include "fuzz_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_image(data, size);
    return 0;
}
