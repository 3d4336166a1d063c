/* rows - the rows of a table one after the other, for who knows what its columns mean.
 *
 * table.c has a whole file in memory and learns from it; here the text passes through a
 * buffer of a few rows, so a pipe may go on for ever. It comes from a file, perhaps
 * gzipped, or from a descriptor, of which no more is waited for than the next row needs:
 *
 *     buffer | rows that were taken | at: complete rows | end: a part of one | free |
 *
 * The first row is names if it has the names of all columns, or no number where there
 * should be some. Named columns are found by their names, wherever they are, and others are
 * not used; columns without names are the same in the same order. Either way the label may
 * be there and is not looked at. Texts of columns that are to be kept, used or not, are
 * there until the next rows are taken.
 */
#ifndef SB_READERS_ROWS_H
#define SB_READERS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/failure.h"
#include "base/status.h"
#include "data/columns.h"
#include "files/csv_text.h"
#include "files/gzip.h"
#include "readers/table_value.h"

struct sb_rows_options {
    const char *path; /* copied; for messages only, if fd is used */
    int fd;           /* a descriptor to read from; negative: the file at path */
    const struct sb_columns *columns; /* borrowed, like `like` */
    const char *like;                 /* where columns come from, for messages */
    const char *keep; /* columns to keep, by name or number from 1, commas between; NULL:
                       * none */
    /* Called now and then while a descriptor has nothing; a failure ends the wait. */
    sb_status (*idle)(void *context);
    void *context;
};

struct sb_rows {
    struct sb_rows_options o;
    char *path;             /* owned: o.path is this one */
    struct sb_unpack *file; /* owned; NULL: the descriptor */
    char *buffer;           /* [capacity] owned, of which `have` are filled */
    size_t capacity, have;
    struct sb_csv at;          /* in the buffer; its end is that of the complete rows */
    uint32_t *column;          /* [width] owned: which of columns a field is, or count;
                                * behind them room that the first row needs */
    uint32_t width;            /* fields of a row; 0: the first one has not come */
    struct sb_rows_kept *kept; /* owned; NULL: nothing is kept */
    struct sb_table_odd odd;   /* of all rows so far */
    bool begun;                /* what may be before the first row is passed */
    bool ended;                /* nothing comes after what is in the buffer */
    bool cut;                  /* the row at hand is not all there */
    struct sb_failure failure; /* of a row behind those that were given */
};

/* The caller calls sb_rows_fini, also after a failure. Reads nothing of a descriptor yet. */
sb_status sb_rows_init(struct sb_rows *r, const struct sb_rows_options *o);
void sb_rows_fini(struct sb_rows *r);

/* Up to most rows that are there, at least one unless it is the end: inputs
 * [*got][columns->inputs]. SB_EFORMAT names the line, once the rows before it were
 * given. */
sb_status sb_rows_next(struct sb_rows *r, float *inputs, size_t most, size_t *got);

/* How many columns are kept; the name of the k-th, as it was asked for; and its text in row
 * i of those that the last call gave. */
uint32_t sb_rows_keeps(const struct sb_rows *r);
const char *sb_rows_keep_name(const struct sb_rows *r, uint32_t k);
const char *sb_rows_keep_text(const struct sb_rows *r, size_t i, uint32_t k);

/* Bytes of the file that have been read, and all; both 0 for a descriptor. */
void sb_rows_place(const struct sb_rows *r, uint64_t *done, uint64_t *total);

#endif
