/* zip - one member of a ZIP archive, stored or deflated, of any size (zip64).
 *
 *     | member: local header, name, extra, data | ... | central directory | end record |
 *
 * The directory at the end is what counts: for every member its name, sizes, checksum and
 * where its local header is. Every offset and size is untrusted. A stored member is used
 * where it lies in the mapped file; a deflated one is unpacked into memory of the size its
 * entry says, which may be no more than deflate could have packed into the bytes there
 * are. Checksums are checked.
 */
#ifndef SB_FILES_ZIP_H
#define SB_FILES_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "files/gzip.h"

/* An archive in memory; path is for messages. */
struct sb_zip {
    const char *path;
    const unsigned char *data; /* [size] borrowed */
    size_t size;
    size_t start;     /* of the central directory ... */
    size_t bytes;     /* ... and its size */
    uint64_t entries; /* in it */
};

struct sb_zip_member {
    const unsigned char *data; /* [packed] as it lies in the archive */
    size_t packed, size;
    uint32_t checksum;
    bool deflated;
};

/* SB_EFORMAT if the bytes are no ZIP archive. */
sb_status sb_zip_init(struct sb_zip *z, const char *path, const unsigned char *data,
                      size_t size);

/* *found says whether there is a member of this name; SB_EFORMAT if the directory or the
 * member's entry is damaged, or the member cannot be read. */
sb_status sb_zip_find(const struct sb_zip *z, const char *name, struct sb_zip_member *m,
                      bool *found);

/* Unpacks a deflated member to out[m->size], or only checks a stored one (out NULL). */
sb_status sb_zip_read(const struct sb_zip *z, const char *name,
                      const struct sb_zip_member *m, unsigned char *out);

/* The member name of the archive at path, as sb_bytes_open would give a file. *found false:
 * there is none, b is zeroed. */
sb_status sb_zip_open(struct sb_bytes *b, const char *path, const char *name,
                      bool *found);

#endif
