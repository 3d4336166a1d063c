/* rewrite - a good model file with one change, and the sentence it is refused with. */
#ifndef SB_TESTS_REWRITE_H
#define SB_TESTS_REWRITE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/model.h"
#include "model/safetensors.h"
#include "refused.h"

/* One change of a good file: a metadata text, or a tensor by name. */
struct change {
    const char *key, *value;  /* metadata; value NULL: left out */
    const char *tensor;       /* left out, if there is no dtype */
    const char *dtype, *data; /* the tensor's replacement; data as numbers */
    size_t ndim, shape[4];
    const char *sentence;
};

static inline enum sb_dtype dtype_of(const char *name)
{
    enum sb_dtype d = SB_F32;
    while (strcmp(sb_dtype_name(d), name) != 0)
        d++;
    return d;
}

/* "1 nan 3" in the given type; what is not said is 0. */
static inline void fill(const char *text, enum sb_dtype dtype, unsigned char *out,
                        size_t count)
{
    memset(out, 0, count * sb_dtype_size(dtype));
    char *end;
    for (size_t i = 0; i < count && text && *text; i++, text = end) {
        double x = strtod(text, &end);
        float f = (float)x;
        int32_t n = isfinite(x) ? (int32_t)x : 0;
        if (dtype == SB_F32)
            memcpy(out + 4 * i, &f, 4);
        else if (dtype == SB_F64)
            memcpy(out + 8 * i, &x, 8);
        else
            memcpy(out + 4 * i, &n, 4);
    }
}

static unsigned char replacement[1 << 12];

static inline void put_changed(struct sb_st_writer *w, const struct change *c,
                               const char *name)
{
    size_t count = 1;
    if (!c->dtype)
        return;
    for (size_t i = 0; i < c->ndim; i++)
        count *= c->shape[i];
    fill(c->data, dtype_of(c->dtype), replacement, count);
    assert_int_equal(
        sb_st_writer_add(w, name, dtype_of(c->dtype), c->ndim, c->shape, replacement),
        SB_OK);
}

/* Writes the file `from` with one change to `to`. */
static inline void rewrite(const char *from, const char *to, const struct change *c)
{
    struct sb_st st;
    struct sb_st_writer w;
    const char *key;
    json_t *value;
    bool replaced = false;
    assert_int_equal(sb_st_open(&st, from), SB_OK);
    assert_int_equal(sb_st_writer_init(&w), SB_OK);
    json_object_foreach(json_object_get(st.header, "__metadata__"), key, value)
    {
        bool changed = c->key && strcmp(c->key, key) == 0;
        const char *text = changed ? c->value : json_string_value(value);
        if (text)
            assert_int_equal(sb_st_writer_meta(&w, key, text), SB_OK);
    }
    for (size_t i = 0; i < st.tensors; i++) {
        const struct sb_st_tensor *t = &st.tensor[i];
        if (c->tensor && strcmp(c->tensor, t->name) == 0) {
            put_changed(&w, c, t->name);
            replaced = true;
        } else {
            assert_int_equal(
                sb_st_writer_add(&w, t->name, t->dtype, t->ndim, t->shape, t->data),
                SB_OK);
        }
    }
    if (c->tensor && !replaced)
        put_changed(&w, c, c->tensor);
    assert_int_equal(sb_st_writer_write(&w, to), SB_OK);
    sb_st_writer_fini(&w);
    sb_st_close(&st);
}

#define META(k, v, s)                                                                    \
    {                                                                                    \
        .key = k, .value = v, .sentence = s                                              \
    }
#define GONE(t, s)                                                                       \
    {                                                                                    \
        .tensor = t, .sentence = s                                                       \
    }
#define TENSOR(t, type, text, s, ...)                                                    \
    {                                                                                    \
        .tensor = t, .dtype = type, .data = text,                                        \
        .ndim = sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t),                        \
        .shape = {__VA_ARGS__}, .sentence = s                                            \
    }

/* Whichever way it is read; nothing is left behind. */
static inline void read_refused(const char *file, const char *sentence)
{
    struct sb_model m;
    char want[1024];
    size_t live = sb_mem_live();
    snprintf(want, sizeof want, "%s: %s", file, sentence);
    refused(sb_model_read(&m, file), SB_EFORMAT, want);
    refused(sb_model_map(&m, file), SB_EFORMAT, want);
    assert_int_equal(sb_mem_live(), live);
}

/* However much of it is there, in memory that ends where it does. */
static inline void survive_truncations(const char *file)
{
    struct sb_map map;
    struct sb_model m;
    assert_int_equal(sb_map_open(&map, file), SB_OK);
    for (size_t size = 0; size < map.size; size++) {
        unsigned char *part = sb_malloc(size, 1);
        memcpy(part, map.data, size);
        assert_int_equal(sb_model_read_bytes(&m, "m", part, size), SB_EFORMAT);
        assert_int_equal(sb_model_map_bytes(&m, "m", part, size), SB_EFORMAT);
        sb_free(part);
    }
    assert_int_equal(sb_model_read_bytes(&m, "m", map.data, map.size), SB_OK);
    sb_model_fini(&m);
    sb_map_close(&map);
}

/* A flipped bit gives a model, which check (if not NULL) looks at, or a sentence. */
static inline void survive_flipped_bits(const char *file,
                                        void (*check)(const struct sb_model *m))
{
    struct sb_map map;
    struct sb_model m;
    size_t live = sb_mem_live();
    assert_int_equal(sb_map_open(&map, file), SB_OK);
    unsigned char *bytes = sb_malloc(map.size, 1);
    memcpy(bytes, map.data, map.size);
    for (size_t bit = 0; bit < 8 * map.size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        sb_status st = sb_model_read_bytes(&m, "m", bytes, map.size);
        assert_true(st == SB_OK || st == SB_EFORMAT);
        assert_true(st == SB_OK || strncmp(sb_message(), "m: ", 3) == 0);
        if (st == SB_OK && check)
            check(&m);
        sb_model_fini(&m);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    sb_free(bytes);
    sb_map_close(&map);
    assert_int_equal(sb_mem_live(), live);
}

#endif
