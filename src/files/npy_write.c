/* npy_write - see npy_write.h. */
#include "files/npy_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { BUFFER_BYTES = 1 << 20, HEAD_ALIGN = 64, BEFORE_TEXT = 10 };

static const struct {
    char code[3];
    size_t size;
} types[] = {[SB_NPY_U8] = {"u1", 1},
             [SB_NPY_I32] = {"i4", 4},
             [SB_NPY_I64] = {"i8", 8},
             [SB_NPY_F32] = {"f4", 4},
             [SB_NPY_F64] = {"f8", 8}};

static char byte_order(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 1 ? '<' : '>';
}

/* Eight sizes of up to 20 digits fit easily. */
static void write_head(unsigned char head[SB_NPY_HEAD], const char *type,
                       const uint64_t *shape, uint32_t dims, size_t *size)
{
    char *text = (char *)head + BEFORE_TEXT;
    const size_t capacity = SB_NPY_HEAD - BEFORE_TEXT;
    size_t n = (size_t)snprintf(
        text, capacity, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (uint32_t i = 0; i < dims; i++)
        n += (size_t)snprintf(text + n, capacity - n, "%" PRIu64 "%s", shape[i],
                              dims == 1       ? ","
                              : i + 1 == dims ? ""
                                              : ", ");
    n += (size_t)snprintf(text + n, capacity - n, "), }");
    size_t all = (BEFORE_TEXT + n + HEAD_ALIGN) / HEAD_ALIGN * HEAD_ALIGN;
    memset(text + n, ' ', all - BEFORE_TEXT - n);
    head[all - 1] = '\n';
    static const unsigned char magic[8] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    memcpy(head, magic, sizeof magic);
    head[8] = (unsigned char)((all - BEFORE_TEXT) & 0xff);
    head[9] = (unsigned char)((all - BEFORE_TEXT) >> 8);
    *size = all;
}

void sb_npy_head(unsigned char head[SB_NPY_HEAD], enum sb_npy_type type,
                 const uint64_t *shape, uint32_t dims, size_t *size)
{
    char text[] = {types[type].size == 1 ? '|' : byte_order(), types[type].code[0],
                   types[type].code[1], '\0'};
    write_head(head, text, shape, dims, size);
}

void sb_npy_head_text(unsigned char head[SB_NPY_HEAD], uint32_t characters,
                      const uint64_t *shape, uint32_t dims, size_t *size)
{
    char text[16];
    snprintf(text, sizeof text, "%cU%" PRIu32, byte_order(), characters);
    write_head(head, text, shape, dims, size);
}

static sb_status measure(struct sb_npy_writer *w, enum sb_npy_type type,
                         const uint64_t *shape, uint32_t dims, const char *path)
{
    uint64_t row = types[type].size, all;
    if (dims == 0 || dims > SB_NPY_DIMS)
        return sb_fail(SB_EARG, "%s: an array of %u dimensions; want 1 to %d", path, dims,
                       SB_NPY_DIMS);
    for (uint32_t i = 1; i < dims; i++)
        if (shape[i] == 0 || __builtin_mul_overflow(row, shape[i], &row))
            return sb_fail(SB_EARG, "%s: dimension %u of an array is %" PRIu64, path, i,
                           shape[i]);
    if (__builtin_mul_overflow(row, shape[0], &all) || all > SIZE_MAX / 2)
        return sb_fail(SB_EARG, "%s: %" PRIu64 " rows of %" PRIu64 " bytes are too many",
                       path, shape[0], row);
    w->row_bytes = (size_t)row;
    w->rows = shape[0];
    return SB_OK;
}

sb_status sb_npy_create(struct sb_npy_writer *w, const char *path, enum sb_npy_type type,
                        const uint64_t *shape, uint32_t dims)
{
    *w = (struct sb_npy_writer){0};
    sb_status st = measure(w, type, shape, dims, path);
    if (st != SB_OK)
        return st;
    w->buffer = sb_malloc(BUFFER_BYTES, 1);
    if (!w->buffer)
        return sb_fail(SB_ENOMEM, "no memory to write %s", path);
    st = sb_file_create(&w->file, path);
    if (st != SB_OK)
        sb_npy_abort(w);
    else
        sb_npy_head(w->buffer, type, shape, dims, &w->used);
    return st;
}

static sb_status flush(struct sb_npy_writer *w)
{
    sb_status st = sb_file_write(&w->file, w->buffer, w->used);
    w->used = 0;
    return st;
}

sb_status sb_npy_append(struct sb_npy_writer *w, const void *rows, uint64_t count)
{
    if (count > w->rows - w->written)
        return sb_fail(SB_EARG,
                       "%s: %" PRIu64 " rows more than the %" PRIu64 " announced",
                       w->file.path, count - (w->rows - w->written), w->rows);
    size_t size = (size_t)count * w->row_bytes; /* no more than was announced */
    w->written += count;
    if (size <= BUFFER_BYTES - w->used) {
        memcpy(w->buffer + w->used, rows, size);
        w->used += size;
        return SB_OK;
    }
    sb_status st = flush(w);
    if (st == SB_OK && size < BUFFER_BYTES) {
        memcpy(w->buffer, rows, size);
        w->used = size;
        return SB_OK;
    }
    return st == SB_OK ? sb_file_write(&w->file, rows, size) : st;
}

sb_status sb_npy_finish(struct sb_npy_writer *w)
{
    sb_status st = SB_OK;
    if (w->written != w->rows)
        st = sb_fail(SB_EARG, "%s: %" PRIu64 " rows written of %" PRIu64 " announced",
                     w->file.path, w->written, w->rows);
    if (st == SB_OK)
        st = flush(w);
    if (st == SB_OK)
        st = sb_file_commit(&w->file);
    sb_npy_abort(w);
    return st;
}

void sb_npy_abort(struct sb_npy_writer *w)
{
    if (!w)
        return;
    sb_file_abort(&w->file);
    sb_free(w->buffer);
    *w = (struct sb_npy_writer){0};
}
