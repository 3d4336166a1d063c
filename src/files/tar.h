/* tar - the files of a tar archive, one after the other, from a stream of bytes.
 *
 *     | header, 512 bytes | the file, padded to 512 | header | ... | 512 zeros | ...
 *
 * Reads what data sets are packed with: ustar, pax's path and size, GNU's long names. An
 * archive may hold regular files and directories; anything else (links, devices), a path
 * that is absolute or goes up, and sizes beyond the limit are refused, as is an archive
 * that stops before its end mark.
 *
 * Nothing is allocated and nothing touches a disk: a sink gets paths and bytes.
 */
#ifndef SB_FILES_TAR_H
#define SB_FILES_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { SB_TAR_PATH = 1024, SB_TAR_ENTRIES = 100000 };

struct sb_tar_source {
    /* Up to size bytes; fewer only at the end. */
    sb_status (*read)(void *context, void *to, size_t size, size_t *got);
    void *context;
};

/* path is relative, has no "." or ".." in it and no slash at its end. A file's bytes come
 * between begin and end. What a function answers ends the reading unless it is SB_OK. */
struct sb_tar_sink {
    sb_status (*directory)(void *context, const char *path);
    sb_status (*begin)(void *context, const char *path, uint64_t size);
    sb_status (*write)(void *context, const void *data, size_t size);
    sb_status (*end)(void *context);
    void *context;
};

/* name is for sentences; limit is for all files together. */
sb_status sb_tar_read(const char *name, const struct sb_tar_source *source,
                      const struct sb_tar_sink *sink, uint64_t limit);

#endif
