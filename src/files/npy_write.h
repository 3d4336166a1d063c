/* npy_write - a NumPy array file (version 1.0, C order), written row by row.
 *
 *     93 "NUMPY" 1 0 | size of what follows, 2 bytes | {'descr': '|u1', ...}, blanks, \n | rows
 *
 * The head is padded so that the elements begin at a multiple of 64 bytes. As all our
 * files: either whole under its name or not there (base/file).
 */
#ifndef SB_FILES_NPY_WRITE_H
#define SB_FILES_NPY_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "base/status.h"

enum sb_npy_type { SB_NPY_U8, SB_NPY_I32, SB_NPY_I64, SB_NPY_F32, SB_NPY_F64 };

enum { SB_NPY_DIMS = 8 };

/* The head of an array of shape[dims], for who writes the rows himself; at most
 * SB_NPY_HEAD bytes, *size of them. */
enum { SB_NPY_HEAD = 384 };
void sb_npy_head(unsigned char head[SB_NPY_HEAD], enum sb_npy_type type,
                 const uint64_t *shape, uint32_t dims, size_t *size);

/* The same for an array of texts, each of so many characters (at least 1) of 4 bytes, in
 * this machine's byte order and with zeros behind. dims may be 0: a single text. */
void sb_npy_head_text(unsigned char head[SB_NPY_HEAD], uint32_t characters,
                      const uint64_t *shape, uint32_t dims, size_t *size);

struct sb_npy_writer {
    struct sb_file file;
    unsigned char *buffer; /* owned */
    size_t used;           /* of it */
    size_t row_bytes;      /* of one row: all dimensions but the first */
    uint64_t rows, written;
};

/* Begins an array of shape[dims]; dims from 1 to SB_NPY_DIMS, no size but the first may be
 * 0. The caller appends shape[0] rows and finishes, or aborts; after a failure w needs no
 * abort, but may have it. */
sb_status sb_npy_create(struct sb_npy_writer *w, const char *path, enum sb_npy_type type,
                        const uint64_t *shape, uint32_t dims);

/* The next count rows, elements in this machine's byte order. */
sb_status sb_npy_append(struct sb_npy_writer *w, const void *rows, uint64_t count);

/* Makes the file visible; SB_EARG if rows are missing. w is closed, also after a failure. */
sb_status sb_npy_finish(struct sb_npy_writer *w);

/* Accepts NULL, zeroed and closed ones. */
void sb_npy_abort(struct sb_npy_writer *w);

#endif
