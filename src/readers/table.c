/* table - see table.h.
 *
 * The text is gone through at most three times: which columns are numbers, and how many
 * rows; the texts of the others (table_learn.c); the values. A file that is read like
 * another one needs only its rows counted, and the values.
 */
#include "readers/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/targets.h"
#include "readers/table_parts.h"
#include "readers/table_value.h"

enum {
    COLUMNS_MOST = 1 << 16,
    NAME_SHOWN = 64, /* bytes */
};

/* ---- rows ---- */

static sb_status check_width(const struct sb_table *t, const struct sb_csv *c,
                             uint32_t have)
{
    if (have == t->width)
        return SB_OK;
    if (t->mark)
        return sb_fail(SB_EFORMAT,
                       "%s: line %llu has %u field%s, the first row, which begins with "
                       "'#', has %u; if that is a comment, remove it: tables have none",
                       c->name, sb_table_line(c), have, have == 1 ? "" : "s", t->width);
    return sb_fail(SB_EFORMAT,
                   "%s: line %llu has %u field%s, the first row has %u; every row must "
                   "have as many",
                   c->name, sb_table_line(c), have, have == 1 ? "" : "s", t->width);
}

sb_status sb_table_each(struct sb_table *t, sb_table_fn *fn, void *context)
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

sb_status sb_table_row(struct sb_table *t, struct sb_csv *c, sb_table_fn *fn,
                       void *context)
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

static sb_status refuse_twice(const struct sb_csv *c, const char *name, uint32_t first,
                              uint32_t second)
{
    return sb_fail(SB_EFORMAT,
                   "%s: line %llu: columns %u and %u are both named '%.*s'; rename one "
                   "of them, or leave it out of the file",
                   c->name, sb_table_line(c), first, second,
                   sb_text_cut(name, NAME_SHOWN), name);
}

static sb_status add_name(struct sb_table *t, void *context, const struct sb_csv *c,
                          struct sb_field *f, uint32_t i)
{
    (void)context;
    char buffer[SB_FIELD_MOST];
    uint32_t number;
    sb_status st = sb_csv_text(c, f, buffer);
    if (st != SB_OK)
        return st;
    if (!sb_names_is_utf8(f->text, f->size))
        return sb_fail(SB_EFORMAT, "%s: line %llu: the name of column %u is not UTF-8",
                       c->name, sb_table_line(c), i + 1);
    if (f->size == 0 && i == 0)
        t->own->column[0].kind = SB_COLUMN_UNUSED;
    st = sb_words_add(&t->own->names, f->text, f->size, &number);
    if (st == SB_OK && number != i)
        return refuse_twice(c, sb_words_at(&t->own->names, number), number + 1, i + 1);
    return st;
}

/* ---- like another table ---- */

static sb_status find_name(struct sb_table *t, void *context, const struct sb_csv *c,
                           struct sb_field *f, uint32_t i)
{
    char buffer[SB_FIELD_MOST];
    uint32_t *field = context, k;
    sb_status st = sb_csv_text(c, f, buffer);
    if (st != SB_OK)
        return st;
    bool known = sb_words_find(&t->use->names, f->text, f->size, &k);
    t->column[i] = known ? k : t->use->count;
    if (known && field[k] > 0)
        return refuse_twice(c, sb_words_at(&t->use->names, k), field[k], i + 1);
    if (known)
        field[k] = i + 1;
    return SB_OK;
}

static sb_status no_column(const struct sb_table *t, uint32_t k, bool response)
{
    const char *name = sb_words_at(&t->use->names, k), *like = t->o->like->path;
    if (!response)
        return sb_fail(SB_EFORMAT,
                       "%s: there is no column %s, which %s has; columns are found by "
                       "their names, in any order",
                       t->begin.name, name, like);
    return sb_fail(
        SB_EFORMAT,
        "%s: there is no column %s, the %s of %s, without which nothing can be "
        "compared",
        t->begin.name, name, t->use->targets > 0 ? "target" : "label", like);
}

/* Every column that counts is there: those with features, and unless t->without what is
 * predicted. field[k]: the number from 1 of the field that is column k; 0: none. */
static sb_status check_absent(struct sb_table *t, const uint32_t *field)
{
    const struct sb_columns *like = t->use;
    for (uint32_t k = 0; k < like->count; k++) {
        bool response = sb_column_is_response(&like->column[k]);
        t->without = t->without || (response && field[k] == 0 && t->o->unlabelled);
        bool counts = response ? !t->without : sb_column_has_input(&like->column[k]);
        if (counts && field[k] == 0)
            return no_column(t, k, response);
    }
    return SB_OK;
}

/* Both have names: each field is the column that is called like it, or none. */
static sb_status follow_names(struct sb_table *t)
{
    struct sb_csv c = t->begin;
    uint32_t *field = sb_calloc(t->use->count, sizeof *field);
    sb_status st = field ? sb_table_row(t, &c, find_name, field)
                         : sb_fail(SB_ENOMEM, "no memory for %u columns", t->use->count);
    if (st == SB_OK)
        st = check_absent(t, field);
    sb_free(field);
    return st;
}

static sb_status only_count(struct sb_table *t, void *context, const struct sb_csv *c,
                            struct sb_field *f, uint32_t i)
{
    (void)t, (void)context, (void)c, (void)f, (void)i;
    return SB_OK;
}

/* The same columns, with or without the label or targets: by name if both files have names,
 * else by place. */
static sb_status follow(struct sb_table *t, bool header)
{
    const struct sb_columns *like = t->use;
    uint32_t responses = sb_columns_responses(like);
    bool without =
        t->o->unlabelled && responses > 0 && t->width + responses == like->count;
    bool names = header && like->header;
    if (!names && !t->o->unlabelled && responses > 0 &&
        t->width + responses == like->count)
        return sb_fail(
            SB_EFORMAT,
            "%s has %u columns, but %s has %u: the %s is missing, without which "
            "nothing can be compared",
            t->begin.name, t->width, t->o->like->path, like->count,
            like->targets > 0 ? "target" : "label");
    if (!names && !without && t->width != like->count)
        return sb_fail(SB_EFORMAT, "%s has %u columns, but %s has %u", t->begin.name,
                       t->width, t->o->like->path, like->count);
    t->column = names || without ? sb_malloc(t->width, sizeof *t->column) : NULL;
    if ((names || without) && !t->column)
        return sb_fail(SB_ENOMEM, "no memory for %u columns", t->width);
    if (names)
        return follow_names(t);
    t->without = without;
    if (without)
        sb_columns_without_responses(like, t->column);
    return SB_OK;
}

/* ---- values ---- */

static sb_status put_value(struct sb_table *t, void *context, const struct sb_csv *c,
                           struct sb_field *f, uint32_t i)
{
    struct sb_dataset *d = context;
    uint32_t k = t->column ? t->column[i] : i;
    if (k >= t->use->count) /* which the other file has not */
        return SB_OK;
    if (t->rows >= d->n)
        return sb_fail(SB_EIO, "%s: it grew while it was read", c->name);
    if (d->weights && k == t->weight)
        return sb_table_weight(t->use, c, f, k, &d->weights[t->rows]);
    struct sb_table_to to = {
        .columns = t->use,
        .like = t->o->like ? t->o->like->path : t->begin.name,
        .inputs = (float *)d->copy + t->rows * t->use->inputs,
        .label = d->labels ? &d->labels[t->rows] : NULL,
        .target = d->targets ? d->targets + t->rows * d->target_count : NULL,
        .group = d->groups ? &d->groups[t->rows] : NULL,
        .impute = t->o->impute,
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

/* Memory for the targets, which are called like their columns. */
static sb_status begin_targets(struct sb_dataset *d, const struct sb_columns *c)
{
    const char **names = sb_calloc(c->targets, sizeof *names);
    char(*numbers)[SB_COLUMN_TITLE] = sb_malloc(c->targets, sizeof *numbers);
    sb_status st = names && numbers
                       ? SB_OK
                       : sb_fail(SB_ENOMEM, "no memory for %u targets", c->targets);
    for (uint32_t i = 0; i < c->count && st == SB_OK; i++) {
        uint32_t k = c->column[i].input;
        if (c->column[i].kind != SB_COLUMN_TARGET)
            continue;
        names[k] = c->names.count > i && sb_words_at(&c->names, i)[0]
                       ? sb_words_at(&c->names, i)
                       : sb_columns_title(c, i, numbers[k]);
    }
    if (st == SB_OK)
        st = sb_targets_init(d, c->targets, names);
    sb_free(names);
    sb_free(numbers);
    return st;
}

/* The values fit into what the file may claim, or the column that is to blame is named. */
static sb_status check_bytes(const struct sb_table *t)
{
    uint64_t row = t->use->features * (uint64_t)sizeof(float);
    uint32_t worst = 0;
    char title[SB_COLUMN_TITLE];
    if (t->o->most_bytes == 0 || t->rows <= t->o->most_bytes / row)
        return SB_OK;
    for (uint32_t i = 0; i < t->use->count; i++)
        if (t->use->column[i].kind == SB_COLUMN_CATEGORY &&
            (t->use->column[worst].kind != SB_COLUMN_CATEGORY ||
             t->use->column[i].words.count > t->use->column[worst].words.count))
            worst = i;
    return sb_fail(
        SB_EFORMAT,
        "%s: its %llu rows of %u features would take %.0f MB, far more than its "
        "text; most features are of %s, which has %u different texts: leave it "
        "out, or give fewer rows",
        t->begin.name, (unsigned long long)t->rows, t->use->features,
        1e-6 * (double)t->rows * (double)row, sb_columns_title(t->use, worst, title),
        t->use->column[worst].words.count);
}

static sb_status take_memory(struct sb_dataset *d, const struct sb_table *t)
{
    bool labelled = !t->without && t->use->label < t->use->count;
    bool grouped = t->own && t->o->group && *t->o->group;
    bool weighted = t->own && t->o->weight && *t->o->weight;
    d->copy = sb_malloc(d->n, d->channels * sizeof(float));
    d->labels = labelled ? sb_malloc(d->n, sizeof *d->labels) : NULL;
    d->groups = grouped ? sb_malloc(d->n, sizeof *d->groups) : NULL;
    d->weights = weighted ? sb_malloc(d->n, sizeof *d->weights) : NULL;
    if (!d->copy || (labelled && !d->labels) || (grouped && !d->groups) ||
        (weighted && !d->weights))
        return sb_fail(SB_ENOMEM, "%s: no memory for %u rows of %u columns",
                       t->begin.name, d->n, d->channels);
    d->values = d->copy;
    return t->use->targets > 0 && !t->without ? begin_targets(d, t->use) : SB_OK;
}

static sb_status take_classes(struct sb_dataset *d, const struct sb_table *t)
{
    const struct sb_words *classes = &t->use->column[t->use->label].words;
    d->classes = classes->count;
    if (d->n == 1 && !t->use->header)
        return sb_fail(SB_EFORMAT,
                       "%s: it has a single row, whose label is %s; want rows of two or "
                       "more classes; if these are the names of columns, no values "
                       "follow",
                       t->begin.name, sb_words_at(classes, 0));
    if (d->classes < 2)
        return sb_fail(SB_EFORMAT, "%s: every row has the label %s; want two or more",
                       t->begin.name, sb_words_at(classes, 0));
    return name_classes(d, classes);
}

static sb_status fill(struct sb_dataset *d, struct sb_table *t)
{
    sb_status st = check_bytes(t);
    if (st != SB_OK)
        return st;
    if (t->rows == 0 || t->rows > UINT32_MAX)
        return sb_fail(SB_EFORMAT, "%s: it has %llu rows of values; want 1 to %u",
                       t->begin.name, (unsigned long long)t->rows, UINT32_MAX);
    d->n = (uint32_t)t->rows;
    d->element = SB_FLOATS;
    d->channels = t->use->inputs;
    d->height = d->width = 1;
    st = take_memory(d, t);
    if (st == SB_OK)
        st = sb_table_each(t, put_value, d);
    if (st == SB_OK && d->labels)
        st = take_classes(d, t);
    return st == SB_OK && d->targets && t->own && !t->o->look ? sb_targets_check(d) : st;
}

/* ---- the whole ---- */

static sb_status begin_own(struct sb_table *t, bool header)
{
    sb_status st = sb_columns_new(&t->own, t->width);
    if (st != SB_OK)
        return st;
    t->use = t->own;
    t->own->header = header;
    if (header) {
        struct sb_csv c = t->begin;
        st = sb_table_row(t, &c, add_name, NULL);
    }
    return st == SB_OK ? sb_table_roles(t) : st;
}

static sb_status begin(struct sb_table *t, const char *text, size_t size)
{
    bool header = false;
    sb_status st = sb_csv_check(t->begin.name, text, size);
    if (st != SB_OK)
        return st;
    if (!sb_csv_row(&t->begin))
        return sb_fail(SB_EFORMAT, "%s: it is empty", t->begin.name);
    t->mark = *t->begin.at == '#';
    st = sb_table_header(t, t->begin, &header);
    if (st == SB_OK && (t->width < (t->o->like ? 1 : 2) || t->width > COLUMNS_MOST))
        st =
            sb_fail(SB_EFORMAT,
                    "%s: its first row has %u field%s; want 2 to %d, separated by comma, "
                    "tab, semicolon or blanks%s",
                    t->begin.name, t->width, t->width == 1 ? "" : "s", COLUMNS_MOST,
                    t->mark ? "; it begins with '#': if it is a comment, remove it" : "");
    if (st == SB_OK)
        st = t->o->like ? follow(t, header) : begin_own(t, header);
    if (st == SB_OK && header) { /* go on behind it */
        uint32_t width = t->width;
        st = sb_table_row(t, &t->begin, NULL, NULL);
        t->width = width;
    }
    return st;
}

sb_status sb_table_read(struct sb_dataset *d, const char *name, const char *text,
                        size_t size, const struct sb_open_options *o)
{
    struct sb_table t = {.o = o, .use = o->like ? o->like->columns : NULL};
    if (o->like && !t.use)
        return sb_fail(SB_EARG, "%s is a table, %s is not", name, o->like->path);
    sb_csv_begin(&t.begin, name, text, size);
    sb_status st = begin(&t, text, size);
    if (st == SB_OK)
        st = t.own ? sb_table_learn(&t) : sb_table_each(&t, only_count, NULL);
    if (st == SB_OK)
        st = fill(d, &t);
    d->columns = t.own;
    sb_free(t.column);
    return st;
}
