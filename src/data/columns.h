/* columns - what the columns of a table mean, and the numbers that become of them.
 *
 * In memory a row of a table is a row of inputs, one a column that is used:
 *
 *     numbers, booleans   the number; 1 and 0; NAN where it is missing
 *     categories          which text it is, counted from 0; NAN where it is none of them
 *
 * A column with anything but numbers in it is a category, or boolean if all its texts are
 * true and false, or yes and no. A text that is missing is a category of its own, the
 * empty text. The label column's texts are the classes; instead of it there may be
 * targets. Texts are in sorted order (by value if all are numbers). A first column
 * without a name in the header is a row number, as pandas writes it, and not used.
 *
 * A network reads features (encode.h):
 *
 *     plain number    x, or fill where it is missing
 *     quantile        where x is between the cuts, from 0 to 1
 *     pieces          a feature a piece between two cuts: how far x is through it, 0 to 1
 *     indicator       one more: 1 where the number is missing
 *     category        a feature a text: 1 for the row's own, 0 for the others
 *
 * All this is learned once, from the rows that are trained on, and applied to any others,
 * so that a feature means the same everywhere.
 */
#ifndef SB_DATA_COLUMNS_H
#define SB_DATA_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "files/words.h"

enum sb_column_kind {
    SB_COLUMN_NUMBER,
    SB_COLUMN_BOOLEAN,
    SB_COLUMN_CATEGORY,
    SB_COLUMN_LABEL,
    SB_COLUMN_TARGET, /* a continuous outcome; no feature */
    SB_COLUMN_GROUP,  /* its rows belong together; no feature */
    SB_COLUMN_UNUSED
};

enum sb_scale { SB_SCALE_PLAIN, SB_SCALE_QUANTILE, SB_SCALE_PIECES };

enum { SB_CUTS_MOST = 1025 };

struct sb_column {
    enum sb_column_kind kind;
    struct sb_words words; /* of a category or the label */
    uint32_t input;        /* its place in a row, if it has one; of a target its number */
    uint32_t feature, width; /* the first of its features, and how many */
    enum sb_scale scale;     /* of a number */
    uint32_t cuts;           /* at least 2 unless it is plain */
    float *cut;              /* [cuts] rising; owned */
    float fill;              /* of a number or boolean: what a missing one counts as */
    bool indicator;
    bool texts;        /* of the label: not all of it are numbers */
    const char *why;   /* of one that is not used: what it has; NULL: nobody asked */
    uint64_t odd_line; /* where its first text that is no number is; 0: none */
};

struct sb_columns {
    struct sb_column *column; /* [count] owned */
    struct sb_words names;    /* [count] with a header; else empty */
    uint32_t count;
    uint32_t label;   /* which column; count: none */
    uint32_t targets; /* columns that are; 0: none */
    uint32_t inputs, features;
    bool header; /* the file's first row is names */
    bool impute; /* missing values are filled in; else refused */
};

/* *out: count columns, all of plain numbers; NULL after a failure. */
sb_status sb_columns_new(struct sb_columns **out, uint32_t count);

/* Accepts NULL and half-built ones. */
void sb_columns_free(struct sb_columns *c);

/* What a column of this kind is to a row. */
static inline bool sb_column_has_input(const struct sb_column *c)
{
    return c->kind == SB_COLUMN_NUMBER || c->kind == SB_COLUMN_BOOLEAN ||
           c->kind == SB_COLUMN_CATEGORY;
}

/* What is predicted, the response: the label or a target. */
static inline bool sb_column_is_response(const struct sb_column *c)
{
    return c->kind == SB_COLUMN_LABEL || c->kind == SB_COLUMN_TARGET;
}

/* How many columns are. */
static inline uint32_t sb_columns_responses(const struct sb_columns *c)
{
    return (c->label < c->count) + c->targets;
}

/* column[i] = which column field i of a row without responses is; [columns]. */
void sb_columns_without_responses(const struct sb_columns *c, uint32_t *column);

enum { SB_FEATURES_MOST = 1 << 20 };

/* Numbers inputs and features anew, after kinds, texts or scales changed. SB_EFORMAT
 * unless there are 1 to SB_FEATURES_MOST of them; source is for the message. */
sb_status sb_columns_number(struct sb_columns *c, const char *source);

/* As one line of JSON (columns_text.c has its form) and back; to read a table as a model
 * learned it, give sb_open_options.like a data set with these columns and a path. The caller
 * owns *out, by sb_free and sb_columns_free; it is NULL after a failure. */
sb_status sb_columns_write(const struct sb_columns *c, char **out);
sb_status sb_columns_read(struct sb_columns **out, const char *source, const char *text);

/* The column of that name, if need be but for blanks at its ends, or of that number from 1;
 * count: there is none. */
uint32_t sb_columns_find(const struct sb_columns *c, const char *name, size_t size);

enum { SB_COLUMN_WANTED = 192 };

/* What the name of a column may be, for who gave another one: "want a name of its first row or
 * a number from 1 to 4; the nearest is species"; out is returned. */
const char *sb_columns_wanted(const struct sb_columns *c, const char *name, size_t size,
                              char out[SB_COLUMN_WANTED]);

enum { SB_COLUMN_TITLE = 96 };

/* "column 3" or "column 3 (age)", for messages; out is returned. */
const char *sb_columns_title(const struct sb_columns *c, uint32_t i,
                             char out[SB_COLUMN_TITLE]);

/* The same of another file, in which it is at `place` (from 1). */
const char *sb_columns_title_at(const struct sb_columns *c, uint32_t i, uint32_t place,
                                char out[SB_COLUMN_TITLE]);

enum { SB_COLUMN_ODD = 512 };

/* Whether column i is a category though most of its different texts are numbers: a slip in
 * one row turns a column of numbers into that. out is then a sentence with line and column,
 * without the file. */
bool sb_columns_odd(const struct sb_columns *c, uint32_t i, char out[SB_COLUMN_ODD]);

#endif
