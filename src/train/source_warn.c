/* source_warn - what a user should know about a table before it is trained on: columns that
 * are something else than they seem, or nothing at all, and classes that cannot be learned.
 * A kind of oddity is one line, however many columns have it. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "files/csv_text.h"
#include "train/source.h"

enum { SHOWN = 64 /* bytes of a name */ };

/* ---- columns ---- */

/* A row of numbers that was taken for names is lost. */
static void warn_of_header(const struct sb_dataset *d, const struct sb_env *env)
{
    double x;
    for (uint32_t i = 0; i < d->columns->count; i++) {
        const char *name = sb_words_at(&d->columns->names, i);
        if (*name && !sb_csv_number(name, strlen(name), &x))
            return;
    }
    sb_log_write(env->log, SB_LOG_WARN,
                 "%s: its first line has numbers only, and is taken for the names of the "
                 "columns; if they are values, say data.header = no",
                 d->path);
}

static void warn_of_odd(const struct sb_dataset *d, const struct sb_env *env)
{
    char first[SB_COLUMN_ODD], odd[SB_COLUMN_ODD], more[64] = "";
    uint32_t columns = 0;
    for (uint32_t i = 0; i < d->columns->count; i++)
        columns += sb_columns_odd(d->columns, i, columns == 0 ? first : odd);
    if (columns > 1)
        snprintf(more, sizeof more, "; %u other columns are like that", columns - 1);
    if (columns > 0)
        sb_log_write(env->log, SB_LOG_WARN, "%s: %s%s", d->path, first, more);
}

/* Texts of which nearly every row has its own tell rows apart and nothing else. */
static bool names_rows(const struct sb_dataset *d, const struct sb_column *c)
{
    enum { FEW_ROWS = 20 };
    return c->kind == SB_COLUMN_CATEGORY && d->n >= FEW_ROWS &&
           c->words.count > d->n / 10 * 9;
}

static void warn_of_names(const struct sb_dataset *d, const struct sb_env *env)
{
    char odd[SB_COLUMN_ODD], title[SB_COLUMN_TITLE];
    for (uint32_t i = 0; i < d->columns->count; i++)
        if (names_rows(d, &d->columns->column[i]) && !sb_columns_odd(d->columns, i, odd))
            sb_log_write(env->log, SB_LOG_WARN,
                         "%s: %s has %u different texts in %u rows: a name or number of "
                         "the row, from which nothing can be learned? Leave it out with "
                         "data.ignore = %u; predict --keep writes it beside predictions",
                         d->path, sb_columns_title(d->columns, i, title),
                         d->columns->column[i].words.count, d->n, i + 1);
}

/* Whole numbers that rise, or fall, with every row: where it stands in the file. Beyond 2^24
 * floats are further apart than such numbers. */
static bool counts_rows(const struct sb_dataset *d, const struct sb_column *c)
{
    enum { FEW_ROWS = 50 };
    const ptrdiff_t row = d->channels;
    if (c->kind != SB_COLUMN_NUMBER || d->n < FEW_ROWS)
        return false;
    const float *x = d->values + c->input;
    const float way = x[(d->n - 1) * row] - x[0];
    if (!(fabsf(way) > 0)) /* nor is one missing */
        return false;
    for (uint32_t i = 0; i < d->n; i++, x += row) {
        float step = i == 0 ? way : *x - x[-row];
        bool on = way > 0 ? step > 0 : step < 0;
        if (*x != floorf(*x) || !(on || (step == 0 && fabsf(*x) >= 0x1p24F)))
            return false;
    }
    return true;
}

static void warn_of_counts(const struct sb_dataset *d, const struct sb_env *env)
{
    char title[SB_COLUMN_TITLE];
    for (uint32_t i = 0; i < d->columns->count; i++) {
        const struct sb_column *c = &d->columns->column[i];
        if (!counts_rows(d, c))
            continue;
        float first = d->values[c->input], second = d->values[c->input + d->channels];
        sb_log_write(
            env->log, SB_LOG_WARN,
            "%s: %s has whole numbers that %s from row to row (%.9g, %.9g, ...): "
            "a number of the row? Where rows are in an order that the label "
            "follows it says the answer, and nothing of new rows; leave it out "
            "with data.ignore = %u",
            d->path, sb_columns_title(d->columns, i, title),
            d->values[c->input + (size_t)(d->n - 1) * d->channels] > first ? "rise"
                                                                           : "fall",
            (double)first, (double)second, i + 1);
    }
}

/* ---- classes ---- */

/* How many classes have one row; *first: the first of them. */
static uint32_t count_single(const struct sb_dataset *d, const uint32_t *rows,
                             uint32_t *first)
{
    uint32_t single = 0;
    *first = d->classes;
    for (uint32_t c = 0; c < d->classes; c++) {
        if (rows[c] == 1 && single++ == 0)
            *first = c;
    }
    return single;
}

static void warn_of_single(const struct sb_dataset *d, const struct sb_env *env)
{
    uint32_t *rows = sb_calloc(d->classes, sizeof *rows);
    uint32_t first;
    if (!rows)
        return; /* a warning is not worth a failure */
    for (uint32_t i = 0; i < d->n; i++)
        rows[d->labels[i]]++;
    uint32_t single = count_single(d, rows, &first);
    bool name =
        single > 0 && d->columns && !d->columns->header && rows[d->labels[0]] == 1;
    const char *text = single == 0      ? ""
                       : d->class_names ? d->class_names[name ? d->labels[0] : first]
                                        : "";
    if (single > 0)
        sb_log_write(
            env->log, SB_LOG_WARN,
            "%s: %u of %u classes ha%s one row only%s%.*s: too few to learn from "
            "and to test with%s%s",
            d->path, single, d->classes, single == 1 ? "s" : "ve",
            *text ? ", such as " : "", sb_text_cut(text, SHOWN), text,
            single > d->classes / 2
                ? "; numbers to be predicted as such are data.task = regression, "
                  "and data.label names another column"
                : "",
            name ? "; if the first line is names, say data.header = yes" : "");
    sb_free(rows);
}

/* How two names of classes could be meant as one: 1 and 1.0, Yes and yes. Single letters may
 * well be classes each. */
static const char *alike(const char *a, const char *b)
{
    double x, y;
    size_t size = strlen(a);
    if (sb_csv_number(a, size, &x) && sb_csv_number(b, strlen(b), &y))
        return x == y ? "are one number, written in two ways" : NULL;
    return size > 1 && strcasecmp(a, b) == 0 ? "differ in capitals only" : NULL;
}

static void warn_of_alike(const struct sb_dataset *d, const struct sb_env *env)
{
    enum { MANY = 1000 };
    char *const *name = d->class_names;
    for (uint32_t i = 0; i < d->classes && d->classes <= MANY; i++)
        for (uint32_t k = i + 1; k < d->classes; k++) {
            const char *how = alike(name[i], name[k]);
            if (!how)
                continue;
            sb_log_write(env->log, SB_LOG_WARN,
                         "%s: the classes %.*s and %.*s %s; they are learned as two: if "
                         "they are one, write them alike in the file",
                         d->path, sb_text_cut(name[i], SHOWN), name[i],
                         sb_text_cut(name[k], SHOWN), name[k], how);
            return;
        }
}

void sb_source_warn(const struct sb_dataset *d, const struct sb_env *env,
                    bool header_guessed)
{
    if (d->columns && d->columns->header && header_guessed)
        warn_of_header(d, env);
    if (d->columns) {
        warn_of_odd(d, env);
        warn_of_names(d, env);
        warn_of_counts(d, env);
    }
    if (d->labels && sb_dataset_tabular(d))
        warn_of_single(d, env);
    if (d->labels && d->columns && d->class_names)
        warn_of_alike(d, env);
}

/* ---- what does not vary, or less than floats can show ---- */

static bool is_constant(const struct sb_normalise *m, uint32_t feature, uint32_t width)
{
    uint32_t k = 0;
    while (k < width && m->sd[feature + k] == SB_SD_CONSTANT)
        k++;
    return width > 0 && k == width;
}

/* Where floats are a thousandth apart. */
static bool is_far(const struct sb_normalise *m, uint32_t feature)
{
    return fabsf(m->mean[feature]) >= 1e4F;
}

void sb_source_warn_constant(const struct sb_source *s, const struct sb_env *env)
{
    const struct sb_columns *columns = s->normal.columns;
    uint32_t all = columns ? columns->count : s->normal.channels, same = 0, first = all;
    char title[SB_COLUMN_TITLE];
    bool far = false;
    if (!sb_dataset_tabular(&s->train))
        return;
    for (uint32_t i = 0; i < all; i++) {
        bool it = columns ? is_constant(&s->normal, columns->column[i].feature,
                                        columns->column[i].width)
                          : is_constant(&s->normal, i, 1);
        first = it && same == 0 ? i : first;
        same += it;
        far = far || (it && is_far(&s->normal, columns ? columns->column[i].feature : i));
    }
    snprintf(title, sizeof title, "column %u", first + 1);
    if (same > 0)
        sb_log_write(env->log, SB_LOG_WARN,
                     "%s: %u column%s the same in all %u rows that are trained on, or as "
                     "good as that for 32-bit floats: %s%s; %s nothing, now and later%s",
                     s->train.path, same, same == 1 ? " is" : "s are",
                     s->part.train_count, same == 1 ? "" : "first ",
                     columns ? sb_columns_title(columns, first, title) : title,
                     same == 1 ? "it counts as" : "they count as",
                     far ? "; if there are numbers that do differ, subtract a constant "
                           "from them in the file"
                         : "");
}

void sb_source_warn_rounded(const struct sb_source *s, const struct sb_env *env)
{
    enum { STEPS = 32 }; /* of a deviation, with which a target is known well enough */
    for (uint32_t t = 0; t < s->scale.count; t++) {
        double mean = (double)s->scale.mean[t], sd = (double)s->scale.sd[t];
        double gap = sb_targets_gap(s->scale.mean[t]);
        if (sd < STEPS * gap)
            sb_log_write(env->log, SB_LOG_WARN,
                         "%s: the target %s varies by %.3g around %.6g, where 32-bit "
                         "floats are %.2g apart: its values are rounded to that; "
                         "subtract a constant from them",
                         s->train.path, s->train.target_names[t], sd, mean, gap);
    }
}
