/* json - see json.h. */
#include "base/json.h"

#include <math.h>

#include "base/mem.h"

enum { INDENT = 2, DIGITS = 17 };

sb_status sb_json_parse(const char *source, const void *text, size_t size, json_t **out)
{
    json_error_t error;
    *out = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (*out)
        return SB_OK;
    if (json_error_code(&error) == json_error_out_of_memory)
        return sb_fail(SB_ENOMEM, "%s: no memory for its JSON", source);
    return sb_fail(SB_EFORMAT, "%s: line %d, column %d: %s", source, error.line,
                   error.column, error.text);
}

static const char *kind(const json_t *value)
{
    static const char *const kinds[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array",
        [JSON_STRING] = "a string",    [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a real number", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null",
    };
    return value ? kinds[json_typeof(value)] : "nothing";
}

/* The sentence for a key whose value is not what the getter wants. */
static sb_status wrong(const json_t *object, const char *source, const char *key,
                       const char *want)
{
    if (!json_is_object(object))
        return sb_fail(SB_EFORMAT, "%s: want an object with key \"%s\", have %s", source,
                       key, kind(object));
    const json_t *value = json_object_get(object, key);
    if (!value)
        return sb_fail(SB_EFORMAT, "%s: key \"%s\" is missing, want %s", source, key,
                       want);
    return sb_fail(SB_EFORMAT, "%s: key \"%s\": want %s, have %s", source, key, want,
                   kind(value));
}

sb_status sb_json_string(const json_t *object, const char *source, const char *key,
                         const char **out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return wrong(object, source, key, "a string");
    *out = json_string_value(value);
    return SB_OK;
}

sb_status sb_json_integer(const json_t *object, const char *source, const char *key,
                          int64_t min, int64_t max, int64_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        return wrong(object, source, key, "an integer");
    int64_t x = json_integer_value(value);
    if (x < min || x > max)
        return sb_fail(SB_EFORMAT,
                       "%s: key \"%s\": want an integer from %lld to %lld, "
                       "have %lld",
                       source, key, (long long)min, (long long)max, (long long)x);
    *out = x;
    return SB_OK;
}

sb_status sb_json_number(const json_t *object, const char *source, const char *key,
                         double *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        return wrong(object, source, key, "a number");
    *out = json_number_value(value);
    return SB_OK;
}

sb_status sb_json_array(const json_t *object, const char *source, const char *key,
                        const json_t **out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_array(value))
        return wrong(object, source, key, "an array");
    *out = value;
    return SB_OK;
}

sb_status sb_json_object(const json_t *object, const char *source, const char *key,
                         const json_t **out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_object(value))
        return wrong(object, source, key, "an object");
    *out = value;
    return SB_OK;
}

json_t *sb_json_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* False, and *array is NULL: it could not take value, or there was none. */
static bool append(json_t **array, json_t *value)
{
    if (json_array_append_new(*array, value) == 0)
        return true;
    json_decref(*array);
    *array = NULL;
    return false;
}

json_t *sb_json_doubles(const double *x, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n && append(&array, sb_json_real(x[i])); i++)
        ;
    return array;
}

json_t *sb_json_floats(const float *x, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n && append(&array, json_real((double)x[i])); i++)
        ;
    return array;
}

json_t *sb_json_texts(const char *const *text, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; text && i < n && append(&array, json_string(text[i])); i++)
        ;
    return array;
}

sb_status sb_json_write(const json_t *value, bool pretty, char **out)
{
    size_t flags = JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS);
    flags |= pretty ? JSON_INDENT(INDENT) : JSON_COMPACT;
    *out = NULL;
    size_t size = json_dumpb(value, NULL, 0, flags); /* 0 is its way to say no */
    if (size == 0)
        return sb_fail(SB_ENOMEM, "json: no memory for writing %s", kind(value));
    char *text = sb_malloc(size + 2, 1);
    if (!text)
        return sb_fail(SB_ENOMEM, "json: no memory for a text of %zu bytes", size);
    if (json_dumpb(value, text, size, flags) != size) {
        sb_free(text);
        return sb_fail(SB_ENOMEM, "json: no memory for writing %s", kind(value));
    }
    if (pretty)
        text[size++] = '\n';
    text[size] = '\0';
    *out = text;
    return SB_OK;
}
