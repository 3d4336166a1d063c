/* table_parts - what the files of the table reader share: a text and a way through its
 * rows. Internal to readers/. */
#ifndef SB_READERS_TABLE_PARTS_H
#define SB_READERS_TABLE_PARTS_H

#include "data/columns.h"
#include "data/dataset.h"
#include "files/csv_text.h"

struct sb_table {
    struct sb_csv begin; /* before the first row of values */
    const struct sb_open_options *o;
    const struct sb_columns *use; /* what columns mean: own, or another set's */
    struct sb_columns *own;       /* owned; NULL: like another */
    uint32_t width;               /* fields of a row */
    /* [width] owned: which of use's columns a field is (count: none); NULL: the same */
    uint32_t *column;
    bool without;    /* like another, but without what is predicted */
    uint32_t weight; /* column of this file that is not used otherwise; width: none */
    uint64_t rows;
    bool mark; /* the text begins with a '#' */
};

/* What is done with a field: f is the text, i its column. */
typedef sb_status sb_table_fn(struct sb_table *t, void *context, const struct sb_csv *c,
                              struct sb_field *f, uint32_t i);

/* Calls fn for every field of every row of values; counts t->rows. */
sb_status sb_table_each(struct sb_table *t, sb_table_fn *fn, void *context);

/* The same for the row at c; counts t->width. fn may be NULL. */
sb_status sb_table_row(struct sb_table *t, struct sb_csv *c, sb_table_fn *fn,
                       void *context);

static inline unsigned long long sb_table_line(const struct sb_csv *c)
{
    return (unsigned long long)c->row_line;
}

/* Whether the first row, which c is before, is names. t->width becomes its fields. */
sb_status sb_table_header(struct sb_table *t, struct sb_csv c, bool *header);

/* What is predicted (table_response.c). Which columns, as t->o names them; then, for every
 * field of theirs, whether it is as it should be, and a label with fractions becomes a
 * target where the task is to be found out; at the end of the file a label of very many whole
 * numbers does. */
sb_status sb_table_response_columns(struct sb_table *t);
sb_status sb_table_response_field(struct sb_table *t, const struct sb_csv *c,
                                  const struct sb_field *f, uint32_t i);
void sb_table_response_end(struct sb_table *t);

/* Label, group and what is ignored, as t->o names them. */
sb_status sb_table_roles(struct sb_table *t);

/* What the other columns are, and their texts; rows are counted. */
sb_status sb_table_learn(struct sb_table *t);

#endif
