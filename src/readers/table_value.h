/* table_value - one field of a table as what its column means; see columns.h. */
#ifndef SB_READERS_TABLE_VALUE_H
#define SB_READERS_TABLE_VALUE_H

#include "data/columns.h"
#include "files/csv_text.h"

/* What was not as the columns know it, over many fields. */
struct sb_table_odd {
    uint64_t unknown; /* texts that are none of a category's */
    uint64_t missing; /* values that are missing where no row of training lacked one */
    uint64_t line;    /* of the first such field; 0: none yet */
    uint32_t column, place; /* what it is in training, and its number from 1 in its row */
};

/* Where fields go, and what they mean. */
struct sb_table_to {
    const struct sb_columns *columns;
    const char *like;         /* where columns come from, for messages */
    float *inputs;            /* [columns->inputs] */
    uint32_t *label;          /* NULL: the label is not looked at */
    float *target;            /* [columns->targets]; NULL: nor are they */
    uint32_t *group;          /* NULL: nor is the group */
    bool impute;              /* missing values are NAN; else refused */
    struct sb_table_odd *odd; /* counted there; may be NULL */
};

/* The field f of c's row belongs to column i. SB_EFORMAT names line and column of what is
 * missing, no number, too large, or a class that the label does not have. A text that a
 * category does not have is NAN. */
sb_status sb_table_value(const struct sb_table_to *to, const struct sb_csv *c,
                         struct sb_field *f, uint32_t i);

/* *out = how much the row of a field counts: a number from 0. */
sb_status sb_table_weight(const struct sb_columns *columns, const struct sb_csv *c,
                          const struct sb_field *f, uint32_t i, float *out);

/* The failure for a value that is not there. */
sb_status sb_table_missing(const struct sb_columns *columns, const struct sb_csv *c,
                           uint32_t i);

/* true, yes, t, y and 1, and their opposites, whatever the case. */
bool sb_table_boolean(const char *text, size_t size, float *out);

#endif
