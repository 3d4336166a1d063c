/* gzip - the bytes of a file, whether it is compressed or not.
 *
 * A file of up to SB_BYTES_COPIED is read, so that nobody can change it afterwards; a larger
 * one is mapped and costs no memory, but who truncates it kills its reader: sb_bytes_check
 * tells that it was changed before it is looked at again. One that begins with 1f 8b is
 * unpacked into a buffer that grows with what really comes out, never with what a header or
 * trailer promises (they only choose the first size, and at most deflate's largest ratio),
 * and stops at the caller's limit: a few bytes cannot claim all the memory.
 *
 * Several gzip members in a row are one file, as for gzip(1); zeros after the last one
 * (tape padding) are ignored, anything else there is an error.
 */
#ifndef SB_FILES_GZIP_H
#define SB_FILES_GZIP_H

#include <stddef.h>

#include "base/file.h"
#include "base/status.h"

enum { SB_BYTES_COPIED = 1 << 26 };

struct sb_bytes {
    const unsigned char *data; /* [size] in map or copy; never NULL while open */
    size_t size;
    struct sb_map map;
    unsigned char *copy;     /* owned: unpacked or read; NULL: it is mapped */
    char *path;              /* owned: of a mapped one ... */
    struct sb_stamp stamped; /* ... and what it was when it was opened */
};

/* SB_EFORMAT if a compressed file is damaged, cut short or unpacks to more than limit
 * bytes (a plain one may have any size). b is zeroed after a failure. */
sb_status sb_bytes_open(struct sb_bytes *b, const char *path, size_t limit);

/* All of a file mapped, for who unpacks it himself; and only the copy that he made kept. */
sb_status sb_bytes_map(struct sb_bytes *b, const char *path);
void sb_bytes_unmap(struct sb_bytes *b);

/* SB_EIO if a mapped file was changed since it was opened; one that was replaced or removed
 * is still there for who has it mapped. Costs a look at the directory. */
sb_status sb_bytes_check(const struct sb_bytes *b);

/* Accepts NULL, zeroed and closed ones. */
void sb_bytes_close(struct sb_bytes *b);

/* The first bytes, unpacked if need be: *have <= want of them, fewer if the file ends. */
sb_status sb_bytes_head(const char *path, unsigned char *head, size_t want, size_t *have);

/* The same bytes in order, a piece at a time: for what is too large to have at once. */
struct sb_unpack;

/* *out is NULL after a failure. */
sb_status sb_unpack_new(struct sb_unpack **out, const char *path);

/* Up to size more bytes, unpacked if need be; fewer only at the end. */
sb_status sb_unpack_read(struct sb_unpack *u, void *to, size_t size, size_t *got);

/* How much of the file has been read and how large it is, packed as it is. */
size_t sb_unpack_position(const struct sb_unpack *u);
size_t sb_unpack_size(const struct sb_unpack *u);

/* Accepts NULL. */
void sb_unpack_free(struct sb_unpack *u);

#endif
