/* gzip - the bytes of a file, whether it is compressed or not.
 *
 * A plain file is mapped and costs no memory. One that begins with 1f 8b is unpacked into
 * a buffer that grows with what really comes out, never with what a header or trailer
 * promises (they only choose the first size, and at most deflate's largest ratio), and
 * stops at the caller's limit: a few bytes cannot claim all the memory.
 *
 * Several gzip members in a row are one file, as for gzip(1); zeros after the last one
 * (tape padding) are ignored, anything else there is an error.
 */
#ifndef SB_FILES_GZIP_H
#define SB_FILES_GZIP_H

#include <stddef.h>

#include "base/file.h"
#include "base/status.h"

struct sb_bytes {
    const unsigned char *data; /* [size] in map or unpacked; never NULL while open */
    size_t size;
    struct sb_map map;
    unsigned char *unpacked; /* owned; NULL: the file is plain */
};

/* SB_EFORMAT if a compressed file is damaged, cut short or unpacks to more than limit
 * bytes (a plain one may have any size). b is zeroed after a failure. */
sb_status sb_bytes_open(struct sb_bytes *b, const char *path, size_t limit);

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
