/* npy_examples - arrays as images, tables and labels; see npy.h for what dimensions mean. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/targets.h"
#include "readers/npy.h"

enum { SIDE_MOST = 1 << 14, FEATURES_MOST = 1 << 20, CLASSES_MOST = 1 << 16 };

/* An array seen as [n][channels][height][width]. */
struct view {
    const struct sb_npy *a;
    uint64_t n, first; /* rows used, and where they begin */
    uint64_t channels, height, width;
    bool impute;                       /* of a table: NAN is a value that is missing */
    size_t step, channel, row, column; /* elements from one to the next */
};

/* ---- numbers ---- */

static uint64_t raw(const struct sb_npy *a, const unsigned char *at)
{
    unsigned char b[8] = {0};
    uint64_t x = 0;
    memcpy(b, at, a->size);
    for (uint32_t i = 0; i < a->size; i++)
        x |= (uint64_t)b[i] << (8 * i);
    return x;
}

/* The element at `at` as little-endian bits, then as a number. Files of the other order are
 * rare, so clarity comes first; u1 and plain f4 have fast ways of their own. */
static double number(const struct sb_npy *a, const unsigned char *at)
{
    const uint16_t one = 1;
    unsigned char low, swapped[8];
    memcpy(&low, &one, 1);
    if (a->swap == (low == 1)) { /* big-endian */
        for (uint32_t i = 0; i < a->size; i++)
            swapped[i] = at[a->size - 1 - i];
        at = swapped;
    }
    uint64_t bits = raw(a, at);
    if (a->kind == 'f' && a->size == 4) {
        uint32_t half = (uint32_t)bits;
        float f;
        memcpy(&f, &half, sizeof f);
        return (double)f;
    }
    if (a->kind == 'f') {
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    unsigned width = 8 * a->size;
    if (a->kind == 'i' && width > 0 && width < 64 && bits >> (width - 1))
        bits |= ~(uint64_t)0 << width;
    return a->kind == 'i' ? (double)(int64_t)bits : (double)bits;
}

static bool good(const struct view *v, float x)
{
    return isfinite(x) || (v->impute && isnan(x));
}

/* x: [channels][height][width] of the row, of which one is not good. */
static sb_status not_finite(const struct view *v, uint64_t row, const float *x)
{
    unsigned long long at = 0, plane = v->height * v->width;
    while (good(v, x[at]))
        at++;
    if (plane == 1)
        return sb_fail(SB_EFORMAT,
                       "%s: example %llu has a value that is not finite as a 32-bit "
                       "float: feature %llu (from 0) is %g",
                       v->a->name, (unsigned long long)row, at, (double)x[at]);
    return sb_fail(SB_EFORMAT,
                   "%s: example %llu has a value that is not finite as a 32-bit float: "
                   "channel %llu, row %llu, column %llu (from 0) is %g",
                   v->a->name, (unsigned long long)row, at / plane,
                   at % plane / (unsigned long long)v->width,
                   at % (unsigned long long)v->width, (double)x[at]);
}

/* ---- shape ---- */

static bool may_be_channels(uint64_t n)
{
    return n == 1 || n == 3 || n == 4;
}

/* Of [n][a][b][c]. */
static bool channels_last(const uint64_t *s)
{
    bool last = may_be_channels(s[3]), second = may_be_channels(s[1]);
    if (last && second)
        return s[1] == s[2] || s[2] != s[3];
    return last;
}

/* which[i]: the dimension of channels, height, width; the array's own strides. */
static sb_status see(struct view *v, const struct sb_npy *a)
{
    size_t stride[SB_NPY_DIMS], step = 1;
    uint32_t d[3] = {1, SB_NPY_DIMS, SB_NPY_DIMS};
    if (a->dims < 2 || a->dims > 4)
        return sb_fail(SB_EFORMAT,
                       "%s: its array has %u dimension%s; want [n][features], "
                       "[n][height][width], or four with channels",
                       a->name, a->dims, a->dims == 1 ? "" : "s");
    for (uint32_t i = 0; i < a->dims; i++) {
        uint32_t k = a->fortran ? i : a->dims - 1 - i;
        stride[k] = step;
        step *= a->shape[k]; /* their product is a->count */
    }
    if (a->dims == 3) {
        d[0] = SB_NPY_DIMS;
        d[1] = 1;
        d[2] = 2;
    } else if (a->dims == 4) {
        bool last = channels_last(a->shape);
        d[0] = last ? 3 : 1;
        d[1] = last ? 1 : 2;
        d[2] = last ? 2 : 3;
    }
    uint64_t *size[] = {&v->channels, &v->height, &v->width};
    size_t *apart[] = {&v->channel, &v->row, &v->column};
    for (int i = 0; i < 3; i++) {
        bool there = d[i] < SB_NPY_DIMS;
        *size[i] = there ? a->shape[d[i]] : 1;
        *apart[i] = there ? stride[d[i]] : 0;
    }
    v->step = stride[0];
    v->a = a;
    return SB_OK;
}

static sb_status check_view(const struct view *v, bool table)
{
    if (v->n == 0 || v->n > UINT32_MAX)
        return sb_fail(SB_EFORMAT, "%s: it has %llu examples; want 1 to %u", v->a->name,
                       (unsigned long long)v->n, UINT32_MAX);
    uint64_t most = table ? FEATURES_MOST : SIDE_MOST;
    if (v->channels == 0 || v->height == 0 || v->width == 0 || v->channels > most ||
        v->height > most || v->width > most)
        return sb_fail(
            SB_EFORMAT, "%s: examples of %llu x %llu x %llu; each must be from 1 to %llu",
            v->a->name, (unsigned long long)v->channels, (unsigned long long)v->height,
            (unsigned long long)v->width, (unsigned long long)most);
    return SB_OK;
}

/* Whether the array is laid out as a data set is. */
static bool in_order(const struct view *v)
{
    return (v->width == 1 || v->column == 1) && (v->height == 1 || v->row == v->width) &&
           (v->channels == 1 || v->channel == v->height * v->width) &&
           (v->n == 1 || v->step == v->channels * v->height * v->width);
}

/* ---- examples ---- */

static const unsigned char *element(const struct view *v, uint64_t n, uint64_t c,
                                    uint64_t y)
{
    size_t at = (size_t)(v->first + n) * v->step + c * v->channel + y * v->row;
    return v->a->data + at * v->a->size;
}

static void copy_bytes(const struct view *v, uint8_t *out)
{
    for (uint64_t n = 0; n < v->n; n++)
        for (uint64_t c = 0; c < v->channels; c++)
            for (uint64_t y = 0; y < v->height; y++) {
                const unsigned char *from = element(v, n, c, y);
                for (uint64_t x = 0; x < v->width; x++)
                    *out++ = from[x * v->column];
            }
}

static sb_status copy_floats(const struct view *v, float *out)
{
    for (uint64_t n = 0; n < v->n; n++) {
        const float *row = out;
        bool finite = true;
        for (uint64_t c = 0; c < v->channels; c++)
            for (uint64_t y = 0; y < v->height; y++) {
                const unsigned char *from = element(v, n, c, y);
                for (uint64_t x = 0; x < v->width; x++, out++) {
                    *out = (float)number(v->a, from + x * v->column * v->a->size);
                    finite &= good(v, *out);
                }
            }
        if (!finite)
            return not_finite(v, n, row);
    }
    return SB_OK;
}

static sb_status check_floats(const struct view *v, const float *x)
{
    size_t a_row = (size_t)(v->channels * v->height * v->width);
    for (uint64_t n = 0; n < v->n; n++, x += a_row) {
        bool finite = true;
        for (size_t i = 0; i < a_row; i++)
            finite &= good(v, x[i]);
        if (!finite)
            return not_finite(v, n, x);
    }
    return SB_OK;
}

/* f4 of this machine, where it can be read as float *. */
static bool plain_floats(const struct view *v)
{
    return v->a->kind == 'f' && v->a->size == 4 && !v->a->swap &&
           (uintptr_t)v->a->data % sizeof(float) == 0;
}

static sb_status fill(struct sb_dataset *d, const struct view *v)
{
    size_t size = d->element == SB_BYTES ? 1 : sizeof(float);
    const unsigned char *start = element(v, 0, 0, 0);
    if (in_order(v) && d->element == SB_BYTES) {
        d->images = start;
        return SB_OK;
    }
    if (in_order(v) && plain_floats(v)) {
        d->values = (const float *)(const void *)start;
        return check_floats(v, d->values);
    }
    d->copy = sb_malloc((size_t)v->n, sb_dataset_elements(d) * size);
    if (!d->copy)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u examples", v->a->name, d->n);
    if (d->element == SB_BYTES) {
        d->images = d->copy;
        copy_bytes(v, d->copy);
        return SB_OK;
    }
    d->values = d->copy;
    return copy_floats(v, d->copy);
}

sb_status sb_npy_examples(struct sb_dataset *d, const struct sb_npy *a, uint64_t first,
                          uint64_t count, bool impute)
{
    struct view v = {.n = count, .first = first, .impute = impute && a->dims == 2};
    sb_status st = see(&v, a);
    if (st == SB_OK)
        st = check_view(&v, a->dims == 2);
    if (st != SB_OK)
        return st;
    d->n = (uint32_t)v.n;
    d->channels = (uint32_t)v.channels;
    d->height = (uint32_t)v.height;
    d->width = (uint32_t)v.width;
    d->element = a->kind == 'u' && a->size == 1 && a->dims > 2 ? SB_BYTES : SB_FLOATS;
    return fill(d, &v);
}

/* ---- labels ---- */

sb_status sb_npy_labels(struct sb_dataset *d, const struct sb_npy *a, uint64_t first)
{
    if (a->dims == 0 || a->dims > 2 || (a->dims == 2 && a->shape[1] != 1))
        return sb_fail(SB_EFORMAT,
                       "%s: its labels have %u dimensions; want one number a "
                       "row",
                       a->name, a->dims);
    d->labels = sb_malloc(d->n, sizeof *d->labels);
    if (!d->labels)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u labels", a->name, d->n);
    d->classes = 2;
    for (uint32_t i = 0; i < d->n; i++) {
        double x = number(a, a->data + (size_t)(first + i) * a->size);
        if (!(x >= 0 && x < CLASSES_MOST) || x != floor(x))
            return sb_fail(SB_EFORMAT,
                           "%s: label %u is %g; want whole numbers from 0 to %d", a->name,
                           i, x, CLASSES_MOST - 1);
        d->labels[i] = (uint32_t)x;
        if (d->labels[i] >= d->classes)
            d->classes = d->labels[i] + 1;
    }
    return SB_OK;
}

/* ---- targets ---- */

/* Number t of row i. */
static double response(const struct sb_npy *a, uint64_t i, uint64_t t)
{
    uint64_t rows = a->shape[0], targets = a->dims == 2 ? a->shape[1] : 1;
    return number(a, a->data + (a->fortran ? t * rows + i : i * targets + t) * a->size);
}

static int ascending(const void *left, const void *right)
{
    double x = *(const double *)left, y = *(const double *)right;
    return (x > y) - (x < y);
}

/* Whether the numbers of one column are continuous; *out. */
static sb_status look(const struct sb_dataset *d, const struct sb_npy *a, bool *out)
{
    uint32_t values = 1;
    *out = false;
    for (uint32_t i = 0; a->kind == 'f' && i < d->n && !*out; i++) {
        double x = response(a, i, 0);
        *out = isfinite(x) && x != floor(x);
    }
    if (*out || !sb_dataset_tabular(d) || d->n <= SB_TARGETS_MANY)
        return SB_OK;
    double *sorted = sb_malloc(d->n, sizeof *sorted);
    if (!sorted)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u labels", a->name, d->n);
    for (uint32_t i = 0; i < d->n; i++)
        sorted[i] = response(a, i, 0);
    qsort(sorted, d->n, sizeof *sorted, ascending);
    for (uint32_t i = 1; i < d->n; i++)
        values += sorted[i] != sorted[i - 1];
    *out = sb_targets_many(values, d->n);
    sb_free(sorted);
    return SB_OK;
}

static sb_status take_targets(struct sb_dataset *d, const struct sb_npy *a)
{
    uint64_t targets = a->dims == 2 ? a->shape[1] : 1;
    sb_status st = sb_targets_init(d, targets > UINT32_MAX ? 0 : (uint32_t)targets, NULL);
    float *out = d->targets;
    for (uint32_t i = 0; i < d->n && st == SB_OK; i++)
        for (uint32_t t = 0; t < d->target_count && st == SB_OK; t++, out++) {
            *out = (float)response(a, i, t);
            if (!isfinite(*out))
                st = sb_fail(SB_EFORMAT,
                             "%s: target %u of example %u is not finite as a 32-bit "
                             "float; fill it in or leave the example out",
                             a->name, t, i);
        }
    return st;
}

sb_status sb_npy_responses(struct sb_dataset *d, const struct sb_npy *a,
                           enum sb_task task)
{
    bool outcomes = task == SB_TASK_OUTCOMES;
    bool several = a->dims == 2 && a->shape[1] > 1;
    sb_status st = SB_OK;
    if (task == SB_TASK_AUTO && several)
        outcomes = true;
    else if (task == SB_TASK_AUTO && (a->dims == 1 || a->dims == 2))
        st = look(d, a, &outcomes);
    if (st != SB_OK || !outcomes)
        return st == SB_OK ? sb_npy_labels(d, a, 0) : st;
    if (a->dims == 0 || a->dims > 2)
        return sb_fail(SB_EFORMAT,
                       "%s: its targets have %u dimensions; want [n] or "
                       "[n][targets]",
                       a->name, a->dims);
    return take_targets(d, a);
}

sb_status sb_npy_weights(struct sb_dataset *d, const struct sb_npy *a)
{
    if (a->dims != 1 || a->shape[0] != d->n)
        return sb_fail(SB_EFORMAT, "%s: want %u weights, one a row", a->name, d->n);
    d->weights = sb_malloc(d->n, sizeof *d->weights);
    if (!d->weights)
        return sb_fail(SB_ENOMEM, "%s: no memory for %u weights", a->name, d->n);
    for (uint32_t i = 0; i < d->n; i++) {
        double x = number(a, a->data + (size_t)i * a->size);
        d->weights[i] = (float)x;
        if (!isfinite(d->weights[i]) || x < 0)
            return sb_fail(SB_EFORMAT, "%s: weight %u is %g; want numbers from 0",
                           a->name, i, x);
    }
    return SB_OK;
}
