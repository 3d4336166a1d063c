/* columns - what the columns of a table mean: numbers, categories, the label.
 *
 * A column of numbers is one feature. A column with anything else in it is a category: one
 * feature a text, 1 for the row's own and 0 for the others, texts in sorted order. The
 * label column's texts are the classes, sorted too (by value if all are numbers). A first
 * column without a name in the header is a row number, as pandas writes it, and not used.
 *
 * All this is learned from the training file once and applied to any other, so that a
 * feature means the same everywhere.
 */
#ifndef SB_DATA_COLUMNS_H
#define SB_DATA_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "files/words.h"

enum sb_column_kind {
    SB_COLUMN_NUMBER,
    SB_COLUMN_CATEGORY,
    SB_COLUMN_LABEL,
    SB_COLUMN_UNUSED
};

struct sb_column {
    enum sb_column_kind kind;
    struct sb_words words; /* of a category or the label */
    uint32_t feature;      /* the first of its features */
    uint64_t odd_line;     /* where its first text that is no number is; 0: none */
};

struct sb_columns {
    struct sb_column *column; /* [count] owned */
    struct sb_words names;    /* [count] with a header; else empty */
    uint32_t count;
    uint32_t label;    /* which column; count: none */
    uint32_t features; /* all columns' */
    bool header;       /* the file's first row is names */
};

/* *out: count columns, all of numbers; NULL after a failure. */
sb_status sb_columns_new(struct sb_columns **out, uint32_t count);

/* Accepts NULL and half-built ones. */
void sb_columns_free(struct sb_columns *c);

/* As one line of JSON (columns_text.c has its form) and back; to read a table as a model
 * learned it, give sb_open_options.like a data set with these columns and a path. The caller
 * owns *out, by sb_free and sb_columns_free; it is NULL after a failure. */
sb_status sb_columns_write(const struct sb_columns *c, char **out);
sb_status sb_columns_read(struct sb_columns **out, const char *source, const char *text);

enum { SB_COLUMN_TITLE = 96 };

/* "column 3" or "column 3 (age)", for messages; out is returned. */
const char *sb_columns_title(const struct sb_columns *c, uint32_t i,
                             char out[SB_COLUMN_TITLE]);

#endif
