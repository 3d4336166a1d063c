/* rows_kept - texts of some columns of the rows at hand, to be passed through beside what
 * becomes of the rows. Internal to readers/; rows.h has what others see.
 *
 *     text   | "a17\0" "Ann\0" | "b3\0" "Bob\0" | ...     start[row * count + k]
 */
#ifndef SB_READERS_ROWS_KEPT_H
#define SB_READERS_ROWS_KEPT_H

#include "files/csv_text.h"
#include "readers/rows.h"

struct sb_rows_kept {
    struct sb_words names; /* [count] as asked for */
    uint32_t count;
    uint32_t *field;    /* [count] owned: which field of a row it is */
    char *text;         /* [capacity] owned */
    size_t used, whole; /* bytes; of rows that are complete */
    size_t capacity;
    size_t *start; /* [starts] owned */
    size_t starts, rows;
};

/* list: names or numbers, commas between; SB_EARG: none of them, or one twice. *out is NULL
 * after a failure. */
sb_status sb_rows_kept_new(struct sb_rows_kept **out, const char *list);
void sb_rows_kept_free(struct sb_rows_kept *k);

/* Finds the columns in the first row, which c is before and which is names or not. */
sb_status sb_rows_kept_find(struct sb_rows_kept *k, struct sb_csv c, uint32_t fields,
                            bool names);

/* A row: begin, each of its fields, end. What was not ended is forgotten. */
void sb_rows_kept_begin(struct sb_rows_kept *k);
sb_status sb_rows_kept_add(struct sb_rows_kept *k, const struct sb_csv *c,
                           const struct sb_field *f, uint32_t i);
void sb_rows_kept_end(struct sb_rows_kept *k);

/* Forgets all rows. */
void sb_rows_kept_clear(struct sb_rows_kept *k);

#endif
