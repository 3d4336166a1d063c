/* json - Jansson with our errors.
 *
 * A parsed file is untrusted: each value is taken out by a getter that checks its type
 * and range and says, in one sentence, which file and which key is wrong. Values stay
 * Jansson's (json_incref, json_decref, its own memory: its allocator is the host
 * program's to set, not ours); this header is the only place that includes jansson.h.
 *
 * source names the text in sentences: a path, or "header of <path>".
 */
#ifndef SB_BASE_JSON_H
#define SB_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Parses one object or array; a key given twice is an error. The caller owns *out
 * (json_decref); it is NULL after a failure. SB_EFORMAT: "<source>: line 2, column 7:
 * ..." */
sb_status sb_json_parse(const char *source, const void *text, size_t size, json_t **out);

/* The value of a key of an object; SB_EFORMAT when it is missing or something else. What
 * they give is borrowed from object; *out is untouched after a failure. */
sb_status sb_json_string(const json_t *object, const char *source, const char *key,
                         const char **out);
sb_status sb_json_integer(const json_t *object, const char *source, const char *key,
                          int64_t min, int64_t max, int64_t *out);
sb_status sb_json_number(const json_t *object, const char *source, const char *key,
                         double *out); /* an integer is a number too */
sb_status sb_json_array(const json_t *object, const char *source, const char *key,
                        const json_t **out);
sb_status sb_json_object(const json_t *object, const char *source, const char *key,
                         const json_t **out);

/* A new real, or null if x is not finite, which JSON cannot say; NULL: no memory. */
json_t *sb_json_real(double x);

/* New arrays of n of these; NULL: no memory, a float that is not finite, or a text that is
 * not UTF-8. Doubles are as sb_json_real has them; text NULL: an empty array. */
json_t *sb_json_doubles(const double *x, size_t n);
json_t *sb_json_floats(const float *x, size_t n);
json_t *sb_json_texts(const char *const *text, size_t n);

/* value as text with sorted keys and 17 digits, which give every double back exactly:
 * equal values make equal texts. One line without newline or, pretty, indented and with a
 * final newline. The caller owns *out (sb_free); it is NULL after a failure. */
sb_status sb_json_write(const json_t *value, bool pretty, char **out);

#endif
