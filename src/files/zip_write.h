/* zip_write - a ZIP archive of stored members, as numpy.savez makes them.
 *
 * Nothing is packed and nothing is dated, so equal members give equal bytes. Sizes are of
 * 32 bits: what would make the archive larger than 4 GB is refused before it is written.
 * As all our files: either whole under its name or not there (base/file).
 */
#ifndef SB_FILES_ZIP_WRITE_H
#define SB_FILES_ZIP_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "base/status.h"

enum { SB_ZIP_MEMBERS = 65534 }; /* at most; one more would mean zip64 */

struct sb_zip_writer {
    struct sb_file file;
    unsigned char *directory; /* [capacity] owned: the entries so far */
    size_t used, capacity;
    uint64_t bytes; /* of members so far */
    uint32_t members;
};

/* After a failure w needs no abort, but may have it. */
sb_status sb_zip_create(struct sb_zip_writer *w, const char *path);

/* A member: head, then data; either may have 0 bytes. name is ASCII and new, which is not
 * checked. */
sb_status sb_zip_add(struct sb_zip_writer *w, const char *name, const void *head,
                     size_t head_bytes, const void *data, size_t bytes);

/* Makes the file visible. w is closed, also after a failure. */
sb_status sb_zip_finish(struct sb_zip_writer *w);

/* Accepts NULL, zeroed and closed ones. */
void sb_zip_abort(struct sb_zip_writer *w);

#endif
