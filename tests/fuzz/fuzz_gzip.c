/* fuzz_gzip - any bytes, as gzip data: unpacked within a limit, head and whole agree. */
#include "files/gzip.h"
#include "fuzz_file.h"

enum { LIMIT = 1 << 16, HEAD = 100 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128];
    unsigned char head[HEAD];
    size_t have;
    struct sb_bytes b;
    fuzz_put("a.gz", data, size);
    sb_mem_peak_reset();
    sb_status st = sb_bytes_open(&b, fuzz_path("a.gz", path), LIMIT);
    assert(sb_mem_peak() < FUZZ_FIXED_BYTES);
    sb_status first = sb_bytes_head(path, head, HEAD, &have);
    if (st == SB_OK) {
        bool packed = size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
        assert(b.data && b.size <= (packed ? LIMIT : size));
        assert(first == SB_OK && have == (b.size < HEAD ? b.size : HEAD));
        assert(memcmp(head, b.data, have) == 0);
    } else {
        assert(sb_message()[0] != '\0');
    }
    sb_bytes_close(&b);
    assert(sb_mem_live() == 0);
    return 0;
}
