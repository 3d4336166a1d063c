/* rows - see rows.h. */
#include "readers/rows.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "readers/rows_kept.h"

enum {
    FIRST_CAPACITY = 1 << 16,
    MOST_ROOM = 1 << 26, /* of one row, then */
    COLUMNS_MOST = 1 << 16,
    IDLE_MS = 200
};

/* ---- the buffer ---- */

sb_status sb_rows_init(struct sb_rows *r, const struct sb_rows_options *o)
{
    *r = (struct sb_rows){.o = *o, .failure = SB_FAILURE_NONE};
    r->path = sb_malloc(strlen(o->path) + 1, 1);
    r->buffer = sb_malloc(FIRST_CAPACITY, 1);
    if (!r->path || !r->buffer)
        return sb_fail(SB_ENOMEM, "%s: no memory to read it", o->path);
    memcpy(r->path, o->path, strlen(o->path) + 1);
    r->o.path = r->path;
    r->capacity = FIRST_CAPACITY;
    r->at = (struct sb_csv){
        .name = r->path, .at = r->buffer, .end = r->buffer, .separator = '\t', .line = 1};
    sb_status st = o->keep && *o->keep ? sb_rows_kept_new(&r->kept, o->keep) : SB_OK;
    return st == SB_OK && o->fd < 0 ? sb_unpack_new(&r->file, o->path) : st;
}

void sb_rows_fini(struct sb_rows *r)
{
    if (!r)
        return;
    sb_unpack_free(r->file);
    sb_rows_kept_free(r->kept);
    sb_free(r->path);
    sb_free(r->buffer);
    sb_free(r->column);
    *r = (struct sb_rows){0};
}

/* What is not taken yet goes to the front; if it needs more than half, there is more room. */
static sb_status reserve(struct sb_rows *r)
{
    size_t left = r->have - (size_t)(r->at.at - r->buffer);
    memmove(r->buffer, r->at.at, left);
    r->have = left;
    r->at.at = r->buffer;
    if (left <= r->capacity / 2)
        return SB_OK;
    if (r->capacity >= MOST_ROOM)
        return sb_fail(SB_EFORMAT,
                       "%s: the row that begins in line %llu has more than %d MiB; is a "
                       "quote not closed?",
                       r->o.path, (unsigned long long)r->at.line, MOST_ROOM >> 21);
    char *larger = sb_malloc(2 * r->capacity, 1);
    if (!larger)
        return sb_fail(SB_ENOMEM, "%s: no memory for a row of %zu bytes", r->o.path,
                       left);
    memcpy(larger, r->buffer, left);
    sb_free(r->buffer);
    r->buffer = larger;
    r->at.at = larger;
    r->capacity *= 2;
    return SB_OK;
}

static bool ready(const struct sb_rows *r)
{
    struct pollfd p = {.fd = r->o.fd, .events = POLLIN};
    return r->file || poll(&p, 1, 0) > 0;
}

/* What a descriptor has, once it has something. */
static sb_status read_some(struct sb_rows *r, char *to, size_t size, size_t *got)
{
    struct pollfd p = {.fd = r->o.fd, .events = POLLIN};
    for (;;) {
        if (poll(&p, 1, IDLE_MS) > 0) {
            ssize_t n = read(r->o.fd, to, size);
            *got = n > 0 ? (size_t)n : 0;
            if (n >= 0)
                return SB_OK;
            if (errno != EINTR && errno != EAGAIN)
                return sb_file_failed("read", r->o.path);
        }
        sb_status st = r->o.idle ? r->o.idle(r->o.context) : SB_OK;
        if (st != SB_OK)
            return st;
    }
}

/* Complete rows end with the last line that does. */
static void find_end(struct sb_rows *r)
{
    const char *end = r->buffer + r->have;
    while (!r->ended && end > r->at.at && end[-1] != '\n')
        end--;
    r->at.end = end;
}

/* More text. A long row is not looked at again for every few bytes that come. */
static sb_status read_more(struct sb_rows *r)
{
    sb_status st = reserve(r);
    size_t want = r->have < FIRST_CAPACITY ? r->have + 1 : 2 * r->have;
    while (st == SB_OK && !r->ended && r->have < want && r->have < r->capacity) {
        char *to = r->buffer + r->have;
        size_t got = 0, size = r->capacity - r->have;
        st = r->file ? sb_unpack_read(r->file, to, size, &got)
                     : read_some(r, to, size, &got);
        r->ended = st == SB_OK && got == 0;
        r->have += got;
    }
    find_end(r);
    return st;
}

/* ---- the first row ---- */

static sb_status next_field(struct sb_rows *r, struct sb_field *f)
{
    sb_status st = sb_csv_field(&r->at, f);
    r->cut = st != SB_OK && r->at.at == r->at.end && !r->ended;
    return st;
}

/* Fields of the row at hand by that separator, up to one that cannot be read. */
static uint32_t fields_by(struct sb_rows *r, char separator)
{
    struct sb_csv row = r->at;
    struct sb_field f;
    uint32_t n = 0;
    r->at.separator = separator;
    while (r->at.more && next_field(r, &f) == SB_OK)
        n++;
    n += r->at.more;
    r->at = row;
    return n;
}

/* Only the first row is known, but also how many fields are wanted, with a label or
 * without; else the most frequent separator is it. r->cut: more text may say otherwise. */
static void find_separator(struct sb_rows *r)
{
    static const char candidates[] = {'\t', ';', ','};
    uint32_t want = r->o.columns->count, most = 1;
    uint32_t responses = sb_columns_responses(r->o.columns);
    char best = ' ';
    for (size_t i = 0; i < sizeof candidates; i++) {
        uint32_t n = fields_by(r, candidates[i]);
        if (r->cut)
            return;
        if (n > most)
            best = candidates[i];
        most = n > most ? n : most;
        if (n > 1 && (n == want || n + responses == want)) {
            best = candidates[i];
            break;
        }
    }
    r->at.separator = best;
}

/* A byte-order mark is no part of the first row. Text without LF is here as a whole. */
static sb_status pass_mark(struct sb_rows *r)
{
    size_t n = (size_t)(r->at.end - r->at.at);
    sb_status st = sb_csv_check(r->o.path, r->at.at, n);
    r->begun = true;
    if (n >= 3 && memcmp(r->at.at, "\xef\xbb\xbf", 3) == 0)
        r->at.at += 3;
    return st;
}

/* How many fields the row has, and how many of them are numbers or missing. */
static sb_status count_fields(struct sb_rows *r, uint32_t *fields, uint32_t *numbers)
{
    sb_status st = SB_OK;
    *fields = *numbers = 0;
    while (r->at.more && st == SB_OK && *fields < COLUMNS_MOST) {
        struct sb_field f;
        double x;
        st = next_field(r, &f);
        if (st != SB_OK)
            break;
        *numbers +=
            sb_csv_number(f.text, f.size, &x) || (f.size > 0 && sb_csv_missing(&f));
        ++*fields;
    }
    if (st == SB_OK && r->at.more)
        st = sb_fail(SB_EFORMAT, "%s: line %llu has more than %d fields", r->o.path,
                     (unsigned long long)r->at.row_line, COLUMNS_MOST);
    return st;
}

/* The columns whose names the row's fields are; field[k] = the number from 1 of the field
 * that is column k. *twice: the number of a field whose name was there before; 0: none. */
static sb_status find_names(struct sb_rows *r, uint32_t fields, uint32_t *field,
                            uint32_t *twice)
{
    const struct sb_columns *c = r->o.columns;
    *twice = 0;
    memset(field, 0, c->count * sizeof *field);
    for (uint32_t i = 0; i < fields; i++) {
        struct sb_field f;
        char text[SB_FIELD_MOST];
        uint32_t k = c->count;
        sb_status st = next_field(r, &f);
        if (st == SB_OK)
            st = sb_csv_text(&r->at, &f, text);
        if (st != SB_OK)
            return st;
        r->column[i] = sb_words_find(&c->names, f.text, f.size, &k) ? k : c->count;
        if (k < c->count && field[k] > 0)
            *twice = i + 1;
        else if (k < c->count)
            field[k] = i + 1;
    }
    return SB_OK;
}

/* The first column with features that no field is; count: none. */
static uint32_t first_absent(const struct sb_columns *c, const uint32_t *field)
{
    uint32_t k = 0;
    while (k < c->count && (field[k] > 0 || !sb_column_has_input(&c->column[k])))
        k++;
    return k;
}

/* Without names: as many, or as many but for the label. */
static sb_status by_position(struct sb_rows *r, uint32_t fields)
{
    const struct sb_columns *c = r->o.columns;
    uint32_t responses = sb_columns_responses(c);
    bool without = responses > 0 && fields + responses == c->count;
    if (!without && fields != c->count)
        return sb_fail(
            SB_EFORMAT, "%s: line %llu has %u field%s; want the %u columns of %s%s",
            r->o.path, (unsigned long long)r->at.row_line, fields, fields == 1 ? "" : "s",
            c->count, r->o.like, responses > 0 ? ", with or without the label" : "");
    for (uint32_t i = 0; i < fields && !without; i++)
        r->column[i] = i;
    if (without)
        sb_columns_without_responses(c, r->column);
    return SB_OK;
}

static bool wants_numbers(const struct sb_columns *c)
{
    uint32_t i = 0;
    while (i < c->count && c->column[i].kind != SB_COLUMN_NUMBER)
        i++;
    return i < c->count;
}

/* The names of the first row are those of the columns, but perhaps for the label. */
static sb_status check_names(const struct sb_rows *r, uint32_t absent, uint32_t twice)
{
    const struct sb_columns *c = r->o.columns;
    unsigned long long line = r->at.row_line;
    if (absent < c->count)
        return sb_fail(SB_EFORMAT, "%s: line %llu: there is no column %s, which %s has",
                       r->o.path, line, sb_words_at(&c->names, absent), r->o.like);
    if (twice > 0)
        return sb_fail(SB_EFORMAT, "%s: line %llu: two columns have the name %s",
                       r->o.path, line, sb_words_at(&c->names, r->column[twice - 1]));
    return SB_OK;
}

/* Decides what the fields are; *names: the row is no values. row is before it. field: room
 * for [columns->count]. */
static sb_status decide(struct sb_rows *r, struct sb_csv row, uint32_t fields,
                        uint32_t *field, bool *names)
{
    const struct sb_columns *c = r->o.columns;
    uint32_t absent, twice;
    if (c->names.count == 0)
        return by_position(r, fields);
    r->at = row;
    sb_status st = find_names(r, fields, field, &twice);
    if (st != SB_OK)
        return st;
    absent = first_absent(c, field);
    *names = *names || absent == c->count;
    return *names ? check_names(r, absent, twice) : by_position(r, fields);
}

/* r->at is before the first row; afterwards before the first row of values. */
static sb_status take_first(struct sb_rows *r)
{
    const struct sb_columns *c = r->o.columns;
    uint32_t fields, numbers;
    find_separator(r);
    if (r->cut)
        return SB_OK;
    struct sb_csv row = r->at;
    sb_status st = count_fields(r, &fields, &numbers);
    if (st != SB_OK)
        return st;
    r->column = sb_malloc((size_t)fields + c->count, sizeof *r->column);
    if (!r->column)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u columns", r->o.path, fields);
    struct sb_csv behind = r->at;
    bool names = numbers == 0 && wants_numbers(c);
    st = decide(r, row, fields, r->column + fields, &names);
    if (st == SB_OK && r->kept)
        st = sb_rows_kept_find(r->kept, row, fields, names);
    if (st == SB_OK)
        r->width = fields;
    r->at = names ? behind : row;
    return st;
}

/* ---- values ---- */

static sb_status take_field(struct sb_rows *r, const struct sb_table_to *to,
                            struct sb_field *f, uint32_t i)
{
    sb_status st = r->kept ? sb_rows_kept_add(r->kept, &r->at, f, i) : SB_OK;
    return st == SB_OK && r->column[i] < r->o.columns->count
               ? sb_table_value(to, &r->at, f, r->column[i])
               : st;
}

static sb_status take_values(struct sb_rows *r, float *inputs)
{
    const struct sb_columns *c = r->o.columns;
    struct sb_table_odd odd = r->odd;
    struct sb_table_to to = {.columns = c,
                             .like = r->o.like,
                             .inputs = inputs,
                             .impute = c->impute,
                             .odd = &odd};
    uint32_t i = 0;
    if (r->kept)
        sb_rows_kept_begin(r->kept);
    for (; r->at.more; i++) {
        struct sb_field f;
        sb_status st = next_field(r, &f);
        if (st == SB_OK && i < r->width)
            st = take_field(r, &to, &f, i);
        if (st != SB_OK)
            return st;
    }
    if (i == r->width) {
        r->odd = odd;
        if (r->kept)
            sb_rows_kept_end(r->kept);
        return SB_OK;
    }
    return sb_fail(SB_EFORMAT,
                   "%s: line %llu has %u field%s, the first row has %u; every row must "
                   "have as many",
                   r->o.path, (unsigned long long)r->at.row_line, i, i == 1 ? "" : "s",
                   r->width);
}

/* One row, if it is there: r->at is where it begins. */
static sb_status try_row(struct sb_rows *r, float *inputs, bool *got)
{
    struct sb_csv begin = r->at;
    sb_status st = SB_OK;
    r->cut = *got = false;
    if (!r->begun)
        return pass_mark(r);
    if (r->width == 0)
        st = take_first(r);
    else {
        st = take_values(r, inputs);
        *got = st == SB_OK;
    }
    if (!r->cut)
        return st;
    r->at = begin;
    return SB_OK;
}

/* The next row; *got false: the end, or nothing more without waiting. */
static sb_status next_row(struct sb_rows *r, bool wait, float *inputs, bool *got)
{
    sb_status st = SB_OK;
    *got = false;
    while (st == SB_OK && !*got) {
        bool row = sb_csv_row(&r->at);
        if (row)
            st = try_row(r, inputs, got);
        if (st != SB_OK || (row && !r->cut))
            continue;
        if (r->ended || (!wait && !ready(r)))
            return SB_OK;
        st = read_more(r);
    }
    return st;
}

sb_status sb_rows_next(struct sb_rows *r, float *inputs, size_t most, size_t *got)
{
    sb_status st = sb_failure_raise(&r->failure);
    bool more = true;
    *got = 0;
    if (r->kept)
        sb_rows_kept_clear(r->kept);
    while (st == SB_OK && more && *got < most) {
        float *to = inputs + *got * r->o.columns->inputs;
        st = next_row(r, *got == 0, to, &more);
        *got += st == SB_OK && more;
    }
    if (st == SB_OK || *got == 0)
        return st;
    sb_failure_note(&r->failure, 0, st);
    return SB_OK;
}

void sb_rows_place(const struct sb_rows *r, uint64_t *done, uint64_t *total)
{
    *done = r->file ? sb_unpack_position(r->file) : 0;
    *total = r->file ? sb_unpack_size(r->file) : 0;
}

/* ---- what is kept ---- */

uint32_t sb_rows_keeps(const struct sb_rows *r)
{
    return r->kept ? r->kept->count : 0;
}

const char *sb_rows_keep_name(const struct sb_rows *r, uint32_t k)
{
    return sb_words_at(&r->kept->names, k);
}

const char *sb_rows_keep_text(const struct sb_rows *r, size_t i, uint32_t k)
{
    return r->kept->text + r->kept->start[i * r->kept->count + k];
}
