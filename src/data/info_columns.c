/* info_columns - see info_columns.h. */
#include "data/info_columns.h"

#include <math.h>

#include "data/columns.h"

enum { SHOWN_MOST = 200, NAME_BYTES = 32 };

static uint32_t count_of(const struct sb_dataset *d)
{
    return d->columns ? d->columns->count : d->channels;
}

static const char *kind_name(enum sb_column_kind kind)
{
    static const char *const names[] = {
        [SB_COLUMN_NUMBER] = "number",     [SB_COLUMN_BOOLEAN] = "boolean",
        [SB_COLUMN_CATEGORY] = "category", [SB_COLUMN_LABEL] = "label",
        [SB_COLUMN_TARGET] = "target",     [SB_COLUMN_GROUP] = "group",
        [SB_COLUMN_UNUSED] = "not used",
    };
    return names[kind];
}

static void add_numbers(const struct sb_dataset *d, uint32_t input,
                        struct sb_column_info *out)
{
    double sum = 0, squares = 0, about = NAN;
    uint64_t there = 0;
    const float *x = d->values + input;
    for (uint32_t i = 0; i < d->n; i++, x += d->channels) {
        if (isnan(*x)) {
            out->missing++;
            continue;
        }
        double v = (double)*x;
        about = there++ ? about : v;
        sum += v - about;
        squares += (v - about) * (v - about);
        out->min = isnan(out->min) || v < out->min ? v : out->min;
        out->max = isnan(out->max) || v > out->max ? v : out->max;
    }
    if (there == 0)
        return;
    double mean = sum / (double)there, variance = squares / (double)there - mean * mean;
    out->mean = about + mean;
    out->sd = variance > 0 ? sqrt(variance) : 0;
}

/* Rows that have the empty text, or none. */
static void count_texts(const struct sb_dataset *d, const struct sb_column *c,
                        struct sb_column_info *out)
{
    uint32_t empty = 0;
    bool known = sb_words_find(&c->words, "", 0, &empty);
    const float *x = d->values + c->input;
    out->texts = c->words.count - known;
    for (uint32_t i = 0; i < d->n; i++, x += d->channels)
        out->missing += isnan(*x) || (known && *x == (float)empty);
}

/* Of column i of d->columns; of a table without, of its i-th value. */
static struct sb_column_info info_of(const struct sb_dataset *d, uint32_t i)
{
    struct sb_column_info out = {
        .kind = "number", .min = NAN, .max = NAN, .mean = NAN, .sd = NAN};
    if (!d->columns) {
        add_numbers(d, i, &out);
        return out;
    }
    const struct sb_column *c = &d->columns->column[i];
    out.kind = c->why ? c->why : kind_name(c->kind);
    if (d->columns->names.count > i)
        out.name = sb_words_at(&d->columns->names, i);
    if (c->kind == SB_COLUMN_CATEGORY)
        count_texts(d, c, &out);
    else if (sb_column_has_input(c))
        add_numbers(d, c->input, &out);
    else
        out.texts = c->words.count;
    return out;
}

/* ---- for people ---- */

void sb_column_info_text(const struct sb_dataset *d, struct sb_text *t)
{
    uint32_t count = count_of(d), shown = count < SHOWN_MOST ? count : SHOWN_MOST;
    sb_text_add(t, "%-10s %u\n", "columns", count);
    sb_text_add(t, "  %6s  %-*s %-9s %9s  %s\n", "column", NAME_BYTES, "name", "kind",
                "missing", "values");
    for (uint32_t i = 0; i < shown; i++) {
        struct sb_column_info c = info_of(d, i);
        sb_text_add(t, "  %6u  %-*.*s %-9s %7.2f %%  ", i + 1, NAME_BYTES, NAME_BYTES,
                    c.name ? c.name : "", c.kind, 100.0 * (double)c.missing / d->n);
        if (!isnan(c.min))
            sb_text_add(t, "%.6g .. %.6g, mean %.4g, sd %.4g\n", c.min, c.max, c.mean,
                        c.sd);
        else if (c.texts > 0)
            sb_text_add(t, "%u texts\n", c.texts);
        else
            sb_text_add(t, "-\n");
    }
    if (shown < count)
        sb_text_add(t, "  ... and %u more\n", count - shown);
}

/* ---- for programs ---- */

static json_t *one_json(const struct sb_column_info *c, uint32_t n)
{
    json_t *name = c->name ? json_string(c->name) : json_null();
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:I}", "name",
                     name ? name : json_null(), "kind", c->kind, "missing",
                     sb_json_real((double)c->missing / n), "min", sb_json_real(c->min),
                     "max", sb_json_real(c->max), "mean", sb_json_real(c->mean), "sd",
                     sb_json_real(c->sd), "texts", (json_int_t)c->texts);
}

json_t *sb_column_info_json(const struct sb_dataset *d)
{
    json_t *array = json_array();
    for (uint32_t i = 0; array && i < count_of(d); i++) {
        struct sb_column_info c = info_of(d, i);
        if (json_array_append_new(array, one_json(&c, d->n)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}
