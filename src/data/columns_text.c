/* columns_text - columns as JSON, to be kept with what was trained on them:
 *
 *     {"columns": [0, ["green", "red"], 1, ["no", "yes"]], "header": true, "label": 3,
 *      "names": ["size", "colour", "", "class"]}
 *
 * 0 is a column of numbers, 1 one that is not used, a list has the texts of a category or of
 * the label, in order. names is empty without a header.
 */
#include <string.h>

#include "base/json.h"
#include "data/columns.h"

enum { COLUMNS_MOST = 1 << 16, FEATURES_MOST = 1 << 20 };

static json_t *texts(const struct sb_words *w)
{
    json_t *array = json_array();
    for (uint32_t i = 0; array && i < w->count; i++)
        if (json_array_append_new(array, json_string(sb_words_at(w, i))) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

sb_status sb_columns_write(const struct sb_columns *c, char **out)
{
    json_t *list = json_array(), *all = NULL;
    bool ok = list != NULL;
    *out = NULL;
    for (uint32_t i = 0; ok && i < c->count; i++) {
        const struct sb_column *column = &c->column[i];
        json_t *one = column->kind == SB_COLUMN_NUMBER   ? json_integer(0)
                      : column->kind == SB_COLUMN_UNUSED ? json_integer(1)
                                                         : texts(&column->words);
        ok = json_array_append_new(list, one) == 0;
    }
    if (ok)
        all = json_pack("{s:O, s:b, s:I, s:o}", "columns", list, "header", c->header,
                        "label", (json_int_t)c->label, "names", texts(&c->names));
    sb_status st = all ? sb_json_write(all, false, out)
                       : sb_fail(SB_ENOMEM, "no memory for %u columns", c->count);
    json_decref(list);
    json_decref(all);
    return st;
}

/* ---- reading ---- */

/* Every text once, none missing. */
static sb_status read_texts(struct sb_words *w, const char *source, const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        uint32_t number = 0;
        sb_status st = text ? sb_words_add(w, text, strlen(text), &number) : SB_OK;
        if (st != SB_OK)
            return st;
        if (!text || number != i)
            return sb_fail(SB_EFORMAT, "%s: columns: text %zu is %s", source, i,
                           text ? "there twice" : "not a string");
    }
    return SB_OK;
}

static sb_status read_column(struct sb_columns *c, uint32_t i, const char *source,
                             const json_t *value)
{
    struct sb_column *column = &c->column[i];
    column->feature = c->features;
    if (json_is_array(value) && json_array_size(value) > 0) {
        bool label = i == c->label;
        sb_status st = read_texts(&column->words, source, value);
        column->kind = label ? SB_COLUMN_LABEL : SB_COLUMN_CATEGORY;
        c->features += label ? 0 : column->words.count;
        return st;
    }
    bool number = json_is_integer(value) && json_integer_value(value) == 0;
    if (i == c->label ||
        (!number && !(json_is_integer(value) && json_integer_value(value) == 1)))
        return sb_fail(SB_EFORMAT, "%s: columns: column %u is neither 0, 1 nor texts",
                       source, i);
    column->kind = number ? SB_COLUMN_NUMBER : SB_COLUMN_UNUSED;
    c->features += number;
    return SB_OK;
}

static sb_status read_all(struct sb_columns **out, const char *source, const json_t *all)
{
    const json_t *list, *names = NULL;
    int64_t label = 0;
    sb_status st = sb_json_array(all, source, "columns", &list);
    if (st == SB_OK)
        st = sb_json_array(all, source, "names", &names);
    if (st != SB_OK)
        return st;
    size_t count = json_array_size(list), named = json_array_size(names);
    if (count == 0 || count > COLUMNS_MOST || (named > 0 && named != count))
        return sb_fail(SB_EFORMAT, "%s: columns: %zu of them and %zu names", source,
                       count, named);
    st = sb_json_integer(all, source, "label", 0, (int64_t)count, &label);
    if (st == SB_OK)
        st = sb_columns_new(out, (uint32_t)count);
    if (st != SB_OK)
        return st;
    (*out)->label = (uint32_t)label;
    (*out)->header = named > 0;
    st = read_texts(&(*out)->names, source, names);
    for (uint32_t i = 0; i < count && st == SB_OK; i++)
        st = read_column(*out, i, source, json_array_get(list, i));
    if (st == SB_OK && ((*out)->features == 0 || (*out)->features > FEATURES_MOST))
        st = sb_fail(SB_EFORMAT, "%s: columns: %u features; want 1 to %d", source,
                     (*out)->features, FEATURES_MOST);
    return st;
}

sb_status sb_columns_read(struct sb_columns **out, const char *source, const char *text)
{
    json_t *all = NULL;
    *out = NULL;
    sb_status st = sb_json_parse(source, text, strlen(text), &all);
    if (st == SB_OK)
        st = read_all(out, source, all);
    if (st != SB_OK) {
        sb_columns_free(*out);
        *out = NULL;
    }
    json_decref(all);
    return st;
}
