/* fuzz_npy - any bytes as an NPY file: parsed, and if that works, taken as examples and as
 * labels. */
#include "fuzz_file.h"
#include "readers/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_npy a;
    struct sb_dataset d = {0}, e = {0};
    sb_mem_peak_reset();
    if (sb_npy_parse(&a, "fuzz", data, size) != SB_OK) {
        assert(strncmp(sb_message(), "fuzz: ", 6) == 0);
        return 0;
    }
    uint64_t n = a.dims > 0 ? a.shape[0] : 0;
    if (sb_npy_examples(&d, &a, 0, n, false) == SB_OK)
        fuzz_check(&d);
    else
        assert(strncmp(sb_message(), "fuzz: ", 6) == 0);
    e.n = n <= UINT32_MAX && a.count > 0 ? (uint32_t)n : 0;
    e.channels = e.height = e.width = 1;
    if (e.n > 0 && sb_npy_labels(&e, &a, 0) == SB_OK)
        fuzz_check(&e);
    assert(sb_mem_peak() <= FUZZ_FIXED_BYTES + 16 * size);
    sb_dataset_fini(&d);
    sb_dataset_fini(&e);
    assert(sb_mem_live() == 0);
    return 0;
}
