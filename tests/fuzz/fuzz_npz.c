/* fuzz_npz - any bytes as a ZIP archive: members of the names readers look for are found,
 * unpacked and parsed. */
#include "files/zip.h"
#include "fuzz_file.h"
#include "readers/npy.h"

static void read_member(const struct sb_zip *z, const char *name,
                        const struct sb_zip_member *m)
{
    struct sb_npy a;
    unsigned char *out = m->deflated ? sb_malloc(m->size, 1) : NULL;
    if (m->deflated && !out)
        return;
    if (sb_zip_read(z, name, m, out) == SB_OK)
        (void)sb_npy_parse(&a, name, out ? out : m->data, m->size);
    sb_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"x.npy", "y.npy", "x_train.npy", "y_train.npy"};
    struct sb_zip z;
    sb_mem_peak_reset();
    sb_status st = sb_zip_init(&z, "fuzz", data, size);
    for (size_t i = 0; i < 4 && st == SB_OK; i++) {
        struct sb_zip_member m;
        bool found;
        st = sb_zip_find(&z, names[i], &m, &found);
        if (st != SB_OK || !found)
            continue;
        assert(m.data >= data && m.data + m.packed <= data + size);
        read_member(&z, names[i], &m);
    }
    assert(st == SB_OK || strncmp(sb_message(), "fuzz: ", 6) == 0);
    assert(sb_mem_peak() <= FUZZ_FIXED_BYTES + FUZZ_FACTOR * size);
    assert(sb_mem_live() == 0);
    return 0;
}
