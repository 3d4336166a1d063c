/* encode - see encode.h. */
#include "data/encode.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SAMPLE = 1 << 16 }; /* rows that cuts are found with, at even distances, at most */

struct fit {
    struct sb_dataset *d, *other;
    const uint32_t *index; /* [n] */
    uint32_t n;
    const struct sb_encode_options *o;
    float *sorted;  /* [min(n, SAMPLE)] owned */
    uint32_t *code; /* [most texts of a category] owned: the new number, or UINT32_MAX */
};

static float value(const struct fit *f, uint32_t row, uint32_t input)
{
    return f->d->values[(size_t)row * f->d->channels + input];
}

/* ---- numbers ---- */

static void learn_fill(const struct fit *f, struct sb_column *c)
{
    double sum = 0;
    uint32_t there = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        float x = value(f, f->index[i], c->input);
        if (!isnan(x)) {
            sum += (double)x;
            there++;
        }
    }
    c->indicator = there < f->n;
    c->fill = there > 0 ? (float)(sum / there) : 0.0f;
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The values that are there, in order; how many. */
static uint32_t sort_values(const struct fit *f, uint32_t input)
{
    uint32_t samples = f->n < SAMPLE ? f->n : SAMPLE, there = 0;
    for (uint64_t i = 0; i < samples; i++) {
        float x = value(f, f->index[i * f->n / samples], input);
        if (!isnan(x))
            f->sorted[there++] = x;
    }
    qsort(f->sorted, there, sizeof *f->sorted, ascending);
    return there;
}

/* Two cuts make one piece, which is no more than a plain number. */
static sb_status learn_cuts(const struct fit *f, struct sb_column *c, uint32_t pieces)
{
    enum { LEAST = 3 };
    uint64_t there = sort_values(f, c->input);
    float *cut = sb_malloc(pieces + 1, sizeof *cut);
    if (!cut)
        return sb_fail(SB_ENOMEM, "no memory for %u cuts", pieces + 1);
    c->cuts = 0;
    for (uint64_t k = 0; k <= pieces && there > 0; k++) {
        float x = f->sorted[k * (there - 1) / pieces];
        bool apart =
            c->cuts == 0 || (x > cut[c->cuts - 1] && isfinite(x - cut[c->cuts - 1]));
        if (apart)
            cut[c->cuts++] = x;
    }
    if (c->cuts < LEAST) {
        c->cuts = 0;
        sb_free(cut);
        return SB_OK;
    }
    c->cut = cut;
    c->scale = f->o->scale;
    return SB_OK;
}

static sb_status learn_number(const struct fit *f, struct sb_column *c)
{
    learn_fill(f, c);
    sb_free(c->cut);
    c->cut = NULL;
    c->cuts = 0;
    c->scale = SB_SCALE_PLAIN;
    if (c->kind == SB_COLUMN_BOOLEAN || f->o->scale == SB_SCALE_PLAIN)
        return SB_OK;
    return learn_cuts(
        f, c, f->o->scale == SB_SCALE_PIECES ? f->o->pieces : SB_QUANTILE_CUTS - 1);
}

/* ---- categories ---- */

static void recode(const struct fit *f, struct sb_dataset *d, uint32_t input,
                   uint32_t texts)
{
    float *x = (float *)d->copy + input; /* categories come from text: it is a copy */
    assert(d->values == d->copy);
    for (uint32_t i = 0; i < d->n; i++, x += d->channels) {
        uint32_t code = isnan(*x) ? texts : (uint32_t)*x;
        *x = code < texts && f->code[code] != UINT32_MAX ? (float)f->code[code] : NAN;
    }
}

/* Texts that no row has go, and the others are numbered anew. */
static sb_status learn_texts(const struct fit *f, struct sb_column *c)
{
    uint32_t texts = c->words.count, number = 0, kept = 0;
    struct sb_words words = {0};
    memset(f->code, 0, texts * sizeof *f->code);
    for (uint32_t i = 0; i < f->n; i++) {
        float x = value(f, f->index[i], c->input);
        if (!isnan(x) && (uint32_t)x < texts)
            f->code[(uint32_t)x] = 1;
    }
    for (uint32_t k = 0; k < texts; k++)
        kept += f->code[k];
    if (kept == texts || kept == 0)
        return SB_OK;
    for (uint32_t k = 0; k < texts; k++) {
        const char *text = sb_words_at(&c->words, k);
        sb_status st =
            f->code[k] ? sb_words_add(&words, text, strlen(text), &number) : SB_OK;
        if (st != SB_OK) {
            sb_words_fini(&words);
            return st;
        }
        f->code[k] = f->code[k] ? number : UINT32_MAX;
    }
    recode(f, f->d, c->input, texts);
    if (f->other)
        recode(f, f->other, c->input, texts);
    sb_words_fini(&c->words);
    c->words = words;
    return SB_OK;
}

/* ---- all ---- */

/* Columns for a table that came without: numbers, and perhaps a label or targets behind
 * them. */
static sb_status make_columns(struct sb_dataset *d)
{
    uint32_t responses = d->targets ? d->target_count : 1;
    sb_status st = sb_columns_new(&d->columns, d->channels + responses);
    if (st != SB_OK)
        return st;
    if (!d->targets)
        d->columns->label = d->channels;
    for (uint32_t i = 0; i < responses; i++) {
        struct sb_column *column = &d->columns->column[d->channels + i];
        column->kind = d->targets ? SB_COLUMN_TARGET : SB_COLUMN_LABEL;
        column->input = i;
    }
    d->columns->targets = d->targets ? responses : 0;
    return sb_columns_number(d->columns, d->path);
}

static bool any_missing(const struct sb_dataset *d)
{
    for (size_t i = 0; i < (size_t)d->n * d->channels; i++)
        if (isnan(d->values[i]))
            return true;
    return false;
}

static sb_status prepare(struct fit *f)
{
    const struct sb_columns *c = f->d->columns;
    uint32_t most = 1;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->column[i].kind == SB_COLUMN_CATEGORY && c->column[i].words.count > most)
            most = c->column[i].words.count;
    f->sorted = sb_malloc(f->n < SAMPLE ? f->n : SAMPLE, sizeof *f->sorted);
    f->code = sb_malloc(most, sizeof *f->code);
    return f->sorted && f->code
               ? SB_OK
               : sb_fail(SB_ENOMEM, "no memory to learn from %u rows", f->n);
}

sb_status sb_encode_fit(struct sb_dataset *d, struct sb_dataset *other,
                        const uint32_t *index, uint32_t n,
                        const struct sb_encode_options *o)
{
    struct fit f = {.d = d, .other = other, .index = index, .n = n, .o = o};
    sb_status st = SB_OK;
    if (!d->columns && o->scale == SB_SCALE_PLAIN && !any_missing(d) &&
        !(other && any_missing(other)))
        return SB_OK;
    if (!d->columns)
        st = make_columns(d);
    if (st == SB_OK)
        st = prepare(&f);
    for (uint32_t i = 0; st == SB_OK && i < d->columns->count; i++) {
        struct sb_column *c = &d->columns->column[i];
        if (c->kind == SB_COLUMN_CATEGORY)
            st = learn_texts(&f, c);
        else if (sb_column_has_input(c))
            st = learn_number(&f, c);
    }
    sb_free(f.sorted);
    sb_free(f.code);
    if (st != SB_OK)
        return st;
    d->columns->impute = o->impute;
    return sb_columns_number(d->columns, d->path);
}

uint32_t sb_encode_unknown(const struct sb_dataset *d, const struct sb_columns *c,
                           const uint32_t *index, uint32_t n, uint32_t *column)
{
    uint32_t rows = 0;
    *column = c->count;
    for (uint32_t r = 0; r < n; r++) {
        const float *row = d->values + (size_t)(index ? index[r] : r) * d->channels;
        bool unknown = false;
        for (uint32_t i = 0; i < c->count; i++)
            if (c->column[i].kind == SB_COLUMN_CATEGORY &&
                isnan(row[c->column[i].input])) {
                *column = unknown || *column < i ? *column : i;
                unknown = true;
            }
        rows += unknown;
    }
    return rows;
}

/* ---- use ---- */

/* Where a column's features go. */
struct place {
    const float *mean, *sd; /* from the column's first feature on; mean NULL: not used */
    float *out;
    size_t step;
};

static void put(const struct place *p, uint32_t k, float x)
{
    p->out[k * p->step] = p->mean ? (x - p->mean[k]) / p->sd[k] : x;
}

static float through(const struct sb_column *c, uint32_t k, float x)
{
    float part = (x - c->cut[k]) / (c->cut[k + 1] - c->cut[k]);
    return part < 0.0f ? 0.0f : part > 1.0f ? 1.0f : part;
}

static void put_pieces(const struct sb_column *c, const struct place *p, float x)
{
    for (uint32_t k = 0; k + 1 < c->cuts; k++)
        put(p, k, through(c, k, x));
}

static float quantile_of(const struct sb_column *c, float x)
{
    uint32_t low = 0, high = c->cuts - 1; /* the piece that x is in */
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (x < c->cut[middle])
            high = middle;
        else
            low = middle;
    }
    return ((float)low + through(c, low, x)) / (float)(c->cuts - 1);
}

static void put_number(const struct sb_column *c, const struct place *p, float x)
{
    bool missing = isnan(x);
    x = missing ? c->fill : x;
    if (c->scale == SB_SCALE_PIECES)
        put_pieces(c, p, x);
    else
        put(p, 0, c->scale == SB_SCALE_QUANTILE ? quantile_of(c, x) : x);
    if (c->indicator)
        put(p, c->width - 1, missing ? 1.0f : 0.0f);
}

static void put_category(const struct sb_column *c, const struct place *p, float code)
{
    for (uint32_t k = 0; k < c->width; k++)
        put(p, k, code == (float)k ? 1.0f : 0.0f);
}

enum sb_row_state sb_encode_row(const struct sb_columns *c, const void *row,
                                ptrdiff_t row_step, const float *mean, const float *sd,
                                float *out, size_t step)
{
    enum sb_row_state state = SB_ROW_GOOD;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct sb_column *column = &c->column[i];
        if (column->width == 0)
            continue;
        float x;
        memcpy(&x, (const char *)row + (ptrdiff_t)column->input * row_step, sizeof x);
        struct place p = {.out = out + column->feature * step, .step = step};
        if (mean) {
            p.mean = mean + column->feature;
            p.sd = sd + column->feature;
        }
        if (column->kind == SB_COLUMN_CATEGORY) {
            put_category(column, &p, x);
            continue;
        }
        if (isinf(x) || (isnan(x) && !c->impute))
            state = SB_ROW_BAD;
        else if (isnan(x) && !column->indicator && state == SB_ROW_GOOD)
            state = SB_ROW_NEW;
        put_number(column, &p, isinf(x) ? 0.0f : x);
    }
    return state;
}
