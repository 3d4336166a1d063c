/* listing - names in directories, in one block of text.
 *
 *     text | cat\0dog\0 ... |      add appends; the block doubles when it is full
 *     name | *    *     ... |      made by finish, then sorted bytewise
 *
 * So a million files cost their names and a pointer each. What a name is, its ending says
 * (.png, .jpg, .jpeg in any case); only links and file systems that do not tell files from
 * directories cost a system call an entry. Hidden entries (.name) are passed over.
 */
#ifndef SB_READERS_LISTING_H
#define SB_READERS_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum { SB_NAME_BYTES = 256 };

struct sb_listing {
    char *text; /* [used of buffer] owned */
    size_t used, buffer;
    size_t count;      /* names */
    const char **name; /* [count] into text; owned; NULL until finish */
};

/* What a directory has, and where names of images and directories go. */
struct sb_content {
    struct sb_listing *images, *directories; /* borrowed; NULL: only counted */
    size_t image_count, directory_count, other_count;
    char other[SB_NAME_BYTES]; /* bytewise the first of the others, directories too */
};

/* Adds what is in a directory. SB_EIO, SB_ENOMEM. */
sb_status sb_content_scan(struct sb_content *c, const char *directory);

/* Whether a directory, or one of its directories if deep, has an image. */
bool sb_content_has_image(const char *directory, bool deep);

sb_status sb_listing_add(struct sb_listing *l, const char *name);

/* name[count], in the order of adding. */
sb_status sb_listing_finish(struct sb_listing *l);

/* Sorts name[first, end) bytewise. */
void sb_listing_sort(struct sb_listing *l, size_t first, size_t end);

/* Accepts NULL, zeroed and half-built ones. */
void sb_listing_fini(struct sb_listing *l);

#endif
