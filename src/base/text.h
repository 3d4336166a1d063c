/* text - a string that grows line by line, for what people read.
 *
 *     struct sb_text t = {0};
 *     sb_text_add(&t, "classes  %u\n", classes);
 *     ...
 *     return sb_text_take(&t, &out);          SB_ENOMEM if any of them had no memory
 *
 * A failure is remembered until the end, so that nothing in between need be checked.
 */
#ifndef SB_BASE_TEXT_H
#define SB_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct sb_text {
    char *text; /* [capacity] owned; NULL: empty */
    size_t used, capacity;
    bool failed;
};

void sb_text_add(struct sb_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The caller owns *out (sb_free), which is NULL after a failure; t is empty again. */
sb_status sb_text_take(struct sb_text *t, char **out);

/* Accepts NULL, zeroed and taken ones. */
void sb_text_fini(struct sb_text *t);

/* Bytes of s, at most so many, that end with a whole character of UTF-8: what "%.*s" may
 * show of it. */
int sb_text_cut(const char *s, int most);

#endif
