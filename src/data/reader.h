/* reader - what a file format must offer, and helpers the readers share.
 *
 * This folder knows no format: who opens a data set says which readers are asked. Adding a
 * format: docs/extending.md.
 */
#ifndef SB_DATA_READER_H
#define SB_DATA_READER_H

#include <stdbool.h>

#include "base/path.h"
#include "data/dataset.h"

enum { SB_HEAD_BYTES = 16 };

/* A path, looked at once for all readers. */
struct sb_probe {
    const char *path;
    bool directory;
    unsigned char head[SB_HEAD_BYTES]; /* of a file: its first bytes, unpacked */
    size_t have;                       /* of them */
};

struct sb_reader {
    const char *name;
    const char *wanted; /* for "not recognised": the files it looks for */
    bool lines; /* a file is a table, a line a row: rows can be read as they come */
    /* Whether this could be ours; says nothing about whether it is sound. */
    bool (*probe)(const struct sb_probe *p);
    /* Fills a zeroed d but for its path. After a failure the caller calls fini. A format
     * without parts of its own gives all it has for either split, and says d->whole. */
    sb_status (*open)(struct sb_dataset *d, const struct sb_probe *p,
                      const struct sb_open_options *o);
};

/* Readers in the order they are asked; readers/readers.h has those of the library. */
struct sb_reader_list {
    const struct sb_reader *const *reader; /* [count] */
    size_t count;
};

/* Looks at a path and finds whose it is; SB_EFORMAT: nobody's. p borrows path. */
sb_status sb_reader_find(const struct sb_reader_list *list, const char *path,
                         struct sb_probe *p, const struct sb_reader **out);

/* Opens one split of a directory, or one file; a file whose name says that it is the
 * other split (train-..., t10k-..., data_batch_..., test...) is refused, so that nobody
 * is tested on what he learned from. d needs no fini after a failure, but may have it. */
sb_status sb_reader_open(const struct sb_reader_list *list, struct sb_dataset *d,
                         const char *path, const struct sb_open_options *o);

/* "train" or "test". */
const char *sb_split_name(enum sb_split split);

/* out = the file directory/name, or directory/name.gz if only that exists. False if
 * neither does (out is then directory/name) or the path is too long (out is ""). */
bool sb_reader_locate(const char *directory, const char *name, char out[SB_PATH_BYTES]);

/* The part of path after its last slash. */
const char *sb_reader_basename(const char *path);

/* names[count] copied into d->class_names; count is d->classes. */
sb_status sb_names_copy(struct sb_dataset *d, const char *const *names);

/* Whether it is UTF-8 without control characters. */
bool sb_names_valid(const char *name, size_t length);

/* One name a line, blank lines apart, exactly d->classes of them. */
sb_status sb_names_read(struct sb_dataset *d, const char *path);

/* The same for a set whose classes were counted by its labels: there may be more of them. */
sb_status sb_names_read_all(struct sb_dataset *d, const char *path);

/* Whether s[size] is UTF-8. */
bool sb_names_is_utf8(const char *s, size_t size);

#endif
