/* targets - see targets.h. */
#include "data/targets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* ---- names ---- */

enum { NAME_BYTES = 16, ROUNDED = 192 /* bytes of a part of a sentence */ };

#define FAR 1e4F /* from 0: floats are a thousandth apart */

/* Deviations whose squares, and shares of them that noise may be, are floats with all digits. */
#define SD_LEAST 1e-17F
#define SD_MOST  1e17F

/* "y", or "y3" of several. */
static const char *usual_name(uint32_t i, uint32_t count, char out[NAME_BYTES])
{
    if (count == 1)
        snprintf(out, NAME_BYTES, "y");
    else
        snprintf(out, NAME_BYTES, "y%u", i + 1);
    return out;
}

static sb_status copy_names(struct sb_dataset *d, const char *const *names)
{
    size_t bytes = d->target_count * sizeof *d->target_names;
    char usual[NAME_BYTES];
    for (uint32_t i = 0; i < d->target_count; i++)
        bytes += names ? strlen(names[i]) + 1 : NAME_BYTES;
    d->target_names = sb_malloc(bytes, 1);
    if (!d->target_names)
        return sb_fail(SB_ENOMEM, "%s: no memory for the names of %u targets", d->path,
                       d->target_count);
    char *to = (char *)(d->target_names + d->target_count);
    for (uint32_t i = 0; i < d->target_count; i++) {
        const char *name = names ? names[i] : usual_name(i, d->target_count, usual);
        size_t size = strlen(name) + 1;
        d->target_names[i] = memcpy(to, name, size);
        to += size;
    }
    return SB_OK;
}

sb_status sb_targets_init(struct sb_dataset *d, uint32_t count, const char *const *names)
{
    if (count == 0 || count > SB_TARGETS_MOST)
        return sb_fail(SB_EFORMAT, "%s: it has %u targets; want 1 to %d", d->path, count,
                       SB_TARGETS_MOST);
    d->target_count = count;
    d->targets = sb_malloc(d->n, count * sizeof *d->targets);
    return d->targets ? copy_names(d, names)
                      : sb_fail(SB_ENOMEM, "%s: no memory for %u targets of %u rows",
                                d->path, count, d->n);
}

/* ---- values ---- */

/* Whether target t is one number in all of index[n] (NULL: the first n). */
static bool constant(const struct sb_dataset *d, uint32_t t, const uint32_t *index,
                     uint32_t n)
{
    const float *x = d->targets + t;
    float first = x[(size_t)(index ? index[0] : 0) * d->target_count];
    for (uint32_t i = 1; i < n; i++)
        if (x[(size_t)(index ? index[i] : i) * d->target_count] != first)
            return false;
    return true;
}

double sb_targets_gap(float x)
{
    float size = fabsf(x);
    return (double)nextafterf(size, INFINITY) - (double)size;
}

/* What else a target may be that is x in every row. */
static const char *or_rounded(float x, char out[ROUNDED])
{
    out[0] = '\0';
    if (fabsf(x) >= FAR)
        snprintf(out, ROUNDED,
                 " as a 32-bit float, which tells numbers of that size apart only where "
                 "they differ by %.2g; if it varies by less, subtract a constant from it",
                 sb_targets_gap(x));
    return out;
}

sb_status sb_targets_check(const struct sb_dataset *d)
{
    char rounded[ROUNDED];
    if (d->n < 2)
        return sb_fail(SB_EFORMAT, "%s: it has one row; want more to learn from",
                       d->path);
    for (uint32_t t = 0; t < d->target_count; t++)
        if (constant(d, t, NULL, d->n))
            return sb_fail(SB_EFORMAT,
                           "%s: the target %s is %g in every row%s; there is nothing to "
                           "learn",
                           d->path, d->target_names[t], (double)d->targets[t],
                           or_rounded(d->targets[t], rounded));
    return SB_OK;
}

/* ---- standardisation ---- */

static void measure(const struct sb_dataset *d, uint32_t t, const uint32_t *index,
                    uint32_t n, float *mean, float *sd)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (double)d->targets[(size_t)index[i] * d->target_count + t];
    double centre = sum / n;
    for (uint32_t i = 0; i < n; i++) {
        double far = (double)d->targets[(size_t)index[i] * d->target_count + t] - centre;
        squares += far * far;
    }
    *mean = (float)centre;
    *sd = (float)sqrt(squares / n);
}

static sb_status check_scale(const struct sb_target_scale *s, const struct sb_dataset *d,
                             uint32_t t, const uint32_t *index, uint32_t n)
{
    char rounded[ROUNDED];
    float sd = s->sd[t];
    if (constant(d, t, index, n) || !(sd > 0) || !isfinite(sd))
        return sb_fail(SB_EARG,
                       "%s: the target %s is %g in all %u rows that are trained on, or "
                       "too large for a float%s; there is nothing to learn",
                       d->path, d->target_names[t], (double)s->mean[t], n,
                       or_rounded(s->mean[t], rounded));
    if (sd >= SD_LEAST && sd <= SD_MOST)
        return SB_OK;
    return sb_fail(SB_EARG,
                   "%s: the target %s has a standard deviation of %.2g, whose square is "
                   "too %s for a 32-bit float; want one from %g to %g: write the target "
                   "in another unit",
                   d->path, d->target_names[t], (double)sd, sd < 1 ? "small" : "large",
                   (double)SD_LEAST, (double)SD_MOST);
}

sb_status sb_target_scale_init(struct sb_target_scale *s, const struct sb_dataset *d,
                               const uint32_t *index, uint32_t n)
{
    *s = (struct sb_target_scale){.count = d->target_count};
    s->mean = sb_malloc(s->count, 2 * sizeof *s->mean);
    if (!s->mean)
        return sb_fail(SB_ENOMEM, "no memory for %u targets", s->count);
    s->sd = s->mean + s->count;
    for (uint32_t t = 0; t < s->count; t++) {
        measure(d, t, index, n, &s->mean[t], &s->sd[t]);
        sb_status st = check_scale(s, d, t, index, n);
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

void sb_target_scale_fini(struct sb_target_scale *s)
{
    if (!s)
        return;
    sb_free(s->mean);
    *s = (struct sb_target_scale){0};
}

void sb_target_scale_fill(const struct sb_target_scale *s, const struct sb_dataset *d,
                          const uint32_t *index, uint32_t n, float *out)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t t = 0; t < s->count; t++)
            *out++ =
                (d->targets[(size_t)index[i] * s->count + t] - s->mean[t]) / s->sd[t];
}
