/* table_value - see table_value.h. */
#include "readers/table_value.h"

#include <math.h>

enum { SHOWN = 64 }; /* bytes of a text that a message has room for */

static unsigned long long line_of(const struct sb_csv *c)
{
    return (unsigned long long)c->row_line;
}

static int shown(const struct sb_field *f)
{
    return (int)(f->size < SHOWN ? f->size : SHOWN);
}

sb_status sb_table_missing(const struct sb_columns *columns, const struct sb_csv *c,
                           uint32_t i)
{
    char title[SB_COLUMN_TITLE];
    return sb_fail(SB_EFORMAT,
                   "%s: line %llu, %s: the value is missing; fill it in or leave the row "
                   "out",
                   c->name, line_of(c), sb_columns_title(columns, i, title));
}

static sb_status unknown(const struct sb_table_row *to, const struct sb_csv *c,
                         const struct sb_field *f, uint32_t i, const char *what)
{
    char title[SB_COLUMN_TITLE];
    return sb_fail(SB_EFORMAT, "%s: line %llu, %s: %.*s is %s%s", c->name, line_of(c),
                   sb_columns_title(to->columns, i, title), shown(f), f->text, what,
                   to->like);
}

static sb_status put_number(const struct sb_table_row *to, const struct sb_csv *c,
                            const struct sb_field *f, uint32_t i)
{
    float *out = to->features + to->columns->column[i].feature;
    char title[SB_COLUMN_TITLE];
    double x;
    if (!sb_csv_number(f->text, f->size, &x))
        return unknown(to, c, f, i, "no number, as the column has in ");
    *out = (float)x;
    if (isfinite(*out))
        return SB_OK;
    return sb_fail(SB_EFORMAT, "%s: line %llu, %s: %.*s is too large for a 32-bit float",
                   c->name, line_of(c), sb_columns_title(to->columns, i, title), shown(f),
                   f->text);
}

sb_status sb_table_value(const struct sb_table_row *to, const struct sb_csv *c,
                         struct sb_field *f, uint32_t i)
{
    const struct sb_column *column = &to->columns->column[i];
    bool label = column->kind == SB_COLUMN_LABEL;
    char room[SB_FIELD_MOST];
    uint32_t number = 0;
    if (column->kind == SB_COLUMN_UNUSED || (label && !to->label))
        return SB_OK;
    if (sb_csv_missing(f))
        return sb_table_missing(to->columns, c, i);
    if (column->kind == SB_COLUMN_NUMBER)
        return put_number(to, c, f, i);
    sb_status st = sb_csv_text(c, f, room);
    if (st != SB_OK)
        return st;
    bool found = sb_words_find(&column->words, f->text, f->size, &number);
    if (!found)
        return unknown(to, c, f, i,
                       label ? "not among the classes of "
                             : "not among the categories of ");
    if (label)
        *to->label = number;
    else
        to->features[column->feature + number] = 1.0f;
    return SB_OK;
}
