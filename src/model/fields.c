/* fields - see fields.h. */
#include "model/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* ---- names ------------------------------------------------------------------------- */

void sb_field_begin(struct sb_field *f, const char *prefix, const char *layer)
{
    int n = snprintf(f->name, sizeof f->name, "%s.%s.", prefix, layer);
    f->stem = n < 0 || (size_t)n >= sizeof f->name ? sizeof f->name - 1 : (size_t)n;
}

const char *sb_field_part(struct sb_field *f, const char *part)
{
    snprintf(f->name + f->stem, sizeof f->name - f->stem, "%s", part);
    return f->name;
}

/* ---- tensors ----------------------------------------------------------------------- */

sb_status sb_fields_init(struct sb_fields *f, const struct sb_st *st)
{
    *f = (struct sb_fields){.st = st};
    f->seen = sb_calloc(st->tensors, 1);
    return f->seen ? SB_OK
                   : sb_fail(SB_ENOMEM, "%s: no memory for a list of %zu tensors",
                             st->path, st->tensors);
}

void sb_fields_fini(struct sb_fields *f)
{
    if (!f)
        return;
    sb_free(f->seen);
    *f = (struct sb_fields){0};
}

/* Our writers' order is the one we read in, so the search begins where the last one
 * ended: a file of thousands of tensors does not cost millions of comparisons. */
const struct sb_st_tensor *sb_fields_lookup(struct sb_fields *f, const char *name)
{
    const struct sb_st *st = f->st;
    for (size_t i = 0; i < st->tensors; i++) {
        size_t at = f->next + i;
        at -= at >= st->tensors ? st->tensors : 0;
        if (strcmp(st->tensor[at].name, name) == 0) {
            f->next = at + 1 == st->tensors ? 0 : at + 1;
            f->seen[at] = 1;
            return &st->tensor[at];
        }
    }
    return NULL;
}

static void shape_text(char *out, size_t size, size_t ndim, const size_t *dim)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < ndim && at < size; i++) {
        int n = snprintf(out + at, size - at, "%s%zu", i ? ", " : "", dim[i]);
        at += n < 0 ? 0 : (size_t)n;
    }
}

static sb_status find(struct sb_fields *f, const char *name, enum sb_dtype dtype,
                      const struct sb_shape *s, const struct sb_st_tensor **out)
{
    const struct sb_st_tensor *t = *out = sb_fields_lookup(f, name);
    if (!t)
        return sb_fail(SB_EFORMAT, "%s: has no tensor \"%s\"", f->st->path, name);
    if (t->dtype != dtype)
        return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": is %s, want %s", f->st->path, name,
                       sb_dtype_name(t->dtype), sb_dtype_name(dtype));
    if (t->ndim == s->ndim && memcmp(t->shape, s->dim, s->ndim * sizeof *s->dim) == 0)
        return SB_OK;
    char have[180], want[100];
    shape_text(have, sizeof have, t->ndim, t->shape);
    shape_text(want, sizeof want, s->ndim, s->dim);
    return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": its shape is [%s], want [%s]",
                   f->st->path, name, have, want);
}

/* Looks at all before it looks for the one: without a way out the loop takes vectors. */
static sb_status check_finite(const struct sb_fields *f, const struct sb_st_tensor *t,
                              const float *x)
{
    bool bad = false;
    for (size_t i = 0; i < t->count; i++)
        bad |= !isfinite(x[i]);
    for (size_t i = 0; bad && i < t->count; i++)
        if (!isfinite(x[i]))
            return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": number %zu is not finite",
                           f->st->path, t->name, i);
    return SB_OK;
}

sb_status sb_fields_f32(struct sb_fields *f, const char *name, const struct sb_shape *s,
                        float *out)
{
    const struct sb_st_tensor *t;
    sb_status st = find(f, name, SB_F32, s, &t);
    if (st == SB_OK)
        st = sb_st_read_f32(f->st, t, out, t->count);
    return st == SB_OK ? check_finite(f, t, out) : st;
}

sb_status sb_fields_i32(struct sb_fields *f, const char *name, const struct sb_shape *s,
                        int32_t *out)
{
    const struct sb_st_tensor *t;
    sb_status st = find(f, name, SB_I32, s, &t);
    return st == SB_OK ? sb_st_read_i32(f->st, t, out, t->count) : st;
}

bool sb_fields_aligned(const struct sb_st *st)
{
    for (size_t i = 0; i < st->tensors; i++)
        if ((uintptr_t)st->tensor[i].data % sizeof(float) != 0)
            return false;
    return true;
}

sb_status sb_fields_take_f32(struct sb_fields *f, const char *name,
                             const struct sb_shape *s, float **out)
{
    const struct sb_st_tensor *t;
    if (!f->in_place)
        return sb_fields_f32(f, name, s, *out);
    sb_status st = find(f, name, SB_F32, s, &t);
    if (st == SB_OK)
        *out = (float *)(uintptr_t)t->data;
    return st == SB_OK ? check_finite(f, t, *out) : st;
}

sb_status sb_fields_take_i32(struct sb_fields *f, const char *name,
                             const struct sb_shape *s, int32_t **out)
{
    const struct sb_st_tensor *t;
    if (!f->in_place)
        return sb_fields_i32(f, name, s, *out);
    sb_status st = find(f, name, SB_I32, s, &t);
    if (st == SB_OK)
        *out = (int32_t *)(uintptr_t)t->data;
    return st;
}

sb_status sb_fields_finish(const struct sb_fields *f, const char *what)
{
    for (size_t i = 0; i < f->st->tensors; i++)
        if (!f->seen[i])
            return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": belongs to no part of the %s",
                           f->st->path, f->st->tensor[i].name, what);
    return SB_OK;
}

/* ---- metadata ---------------------------------------------------------------------- */

int sb_parse_decimal(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t x = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; c++) {
        uint64_t digit = (uint64_t)(*c - '0');
        if (x > (UINT64_MAX - digit) / 10)
            return 0;
        x = 10 * x + digit;
    }
    *out = x;
    return c != text && *c == '\0' && x <= max;
}

sb_status sb_fields_integer(const struct sb_st *st, const char *key, uint64_t max,
                            uint64_t *out)
{
    const char *text;
    sb_status s = sb_st_find_meta(st, key, &text);
    if (s == SB_OK && !sb_parse_decimal(text, max, out))
        s = sb_fail(SB_EFORMAT, "%s: metadata \"%s\": want an integer from 0 to %llu",
                    st->path, key, (unsigned long long)max);
    return s;
}

sb_status sb_fields_json(const struct sb_st *st, const char *key, json_t **out)
{
    const char *text;
    *out = NULL;
    sb_status s = sb_st_find_meta(st, key, &text);
    if (s != SB_OK)
        return s;
    s = sb_json_parse(key, text, strlen(text), out);
    return s == SB_OK ? s : sb_fail(s, "%s: metadata %s", st->path, sb_message());
}

sb_status sb_fields_put_json(struct sb_st_writer *w, const char *key, json_t *value)
{
    char *text = NULL;
    if (!value)
        return sb_fail(SB_ENOMEM, "no memory for metadata \"%s\"", key);
    sb_status st = sb_json_write(value, false, &text);
    if (st == SB_OK)
        st = sb_st_writer_meta(w, key, text);
    sb_free(text);
    json_decref(value);
    return st;
}

sb_status sb_fields_put_integer(struct sb_st_writer *w, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return sb_st_writer_meta(w, key, text);
}

sb_status sb_fields_check_format(const struct sb_st *st, const char *format,
                                 uint64_t version)
{
    const char *text = sb_st_meta(st, "format");
    const char *hint = strcmp(format, "sebays-model") == 0
                           ? "; want the model.safetensors of a run directory"
                           : "";
    bool ours = text && strncmp(text, "sebays-", 7) == 0 && strlen(text) < 32;
    if (!text || strcmp(text, format) != 0)
        return sb_fail(SB_EFORMAT, "%s: metadata \"format\" is %s%s%s, not \"%s\"%s",
                       st->path, ours ? "\"" : "",
                       ours   ? text
                       : text ? "another"
                              : "missing",
                       ours ? "\"" : "", format, hint);
    uint64_t have = 0;
    sb_status s = sb_fields_integer(st, "version", UINT64_MAX, &have);
    if (s == SB_OK && have != version)
        s = sb_fail(SB_EFORMAT, "%s: version %llu of %s; this program reads version %llu",
                    st->path, (unsigned long long)have, format,
                    (unsigned long long)version);
    return s;
}

/* ---- a checksum -------------------------------------------------------------------- */

uint64_t sb_checksum(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ byte[i]) * 0x100000001b3u;
    return sum;
}

static int add(const char *text, size_t size, void *sum)
{
    *(uint64_t *)sum = sb_checksum(*(uint64_t *)sum, text, size);
    return 0;
}

sb_status sb_checksum_header(const json_t *header, uint64_t *out)
{
    *out = SB_CHECKSUM_START;
    if (json_dump_callback(header, add, out, JSON_COMPACT) != 0)
        return sb_fail(SB_ENOMEM, "no memory for the checksum of a header");
    return SB_OK;
}
