/* safetensors - named arrays in one file, readable from anywhere.
 *
 *     | header length, u64 | header: JSON, padded with spaces | data ... |
 *       8 bytes              `length` bytes                     the rest
 *
 *     {"__metadata__": {"key": "text", ...},
 *      "fc.mu": {"dtype": "F32", "shape": [10, 64], "data_offsets": [0, 2560]}, ...}
 *
 * Numbers are little-endian, offsets count from the start of the data. Nothing in the file
 * is executable, but every byte is somebody else's: a reader that opened has checked that
 * the tensors cover the data exactly once, without holes or overlaps, and that each one has
 * as many bytes as its shape and type say. Data need not be aligned, so it is read by the
 * copying getters below.
 *
 * The writer gives the same bytes for the same calls: keys stay in the order they were
 * added, metadata first, and the header is padded to a multiple of 8.
 *
 * Sentences name the file and the tensor; malformed bytes are SB_EFORMAT.
 */
#ifndef SB_MODEL_SAFETENSORS_H
#define SB_MODEL_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "base/json.h"
#include "base/status.h"

enum {
    SB_ST_DIMS = 8,                        /* most dimensions of a tensor */
    SB_ST_HEADER_BYTES = 100 * 1000 * 1000 /* longest header, as the reference has it */
};

enum sb_dtype { /* all can be listed; the getters convert the first five */
                SB_F32,
                SB_F64,
                SB_I32,
                SB_I64,
                SB_U8,
                SB_I8,
                SB_BOOL,
                SB_F16,
                SB_BF16,
                SB_I16,
                SB_U16,
                SB_U32,
                SB_U64,
                SB_DTYPE_COUNT
};

const char *sb_dtype_name(enum sb_dtype dtype);
size_t sb_dtype_size(enum sb_dtype dtype);

struct sb_st_tensor {
    const char *name; /* borrowed from the reader, like data */
    enum sb_dtype dtype;
    size_t ndim, shape[SB_ST_DIMS];
    size_t count;              /* product of shape */
    const unsigned char *data; /* [count], any alignment */
};

struct sb_st {
    char *path; /* owned, for sentences */
    struct sb_map map;
    json_t *header;              /* owned; holds the names and the metadata */
    struct sb_st_tensor *tensor; /* [tensors] owned, in the order of the data */
    size_t tensors;
};

/* ---- reading ---- */

/* Maps and checks a file. st needs no close after a failure, but may have it. */
sb_status sb_st_open(struct sb_st *st, const char *path);

/* The same for bytes in memory, borrowed until close; path is for sentences only. */
sb_status sb_st_open_bytes(struct sb_st *st, const char *path, const void *bytes,
                           size_t size);
void sb_st_close(struct sb_st *st);

/* The tensor of that name, or NULL. */
const struct sb_st_tensor *sb_st_lookup(const struct sb_st *st, const char *name);

/* A metadata text, borrowed; NULL / SB_EFORMAT and a sentence if there is none. */
const char *sb_st_meta(const struct sb_st *st, const char *key);
sb_status sb_st_find_meta(const struct sb_st *st, const char *key, const char **out);

/* Copies a tensor of exactly count elements to out, converting F32, F64, I32, I64 and U8
 * (for i32: the integers that fit); anything else is SB_EFORMAT. */
sb_status sb_st_read_f32(const struct sb_st *st, const struct sb_st_tensor *t, float *out,
                         size_t count);
sb_status sb_st_read_i32(const struct sb_st *st, const struct sb_st_tensor *t,
                         int32_t *out, size_t count);

/* ---- writing ---- */

struct sb_st_piece {
    const void *data;
    size_t bytes;
};

struct sb_st_writer {
    json_t *header;            /* owned */
    struct sb_st_piece *piece; /* [pieces of capacity] owned; what it points to is not */
    size_t pieces, capacity;
    size_t bytes; /* of all pieces */
};

sb_status sb_st_writer_init(struct sb_st_writer *w);
void sb_st_writer_fini(struct sb_st_writer *w);

/* Names and keys are UTF-8 and given once, else SB_EARG. data [product of shape] is
 * borrowed until the file is written. */
sb_status sb_st_writer_meta(struct sb_st_writer *w, const char *key, const char *value);
sb_status sb_st_writer_add(struct sb_st_writer *w, const char *name, enum sb_dtype dtype,
                           size_t ndim, const size_t *shape, const void *data);

/* Writes path in one step (base/file.h), piece by piece from where the data is. */
sb_status sb_st_writer_write(const struct sb_st_writer *w, const char *path);

/* For data that is made on the way (and was NULL above): begins the file with its header.
 * The caller writes the tensors in the order they were added, then commits or aborts f,
 * which needs no abort after a failure, but may have it. */
sb_status sb_st_writer_begin(const struct sb_st_writer *w, const char *path,
                             struct sb_file *f);

#endif
