/* part - a file that may take several runs to arrive.
 *
 * Bytes are appended to "<path>.part", which stays when the program ends, however it does,
 * and is taken up by the next one. Only a finished one gets its name:
 *
 *     open -> append ... -> commit           fsync, rename
 *          \-> restart                       what is there is of no use
 *          \-> close                         keeps "<path>.part" for the next run
 *          \-> remove
 *
 * Failures are SB_EIO with a sentence "cannot <verb> <path>.part: <reason>".
 */
#ifndef SB_BASE_PART_H
#define SB_BASE_PART_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct sb_part {
    char *path; /* owned: "<path>.part"; NULL: not open */
    int fd;
    uint64_t size; /* bytes there */
};

/* p needs no close after a failure, but may have it. */
sb_status sb_part_open(struct sb_part *p, const char *path);

sb_status sb_part_append(struct sb_part *p, const void *data, size_t size);

/* Empties it. */
sb_status sb_part_restart(struct sb_part *p);

/* Makes it appear as path, whole and on the disk; p is closed, also after a failure. */
sb_status sb_part_commit(struct sb_part *p);

/* Removes it; p is closed. */
void sb_part_remove(struct sb_part *p);

/* Accepts NULL, zeroed and closed ones. */
void sb_part_close(struct sb_part *p);

#endif
