/* words - different texts, numbered from 0: the categories of a column.
 *
 *     text   | "red\0" "green\0" ... |      start[i]: where text i begins
 *     slot   open-addressing table of number + 1, by hash; 0 is empty
 *
 * The hash has a key of its own for every set, so that nobody can choose texts that collide.
 * Numbers go by the order of adding and do not depend on it. Zeroed is an empty set.
 */
#ifndef SB_FILES_WORDS_H
#define SB_FILES_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"

struct sb_words {
    char *text; /* [capacity] owned */
    size_t used, capacity;
    size_t *start; /* [starts] owned */
    uint32_t count, starts;
    uint32_t *slot; /* [slots] owned */
    uint32_t slots; /* a power of two, at most half full */
    struct sb_hash_key key;
};

/* Whether s[n] is there, and its number. */
bool sb_words_find(const struct sb_words *w, const char *s, size_t n, uint32_t *number);

/* Its number; it is added if it is not there. s[n] has no zero byte. SB_ENOMEM. */
sb_status sb_words_add(struct sb_words *w, const char *s, size_t n, uint32_t *number);

/* Numbers them anew: by value if all are numbers, else by their bytes. SB_ENOMEM: w is as
 * it was. */
sb_status sb_words_sort(struct sb_words *w);

static inline const char *sb_words_at(const struct sb_words *w, uint32_t i)
{
    return w->text + w->start[i];
}

/* Accepts NULL, zeroed and half-built ones. */
void sb_words_fini(struct sb_words *w);

#endif
