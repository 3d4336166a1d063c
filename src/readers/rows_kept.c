/* rows_kept - see rows_kept.h. */
#include "readers/rows_kept.h"

#include <string.h>

#include "base/mem.h"
#include "data/columns.h"
#include "data/reader.h"

static sb_status read_list(struct sb_rows_kept *k, const char *list)
{
    sb_status st = SB_OK;
    while (st == SB_OK && *list) {
        size_t n = strcspn(list, ","), skip = strspn(list, " \t"), size;
        uint32_t number = 0;
        for (size = skip < n ? n - skip : 0; size > 0; size--)
            if (list[skip + size - 1] != ' ' && list[skip + size - 1] != '\t')
                break;
        if (size > 0)
            st = sb_words_add(&k->names, list + skip, size, &number);
        if (st == SB_OK && size > 0 && number + 1 < k->names.count)
            return sb_fail(SB_EARG, "the column %.*s is to be kept twice", (int)size,
                           list + skip);
        list += n + (list[n] == ',');
    }
    k->count = k->names.count;
    return st == SB_OK && k->count == 0 ? sb_fail(SB_EARG, "no column to keep") : st;
}

sb_status sb_rows_kept_new(struct sb_rows_kept **out, const char *list)
{
    struct sb_rows_kept *k = sb_calloc(1, sizeof *k);
    *out = NULL;
    if (!k)
        return sb_fail(SB_ENOMEM, "no memory to keep columns");
    sb_status st = read_list(k, list);
    if (st == SB_OK) {
        k->field = sb_calloc(k->count, sizeof *k->field);
        st = k->field ? SB_OK : sb_fail(SB_ENOMEM, "no memory to keep columns");
    }
    if (st == SB_OK)
        *out = k;
    else
        sb_rows_kept_free(k);
    return st;
}

void sb_rows_kept_free(struct sb_rows_kept *k)
{
    if (!k)
        return;
    sb_words_fini(&k->names);
    sb_free(k->field);
    sb_free(k->text);
    sb_free(k->start);
    sb_free(k);
}

/* ---- which fields ---- */

/* The field of the row at c whose text is name; fields: none. */
static sb_status find_name(struct sb_csv c, uint32_t fields, const char *name,
                           uint32_t *out)
{
    uint32_t i = 0;
    *out = fields;
    for (; c.more && *out == fields; i++) {
        struct sb_field f;
        char buffer[SB_FIELD_MOST];
        sb_status st = sb_csv_field(&c, &f);
        if (st == SB_OK)
            st = sb_csv_text(&c, &f, buffer);
        if (st != SB_OK)
            return st;
        if (strlen(name) == f.size && memcmp(name, f.text, f.size) == 0)
            *out = i;
    }
    return SB_OK;
}

/* The names of the row at c; of fields that cannot be read, what came before. */
static void offer_names(struct sb_csv c, struct sb_columns *out)
{
    sb_status st = SB_OK;
    while (c.more && st == SB_OK) {
        struct sb_field f;
        char buffer[SB_FIELD_MOST];
        uint32_t number;
        st = sb_csv_field(&c, &f);
        if (st == SB_OK)
            st = sb_csv_text(&c, &f, buffer);
        if (st == SB_OK)
            st = sb_words_add(&out->names, f.text, f.size, &number);
    }
}

static sb_status refuse(struct sb_csv c, uint32_t fields, bool names, const char *name)
{
    struct sb_columns columns = {.count = fields, .header = names};
    char want[SB_COLUMN_WANTED];
    if (names)
        offer_names(c, &columns);
    sb_columns_wanted(&columns, name, strlen(name), want);
    sb_words_fini(&columns.names);
    return sb_fail(SB_EARG, "%s: there is no column %s to keep; %s", c.name, name, want);
}

sb_status sb_rows_kept_find(struct sb_rows_kept *k, struct sb_csv c, uint32_t fields,
                            bool names)
{
    const struct sb_columns numbers = {.count = fields};
    for (uint32_t i = 0; i < k->count; i++) {
        const char *name = sb_words_at(&k->names, i);
        k->field[i] = fields;
        sb_status st = names ? find_name(c, fields, name, &k->field[i]) : SB_OK;
        if (st == SB_OK && k->field[i] == fields)
            k->field[i] = sb_columns_find(&numbers, name, strlen(name));
        if (st == SB_OK && k->field[i] == fields)
            st = refuse(c, fields, names, name);
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

/* ---- rows ---- */

void sb_rows_kept_clear(struct sb_rows_kept *k)
{
    k->used = k->whole = 0;
    k->rows = 0;
}

void sb_rows_kept_begin(struct sb_rows_kept *k)
{
    k->used = k->whole;
}

void sb_rows_kept_end(struct sb_rows_kept *k)
{
    k->whole = k->used;
    k->rows++;
}

static sb_status more(void **block, size_t *have, size_t want, size_t size)
{
    size_t capacity = *have ? *have : 64;
    while (capacity < want)
        capacity *= 2;
    if (capacity == *have)
        return SB_OK;
    void *larger = sb_malloc(capacity, size);
    if (!larger)
        return sb_fail(SB_ENOMEM, "no memory to keep %zu texts", capacity);
    if (*have)
        memcpy(larger, *block, *have * size);
    sb_free(*block);
    *block = larger;
    *have = capacity;
    return SB_OK;
}

static sb_status keep(struct sb_rows_kept *k, uint32_t which, const struct sb_field *f)
{
    void *text = k->text, *start = k->start;
    sb_status st = more(&text, &k->capacity, k->used + f->size + 1, 1);
    k->text = text;
    if (st == SB_OK)
        st = more(&start, &k->starts, (k->rows + 1) * k->count, sizeof *k->start);
    k->start = start;
    if (st != SB_OK)
        return st;
    k->start[k->rows * k->count + which] = k->used;
    memcpy(k->text + k->used, f->text, f->size);
    k->used += f->size;
    k->text[k->used++] = '\0';
    return SB_OK;
}

sb_status sb_rows_kept_add(struct sb_rows_kept *k, const struct sb_csv *c,
                           const struct sb_field *f, uint32_t i)
{
    sb_status st = SB_OK;
    for (uint32_t which = 0; which < k->count && st == SB_OK; which++) {
        struct sb_field copy = *f;
        char buffer[SB_FIELD_MOST];
        if (k->field[which] != i)
            continue;
        st = sb_csv_text(c, &copy, buffer);
        if (st == SB_OK && !sb_names_is_utf8(copy.text, copy.size))
            st = sb_fail(SB_EFORMAT,
                         "%s: line %llu: column %u, which is kept, is not "
                         "UTF-8",
                         c->name, (unsigned long long)c->row_line, i + 1);
        if (st == SB_OK)
            st = keep(k, which, &copy);
    }
    return st;
}
