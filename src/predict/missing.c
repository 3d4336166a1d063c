/* missing - see missing.h. */
#include "predict/missing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool sb_missing_taken(const struct sb_model_info *i, const struct sb_columns *columns)
{
    if (i->height != 1 || i->width != 1)
        return false;
    if (columns)
        return columns->impute;
    return !i->recipe || !strstr(i->recipe, "\nmissing = error");
}

static float value_at(const struct sb_input *in, size_t i, uint32_t c, uint32_t y,
                      uint32_t x)
{
    float value;
    const char *at = (const char *)in->data + (ptrdiff_t)i * in->stride[0] +
                     (ptrdiff_t)c * in->stride[1] + (ptrdiff_t)y * in->stride[2] +
                     (ptrdiff_t)x * in->stride[3];
    memcpy(&value, at, sizeof value);
    return value;
}

/* The column that is input i of a row, from column k on. */
static uint32_t next_column(const struct sb_columns *columns, uint32_t i, uint32_t k)
{
    while (k < columns->count &&
           (!sb_column_has_input(&columns->column[k]) || columns->column[k].input != i))
        k++;
    return k;
}

static uint32_t column_of(const struct sb_columns *columns, uint32_t i)
{
    return next_column(columns, i, 0);
}

/* ---- counting ------------------------------------------------------------------------ */

static void add(struct sb_missing *m, uint64_t *to, uint64_t example, uint32_t input)
{
    if (m->missing + m->unknown == 0) {
        m->example = example;
        m->input = input;
    }
    ++*to;
}

static void count_value(struct sb_missing *m, const struct sb_column *column, float x,
                        bool texts, uint64_t example, uint32_t input)
{
    bool category = column && column->kind == SB_COLUMN_CATEGORY;
    bool known =
        x >= 0 && x < (float)(category ? column->words.count : 0) && x == floorf(x);
    if (category && texts && !known)
        add(m, &m->unknown, example, input);
    else if (!category && isnan(x) && !(column && column->indicator))
        add(m, &m->missing, example, input);
}

void sb_missing_count(struct sb_missing *m, const struct sb_input *in, size_t n,
                      uint64_t first, bool texts, const struct sb_columns *columns,
                      uint32_t inputs)
{
    for (uint32_t c = 0, k = 0; c < inputs; c++) {
        k = columns ? next_column(columns, c, k) : 0; /* inputs are in columns' order */
        const struct sb_column *column = columns ? &columns->column[k] : NULL;
        struct sb_missing mine = {0};
        for (size_t i = 0; i < n; i++)
            count_value(&mine, column, value_at(in, i, c, 0, 0), texts, first + i, c);
        if (mine.missing + mine.unknown == 0)
            continue;
        if (m->missing + m->unknown == 0 || mine.example < m->example) {
            m->example = mine.example;
            m->input = c;
        }
        m->missing += mine.missing;
        m->unknown += mine.unknown;
    }
}

/* ---- words --------------------------------------------------------------------------- */

/* Arrays have no names, and who has them counts from 0. */
static void place_of(const struct sb_columns *columns, uint32_t input,
                     char out[SB_MISSING_PLACE])
{
    char title[SB_COLUMN_TITLE];
    if (columns && columns->names.count > 0)
        snprintf(out, SB_MISSING_PLACE, "%s",
                 sb_columns_title(columns, column_of(columns, input), title));
    else
        snprintf(out, SB_MISSING_PLACE, "feature %u (from 0)", input);
}

bool sb_missing_note(const struct sb_missing *m, const struct sb_columns *columns,
                     char out[SB_MISSING_NOTE])
{
    uint64_t all = m->missing + m->unknown;
    char place[SB_MISSING_PLACE];
    if (all == 0)
        return false;
    place_of(columns, m->input, place);
    snprintf(out, SB_MISSING_NOTE,
             "%llu value%s that training never saw (texts of no category: %llu, missing "
             "where none was: %llu); the first is in example %llu (from 0), %s",
             (unsigned long long)all, all == 1 ? "" : "s", (unsigned long long)m->unknown,
             (unsigned long long)m->missing, (unsigned long long)m->example, place);
    return true;
}

const char *sb_missing_bad(const struct sb_input *in, size_t i,
                           const struct sb_columns *columns, const uint32_t size[3],
                           char out[SB_MISSING_PLACE])
{
    char place[SB_MISSING_PLACE - 16];
    bool row = size[1] == 1 && size[2] == 1;
    snprintf(out, SB_MISSING_PLACE, "one");
    for (uint32_t c = 0; c < size[0]; c++)
        for (uint32_t k = 0; k < size[1] * size[2]; k++) {
            uint32_t y = k / size[2], x = k % size[2];
            float value = value_at(in, i, c, y, x);
            bool category = columns && columns->column[column_of(columns, c)].kind ==
                                           SB_COLUMN_CATEGORY;
            if (isfinite(value) || category || (isnan(value) && in->missing))
                continue;
            if (row)
                place_of(columns, c, out);
            else
                snprintf(out, SB_MISSING_PLACE, "channel %u, row %u, column %u (from 0)",
                         c, y, x);
            snprintf(place, sizeof place, "%.*s", (int)sizeof place - 1, out);
            snprintf(out, SB_MISSING_PLACE, "%s in %s", isnan(value) ? "nan" : "inf",
                     place);
            return out;
        }
    return out;
}
