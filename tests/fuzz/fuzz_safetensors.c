/* fuzz_safetensors - any bytes as a safetensors file: opened, and if that works, every
 * tensor read in every way. The golden cases make a good first corpus. */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "model/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What opened must keep its promises: data within the file, getters that answer. */
static void read_tensor(const struct sb_st *st, const struct sb_st_tensor *t)
{
    float *numbers = sb_malloc(t->count, sizeof *numbers);
    if (!numbers)
        return;
    (void)sb_st_read_f32(st, t, numbers, t->count);
    (void)sb_st_read_i32(st, t, (int32_t *)(void *)numbers, t->count);
    sb_free(numbers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_st st;
    if (sb_st_open_bytes(&st, "fuzz", data, size) == SB_OK) {
        size_t total = 0;
        for (size_t i = 0; i < st.tensors; i++) {
            const struct sb_st_tensor *t = &st.tensor[i];
            assert(sb_st_lookup(&st, t->name) == t);
            assert(t->data >= data && t->data <= data + size);
            total += t->count * sb_dtype_size(t->dtype);
            read_tensor(&st, t);
        }
        assert(total <= size);
        (void)sb_st_meta(&st, "op");
    } else {
        assert(strncmp(sb_message(), "fuzz: ", 6) == 0);
    }
    sb_st_close(&st);
    assert(sb_mem_live() == 0);
    return 0;
}
