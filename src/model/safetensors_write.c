/* safetensors - the writer, see safetensors.h. */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "model/safetensors.h"

enum { LENGTH_BYTES = 8, ALIGN_BYTES = 8, FIRST_CAPACITY = 16 };
static const char metadata_key[] = "__metadata__";

sb_status sb_st_writer_init(struct sb_st_writer *w)
{
    *w = (struct sb_st_writer){.header = json_object()};
    /* first of all keys, so first in the file */
    if (json_object_set_new(w->header, metadata_key, json_object()) != 0)
        return sb_fail(SB_ENOMEM, "safetensors: no memory for a header");
    return SB_OK;
}

void sb_st_writer_fini(struct sb_st_writer *w)
{
    if (!w)
        return;
    json_decref(w->header);
    sb_free(w->piece);
    *w = (struct sb_st_writer){0};
}

/* Sets a key that must be new; takes value over, whatever happens. */
static sb_status set_new(json_t *object, const char *key, json_t *value, const char *what)
{
    if (json_object_get(object, key)) {
        json_decref(value);
        return sb_fail(SB_EARG, "safetensors: %s \"%s\" is there already", what, key);
    }
    if (value && json_object_set_new(object, key, value) == 0)
        return SB_OK;
    return sb_fail(SB_ENOMEM, "safetensors: no memory for %s \"%s\"", what, key);
}

/* Jansson answers NULL both for bad UTF-8 and for no memory; only the first goes away when
 * it does not look. */
static sb_status check_text(const char *text, const char *what)
{
    json_t *checked = json_string(text), *unchecked = json_string_nocheck(text);
    sb_status st = SB_OK;
    if (!unchecked)
        st = sb_fail(SB_ENOMEM, "safetensors: no memory for %s \"%s\"", what, text);
    else if (!checked)
        st = sb_fail(SB_EARG, "safetensors: %s \"%s\" is not UTF-8", what, text);
    json_decref(checked);
    json_decref(unchecked);
    return st;
}

sb_status sb_st_writer_meta(struct sb_st_writer *w, const char *key, const char *value)
{
    sb_status st = check_text(key, "metadata");
    if (st == SB_OK)
        st = check_text(value, "metadata");
    if (st != SB_OK)
        return st;
    return set_new(json_object_get(w->header, metadata_key), key, json_string(value),
                   "metadata");
}

/* Room for one more piece. */
static sb_status reserve(struct sb_st_writer *w)
{
    if (w->pieces < w->capacity)
        return SB_OK;
    size_t capacity = w->capacity ? 2 * w->capacity : FIRST_CAPACITY;
    struct sb_st_piece *piece = sb_malloc(capacity, sizeof *piece);
    if (!piece)
        return sb_fail(SB_ENOMEM, "safetensors: no memory for a list of %zu tensors",
                       capacity);
    if (w->pieces > 0)
        memcpy(piece, w->piece, w->pieces * sizeof *piece);
    sb_free(w->piece);
    w->piece = piece;
    w->capacity = capacity;
    return SB_OK;
}

/* The bytes of a tensor, or SIZE_MAX when they are too many. */
static size_t bytes_of(enum sb_dtype dtype, size_t ndim, const size_t *shape)
{
    size_t bytes = sb_dtype_size(dtype);
    for (size_t i = 0; i < ndim; i++) {
        if (shape[i] > 0 && bytes > (INT64_MAX - 1) / shape[i])
            return SIZE_MAX;
        bytes *= shape[i];
    }
    return bytes;
}

/* The header's entry of the next tensor; NULL: no memory. */
static json_t *make_entry(const struct sb_st_writer *w, enum sb_dtype dtype, size_t ndim,
                          const size_t *shape, size_t bytes)
{
    json_t *dims = json_array();
    for (size_t i = 0; i < ndim; i++)
        if (json_array_append_new(dims, json_integer((json_int_t)shape[i])) != 0) {
            json_decref(dims);
            return NULL;
        }
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", sb_dtype_name(dtype), "shape", dims,
                     "data_offsets", (json_int_t)w->bytes,
                     (json_int_t)(w->bytes + bytes));
}

sb_status sb_st_writer_add(struct sb_st_writer *w, const char *name, enum sb_dtype dtype,
                           size_t ndim, const size_t *shape, const void *data)
{
    sb_status st = check_text(name, "tensor");
    if (st != SB_OK)
        return st;
    if (ndim > SB_ST_DIMS)
        return sb_fail(SB_EARG,
                       "safetensors: tensor \"%s\": %zu dimensions, at most %d work",
                       name, ndim, SB_ST_DIMS);
    size_t bytes = bytes_of(dtype, ndim, shape);
    if (bytes > INT64_MAX - w->bytes)
        return sb_fail(SB_EARG, "safetensors: tensor \"%s\" makes the file too large",
                       name);
    st = reserve(w);
    if (st == SB_OK)
        st = set_new(w->header, name, make_entry(w, dtype, ndim, shape, bytes), "tensor");
    if (st != SB_OK)
        return st;
    w->piece[w->pieces++] = (struct sb_st_piece){data, bytes};
    w->bytes += bytes;
    return SB_OK;
}

static sb_status write_header(const struct sb_st_writer *w, struct sb_file *f)
{
    size_t length = json_dumpb(w->header, NULL, 0, JSON_COMPACT); /* 0: no memory */
    size_t padded = (length + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    if (padded > SB_ST_HEADER_BYTES)
        return sb_fail(SB_EARG, "%s: a header of %zu bytes; at most %d work", f->path,
                       padded, SB_ST_HEADER_BYTES);
    char *text = sb_malloc(LENGTH_BYTES + padded, 1);
    sb_status st = SB_OK;
    if (!text || length == 0 ||
        json_dumpb(w->header, text + LENGTH_BYTES, length, JSON_COMPACT) != length) {
        st = sb_fail(SB_ENOMEM, "%s: no memory for its header", f->path);
        goto done;
    }
    uint64_t prefix = padded;
    memcpy(text, &prefix, LENGTH_BYTES);
    memset(text + LENGTH_BYTES + length, ' ', padded - length);
    st = sb_file_write(f, text, LENGTH_BYTES + padded);
done:
    sb_free(text);
    return st;
}

sb_status sb_st_writer_begin(const struct sb_st_writer *w, const char *path,
                             struct sb_file *f)
{
    sb_status st = sb_file_create(f, path);
    if (st == SB_OK)
        st = write_header(w, f);
    if (st != SB_OK)
        sb_file_abort(f);
    return st;
}

sb_status sb_st_writer_write(const struct sb_st_writer *w, const char *path)
{
    struct sb_file f;
    sb_status st = sb_st_writer_begin(w, path, &f);
    for (size_t i = 0; st == SB_OK && i < w->pieces; i++)
        st = sb_file_write(&f, w->piece[i].data, w->piece[i].bytes);
    if (st == SB_OK)
        st = sb_file_commit(&f);
    sb_file_abort(&f);
    return st;
}
