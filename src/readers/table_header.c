/* table_header - whether the first row of a table is names.
 *
 * It is if it has the names that are known from another table, or the name of the label. In
 * a table with numbers, it is if it has none and the second row has one. In a table of texts
 * alone, texts come again and names do not: it is if none of its texts is in its column
 * again, although another one is somewhere twice.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "readers/table_parts.h"

enum { LOOK_ROWS = 1000 };

/* ---- what a row has ---- */

struct row_kind {
    uint32_t numbers; /* fields that are numbers, or stand for one that is missing */
    uint32_t empty;
};

static sb_status count_kinds(struct sb_table *t, void *context, const struct sb_csv *c,
                             struct sb_field *f, uint32_t i)
{
    (void)t, (void)c, (void)i;
    struct row_kind *k = context;
    double x;
    bool missing = sb_csv_missing(f) && f->size > 0;
    k->numbers += sb_csv_number(f->text, f->size, &x) || missing;
    k->empty += f->size == 0;
    return SB_OK;
}

struct wanted_name {
    const char *text;
    bool found;
};

static sb_status look_for_name(struct sb_table *t, void *context, const struct sb_csv *c,
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

static sb_status all_known(struct sb_table *t, void *context, const struct sb_csv *c,
                           struct sb_field *f, uint32_t i)
{
    (void)c, (void)i;
    uint32_t number;
    *(bool *)context &=
        !f->doubled && sb_words_find(&t->use->names, f->text, f->size, &number);
    return SB_OK;
}

/* ---- texts alone ---- */

struct again {
    struct sb_field *first; /* [width] of the first row; owned */
    struct sb_words *seen;  /* [width] of the others; owned */
    uint32_t width;
    bool comes_again; /* a text of the first row */
    bool repeats;     /* another text */
};

static sb_status note_first(struct sb_table *t, void *context, const struct sb_csv *c,
                            struct sb_field *f, uint32_t i)
{
    (void)t, (void)c;
    struct again *a = context;
    if (i < a->width)
        a->first[i] = *f;
    return SB_OK;
}

static sb_status note_again(struct sb_table *t, void *context, const struct sb_csv *c,
                            struct sb_field *f, uint32_t i)
{
    (void)t, (void)c;
    struct again *a = context;
    if (i >= a->width || sb_csv_missing(f) || memchr(f->text, '\0', f->size))
        return SB_OK;
    const struct sb_field *first = &a->first[i];
    if (first->size == f->size && memcmp(first->text, f->text, f->size) == 0)
        a->comes_again = true;
    uint32_t number, before = a->seen[i].count;
    sb_status st = sb_words_add(&a->seen[i], f->text, f->size, &number);
    a->repeats = a->repeats || a->seen[i].count == before;
    return st;
}

/* c is before the first row, which has `width` fields. */
static sb_status only_texts(struct sb_table *t, struct sb_csv c, uint32_t width,
                            bool *header)
{
    struct again a = {.first = sb_calloc(width, sizeof *a.first),
                      .seen = sb_calloc(width, sizeof *a.seen),
                      .width = width};
    sb_status st = a.first && a.seen
                       ? sb_table_row(t, &c, note_first, &a)
                       : sb_fail(SB_ENOMEM, "no memory for %u columns", width);
    for (int i = 0; i < LOOK_ROWS && st == SB_OK && !a.comes_again && sb_csv_row(&c); i++)
        st = sb_table_row(t, &c, note_again, &a);
    *header = st == SB_OK && a.repeats && !a.comes_again;
    for (uint32_t i = 0; a.seen && i < width; i++)
        sb_words_fini(&a.seen[i]);
    sb_free(a.seen);
    sb_free(a.first);
    return st;
}

/* ---- the decision ---- */

/* By the texts alone; c is before the first row. */
static sb_status look(struct sb_table *t, struct sb_csv c, uint32_t width, bool *header)
{
    struct wanted_name label = {.text = t->o->label ? t->o->label : ""};
    struct row_kind first = {0}, second = {0};
    struct sb_csv names = c, rows = c;
    sb_status st = sb_table_row(t, &names, look_for_name, &label);
    if (st == SB_OK)
        st = sb_table_row(t, &rows, count_kinds, &first);
    if (st == SB_OK && sb_csv_row(&rows))
        st = sb_table_row(t, &rows, count_kinds, &second);
    *header =
        (first.numbers == 0 && second.numbers > 0) || (label.text[0] && label.found);
    bool texts = first.numbers == 0 && first.empty == 0 && !t->use;
    return st == SB_OK && !*header && texts ? only_texts(t, c, width, header) : st;
}

sb_status sb_table_header(struct sb_table *t, struct sb_csv c, bool *header)
{
    struct sb_csv row = c;
    sb_status st = sb_table_row(t, &row, NULL, NULL);
    uint32_t width = t->width;
    bool known = t->use && t->use->names.count > 0;
    *header = t->o->header == SB_HEADER_YES;
    if (st != SB_OK || t->o->header != SB_HEADER_AUTO)
        return st;
    row = c;
    if (known)
        st = sb_table_row(t, &row, all_known, &known);
    if (known)
        *header = true;
    else if (st == SB_OK)
        st = look(t, c, width, header);
    t->width = width;
    return st;
}
