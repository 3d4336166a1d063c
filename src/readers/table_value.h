/* table_value - one field of a table as what its column means; see columns.h. */
#ifndef SB_READERS_TABLE_VALUE_H
#define SB_READERS_TABLE_VALUE_H

#include "data/columns.h"
#include "files/csv_text.h"

/* Where fields go, and what they mean. */
struct sb_table_row {
    const struct sb_columns *columns;
    const char *like; /* where columns come from, for messages */
    float *features;  /* [columns->features], zero before the first field */
    uint32_t *label;  /* NULL: the label is not looked at */
};

/* The field f of c's row belongs to column i. SB_EFORMAT names line and column of what is
 * missing, no number, too large or a text that the column does not have. */
sb_status sb_table_value(const struct sb_table_row *to, const struct sb_csv *c,
                         struct sb_field *f, uint32_t i);

/* The failure for a value that is not there. */
sb_status sb_table_missing(const struct sb_columns *columns, const struct sb_csv *c,
                           uint32_t i);

#endif
