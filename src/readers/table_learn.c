/* table_learn - what the columns of a table are, from its own text: twice through it, for
 * kinds and then for texts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/reader.h"
#include "readers/table_parts.h"
#include "readers/table_texts.h"
#include "readers/table_value.h"

enum {
    CATEGORIES_MOST = 1000, /* of one column */
    CLASSES_MOST = 1 << 16,
    GROUPS_MOST = 1 << 28,
    MANY_LABELS = 10, /* that are dates or have units: fewer may well be classes */
    SHOWN = 64        /* bytes of a text that a message has room for */
};

/* ---- roles that are given ---- */

static sb_status no_such_column(const struct sb_table *t, const char *option,
                                const char *name, size_t size)
{
    char wanted[SB_COLUMN_WANTED];
    return sb_fail(SB_EARG, "%s: data.%s: there is no column %.*s; %s", t->begin.name,
                   option, (int)(size < SHOWN ? size : SHOWN), name,
                   sb_columns_wanted(t->own, name, size, wanted));
}

static sb_status set_role_at(struct sb_table *t, const char *option, uint32_t at,
                             enum sb_column_kind kind)
{
    char title[SB_COLUMN_TITLE];
    if (sb_column_is_response(&t->own->column[at]))
        return sb_fail(SB_EARG, "%s: data.%s: %s is the label", t->begin.name, option,
                       sb_columns_title(t->own, at, title));
    t->own->column[at].kind = kind;
    return SB_OK;
}

static sb_status set_role(struct sb_table *t, const char *option, const char *name,
                          size_t size, enum sb_column_kind kind)
{
    uint32_t at = sb_columns_find(t->own, name, size);
    return at == t->own->count ? no_such_column(t, option, name, size)
                               : set_role_at(t, option, at, kind);
}

/* Whether s[n] is A-B, two columns by their numbers, the second not before the first. */
static bool is_range(const struct sb_table *t, const char *s, size_t n, uint32_t end[2])
{
    static const char digits[] = "0123456789";
    size_t dash = strspn(s, digits), last = dash;
    if (dash > 0 && dash < n && s[dash] == '-')
        last += 1 + strspn(s + dash + 1, digits);
    if (last != n || n < dash + 2)
        return false;
    end[0] = sb_columns_find(t->own, s, dash);
    end[1] = sb_columns_find(t->own, s + dash + 1, n - dash - 1);
    return end[0] <= end[1] && end[1] < t->own->count;
}

/* One column, whatever its name is, or all from one to another. */
static sb_status ignore(struct sb_table *t, const char *s, size_t n)
{
    uint32_t end[2];
    sb_status st = SB_OK;
    if (sb_columns_find(t->own, s, n) < t->own->count || !is_range(t, s, n, end))
        return set_role(t, "ignore", s, n, SB_COLUMN_UNUSED);
    for (uint32_t i = end[0]; i <= end[1] && st == SB_OK; i++)
        st = set_role_at(t, "ignore", i, SB_COLUMN_UNUSED);
    return st;
}

sb_status sb_table_roles(struct sb_table *t)
{
    const char *list = t->o->ignore ? t->o->ignore : "";
    const char *group = t->o->group ? t->o->group : "";
    const char *weight = t->o->weight ? t->o->weight : "";
    sb_status st = sb_table_response_columns(t);
    while (st == SB_OK && *list) {
        size_t n = strcspn(list, ","), skip = strspn(list, " \t");
        size_t size = skip < n ? n - skip : 0;
        while (size > 0 &&
               (list[skip + size - 1] == ' ' || list[skip + size - 1] == '\t'))
            size--;
        if (size > 0)
            st = ignore(t, list + skip, size);
        list += n + (list[n] == ',');
    }
    if (st == SB_OK && group[0])
        st = set_role(t, "group", group, strlen(group), SB_COLUMN_GROUP);
    if (st == SB_OK && weight[0]) {
        st = set_role(t, "weight", weight, strlen(weight), SB_COLUMN_UNUSED);
        t->weight = sb_columns_find(t->own, weight, strlen(weight));
    }
    return st;
}

/* ---- texts that stand for something else ---- */

/* A column that is only looked at may be anything. */
static sb_status leave_out(struct sb_column *c, const char *why)
{
    c->kind = SB_COLUMN_UNUSED;
    c->why = why;
    sb_words_fini(&c->words);
    return SB_OK;
}

static sb_status refuse_dates(struct sb_table *t, uint32_t i, const char *text,
                              uint64_t line)
{
    char title[SB_COLUMN_TITLE];
    bool named = t->own->names.count > i && sb_words_at(&t->own->names, i)[0];
    bool label = t->own->column[i].kind == SB_COLUMN_LABEL;
    if (t->o->look && label)
        return SB_OK;
    if (t->o->look)
        return leave_out(&t->own->column[i], "dates");
    char number[16];
    snprintf(number, sizeof number, "%u", i + 1);
    const char *self = named ? sb_words_at(&t->own->names, i) : number;
    return sb_fail(
        SB_EFORMAT,
        "%s: %s has dates or times, such as %.*s in line %llu; make numbers of "
        "them (a year, a month, days since some day), or %s%.*s",
        t->begin.name, sb_columns_title(t->own, i, title), SHOWN, text,
        (unsigned long long)line,
        label ? "say data.task = classification if they are names of classes"
              : "leave the column out with data.ignore = ",
        label ? 0 : SHOWN, self);
}

/* What people write, and a network cannot read: 1,5 and 12 % and $3.20, and 12 mg (unit). */
static sb_status refuse_marks(struct sb_table *t, uint32_t i, const char *text, bool unit)
{
    struct sb_column *column = &t->own->column[i];
    bool label = column->kind == SB_COLUMN_LABEL;
    char title[SB_COLUMN_TITLE];
    if (t->o->look)
        return label ? SB_OK
                     : leave_out(column,
                                 unit ? "numbers with units" : "numbers with marks");
    return sb_fail(SB_EFORMAT,
                   "%s: %s has numbers with %s, such as %.*s, the first in line %llu; "
                   "write them with a point and without %s, as in 1234.5, or %s",
                   t->begin.name, sb_columns_title(t->own, i, title),
                   unit ? "a unit" : "commas, per cent or signs of money", SHOWN, text,
                   (unsigned long long)column->odd_line, unit ? "the unit" : "marks",
                   label ? "say data.task = classification if they are names of classes"
                         : "leave the column out (data.ignore)");
}

/* ---- texts ---- */

static sb_status too_many(struct sb_table *t, uint32_t i, const char *text, uint32_t most)
{
    struct sb_column *column = &t->own->column[i];
    char title[SB_COLUMN_TITLE];
    if (column->kind == SB_COLUMN_CATEGORY && sb_text_is_date(text))
        return refuse_dates(t, i, text, column->odd_line);
    if (column->kind == SB_COLUMN_CATEGORY && t->o->look)
        return leave_out(column, "texts");
    return sb_fail(SB_EFORMAT,
                   "%s: %s has more than %u different texts; the first that is no "
                   "number is in line %llu. Correct it, or leave the column out%s",
                   t->begin.name, sb_columns_title(t->own, i, title), most,
                   (unsigned long long)column->odd_line,
                   column->kind == SB_COLUMN_CATEGORY ? " (data.ignore)" : "");
}

static sb_status add_text(struct sb_table *t, const struct sb_csv *c, struct sb_field *f,
                          uint32_t i)
{
    struct sb_column *column = &t->own->column[i];
    char buffer[SB_FIELD_MOST], title[SB_COLUMN_TITLE];
    bool label = column->kind == SB_COLUMN_LABEL;
    uint32_t number, most = label                             ? CLASSES_MOST
                            : column->kind == SB_COLUMN_GROUP ? GROUPS_MOST
                                                              : CATEGORIES_MOST;
    sb_status st = sb_csv_text(c, f, buffer);
    if (st != SB_OK)
        return st;
    if (sb_csv_missing(f))
        f->size = 0; /* one text for all ways to say so */
    if (!sb_names_is_utf8(f->text, f->size) ||
        (label && !sb_names_valid(f->text, f->size)))
        return sb_fail(SB_EFORMAT, "%s: line %llu, %s: the text is not UTF-8%s", c->name,
                       sb_table_line(c), sb_columns_title(t->own, i, title),
                       label ? " without control characters" : "");
    st = sb_words_add(&column->words, f->text, f->size, &number);
    if (st == SB_OK && column->words.count > most)
        return too_many(t, i, sb_words_at(&column->words, number), most);
    return st;
}

/* ---- twice through ---- */

/* First time: which columns are numbers; the label's and the group's texts. */
static sb_status learn_kind(struct sb_table *t, void *context, const struct sb_csv *c,
                            struct sb_field *f, uint32_t i)
{
    (void)context;
    struct sb_column *column = &t->own->column[i];
    double x;
    if (column->kind == SB_COLUMN_UNUSED)
        return SB_OK;
    bool named = sb_column_is_response(column) || column->kind == SB_COLUMN_GROUP;
    if (sb_csv_missing(f)) {
        if (named || !t->o->impute)
            return sb_table_missing(t->use, c, i);
        return SB_OK;
    }
    if (column->kind == SB_COLUMN_NUMBER && !sb_csv_number(f->text, f->size, &x)) {
        column->kind = SB_COLUMN_CATEGORY;
        column->odd_line = c->row_line;
    }
    if (!named)
        return SB_OK;
    sb_status st =
        sb_column_is_response(column) ? sb_table_response_field(t, c, f, i) : SB_OK;
    column->odd_line = column->odd_line ? column->odd_line : c->row_line;
    bool texts = column->kind == SB_COLUMN_LABEL || column->kind == SB_COLUMN_GROUP;
    return st == SB_OK && texts ? add_text(t, c, f, i) : st;
}

/* Second time: the texts of categories. */
static sb_status learn_text(struct sb_table *t, void *context, const struct sb_csv *c,
                            struct sb_field *f, uint32_t i)
{
    (void)context;
    return t->own->column[i].kind == SB_COLUMN_CATEGORY ? add_text(t, c, f, i) : SB_OK;
}

/* Texts in order; those that mean true and false are none. */
static sb_status conclude(struct sb_table *t, uint32_t i)
{
    struct sb_column *column = &t->own->column[i];
    bool category = column->kind == SB_COLUMN_CATEGORY;
    bool label = column->kind == SB_COLUMN_LABEL && t->o->task != SB_TASK_CLASSES;
    bool read = category || (label && column->words.count >= MANY_LABELS);
    const char *date = read ? sb_texts_dates(&column->words) : NULL;
    const char *marked = category || label ? sb_texts_marked(&column->words) : NULL;
    const char *unit = read ? sb_texts_with_unit(&column->words) : NULL;
    sb_status st = date     ? refuse_dates(t, i, date, column->odd_line)
                   : marked ? refuse_marks(t, i, marked, false)
                   : unit   ? refuse_marks(t, i, unit, true)
                            : SB_OK;
    if (st == SB_OK && category && !date && !marked && !unit &&
        sb_texts_booleans(&column->words)) {
        column->kind = SB_COLUMN_BOOLEAN;
        sb_words_fini(&column->words);
    }
    bool sorted = column->kind == SB_COLUMN_CATEGORY || column->kind == SB_COLUMN_LABEL;
    return st == SB_OK && sorted ? sb_words_sort(&column->words) : st;
}

sb_status sb_table_learn(struct sb_table *t)
{
    bool categories = false;
    sb_status st = sb_table_each(t, learn_kind, NULL);
    if (st == SB_OK)
        sb_table_response_end(t);
    for (uint32_t i = 0; i < t->width; i++)
        categories |= t->own->column[i].kind == SB_COLUMN_CATEGORY;
    if (st == SB_OK && categories)
        st = sb_table_each(t, learn_text, NULL);
    for (uint32_t i = 0; i < t->width && st == SB_OK; i++)
        st = conclude(t, i);
    t->own->impute = t->o->impute;
    return st == SB_OK ? sb_columns_number(t->own, t->begin.name) : st;
}
