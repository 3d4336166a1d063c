/* table - see table.h.
 *
 * The text is gone through at most three times: which columns are numbers, and how many
 * rows; the texts of the others; the values. A file that is read like another one needs
 * only its rows counted, and the values.
 */
#include "readers/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/columns.h"
#include "data/reader.h"
#include "files/csv_text.h"
#include "readers/table_value.h"

enum {
    COLUMNS_MOST = 1 << 16,
    CATEGORIES_MOST = 1000, /* of one column */
    CLASSES_MOST = 1 << 16,
    FEATURES_MOST = 1 << 20
};

struct table {
    struct sb_csv begin; /* before the first row of values */
    const struct sb_open_options *o;
    const struct sb_columns *use; /* what columns mean: own, or another set's */
    struct sb_columns *own;       /* owned; NULL: like another */
    uint32_t width;               /* fields of a row */
    uint32_t label;               /* column of this file; width: none */
    uint64_t rows;
};

/* What is done with a field: f is the text, i its column, r its row. */
typedef sb_status field_fn(struct table *t, void *context, const struct sb_csv *c,
                           struct sb_field *f, uint32_t i);

static unsigned long long line_of(const struct sb_csv *c)
{
    return (unsigned long long)c->row_line;
}

/* ---- rows ---- */

static sb_status check_width(const struct table *t, const struct sb_csv *c, uint32_t have)
{
    if (have == t->width)
        return SB_OK;
    return sb_fail(SB_EFORMAT,
                   "%s: line %llu has %u field%s, the first row has %u; every row must "
                   "have as many",
                   c->name, line_of(c), have, have == 1 ? "" : "s", t->width);
}

/* Calls fn for every field of every row of values. */
static sb_status each_field(struct table *t, field_fn *fn, void *context)
{
    struct sb_csv c = t->begin;
    sb_status st = SB_OK;
    t->rows = 0;
    while (st == SB_OK && sb_csv_row(&c)) {
        uint32_t i = 0;
        for (; c.more && st == SB_OK; i++) {
            struct sb_field f;
            st = sb_csv_field(&c, &f);
            if (st == SB_OK && i < t->width)
                st = fn(t, context, &c, &f, i);
        }
        if (st == SB_OK)
            st = check_width(t, &c, i);
        t->rows++;
    }
    return st;
}

/* ---- the first row ---- */

static sb_status take_row(struct sb_csv *c, field_fn *fn, struct table *t, void *context)
{
    uint32_t i = 0;
    sb_status st = SB_OK;
    for (; c->more && st == SB_OK; i++) {
        struct sb_field f;
        st = sb_csv_field(c, &f);
        if (st == SB_OK && fn)
            st = fn(t, context, c, &f, i);
    }
    t->width = i;
    return st;
}

static sb_status count_numbers(struct table *t, void *context, const struct sb_csv *c,
                               struct sb_field *f, uint32_t i)
{
    (void)t, (void)c, (void)i;
    double x;
    *(uint32_t *)context +=
        sb_csv_number(f->text, f->size, &x) || (sb_csv_missing(f) && f->size > 0);
    return SB_OK;
}

struct wanted_name {
    const char *text;
    bool found;
};

static sb_status look_for_name(struct table *t, void *context, const struct sb_csv *c,
                               struct sb_field *f, uint32_t i)
{
    (void)t, (void)c, (void)i;
    struct wanted_name *w = context;
    double x;
    w->found = w->found ||
               (strlen(w->text) == f->size && memcmp(w->text, f->text, f->size) == 0 &&
                !sb_csv_number(f->text, f->size, &x));
    return SB_OK;
}

/* The first row is names if it has no number and the second has one, or if it has the name
 * of the label column. c is before the first row. */
static sb_status find_header(struct table *t, struct sb_csv c, bool *header)
{
    struct wanted_name label = {.text = t->o->label ? t->o->label : ""};
    struct sb_csv again = c;
    uint32_t first = 0, second = 0, width = 0;
    sb_status st = take_row(&again, look_for_name, t, &label);
    if (st == SB_OK)
        st = take_row(&c, count_numbers, t, &first);
    width = t->width;
    if (st == SB_OK && sb_csv_row(&c))
        st = take_row(&c, count_numbers, t, &second);
    t->width = width;
    *header = (first == 0 && second > 0) || (label.text[0] && label.found);
    return st;
}

static sb_status add_name(struct table *t, void *context, const struct sb_csv *c,
                          struct sb_field *f, uint32_t i)
{
    (void)context;
    char room[SB_FIELD_MOST];
    uint32_t number;
    sb_status st = sb_csv_text(c, f, room);
    if (st != SB_OK)
        return st;
    if (!sb_names_is_utf8(f->text, f->size))
        return sb_fail(SB_EFORMAT, "%s: line %llu: the name of column %u is not UTF-8",
                       c->name, line_of(c), i + 1);
    if (f->size == 0 && i == 0)
        t->own->column[0].kind = SB_COLUMN_UNUSED;
    st = sb_words_add(&t->own->names, f->text, f->size, &number);
    if (st == SB_OK && number != i)
        return sb_fail(SB_EFORMAT, "%s: line %llu: columns %u and %u have the same name",
                       c->name, line_of(c), number + 1, i + 1);
    return st;
}

/* ---- the label column ---- */

static sb_status no_such_column(const struct table *t, const char *label)
{
    return sb_fail(SB_EARG,
                   "%s: there is no column %s to be the label; want %sa number from 1 to "
                   "%u",
                   t->begin.name, label,
                   t->own->header ? "a name of its first row or " : "", t->width);
}

static sb_status choose_label(struct table *t)
{
    const char *label = t->o->label ? t->o->label : "";
    uint32_t at = t->width - 1;
    size_t n = strlen(label);
    if (n > 0 && !sb_words_find(&t->own->names, label, n, &at)) {
        unsigned long number = strtoul(label, NULL, 10);
        if (n > 9 || strspn(label, "0123456789") != n || number < 1 || number > t->width)
            return no_such_column(t, label);
        at = (uint32_t)number - 1;
    }
    t->own->column[at].kind = SB_COLUMN_LABEL;
    t->own->label = t->label = at;
    return SB_OK;
}

/* ---- learning ---- */

/* A number with a fraction is no class. */
static sb_status check_class(const struct table *t, const struct sb_csv *c,
                             const struct sb_field *f, uint32_t i)
{
    char title[SB_COLUMN_TITLE];
    double x;
    if (sb_csv_number(f->text, f->size, &x) && x != floor(x))
        return sb_fail(SB_EFORMAT,
                       "%s: line %llu, %s: the label %.*s has a fraction; labels are "
                       "classes, and data.label says which column has them",
                       c->name, line_of(c), sb_columns_title(t->use, i, title),
                       (int)f->size, f->text);
    return SB_OK;
}

static sb_status add_text(struct table *t, const struct sb_csv *c, struct sb_field *f,
                          uint32_t i)
{
    struct sb_column *column = &t->own->column[i];
    char room[SB_FIELD_MOST], title[SB_COLUMN_TITLE];
    bool label = column->kind == SB_COLUMN_LABEL;
    uint32_t number, most = label ? CLASSES_MOST : CATEGORIES_MOST;
    sb_status st = sb_csv_text(c, f, room);
    if (st != SB_OK)
        return st;
    if (!sb_names_is_utf8(f->text, f->size) ||
        (label && !sb_names_valid(f->text, f->size)))
        return sb_fail(SB_EFORMAT, "%s: line %llu, %s: the text is not UTF-8%s", c->name,
                       line_of(c), sb_columns_title(t->own, i, title),
                       label ? " without control characters" : "");
    st = sb_words_add(&column->words, f->text, f->size, &number);
    if (st == SB_OK && column->words.count > most)
        return sb_fail(SB_EFORMAT,
                       "%s: %s has more than %u different texts; the first that is no "
                       "number is in line %llu. Correct it, or leave the column out",
                       c->name, sb_columns_title(t->own, i, title), most,
                       (unsigned long long)column->odd_line);
    return st;
}

/* First time through: which columns are numbers; the label's texts. */
static sb_status learn_kind(struct table *t, void *context, const struct sb_csv *c,
                            struct sb_field *f, uint32_t i)
{
    (void)context;
    struct sb_column *column = &t->own->column[i];
    double x;
    if (column->kind == SB_COLUMN_UNUSED)
        return SB_OK;
    if (sb_csv_missing(f))
        return sb_table_missing(t->use, c, i);
    if (column->kind == SB_COLUMN_NUMBER && !sb_csv_number(f->text, f->size, &x)) {
        column->kind = SB_COLUMN_CATEGORY;
        column->odd_line = c->row_line;
    }
    if (column->kind != SB_COLUMN_LABEL)
        return SB_OK;
    column->odd_line = column->odd_line ? column->odd_line : c->row_line;
    sb_status st = check_class(t, c, f, i);
    return st == SB_OK ? add_text(t, c, f, i) : st;
}

/* Second time: the texts of categories. */
static sb_status learn_texts(struct table *t, void *context, const struct sb_csv *c,
                             struct sb_field *f, uint32_t i)
{
    (void)context;
    return t->own->column[i].kind == SB_COLUMN_CATEGORY ? add_text(t, c, f, i) : SB_OK;
}

static sb_status number_features(struct table *t)
{
    struct sb_columns *c = t->own;
    for (uint32_t i = 0; i < c->count; i++) {
        struct sb_column *column = &c->column[i];
        sb_status st = sb_words_sort(&column->words);
        if (st != SB_OK)
            return st;
        column->feature = c->features;
        if (column->kind == SB_COLUMN_NUMBER)
            c->features++;
        else if (column->kind == SB_COLUMN_CATEGORY)
            c->features += column->words.count;
    }
    if (c->features == 0 || c->features > FEATURES_MOST)
        return sb_fail(SB_EFORMAT, "%s: it has %u features; want 1 to %d", t->begin.name,
                       c->features, FEATURES_MOST);
    return SB_OK;
}

static sb_status learn(struct table *t)
{
    bool categories = false;
    sb_status st = each_field(t, learn_kind, NULL);
    for (uint32_t i = 0; i < t->width; i++)
        categories |= t->own->column[i].kind == SB_COLUMN_CATEGORY;
    if (st == SB_OK && categories)
        st = each_field(t, learn_texts, NULL);
    return st == SB_OK ? number_features(t) : st;
}

/* ---- like another table ---- */

static sb_status check_name(struct table *t, void *context, const struct sb_csv *c,
                            struct sb_field *f, uint32_t i)
{
    (void)t;
    char room[SB_FIELD_MOST];
    const struct sb_columns *like = context;
    uint32_t column = i + (like->label <= i && t->label != like->label);
    sb_status st = sb_csv_text(c, f, room);
    if (st != SB_OK || column >= like->names.count)
        return st;
    const char *want = sb_words_at(&like->names, column);
    if (strlen(want) != f->size || memcmp(want, f->text, f->size) != 0)
        return sb_fail(SB_EFORMAT,
                       "%s: column %u is named %.*s, in %s it is %s; the columns must be "
                       "the same",
                       c->name, i + 1, (int)(f->size < 64 ? f->size : 64), f->text,
                       t->o->like->path, want);
    return SB_OK;
}

static sb_status only_count(struct table *t, void *context, const struct sb_csv *c,
                            struct sb_field *f, uint32_t i)
{
    (void)t, (void)context, (void)c, (void)f, (void)i;
    return SB_OK;
}

/* The same columns, with or without the label. */
static sb_status follow(struct table *t, bool header)
{
    const struct sb_columns *like = t->use;
    bool without = t->o->unlabelled && t->width + 1 == like->count;
    t->label = without ? t->width : like->label;
    if (!without && t->width != like->count)
        return sb_fail(SB_EFORMAT, "%s has %u columns, but %s has %u", t->begin.name,
                       t->width, t->o->like->path, like->count);
    if (header && like->header) {
        struct sb_csv c = t->begin;
        sb_status st = take_row(&c, check_name, t, (void *)(uintptr_t)like);
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

/* ---- values ---- */

static sb_status put_value(struct table *t, void *context, const struct sb_csv *c,
                           struct sb_field *f, uint32_t i)
{
    struct sb_dataset *d = context;
    uint32_t k = i + (t->label == t->width && t->use->label <= i);
    if (t->rows >= d->n)
        return sb_fail(SB_EIO, "%s: it grew while it was read", c->name);
    struct sb_table_row to = {
        .columns = t->use,
        .like = t->o->like ? t->o->like->path : t->begin.name,
        .features = (float *)d->copy + t->rows * t->use->features,
        .label = d->labels ? &d->labels[t->rows] : NULL,
    };
    return sb_table_value(&to, c, f, k);
}

static sb_status name_classes(struct sb_dataset *d, const struct sb_words *w)
{
    const char **names = sb_malloc(w->count, sizeof *names);
    if (!names)
        return sb_fail(SB_ENOMEM, "no memory for the names of %u classes", w->count);
    for (uint32_t i = 0; i < w->count; i++)
        names[i] = sb_words_at(w, i);
    sb_status st = sb_names_copy(d, names);
    sb_free(names);
    return st;
}

static sb_status fill(struct sb_dataset *d, struct table *t)
{
    bool labelled = t->label < t->width;
    if (t->rows == 0 || t->rows > UINT32_MAX)
        return sb_fail(SB_EFORMAT, "%s: it has %llu rows of values; want 1 to %u",
                       t->begin.name, (unsigned long long)t->rows, UINT32_MAX);
    d->n = (uint32_t)t->rows;
    d->element = SB_FLOATS;
    d->channels = t->use->features;
    d->height = d->width = 1;
    d->copy = sb_calloc(d->n, d->channels * sizeof(float));
    d->labels = labelled ? sb_malloc(d->n, sizeof *d->labels) : NULL;
    if (!d->copy || (labelled && !d->labels))
        return sb_fail(SB_ENOMEM, "%s: no memory for %u rows of %u features",
                       t->begin.name, d->n, d->channels);
    d->values = d->copy;
    sb_status st = each_field(t, put_value, d);
    if (st != SB_OK || !labelled)
        return st;
    const struct sb_words *classes = &t->use->column[t->use->label].words;
    d->classes = classes->count;
    if (d->classes < 2)
        return sb_fail(SB_EFORMAT, "%s: every row has the label %s; want two or more",
                       t->begin.name, sb_words_at(classes, 0));
    return name_classes(d, classes);
}

/* ---- the whole ---- */

static sb_status begin_own(struct table *t, bool header)
{
    sb_status st = sb_columns_new(&t->own, t->width);
    if (st != SB_OK)
        return st;
    t->use = t->own;
    t->own->header = header;
    if (header) {
        struct sb_csv c = t->begin;
        st = take_row(&c, add_name, t, NULL);
    }
    return st == SB_OK ? choose_label(t) : st;
}

static sb_status begin(struct table *t, const char *text, size_t size)
{
    bool header = false;
    if (size >= 2 &&
        (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return sb_fail(SB_EFORMAT, "%s: it is UTF-16; save it as UTF-8", t->begin.name);
    if (!sb_csv_row(&t->begin))
        return sb_fail(SB_EFORMAT, "%s: it is empty", t->begin.name);
    sb_status st = find_header(t, t->begin, &header);
    if (st == SB_OK && (t->width < (t->o->like ? 1 : 2) || t->width > COLUMNS_MOST))
        st =
            sb_fail(SB_EFORMAT,
                    "%s: its first row has %u field%s; want 2 to %d, separated by comma, "
                    "tab, semicolon or blanks",
                    t->begin.name, t->width, t->width == 1 ? "" : "s", COLUMNS_MOST);
    if (st == SB_OK)
        st = t->o->like ? follow(t, header) : begin_own(t, header);
    if (st == SB_OK && header) { /* go on behind it */
        uint32_t width = t->width;
        st = take_row(&t->begin, NULL, t, NULL);
        t->width = width;
    }
    return st;
}

sb_status sb_table_read(struct sb_dataset *d, const char *name, const char *text,
                        size_t size, const struct sb_open_options *o)
{
    struct table t = {.o = o, .use = o->like ? o->like->columns : NULL};
    if (o->like && !t.use)
        return sb_fail(SB_EARG, "%s is a table, %s is not", name, o->like->path);
    sb_csv_begin(&t.begin, name, text, size);
    sb_status st = begin(&t, text, size);
    if (st == SB_OK)
        st = t.own ? learn(&t) : each_field(&t, only_count, NULL);
    if (st == SB_OK)
        st = fill(d, &t);
    d->columns = t.own;
    return st;
}
