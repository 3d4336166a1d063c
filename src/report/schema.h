/* schema - what a JSON file may hold, as tables, and the part of it that is as it should be.
 *
 * A run's files may come from anywhere. sb_schema_read walks a value along a table, and
 * either gives a copy with the keys the table knows and nothing else, or one sentence that
 * names the file and the place:
 *
 *     runs/a/results.json: evaluation.size[2].acc.mean: want a number, have a string
 *
 * So what lies behind it, C or the page's JavaScript, meets only what the table promises.
 * A number may be null (JSON has no NaN); whatever is not required may be absent.
 */
#ifndef SB_REPORT_SCHEMA_H
#define SB_REPORT_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/status.h"

enum sb_schema_kind {
    SB_SCHEMA_NUMBER,
    SB_SCHEMA_TEXT,
    SB_SCHEMA_OBJECT, /* of known fields */
    SB_SCHEMA_MAP,    /* an object of any keys, its values all of one kind */
    SB_SCHEMA_ARRAY
};

struct sb_schema {
    const char *key; /* of an object's field; NULL: ends the fields, or an array's item */
    enum sb_schema_kind kind;
    bool required;
    size_t max; /* bytes of a text, items of an array or a map */
    /* Fields of an object, up to a NULL key; the one item of an array or a map. */
    const struct sb_schema *inner;
};

/* results.json; one line of metrics.jsonl. */
extern const struct sb_schema sb_schema_results, sb_schema_metric;

/* The caller owns *out (json_decref); it is NULL after a failure. SB_EFORMAT. */
sb_status sb_schema_read(const struct sb_schema *schema, const char *source,
                         json_t *value, json_t **out);

#endif
