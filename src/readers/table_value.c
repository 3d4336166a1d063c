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
    bool named = sb_column_is_response(&columns->column[i]) ||
                 columns->column[i].kind == SB_COLUMN_GROUP;
    return sb_fail(SB_EFORMAT,
                   "%s: line %llu, %s: the value is missing; fill it in or leave the row "
                   "out%s",
                   c->name, line_of(c), sb_columns_title_at(columns, i, c->field, title),
                   named ? "" : ", or train with data.missing = impute");
}

static sb_status unknown(const struct sb_table_to *to, const struct sb_csv *c,
                         const struct sb_field *f, uint32_t i, const char *what)
{
    char title[SB_COLUMN_TITLE];
    return sb_fail(SB_EFORMAT, "%s: line %llu, %s: %.*s is %s%s", c->name, line_of(c),
                   sb_columns_title_at(to->columns, i, c->field, title), shown(f),
                   f->text, what, to->like);
}

static void count_odd(const struct sb_table_to *to, const struct sb_csv *c, uint32_t i,
                      bool missing)
{
    struct sb_table_odd *odd = to->odd;
    if (!odd)
        return;
    odd->missing += missing;
    odd->unknown += !missing;
    if (odd->line == 0) {
        odd->line = c->row_line;
        odd->column = i;
        odd->place = c->field;
    }
}

static sb_status put_number(const struct sb_table_to *to, const struct sb_csv *c,
                            const struct sb_field *f, uint32_t i)
{
    const struct sb_column *column = &to->columns->column[i];
    bool target = column->kind == SB_COLUMN_TARGET;
    float *out = (target ? to->target : to->inputs) + column->input;
    char title[SB_COLUMN_TITLE];
    double x;
    if (column->kind == SB_COLUMN_BOOLEAN)
        return sb_table_boolean(f->text, f->size, out)
                   ? SB_OK
                   : unknown(to, c, f, i,
                             "neither true nor false, as the column has in ");
    if (!sb_csv_number(f->text, f->size, &x))
        return unknown(to, c, f, i, "no number, as the column has in ");
    *out = (float)x;
    if (isfinite(*out))
        return SB_OK;
    return sb_fail(SB_EFORMAT, "%s: line %llu, %s: %.*s is too large for a 32-bit float",
                   c->name, line_of(c),
                   sb_columns_title_at(to->columns, i, c->field, title), shown(f),
                   f->text);
}

/* Of a text it is the empty one, if that is known. */
static void put_missing(const struct sb_table_to *to, const struct sb_csv *c, uint32_t i)
{
    const struct sb_column *column = &to->columns->column[i];
    uint32_t number = 0;
    bool category = column->kind == SB_COLUMN_CATEGORY;
    bool known =
        category ? sb_words_find(&column->words, "", 0, &number) : column->indicator;
    to->inputs[column->input] = category && known ? (float)number : NAN;
    if (!known)
        count_odd(to, c, i, true);
}

static sb_status put_text(const struct sb_table_to *to, const struct sb_csv *c,
                          struct sb_field *f, uint32_t i)
{
    const struct sb_column *column = &to->columns->column[i];
    char buffer[SB_FIELD_MOST];
    uint32_t number = 0;
    sb_status st = sb_csv_text(c, f, buffer);
    if (st != SB_OK)
        return st;
    bool found = sb_words_find(&column->words, f->text, f->size, &number);
    if (column->kind == SB_COLUMN_LABEL && !found)
        return unknown(to, c, f, i, "not among the classes of ");
    if (column->kind == SB_COLUMN_LABEL)
        *to->label = number;
    else if (column->kind == SB_COLUMN_GROUP)
        *to->group = number;
    else
        to->inputs[column->input] = found ? (float)number : NAN;
    if (column->kind == SB_COLUMN_CATEGORY && !found)
        count_odd(to, c, i, false);
    return SB_OK;
}

sb_status sb_table_value(const struct sb_table_to *to, const struct sb_csv *c,
                         struct sb_field *f, uint32_t i)
{
    const struct sb_column *column = &to->columns->column[i];
    bool label = column->kind == SB_COLUMN_LABEL, group = column->kind == SB_COLUMN_GROUP;
    bool target = column->kind == SB_COLUMN_TARGET;
    if (column->kind == SB_COLUMN_UNUSED || (label && !to->label) ||
        (target && !to->target) || (group && !to->group))
        return SB_OK;
    if (sb_csv_missing(f)) {
        if (label || target || group || !to->impute)
            return sb_table_missing(to->columns, c, i);
        put_missing(to, c, i);
        return SB_OK;
    }
    if (target || column->kind == SB_COLUMN_NUMBER || column->kind == SB_COLUMN_BOOLEAN)
        return put_number(to, c, f, i);
    return put_text(to, c, f, i);
}

sb_status sb_table_weight(const struct sb_columns *columns, const struct sb_csv *c,
                          const struct sb_field *f, uint32_t i, float *out)
{
    char title[SB_COLUMN_TITLE];
    double x;
    *out = sb_csv_number(f->text, f->size, &x) ? (float)x : NAN;
    if (isfinite(*out) && *out >= 0)
        return SB_OK;
    return sb_fail(SB_EFORMAT,
                   "%s: line %llu, %s: the weight is '%.*s'; want a number from 0",
                   c->name, line_of(c), sb_columns_title_at(columns, i, c->field, title),
                   shown(f), f->text);
}
