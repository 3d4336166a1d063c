/* table_response - which columns of a table are predicted, and whether they are classes or
 * continuous outcomes.
 *
 * Where nobody says (data.task = auto), a label whose numbers have fractions is an
 * outcome, and so is one of very many different whole numbers (data/targets.h). Several
 * columns are always outcomes.
 */
#include <math.h>
#include <string.h>

#include "data/targets.h"
#include "readers/table_parts.h"

enum { SHOWN = 64 };

static int shown(const struct sb_field *f)
{
    return (int)(f->size < SHOWN ? f->size : SHOWN);
}

/* ---- which columns ---- */

static sb_status no_such_column(const struct sb_table *t, const char *name, size_t size)
{
    char wanted[SB_COLUMN_WANTED];
    return sb_fail(SB_EARG, "%s: there is no column %.*s to be the label; %s",
                   t->begin.name, (int)(size < SHOWN ? size : SHOWN), name,
                   sb_columns_wanted(t->own, name, size, wanted));
}

static void make_target(struct sb_columns *c, uint32_t i)
{
    c->column[i].kind = SB_COLUMN_TARGET;
    c->column[i].input = c->targets++;
}

/* Columns by their names, commas between. */
static sb_status name_targets(struct sb_table *t, const char *list)
{
    while (*list) {
        size_t n = strcspn(list, ","), skip = strspn(list, " \t"), size = n;
        while (size > skip && (list[size - 1] == ' ' || list[size - 1] == '\t'))
            size--;
        size -= skip < size ? skip : size;
        uint32_t at = sb_columns_find(t->own, list + skip, size);
        if (at >= t->width)
            return no_such_column(t, list + skip, size);
        if (t->own->column[at].kind == SB_COLUMN_TARGET)
            return sb_fail(SB_EARG, "%s: data.label names the column %.*s twice",
                           t->begin.name, (int)(size < SHOWN ? size : SHOWN),
                           list + skip);
        make_target(t->own, at);
        list += n + (list[n] == ',');
    }
    return SB_OK;
}

static uint32_t count_names(const char *list)
{
    uint32_t n = 1;
    for (; *list; list++)
        n += *list == ',';
    return n;
}

sb_status sb_table_response_columns(struct sb_table *t)
{
    const char *label = t->o->label ? t->o->label : "";
    uint32_t at = t->width - 1, names = count_names(label);
    if (label[0])
        at = sb_columns_find(t->own, label, strlen(label));
    if (at < t->width && t->o->task == SB_TASK_OUTCOMES) {
        make_target(t->own, at);
        return SB_OK;
    }
    if (at < t->width) {
        t->own->column[at].kind = SB_COLUMN_LABEL;
        t->own->label = at;
        return SB_OK;
    }
    if (names == 1 || t->o->task == SB_TASK_CLASSES)
        return no_such_column(t, label, strlen(label));
    if (names >= t->width)
        return sb_fail(
            SB_EARG,
            "%s: data.label names %u targets, but the table has %u columns; at "
            "least one must be left to predict from",
            t->begin.name, names, t->width);
    return name_targets(t, label);
}

/* ---- what they are ---- */

/* A label turns out to be a continuous outcome; who only looks takes it for a number. */
static void become_outcome(struct sb_table *t, uint32_t i)
{
    sb_words_fini(&t->own->column[i].words);
    t->own->label = t->own->count;
    if (t->o->look)
        t->own->column[i].kind = SB_COLUMN_NUMBER;
    else
        make_target(t->own, i);
}

static sb_status no_number(const struct sb_table *t, const struct sb_csv *c,
                           const struct sb_field *f, uint32_t i)
{
    char title[SB_COLUMN_TITLE];
    return sb_fail(SB_EFORMAT,
                   "%s: line %llu, %s: %.*s is no finite number, as a target of "
                   "regression must be; classes are data.task = classification, and "
                   "data.label says which column",
                   c->name, sb_table_line(c), sb_columns_title(t->own, i, title),
                   shown(f), f->text);
}

sb_status sb_table_response_field(struct sb_table *t, const struct sb_csv *c,
                                  const struct sb_field *f, uint32_t i)
{
    struct sb_column *column = &t->own->column[i];
    char title[SB_COLUMN_TITLE];
    double x = 0;
    bool number = sb_csv_number(f->text, f->size, &x) && isfinite(x);
    if (column->kind == SB_COLUMN_TARGET)
        return number ? SB_OK : no_number(t, c, f, i);
    column->texts |= !number;
    if (!number || x == floor(x))
        return SB_OK;
    if (column->texts || t->o->task == SB_TASK_CLASSES)
        return sb_fail(SB_EFORMAT,
                       "%s: line %llu, %s: the label %.*s has a fraction; labels are "
                       "classes, and data.label says which column has them",
                       c->name, sb_table_line(c), sb_columns_title(t->own, i, title),
                       shown(f), f->text);
    become_outcome(t, i);
    return SB_OK;
}

void sb_table_response_end(struct sb_table *t)
{
    uint32_t i = t->own->label;
    if (i == t->own->count || t->o->task != SB_TASK_AUTO || t->own->column[i].texts)
        return;
    uint64_t values = t->own->column[i].words.count;
    if (sb_targets_many(values, t->rows))
        become_outcome(t, i);
}
