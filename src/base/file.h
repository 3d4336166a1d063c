/* file - files that are either whole or not there.
 *
 * Writing goes to a temporary file in the same directory, which replaces the final name
 * in one step when everything is on the disk:
 *
 *     create -> write ... -> commit          fsync, rename, fsync of the directory
 *                         \> abort           the temporary is removed
 *
 * A reader sees the old content or the new one, never a part, also after a full disk or a
 * power cut. A killed process leaves at most a "<name>.<pid>-<n>.tmp" behind.
 *
 * Reading maps the file: a model's arrays are used where they lie. Whoever truncates a
 * file while it is mapped makes its reader die of SIGBUS; files written by commit are
 * never truncated, only replaced.
 *
 * Failures are SB_EIO with a sentence "cannot <verb> <path>: <reason>".
 */
#ifndef SB_BASE_FILE_H
#define SB_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct sb_file {
    char *path;      /* owned; the final name */
    char *temporary; /* owned; NULL: not open */
    int fd;
    bool failed; /* a write failed: commit will refuse */
};

/* Opens the temporary. An existing path must be a regular file; a symbolic link under
 * that name will be replaced, not followed. After a failure f needs no abort, but may
 * have it. */
sb_status sb_file_create(struct sb_file *f, const char *path);

/* Appends size bytes. Not buffered: give it large pieces. */
sb_status sb_file_write(struct sb_file *f, const void *data, size_t size);

/* Makes what was written visible as path. f is closed afterwards, also after a failure,
 * which leaves path as it was. (Only if the very last step fails, the directory's fsync,
 * path is new and whole, but a power cut may still undo it.) */
sb_status sb_file_commit(struct sb_file *f);

/* Closes f and forgets what was written. Accepts NULL, zeroed and closed ones. */
void sb_file_abort(struct sb_file *f);

/* The three above for content that is in memory already. */
sb_status sb_file_put(const char *path, const void *data, size_t size);

/* Records are appended to and cut where they are; a link, which may lead to anybody's file,
 * is refused. */

/* Appends line and a newline in one system call, so that lines of several processes do
 * not mix; makes the file if need be. line itself must have no newline, else SB_EARG. */
sb_status sb_file_append_line(const char *path, const char *line);

/* Appends size bytes to a file, which is made if need be; not at once. */
sb_status sb_file_append(const char *path, const void *data, size_t size);

/* Waits until what a file holds is on the disk; no file is fine. */
sb_status sb_file_sync(const char *path);

/* Cuts a file that is longer than size bytes; one that is shorter, or none, is fine. */
sb_status sb_file_cut(const char *path, uint64_t size);

/* Makes the directory and the parents it lacks; one that exists already is fine. */
sb_status sb_file_make_directory(const char *path);

/* SB_EIO with the sentence "cannot <verb> <path>: <reason>", the reason being errno's. */
sb_status sb_file_failed(const char *verb, const char *path);

/* Whether there is anything under this name; a dangling link is nothing. */
bool sb_file_exists(const char *path);

/* Removes the file or directory with all that is in it, links themselves and not what
 * they lead to. Whether nothing is left under that name. */
bool sb_file_remove_tree(const char *path);

/* What tells that a file was changed in place. */
struct sb_stamp {
    uint64_t device, number, size;
    int64_t seconds, nanoseconds; /* when it was last written */
};

/* False: there is no such file, or no way to look. */
bool sb_stamp_of(const char *path, struct sb_stamp *out);

/* Reads a regular file into out, which is its caller's (sb_free); SB_EIO if it has more than
 * most bytes, or ends before its size. */
sb_status sb_file_read(const char *path, size_t most, unsigned char **out, size_t *size);

struct sb_map {
    const unsigned char *data; /* [size] read only; never NULL while open */
    size_t size;
};

/* Maps a regular file, an empty one too. m is zeroed after a failure. */
sb_status sb_map_open(struct sb_map *m, const char *path);

/* Accepts NULL, zeroed and closed ones. */
void sb_map_close(struct sb_map *m);

#endif
