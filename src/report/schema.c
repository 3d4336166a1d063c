/* schema - see schema.h. The walk goes as deep as the table does. */
#include "report/schema.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 256 };

/* Where the walk is. */
struct walk {
    const char *source;
    char path[PATH_BYTES]; /* "evaluation.size[2].acc" */
    size_t used;
};

static sb_status read_value(struct walk *w, const struct sb_schema *s, json_t *value,
                            json_t **out);

static const char *wanted(enum sb_schema_kind kind)
{
    static const char *const words[] = {
        [SB_SCHEMA_NUMBER] = "a number",  [SB_SCHEMA_TEXT] = "a string",
        [SB_SCHEMA_OBJECT] = "an object", [SB_SCHEMA_MAP] = "an object",
        [SB_SCHEMA_ARRAY] = "an array",
    };
    return words[kind];
}

static const char *found(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_NULL:
        return "null";
    default:
        return json_is_number(value) ? "a number" : "true or false";
    }
}

static bool fits(const struct sb_schema *s, const json_t *value)
{
    switch (s->kind) {
    case SB_SCHEMA_NUMBER:
        return json_is_number(value) || json_is_null(value);
    case SB_SCHEMA_TEXT:
        return json_is_string(value);
    case SB_SCHEMA_OBJECT:
    case SB_SCHEMA_MAP:
        return json_is_object(value);
    default:
        return json_is_array(value);
    }
}

static sb_status no_memory(const struct walk *w)
{
    return sb_fail(SB_ENOMEM, "%s: no memory for its JSON", w->source);
}

/* The place of a field or, with a NULL key, of an item; returns what to leave with. */
static size_t enter(struct walk *w, const char *key, size_t item)
{
    size_t before = w->used, capacity = PATH_BYTES - before;
    int n = key ? snprintf(w->path + before, capacity, "%s%s", before ? "." : "", key)
                : snprintf(w->path + before, capacity, "[%zu]", item);
    w->used += n < 0 ? 0 : (size_t)n < capacity ? (size_t)n : capacity - 1;
    return before;
}

static void leave(struct walk *w, size_t before)
{
    w->used = before;
    w->path[before] = '\0';
}

static sb_status read_fields(struct walk *w, const struct sb_schema *s,
                             const json_t *value, json_t *out)
{
    sb_status st = SB_OK;
    for (const struct sb_schema *f = s->inner; st == SB_OK && f->key; f++) {
        json_t *inner = json_object_get(value, f->key);
        json_t *copy = NULL;
        if (!inner && !f->required)
            continue;
        size_t before = enter(w, f->key, 0);
        if (!inner)
            st = sb_fail(SB_EFORMAT, "%s: %s is missing, want %s", w->source, w->path,
                         wanted(f->kind));
        else
            st = read_value(w, f, inner, &copy);
        leave(w, before);
        if (st == SB_OK && json_object_set_new(out, f->key, copy) != 0)
            st = no_memory(w);
    }
    return st;
}

static sb_status read_items(struct walk *w, const struct sb_schema *s,
                            const json_t *value, json_t *out)
{
    sb_status st = SB_OK;
    for (size_t i = 0; st == SB_OK && i < json_array_size(value); i++) {
        json_t *copy = NULL;
        size_t before = enter(w, NULL, i);
        st = read_value(w, s->inner, json_array_get(value, i), &copy);
        leave(w, before);
        if (st == SB_OK && json_array_append_new(out, copy) != 0)
            st = no_memory(w);
    }
    return st;
}

static sb_status read_map(struct walk *w, const struct sb_schema *s, json_t *value,
                          json_t *out)
{
    sb_status st = SB_OK;
    void *at = json_object_iter(value);
    for (; st == SB_OK && at; at = json_object_iter_next(value, at)) {
        const char *key = json_object_iter_key(at);
        json_t *copy = NULL;
        size_t before = enter(w, key, 0);
        st = read_value(w, s->inner, json_object_iter_value(at), &copy);
        leave(w, before);
        if (st == SB_OK && json_object_set_new(out, key, copy) != 0)
            st = no_memory(w);
    }
    return st;
}

static size_t size_of(const struct sb_schema *s, const json_t *value)
{
    switch (s->kind) {
    case SB_SCHEMA_TEXT:
        return json_string_length(value);
    case SB_SCHEMA_ARRAY:
        return json_array_size(value);
    case SB_SCHEMA_MAP:
        return json_object_size(value);
    default:
        return 0;
    }
}

static sb_status check(const struct walk *w, const struct sb_schema *s,
                       const json_t *value)
{
    const char *place = w->used ? w->path : "the whole";
    if (!fits(s, value))
        return sb_fail(SB_EFORMAT, "%s: %s: want %s, have %s", w->source, place,
                       wanted(s->kind), found(value));
    size_t size = size_of(s, value);
    if (size <= s->max)
        return SB_OK;
    return sb_fail(SB_EFORMAT, "%s: %s: want at most %zu %s, have %zu", w->source, place,
                   s->max, s->kind == SB_SCHEMA_TEXT ? "bytes" : "items", size);
}

static json_t *copy_leaf(const struct sb_schema *s, const json_t *value)
{
    if (s->kind == SB_SCHEMA_TEXT)
        return json_stringn(json_string_value(value), json_string_length(value));
    return json_is_null(value)      ? json_null()
           : json_is_integer(value) ? json_integer(json_integer_value(value))
                                    : json_real(json_real_value(value));
}

/* An empty one of the kind, or the whole leaf. */
static json_t *begin(const struct sb_schema *s, const json_t *value)
{
    switch (s->kind) {
    case SB_SCHEMA_OBJECT:
    case SB_SCHEMA_MAP:
        return json_object();
    case SB_SCHEMA_ARRAY:
        return json_array();
    default:
        return copy_leaf(s, value);
    }
}

static sb_status read_value(struct walk *w, const struct sb_schema *s, json_t *value,
                            json_t **out)
{
    *out = NULL;
    sb_status st = check(w, s, value);
    if (st != SB_OK)
        return st;
    *out = begin(s, value);
    if (!*out)
        return no_memory(w);
    if (s->kind == SB_SCHEMA_OBJECT)
        st = read_fields(w, s, value, *out);
    else if (s->kind == SB_SCHEMA_MAP)
        st = read_map(w, s, value, *out);
    else if (s->kind == SB_SCHEMA_ARRAY)
        st = read_items(w, s, value, *out);
    if (st != SB_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return st;
}

sb_status sb_schema_read(const struct sb_schema *schema, const char *source,
                         json_t *value, json_t **out)
{
    struct walk w = {.source = source};
    return read_value(&w, schema, value, out);
}
