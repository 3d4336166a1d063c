/* case - see case.h. */
#include "case.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { NAME_BYTES = 256 };

struct golden_block {
    struct golden_block *next;
    void *data;
};

bool golden_open(struct golden_case *c, const struct sb_env *env, const char *path)
{
    *c = (struct golden_case){.env = env, .worst = -1};
    if (!golden_ok(c, sb_st_open(&c->file, path)))
        return false;
    c->checked = golden_alloc(c, c->file.tensors, sizeof *c->checked);
    return c->checked != NULL;
}

void golden_close(struct golden_case *c)
{
    while (c->blocks) {
        struct golden_block *next = c->blocks->next;
        sb_free(c->blocks->data);
        sb_free(c->blocks);
        c->blocks = next;
    }
    sb_st_close(&c->file);
}

void golden_fail(struct golden_case *c, const char *format, ...)
{
    size_t used = strlen(c->reason);
    if (c->failed && used < sizeof c->reason)
        used += (size_t)snprintf(c->reason + used, sizeof c->reason - used, "; ");
    c->failed = true;
    if (used >= sizeof c->reason)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(c->reason + used, sizeof c->reason - used, format, args);
    va_end(args);
}

bool golden_ok(struct golden_case *c, sb_status st)
{
    if (st != SB_OK)
        golden_fail(c, "%s", sb_message());
    return st == SB_OK;
}

void *golden_alloc(struct golden_case *c, size_t count, size_t size)
{
    struct golden_block *block = sb_calloc(1, sizeof *block);
    if (block)
        block->data = sb_calloc(count, size);
    if (!block || !block->data) {
        sb_free(block);
        golden_fail(c, "no memory for %zu elements of %zu bytes", count, size);
        return NULL;
    }
    block->next = c->blocks;
    c->blocks = block;
    return block->data;
}

/* ---- inputs ---- */

/* prefix.name, or NULL. */
static const struct sb_st_tensor *lookup(const struct golden_case *c, const char *prefix,
                                         const char *name)
{
    char full[NAME_BYTES];
    int n = snprintf(full, sizeof full, "%s.%s", prefix, name);
    return n < NAME_BYTES ? sb_st_lookup(&c->file, full) : NULL;
}

const struct sb_st_tensor *golden_input_optional(struct golden_case *c, const char *name)
{
    return lookup(c, "in", name);
}

const struct sb_st_tensor *golden_input(struct golden_case *c, const char *name)
{
    const struct sb_st_tensor *t = lookup(c, "in", name);
    if (!t)
        golden_fail(c, "in.%s is missing", name);
    return t;
}

float *golden_f32(struct golden_case *c, const char *name, size_t count)
{
    const struct sb_st_tensor *t = golden_input(c, name);
    float *x = t ? golden_alloc(c, t->count, sizeof *x) : NULL;
    return x && golden_ok(c, sb_st_read_f32(&c->file, t, x, count)) ? x : NULL;
}

/* A tensor as doubles, exactly but for integers beyond 2^24; NULL and a noted failure. */
static double *as_doubles(struct golden_case *c, const struct sb_st_tensor *t,
                          size_t count)
{
    double *x = golden_alloc(c, t->count, sizeof *x);
    float *narrow = golden_alloc(c, t->count, sizeof *narrow);
    if (!x || !narrow || !golden_ok(c, sb_st_read_f32(&c->file, t, narrow, count)))
        return NULL;
    if (t->dtype == SB_F64 && count > 0)
        return memcpy(x, t->data, count * sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i] = (double)narrow[i];
    return x;
}

double *golden_f64(struct golden_case *c, const char *name, size_t count)
{
    const struct sb_st_tensor *t = golden_input(c, name);
    return t ? as_doubles(c, t, count) : NULL;
}

int32_t *golden_i32(struct golden_case *c, const char *name, size_t count)
{
    const struct sb_st_tensor *t = golden_input(c, name);
    int32_t *x = t ? golden_alloc(c, t->count, sizeof *x) : NULL;
    return x && golden_ok(c, sb_st_read_i32(&c->file, t, x, count)) ? x : NULL;
}

uint8_t *golden_mask(struct golden_case *c, const char *name, size_t count)
{
    const int32_t *wide = golden_i32(c, name, count);
    uint8_t *mask = wide ? golden_alloc(c, count, 1) : NULL;
    for (size_t i = 0; mask && i < count; i++) {
        if (wide[i] != 0 && wide[i] != 1) {
            golden_fail(c, "in.%s has %d at %zu, want 0 or 1", name, wide[i], i);
            return NULL;
        }
        mask[i] = (uint8_t)wide[i];
    }
    return mask;
}

const char *golden_text(struct golden_case *c, const char *key)
{
    const char *text = NULL;
    golden_ok(c, sb_st_find_meta(&c->file, key, &text));
    return text;
}

bool golden_number(struct golden_case *c, const char *key, double min, double max,
                   double *out)
{
    const char *text = golden_text(c, key);
    if (!text)
        return false;
    char *end;
    bool said = strcmp(text, "True") == 0 || strcmp(text, "False") == 0; /* by Python */
    text = said ? *text == 'T' ? "1" : "0" : text;
    *out = strtod(text, &end);
    if (end == text || *end != '\0' || !(*out >= min && *out <= max)) {
        golden_fail(c, "metadata \"%s\" is \"%s\", want a number from %g to %g", key,
                    text, min, max);
        return false;
    }
    return true;
}

bool golden_number_or(struct golden_case *c, const char *key, double min, double max,
                      double otherwise, double *out)
{
    *out = otherwise;
    return !sb_st_meta(&c->file, key) || golden_number(c, key, min, max, out);
}

bool golden_criterion(struct golden_case *c, enum sb_criterion *out)
{
    const char *text = sb_st_meta(&c->file, "criterion");
    *out = SB_PRUNE_SNR;
    if (!text || strcmp(text, "snr") == 0)
        return true;
    *out = SB_PRUNE_MAGNITUDE;
    if (strcmp(text, "magnitude") == 0 || strcmp(text, "|mu|") == 0)
        return true;
    golden_fail(c, "metadata \"criterion\" is \"%s\", want snr, magnitude or |mu|", text);
    return false;
}

/* ---- outputs ---- */

/* out.<name> as doubles, marked as seen; NULL and a noted failure if it does not fit. */
static const double *wanted(struct golden_case *c, const char *name, size_t count)
{
    const struct sb_st_tensor *t = lookup(c, "out", name);
    if (!t) {
        golden_fail(c, "out.%s is missing", name);
        return NULL;
    }
    c->checked[t - c->file.tensor] = true;
    return as_doubles(c, t, count);
}

void golden_check_f64(struct golden_case *c, const char *name, const double *have,
                      size_t count, double tolerance)
{
    const double *want = wanted(c, name, count);
    if (!want)
        return;
    double scale = 0, error = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = have[i] == want[i] ? 0 : fabs(have[i] - want[i]);
        if (isfinite(want[i]))
            scale = fmax(scale, fabs(want[i]));
        if (isnan(difference)) /* fmax() would drop it */
            error = INFINITY;
        error = fmax(error, difference);
    }
    if (scale > 0)
        error /= scale;
    c->worst = fmax(c->worst, error);
    if (isnan(error) || error > tolerance)
        golden_fail(c, "out.%s: error %.2e, tolerance %g", name, error, tolerance);
}

void golden_check_f32(struct golden_case *c, const char *name, const float *have,
                      size_t count, double tolerance)
{
    double *wide = golden_alloc(c, count, sizeof *wide);
    for (size_t i = 0; wide && i < count; i++)
        wide[i] = (double)have[i];
    if (wide)
        golden_check_f64(c, name, wide, count, tolerance);
}

void golden_check_i32(struct golden_case *c, const char *name, const int32_t *have,
                      size_t count)
{
    double *wide = golden_alloc(c, count, sizeof *wide);
    for (size_t i = 0; wide && i < count; i++)
        wide[i] = have[i];
    if (wide)
        golden_check_f64(c, name, wide, count, 0);
}

bool golden_wants(const struct golden_case *c, const char *name)
{
    return lookup(c, "out", name) != NULL;
}

void golden_check_complete(struct golden_case *c)
{
    size_t outputs = 0;
    for (size_t i = 0; i < c->file.tensors; i++) {
        if (strncmp(c->file.tensor[i].name, "out.", 4) != 0)
            continue;
        outputs++;
        if (!c->checked[i])
            golden_fail(c, "%s: this op does not compute it", c->file.tensor[i].name);
    }
    if (outputs == 0)
        golden_fail(c, "there is no out.* to compare with");
}
