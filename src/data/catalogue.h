/* catalogue - data sets that can be fetched by name: where they are, and what they are.
 *
 * Sizes and SHA-256 are those that TensorFlow Datasets publishes for the same URLs; a file
 * that has another one is not used.
 */
#ifndef SB_DATA_CATALOGUE_H
#define SB_DATA_CATALOGUE_H

#include <stddef.h>
#include <stdint.h>

enum sb_pack {
    SB_PACK_NONE, /* the files are kept as they are */
    SB_PACK_TAR   /* one tar archive, perhaps gzip'd, whose top directory is dropped */
};

enum { SB_CATALOGUE_FILES = 4 };

struct sb_catalogue_file {
    const char *name;   /* NULL: no more files */
    uint64_t size;      /* bytes */
    const char *sha256; /* 64 small hexadecimal digits */
};

struct sb_catalogue_row {
    const char *name; /* also of the directory it ends up in */
    const char *what; /* a few words */
    const char *base; /* URL of the directory, with its last slash */
    enum sb_pack pack;
    uint64_t unpacked; /* bytes on the disk in the end, about; at most */
    struct sb_catalogue_file file[SB_CATALOGUE_FILES];
};

size_t sb_catalogue_rows(void);
const struct sb_catalogue_row *sb_catalogue_row(size_t i);

/* NULL if there is none of that name; "cifar-10" is "cifar10" too. */
const struct sb_catalogue_row *sb_catalogue_find(const char *name);

/* Bytes to download. */
uint64_t sb_catalogue_size(const struct sb_catalogue_row *row);

#endif
