/* fuzz_cifar - any bytes as a single CIFAR file beside any bytes as its class names. The
 * first two bytes say how long the names are. */
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct sb_open_options test = {.split = SB_SPLIT_TEST};
    if (size < 2)
        return 0;
    size_t names = (size_t)data[0] << 8 | data[1];
    data += 2;
    size -= 2;
    names = names < size ? names : size;
    fuzz_put("batches.meta.txt", data, names);
    fuzz_put("fine_label_names.txt", data, names);
    fuzz_put("any.bin", data + names, size - names);
    fuzz_open("any.bin", &test, size);
    return 0;
}
