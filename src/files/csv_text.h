/* csv_text - rows and fields of separated text, without copying it.
 *
 * Fields are separated by comma, tab, semicolon, or runs of blanks; which of them, the
 * first lines tell. A field in double quotes may contain separators, line
 * ends and doubled quotes. Lines end with LF or CR LF; blank lines are passed over. Blanks
 * around a field do not belong to it.
 */
#ifndef SB_FILES_CSV_TEXT_H
#define SB_FILES_CSV_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum { SB_FIELD_MOST = 4096 }; /* bytes of a text */

/* A text and a place in it. Copy one to come back to a place. */
struct sb_csv {
    const char *name; /* for messages */
    const char *at, *end;
    char separator;    /* ' ': runs of blanks */
    uint64_t line;     /* of `at`, from 1 */
    uint64_t row_line; /* where the row at hand began */
    uint32_t field;    /* number from 1 of the row's last field that was taken; 0: none */
    bool more;         /* the row at hand has another field */
};

struct sb_field {
    /* [size] in the text; within the quotes, doubled ones still double */
    const char *text;
    size_t size;
    bool quoted, doubled;
};

/* SB_EFORMAT for what rows cannot be read from: UTF-16, and lines that end with CR alone. */
sb_status sb_csv_check(const char *name, const char *text, size_t size);

/* Begins at text[size], behind a byte-order mark; the separator is found. */
void sb_csv_begin(struct sb_csv *c, const char *name, const char *text, size_t size);

/* Goes to the next row; false at the end. What is left of the row before is skipped only if
 * all its fields were taken. */
bool sb_csv_row(struct sb_csv *c);

/* The next field of the row, c->more says whether another one follows. SB_EFORMAT for a
 * quote that is not closed, or is followed by text. */
sb_status sb_csv_field(struct sb_csv *c, struct sb_field *f);

/* f's text with single quotes, if need be in buffer; SB_EFORMAT if it is too long or has a
 * zero byte. */
sb_status sb_csv_text(const struct sb_csv *c, struct sb_field *f,
                      char buffer[SB_FIELD_MOST]);

/* A decimal number, as 12, -0.5, .5 or 1e-3; nothing else, in any locale. Exact to the
 * last bit of a double for up to 15 digits and small exponents, and of a float always. */
bool sb_csv_number(const char *s, size_t n, double *out);

/* Empty, ?, NA, NaN, N/A, #N/A, <NA> or null, whatever the case. */
bool sb_csv_missing(const struct sb_field *f);

#endif
