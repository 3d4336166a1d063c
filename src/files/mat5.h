/* mat5 - numeric variables of a MATLAB 5 file (save -v6, -v7), one after the other.
 *
 *     128 bytes: text, version 0x0100, "IM" | variable | variable ...
 *     variable    type 14, bytes | flags | dimensions | name | numbers     as it is, or
 *                 type 15, bytes | zlib stream of the above
 *     element     type, bytes | data, padded to 8; or, up to 4 bytes, both in one word
 *
 * Written out rather than taken from a library because that is little, and hostile files
 * cost nothing: numbers are a stream that the caller reads at his pace, so nothing is
 * unpacked that nobody wants, and no size in the file makes this allocate. Only
 * little-endian files exist today; others, cells, structures, characters, sparse and complex
 * arrays are passed over or refused by name.
 */
#ifndef SB_FILES_MAT5_H
#define SB_FILES_MAT5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "files/zstream.h"

enum { SB_MAT_DIMS = 4, SB_MAT_NAME = 64 };

struct sb_mat {
    const char *path;          /* for messages; borrowed */
    const unsigned char *data; /* [size] borrowed */
    size_t size, at;
    uint32_t variables; /* seen so far */
};

struct sb_mat_var {
    const struct sb_mat *file;
    char name[SB_MAT_NAME]; /* "": one that has no name of ours */
    bool numeric;           /* real numbers of up to 4 dimensions; else only the name */
    bool bytes;             /* its class is uint8 */
    uint32_t dims, dim[SB_MAT_DIMS]; /* the first one varies fastest; unused ones are 1 */
    uint32_t type;                   /* of the numbers as stored */
    uint64_t count;                  /* product of dim */

    const unsigned char *next; /* of a plain variable */
    uint64_t left;             /* bytes of it not yet read */
    bool packed;
    z_stream z;             /* of a packed one */
    bool in_tag;            /* so few numbers that they are ... */
    unsigned char small[4]; /* ... here; next points to it: v must not move */
};

/* Looks at the header. SB_EFORMAT; SB_EMISSING for version 7.3, which is another format. */
sb_status sb_mat_open(struct sb_mat *m, const char *path, const unsigned char *data,
                      size_t size);

/* The next variable, ready to be read; *end after the last one. v needs close after
 * success. */
sb_status sb_mat_next(struct sb_mat *m, struct sb_mat_var *v, bool *end);

/* The next n numbers of a numeric variable; as bytes only if v->bytes. */
sb_status sb_mat_bytes(struct sb_mat_var *v, uint8_t *out, size_t n);
sb_status sb_mat_doubles(struct sb_mat_var *v, double *out, size_t n);

/* After all numbers: whether the variable ends as it should. */
sb_status sb_mat_end(struct sb_mat_var *v);

/* Accepts zeroed ones. */
void sb_mat_close(struct sb_mat_var *v);

#endif
