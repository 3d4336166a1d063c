/* safetensors - the reader, see safetensors.h. */
#include "model/safetensors.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "arrays are used as they are");

enum { LENGTH_BYTES = 8 };
static const char metadata_key[] = "__metadata__";

static const struct {
    const char *name;
    size_t size;
} dtypes[SB_DTYPE_COUNT] = {
    [SB_F32] = {"F32", 4},   [SB_F64] = {"F64", 8}, [SB_I32] = {"I32", 4},
    [SB_I64] = {"I64", 8},   [SB_U8] = {"U8", 1},   [SB_I8] = {"I8", 1},
    [SB_BOOL] = {"BOOL", 1}, [SB_F16] = {"F16", 2}, [SB_BF16] = {"BF16", 2},
    [SB_I16] = {"I16", 2},   [SB_U16] = {"U16", 2}, [SB_U32] = {"U32", 4},
    [SB_U64] = {"U64", 8},
};

const char *sb_dtype_name(enum sb_dtype dtype)
{
    return dtypes[dtype].name;
}

size_t sb_dtype_size(enum sb_dtype dtype)
{
    return dtypes[dtype].size;
}

/* ---- one tensor's entry of the header ---- */

static sb_status parse_dtype(const struct sb_st *st, const json_t *entry,
                             struct sb_st_tensor *t)
{
    const char *name = json_string_value(json_object_get(entry, "dtype"));
    if (!name)
        return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": dtype is not a string", st->path,
                       t->name);
    for (int i = 0; i < SB_DTYPE_COUNT; i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            t->dtype = (enum sb_dtype)i;
            return SB_OK;
        }
    }
    return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": unknown dtype \"%s\"", st->path,
                   t->name, name);
}

/* A size in the file: an integer from 0 that fits size_t. */
static bool get_size(const json_t *value, size_t *out)
{
    json_int_t x = json_integer_value(value);
    *out = (size_t)x;
    return json_is_integer(value) && x >= 0 && (uintmax_t)x <= SIZE_MAX;
}

static sb_status parse_shape(const struct sb_st *st, const json_t *entry,
                             struct sb_st_tensor *t)
{
    const json_t *shape = json_object_get(entry, "shape");
    if (!json_is_array(shape))
        return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": shape is not an array", st->path,
                       t->name);
    t->ndim = json_array_size(shape);
    t->count = 1;
    if (t->ndim > SB_ST_DIMS)
        return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": %zu dimensions, at most %d work",
                       st->path, t->name, t->ndim, SB_ST_DIMS);
    size_t most = SIZE_MAX / dtypes[t->dtype].size;
    for (size_t i = 0; i < t->ndim; i++) {
        if (!get_size(json_array_get(shape, i), &t->shape[i]))
            return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": dimension %zu is not a size",
                           st->path, t->name, i);
        if (t->shape[i] > 0 && t->count > most / t->shape[i])
            return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": the shape's product overflows",
                           st->path, t->name);
        t->count *= t->shape[i];
    }
    return SB_OK;
}

static sb_status parse_offsets(const struct sb_st *st, const json_t *entry,
                               struct sb_st_tensor *t, const unsigned char *data,
                               size_t size)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    size_t begin, end, want = t->count * dtypes[t->dtype].size;
    if (json_array_size(offsets) != 2 || !get_size(json_array_get(offsets, 0), &begin) ||
        !get_size(json_array_get(offsets, 1), &end))
        return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": data_offsets are not two sizes",
                       st->path, t->name);
    if (begin > end || end > size)
        return sb_fail(SB_EFORMAT,
                       "%s: tensor \"%s\": offsets %zu to %zu are outside %zu data bytes",
                       st->path, t->name, begin, end, size);
    if (end - begin != want)
        return sb_fail(
            SB_EFORMAT,
            "%s: tensor \"%s\": its shape wants %zu bytes, its offsets have %zu",
            st->path, t->name, want, end - begin);
    t->data = data + begin;
    return SB_OK;
}

static sb_status parse_tensor(const struct sb_st *st, const json_t *entry,
                              struct sb_st_tensor *t, const unsigned char *data,
                              size_t size)
{
    if (!json_is_object(entry))
        return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": its entry is not an object",
                       st->path, t->name);
    sb_status s = parse_dtype(st, entry, t);
    if (s == SB_OK)
        s = parse_shape(st, entry, t);
    return s == SB_OK ? parse_offsets(st, entry, t, data, size) : s;
}

/* ---- the header ---- */

static sb_status parse_metadata(const struct sb_st *st)
{
    json_t *metadata = json_object_get(st->header, metadata_key), *value;
    const char *key;
    if (metadata && !json_is_object(metadata))
        return sb_fail(SB_EFORMAT, "%s: __metadata__ is not an object", st->path);
    json_object_foreach(metadata, key, value) if (!json_is_string(value)) return sb_fail(
        SB_EFORMAT, "%s: metadata \"%s\" is not a string", st->path, key);
    return SB_OK;
}

/* By place in the data; one without bytes comes before its neighbour. */
static int by_data(const void *a, const void *b)
{
    const struct sb_st_tensor *x = a, *y = b;
    if (x->data != y->data)
        return x->data < y->data ? -1 : 1;
    return (x->count > 0) - (y->count > 0);
}

/* The tensors, sorted, must cover data [size] exactly once. */
static sb_status check_cover(const struct sb_st *st, const unsigned char *data,
                             size_t size)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < st->tensors; i++) {
        const struct sb_st_tensor *t = &st->tensor[i];
        if (t->data < at)
            return sb_fail(SB_EFORMAT,
                           "%s: tensor \"%s\": its data overlaps tensor \"%s\"", st->path,
                           t->name, t[-1].name);
        if (t->data > at)
            return sb_fail(SB_EFORMAT,
                           "%s: tensor \"%s\": %zu bytes before it belong to none",
                           st->path, t->name, (size_t)(t->data - at));
        at = t->data + t->count * dtypes[t->dtype].size;
    }
    if (at != data + size)
        return sb_fail(SB_EFORMAT, "%s: %zu bytes at its end belong to no tensor",
                       st->path, (size_t)(data + size - at));
    return SB_OK;
}

static sb_status parse_tensors(struct sb_st *st, const unsigned char *data, size_t size)
{
    st->tensor = sb_calloc(json_object_size(st->header), sizeof *st->tensor);
    if (!st->tensor)
        return sb_fail(SB_ENOMEM, "%s: no memory for a list of %zu tensors", st->path,
                       json_object_size(st->header));
    json_t *entry;
    const char *name;
    json_object_foreach(st->header, name, entry)
    {
        if (strcmp(name, metadata_key) == 0)
            continue;
        struct sb_st_tensor *t = &st->tensor[st->tensors++];
        t->name = name;
        sb_status s = parse_tensor(st, entry, t, data, size);
        if (s != SB_OK)
            return s;
    }
    qsort(st->tensor, st->tensors, sizeof *st->tensor, by_data);
    return check_cover(st, data, size);
}

static sb_status parse(struct sb_st *st, const unsigned char *bytes, size_t size)
{
    if (size < LENGTH_BYTES)
        return sb_fail(SB_EFORMAT, "%s: %zu bytes are too few for a safetensors file",
                       st->path, size);
    uint64_t length;
    memcpy(&length, bytes, sizeof length);
    if (length > SB_ST_HEADER_BYTES)
        return sb_fail(
            SB_EFORMAT,
            "%s: this is no model file: it would begin with a header of %llu bytes, and "
            "at most %d work",
            st->path, (unsigned long long)length, SB_ST_HEADER_BYTES);
    bytes += LENGTH_BYTES;
    size -= LENGTH_BYTES;
    if (length > size)
        return sb_fail(SB_EFORMAT,
                       "%s: cut off: the header has %llu bytes, %zu are there", st->path,
                       (unsigned long long)length, size);
    if (length == 0 || bytes[0] != '{')
        return sb_fail(SB_EFORMAT, "%s: the header is not a JSON object", st->path);
    sb_status s = sb_json_parse("header", bytes, (size_t)length, &st->header);
    if (s != SB_OK)
        return sb_fail(s, "%s: %s", st->path, sb_message());
    s = parse_metadata(st);
    return s == SB_OK ? parse_tensors(st, bytes + length, size - (size_t)length) : s;
}

/* ---- opening and looking up ---- */

static sb_status copy_path(struct sb_st *st, const char *path)
{
    *st = (struct sb_st){0};
    size_t size = strlen(path) + 1;
    st->path = sb_malloc(size, 1);
    if (!st->path)
        return sb_fail(SB_ENOMEM, "%s: no memory to open it", path);
    memcpy(st->path, path, size);
    return SB_OK;
}

sb_status sb_st_open_bytes(struct sb_st *st, const char *path, const void *bytes,
                           size_t size)
{
    sb_status s = copy_path(st, path);
    if (s == SB_OK)
        s = parse(st, bytes, size);
    if (s != SB_OK)
        sb_st_close(st);
    return s;
}

sb_status sb_st_open(struct sb_st *st, const char *path)
{
    sb_status s = copy_path(st, path);
    if (s == SB_OK)
        s = sb_map_open(&st->map, path);
    if (s == SB_OK)
        s = parse(st, st->map.data, st->map.size);
    if (s != SB_OK)
        sb_st_close(st);
    return s;
}

void sb_st_close(struct sb_st *st)
{
    if (!st)
        return;
    sb_free(st->tensor);
    json_decref(st->header);
    sb_map_close(&st->map);
    sb_free(st->path);
    *st = (struct sb_st){0};
}

const struct sb_st_tensor *sb_st_lookup(const struct sb_st *st, const char *name)
{
    for (size_t i = 0; i < st->tensors; i++)
        if (strcmp(st->tensor[i].name, name) == 0)
            return &st->tensor[i];
    return NULL;
}

const char *sb_st_meta(const struct sb_st *st, const char *key)
{
    const json_t *metadata = json_object_get(st->header, metadata_key);
    return json_string_value(json_object_get(metadata, key));
}

sb_status sb_st_find_meta(const struct sb_st *st, const char *key, const char **out)
{
    *out = sb_st_meta(st, key);
    return *out ? SB_OK
                : sb_fail(SB_EFORMAT, "%s: has no metadata \"%s\"", st->path, key);
}

/* ---- copying getters ---- */

static sb_status check_count(const struct sb_st *st, const struct sb_st_tensor *t,
                             size_t count)
{
    if (t->count == count)
        return SB_OK;
    return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": has %zu elements, want %zu", st->path,
                   t->name, t->count, count);
}

static sb_status cannot_convert(const struct sb_st *st, const struct sb_st_tensor *t,
                                const char *to)
{
    return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": cannot read %s as %s", st->path,
                   t->name, dtypes[t->dtype].name, to);
}

/* Element i of a tensor of integers. */
static int64_t integer_at(const struct sb_st_tensor *t, size_t i)
{
    int32_t narrow;
    int64_t wide;
    switch (t->dtype) {
    case SB_I32:
        memcpy(&narrow, t->data + i * sizeof narrow, sizeof narrow);
        return narrow;
    case SB_I64:
        memcpy(&wide, t->data + i * sizeof wide, sizeof wide);
        return wide;
    default:
        return t->data[i];
    }
}

/* Element i as a double; exact except for large 64-bit integers. */
static double number_at(const struct sb_st_tensor *t, size_t i)
{
    float single;
    double number;
    switch (t->dtype) {
    case SB_F32:
        memcpy(&single, t->data + i * sizeof single, sizeof single);
        return (double)single;
    case SB_F64:
        memcpy(&number, t->data + i * sizeof number, sizeof number);
        return number;
    default:
        return (double)integer_at(t, i);
    }
}

sb_status sb_st_read_f32(const struct sb_st *st, const struct sb_st_tensor *t, float *out,
                         size_t count)
{
    sb_status s = check_count(st, t, count);
    if (s != SB_OK)
        return s;
    if (t->dtype > SB_U8)
        return cannot_convert(st, t, "F32");
    if (t->dtype == SB_F32 && count > 0) {
        memcpy(out, t->data, count * sizeof *out);
        return SB_OK;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = (float)number_at(t, i);
    return SB_OK;
}

sb_status sb_st_read_i32(const struct sb_st *st, const struct sb_st_tensor *t,
                         int32_t *out, size_t count)
{
    sb_status s = check_count(st, t, count);
    if (s != SB_OK)
        return s;
    if (t->dtype != SB_I32 && t->dtype != SB_I64 && t->dtype != SB_U8)
        return cannot_convert(st, t, "I32");
    for (size_t i = 0; i < count; i++) {
        int64_t x = integer_at(t, i);
        if (x < INT32_MIN || x > INT32_MAX)
            return sb_fail(SB_EFORMAT, "%s: tensor \"%s\": %lld at %zu does not fit I32",
                           st->path, t->name, (long long)x, i);
        out[i] = (int32_t)x;
    }
    return SB_OK;
}
