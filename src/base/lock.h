/* lock - one process at a time: a file that says whose turn it is.
 *
 * The lock goes with the descriptor (flock), so it ends with the process, however that ends;
 * the file that is left then is of no account. It holds the number of the process that has
 * the lock, for the sentence of the next one. Who only reads does not ask.
 */
#ifndef SB_BASE_LOCK_H
#define SB_BASE_LOCK_H

#include <stdbool.h>

#include "base/status.h"

struct sb_lock {
    char *path; /* owned; NULL: not held */
    int fd;
};

/* Takes the lock `path`. *owner: 0 if it is ours now; else who has it, or -1 if that is not
 * known. A file system without locks gives it to everybody. l needs no release after a
 * failure or if it is not ours, but may have it. */
sb_status sb_lock_take(struct sb_lock *l, const char *path, long *owner);

/* Gives it back and removes the file. Accepts NULL, zeroed and released ones. */
void sb_lock_release(struct sb_lock *l);

#endif
