/* info_columns - the columns of a table: kind, range and how much is missing. Part of
 * info.h. */
#ifndef SB_DATA_INFO_COLUMNS_H
#define SB_DATA_INFO_COLUMNS_H

#include "base/json.h"
#include "base/text.h"
#include "data/dataset.h"

struct sb_column_info {
    const char *kind;          /* "number", "boolean", "category", "label", ... */
    const char *name;          /* NULL: it has none */
    double min, max, mean, sd; /* of numbers that are there; NAN: of none */
    uint32_t texts;            /* of a category or the label */
    uint64_t missing;          /* rows */
};

/* A row a column, for people; of very many only some. */
void sb_column_info_text(const struct sb_dataset *d, struct sb_text *t);

/* [{"name", "kind", "min", ...}, ...]; NULL: no memory. */
json_t *sb_column_info_json(const struct sb_dataset *d);

#endif
