/* fuzz_export - any bytes as a model file, and if it is one, exported in every format; what
 * was written is read back: ONNX by a walk that shares nothing with its writer, the others by
 * our own readers. The first byte chooses means or a draw, and deviations. */
#include "files/zip.h"
#include "fuzz_file.h"
#include "kernels/kernels.h"
#include "model/export.h"
#include "onnx_walk.h"
#include "readers/npy.h"

enum { MOST_PIXELS = 1 << 12 };

static void read_safetensors(const char *path)
{
    struct sb_st st;
    sb_status s = sb_st_open(&st, path);
    assert(s == SB_OK && st.tensors > 0);
    sb_st_close(&st);
}

static void read_npz(const char *path, const struct sb_map *m)
{
    struct sb_zip z;
    struct sb_zip_member member;
    struct sb_npy a;
    bool found;
    sb_status st = sb_zip_init(&z, path, m->data, m->size);
    assert(st == SB_OK);
    st = sb_zip_find(&z, "mean.npy", &member, &found);
    assert(st == SB_OK && found && !member.deflated);
    st = sb_npy_parse(&a, "mean.npy", member.data, member.size);
    assert(st == SB_OK && a.count > 0);
}

static void read_back(const char *path, const char *format)
{
    struct sb_map m;
    sb_status st = sb_map_open(&m, path);
    assert(st == SB_OK);
    if (strcmp(format, "onnx") == 0)
        onnx_walk(m.data, m.size);
    else if (strcmp(format, "npz") == 0)
        read_npz(path, &m);
    else
        read_safetensors(path);
    sb_map_close(&m);
}

static void try(const struct sb_export *e, const char *format)
{
    char path[128];
    (void)sb_fail(SB_OK, "%s", "");
    sb_status st = sb_export_write(e, format, fuzz_path(format, path));
    if (st == SB_OK)
        read_back(path, format);
    else
        assert((st == SB_EARG || st == SB_ENUMERIC) && sb_message()[0] != '\0');
    fuzz_remove(format);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {"onnx", "npz", "safetensors-dense"};
    const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
    struct sb_model m;
    if (size < 1 || sb_model_read_bytes(&m, "fuzz", data + 1, size - 1) != SB_OK)
        return 0;
    struct sb_export e = {
        .env = &env, .model = &m, .mean = data[0] & 1, .sigma = data[0] & 2};
    if ((uint64_t)m.info.height * m.info.width * m.info.channels <= MOST_PIXELS)
        for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
            try(&e, formats[i]);
    sb_model_fini(&m);
    assert(sb_mem_live() == 0);
    return 0;
}
