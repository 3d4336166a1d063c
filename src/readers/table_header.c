/* table_header - whether the first row of a table is names.
 *
 * It is if it has the names that are known from another table, or the name of the label, or
 *
 *     no number, while the second row has one; or
 *     texts alone, none of which is in its column again, although one is over numbers only,
 *     or other texts are somewhere twice: values come again, names do not; or
 *     numbers that nobody measures: 0, 1, 2, ..., as pandas writes where nobody gave names, or
 *     years that rise, three or more of them and four fields in all, while the second row has
 *     no such ones, and other fields are texts as above, or an empty one in front.
 *
 * What is in doubt is a row of values. A name that becomes a value can be seen: it is a class
 * of one row, or turns numbers into texts, of which sb_columns_odd() warns. A row that becomes
 * names is lost without a word.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "readers/table_parts.h"

enum { LOOK_ROWS = 1000 };

/* ---- what a row has ---- */

struct row_kind {
    uint32_t fields, empty;
    uint32_t numbers; /* fields that are numbers, or stand for one that is missing */
    double last;      /* number */
    bool counts;      /* its numbers are 0, 1, 2, ... */
    bool years;       /* they are years that rise */
};

static bool is_year(double x)
{
    return x == floor(x) && x >= 1900 && x <= 2100;
}

static sb_status count_kinds(struct sb_table *t, void *context, const struct sb_csv *c,
                             struct sb_field *f, uint32_t i)
{
    (void)t, (void)c, (void)i;
    struct row_kind *k = context;
    double x;
    bool missing = sb_csv_missing(f) && f->size > 0;
    bool number = sb_csv_number(f->text, f->size, &x);
    if (number) {
        bool first = k->numbers == 0;
        k->counts = first ? x == 0 : k->counts && x == k->last + 1;
        k->years = is_year(x) && (first || (k->years && x > k->last));
        k->last = x;
    }
    if (missing || (f->size == 0 && i > 0))
        k->counts = k->years = false;
    k->numbers += number || missing;
    k->empty += f->size == 0;
    k->fields++;
    return SB_OK;
}

/* Its numbers may be names. */
static bool numbers_that_name(const struct row_kind *k)
{
    enum { NUMBERS_LEAST = 3, FIELDS_LEAST = 4 };
    return (k->counts || k->years) && k->numbers >= NUMBERS_LEAST &&
           k->fields - k->empty >= FIELDS_LEAST;
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

/* ---- what is below its texts ---- */

struct below {
    struct sb_field *first; /* [width] of the first row; owned */
    struct sb_words *seen;  /* [width] texts of the others; owned */
    bool *numbers;          /* [width] numbers among the others; owned */
    uint32_t width;
    bool comes_again; /* a text of the first row */
    bool repeats;     /* another text, in a column over which a text is */
};

static bool is_text(const struct sb_field *f)
{
    double x;
    return f->size > 0 && !sb_csv_missing(f) && !sb_csv_number(f->text, f->size, &x);
}

static sb_status note_first(struct sb_table *t, void *context, const struct sb_csv *c,
                            struct sb_field *f, uint32_t i)
{
    (void)t, (void)c;
    struct below *b = context;
    if (i < b->width)
        b->first[i] = *f;
    return SB_OK;
}

static sb_status note_below(struct sb_table *t, void *context, const struct sb_csv *c,
                            struct sb_field *f, uint32_t i)
{
    (void)t, (void)c;
    struct below *b = context;
    if (i >= b->width || sb_csv_missing(f) || memchr(f->text, '\0', f->size))
        return SB_OK;
    const struct sb_field *first = &b->first[i];
    if (!is_text(first))
        return SB_OK;
    if (!is_text(f)) {
        b->numbers[i] = true;
        return SB_OK;
    }
    if (first->size == f->size && memcmp(first->text, f->text, f->size) == 0)
        b->comes_again = true;
    uint32_t number, before = b->seen[i].count;
    sb_status st = sb_words_add(&b->seen[i], f->text, f->size, &number);
    b->repeats = b->repeats || b->seen[i].count == before;
    return st;
}

/* A text over numbers alone. */
static bool heads_numbers(const struct below *b)
{
    for (uint32_t i = 0; i < b->width; i++)
        if (b->numbers[i] && b->seen[i].count == 0)
            return true;
    return false;
}

/* Whether the texts of the first row are names; c is before it. */
static sb_status look_below(struct sb_table *t, struct sb_csv c, uint32_t width,
                            bool *header)
{
    struct below b = {.first = sb_calloc(width, sizeof *b.first),
                      .seen = sb_calloc(width, sizeof *b.seen),
                      .numbers = sb_calloc(width, sizeof *b.numbers),
                      .width = width};
    sb_status st = b.first && b.seen && b.numbers
                       ? sb_table_row(t, &c, note_first, &b)
                       : sb_fail(SB_ENOMEM, "no memory for %u columns", width);
    for (int i = 0; i < LOOK_ROWS && st == SB_OK && !b.comes_again && sb_csv_row(&c); i++)
        st = sb_table_row(t, &c, note_below, &b);
    *header = st == SB_OK && !b.comes_again && (b.repeats || heads_numbers(&b));
    for (uint32_t i = 0; b.seen && i < width; i++)
        sb_words_fini(&b.seen[i]);
    sb_free(b.seen);
    sb_free(b.first);
    sb_free(b.numbers);
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
    if (st != SB_OK)
        return st;
    bool texts = first.numbers == 0 && first.empty == 0;
    bool numbers = numbers_that_name(&first) && !numbers_that_name(&second);
    bool numbers_alone = first.numbers + first.empty == first.fields;
    *header = (first.numbers == 0 && second.numbers > 0) ||
              (label.text[0] && label.found) ||
              (numbers && numbers_alone && second.fields > 0);
    if (*header || t->use || !(texts || numbers))
        return SB_OK;
    return look_below(t, c, width, header);
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
