/* columns_text - columns as JSON, to be kept with what was trained on them:
 *
 *     {"columns": [0, ["green", "red"], 1, {"cuts": [0.5, 2, 7], "scale": "pieces"},
 *                  {"fill": 3.25, "missing": true}, ["no", "yes"]],
 *      "header": true, "impute": true, "label": 5,
 *      "names": ["size", "colour", "", "age", "weight", "class"]}
 *
 * 0 is a column of plain numbers, 1 one that is not used, a list has the texts of a category
 * or of the label, in order; that of the label may be empty. {"target": 0} is the first of
 * the targets, which are there in place of a label. Any other object is a number or, with
 * "boolean": true, a boolean: fill where it is not 0, missing where there is an indicator,
 * scale and cuts where it is not plain. names is empty without a header. impute may be
 * absent: false.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "data/columns.h"

enum { COLUMNS_MOST = 1 << 16 };

static const char *const scales[] = {
    [SB_SCALE_PLAIN] = "plain",
    [SB_SCALE_QUANTILE] = "quantile",
    [SB_SCALE_PIECES] = "pieces",
};

/* ---- writing ---- */

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

static json_t *number_column(const struct sb_column *c)
{
    bool boolean = c->kind == SB_COLUMN_BOOLEAN, ok = true;
    if (!boolean && c->fill == 0.0f && !c->indicator && c->scale == SB_SCALE_PLAIN)
        return json_integer(0);
    json_t *j = json_object();
    if (boolean)
        ok = json_object_set_new(j, "boolean", json_true()) == 0;
    if (ok && c->fill != 0.0f)
        ok = json_object_set_new(j, "fill", json_real((double)c->fill)) == 0;
    if (ok && c->indicator)
        ok = json_object_set_new(j, "missing", json_true()) == 0;
    if (ok && c->scale != SB_SCALE_PLAIN)
        ok = json_object_set_new(j, "scale", json_string(scales[c->scale])) == 0 &&
             json_object_set_new(j, "cuts", sb_json_floats(c->cut, c->cuts)) == 0;
    if (!ok) {
        json_decref(j);
        return NULL;
    }
    return j;
}

static json_t *one_column(const struct sb_column *c)
{
    switch (c->kind) {
    case SB_COLUMN_NUMBER:
    case SB_COLUMN_BOOLEAN:
        return number_column(c);
    case SB_COLUMN_CATEGORY:
    case SB_COLUMN_LABEL:
        return texts(&c->words);
    case SB_COLUMN_TARGET:
        return json_pack("{s:I}", "target", (json_int_t)c->input);
    case SB_COLUMN_GROUP:
    case SB_COLUMN_UNUSED:
        break;
    }
    return json_integer(1);
}

sb_status sb_columns_write(const struct sb_columns *c, char **out)
{
    json_t *list = json_array(), *all = NULL;
    bool ok = list != NULL;
    *out = NULL;
    for (uint32_t i = 0; ok && i < c->count; i++)
        ok = json_array_append_new(list, one_column(&c->column[i])) == 0;
    if (ok)
        all = json_pack("{s:O, s:b, s:I, s:o}", "columns", list, "header", c->header,
                        "label", (json_int_t)c->label, "names", texts(&c->names));
    if (all && c->impute && json_object_set_new(all, "impute", json_true()) != 0) {
        json_decref(all);
        all = NULL;
    }
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

static sb_status wrong_number(const char *source, uint32_t i, const char *what)
{
    return sb_fail(SB_EFORMAT, "%s: columns: column %u: %s", source, i, what);
}

static sb_status read_cuts(struct sb_column *c, const char *source, uint32_t i,
                           const json_t *array)
{
    size_t n = json_array_size(array);
    if (n < 2 || n > SB_CUTS_MOST)
        return wrong_number(source, i, "want 2 to 1025 cuts");
    c->cut = sb_malloc(n, sizeof *c->cut);
    if (!c->cut)
        return sb_fail(SB_ENOMEM, "%s: no memory for %zu cuts", source, n);
    c->cuts = (uint32_t)n;
    for (size_t k = 0; k < n; k++) {
        const json_t *x = json_array_get(array, k);
        c->cut[k] = (float)json_number_value(x);
        if (!json_is_number(x) || !isfinite(c->cut[k]) ||
            (k > 0 && !(c->cut[k] > c->cut[k - 1])) ||
            (k > 0 && !isfinite(c->cut[k] - c->cut[k - 1])))
            return wrong_number(source, i, "want cuts that rise");
    }
    return SB_OK;
}

static sb_status read_scale(struct sb_column *c, const char *source, uint32_t i,
                            const json_t *value)
{
    const json_t *scale = json_object_get(value, "scale");
    const char *name = json_string_value(scale);
    if (!scale)
        return SB_OK;
    for (int k = SB_SCALE_QUANTILE; name && k <= SB_SCALE_PIECES; k++)
        if (strcmp(name, scales[k]) == 0)
            c->scale = (enum sb_scale)k;
    if (c->scale == SB_SCALE_PLAIN || c->kind == SB_COLUMN_BOOLEAN)
        return wrong_number(source, i,
                            "want quantile or pieces as the scale of a number");
    return read_cuts(c, source, i, json_object_get(value, "cuts"));
}

/* True, or absent: false. */
static bool read_flag(const json_t *object, const char *key, bool *out)
{
    const json_t *x = json_object_get(object, key);
    *out = json_is_true(x);
    return !x || json_is_true(x);
}

static sb_status read_number(struct sb_column *c, const char *source, uint32_t i,
                             const json_t *value)
{
    const json_t *fill = json_object_get(value, "fill");
    bool boolean;
    if (!read_flag(value, "boolean", &boolean) ||
        !read_flag(value, "missing", &c->indicator))
        return wrong_number(source, i, "want true for what is so, or nothing");
    c->kind = boolean ? SB_COLUMN_BOOLEAN : SB_COLUMN_NUMBER;
    c->fill = (float)json_number_value(fill);
    if (fill && (!json_is_number(fill) || !isfinite(c->fill)))
        return wrong_number(source, i, "want a finite number to fill in");
    return read_scale(c, source, i, value);
}

static sb_status read_target(struct sb_columns *c, uint32_t i, const char *source,
                             const json_t *value)
{
    int64_t number;
    sb_status st = sb_json_integer(value, source, "target", 0, c->count, &number);
    if (st != SB_OK)
        return st;
    c->column[i].kind = SB_COLUMN_TARGET;
    c->column[i].input = (uint32_t)number;
    c->targets++;
    return SB_OK;
}

/* Targets are numbered from 0, each number once, and there is no label beside them. */
static sb_status check_targets(const struct sb_columns *c, const char *source)
{
    uint64_t sum = 0;
    bool good = c->targets == 0 || c->label == c->count;
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->column[i].kind != SB_COLUMN_TARGET)
            continue;
        good = good && c->column[i].input < c->targets;
        for (uint32_t k = 0; k < i && good; k++)
            good = c->column[k].kind != SB_COLUMN_TARGET ||
                   c->column[k].input != c->column[i].input;
        sum++;
    }
    return good && sum == c->targets
               ? SB_OK
               : sb_fail(SB_EFORMAT,
                         "%s: columns: targets must be numbered from 0, each number "
                         "once, without a label",
                         source);
}

static sb_status read_column(struct sb_columns *c, uint32_t i, const char *source,
                             const json_t *value)
{
    struct sb_column *column = &c->column[i];
    bool label = i == c->label;
    if (json_is_array(value) && (label || json_array_size(value) > 0)) {
        column->kind = label ? SB_COLUMN_LABEL : SB_COLUMN_CATEGORY;
        return read_texts(&column->words, source, value);
    }
    if (json_is_object(value) && !label && json_object_get(value, "target"))
        return read_target(c, i, source, value);
    if (json_is_object(value) && !label)
        return read_number(column, source, i, value);
    bool number = json_is_integer(value) && json_integer_value(value) == 0;
    if (label || (!number && !(json_is_integer(value) && json_integer_value(value) == 1)))
        return sb_fail(SB_EFORMAT, "%s: columns: column %u is neither 0, 1 nor texts",
                       source, i);
    column->kind = number ? SB_COLUMN_NUMBER : SB_COLUMN_UNUSED;
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
    if (!read_flag(all, "impute", &(*out)->impute))
        return sb_fail(SB_EFORMAT, "%s: columns: impute is neither true nor absent",
                       source);
    st = read_texts(&(*out)->names, source, names);
    for (uint32_t i = 0; i < count && st == SB_OK; i++)
        st = read_column(*out, i, source, json_array_get(list, i));
    if (st == SB_OK)
        st = check_targets(*out, source);
    return st == SB_OK ? sb_columns_number(*out, source) : st;
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
