/* missing - values of rows that are not there where no row of training lacked one.
 *
 * Whatever form rows come in, such a value counts as the mean of its feature in training
 * and is told of: tables as text count theirs as they are read (readers/rows.h), rows in
 * memory are looked at here, after a prediction that came upon one. A model that was
 * trained with data.missing = error refuses them, and a model of images any pixel that is
 * not finite.
 */
#ifndef SB_PREDICT_MISSING_H
#define SB_PREDICT_MISSING_H

#include "model/model.h"
#include "predict/input.h"

enum { SB_MISSING_PLACE = 128, SB_MISSING_NOTE = 512 };

struct sb_missing {
    uint64_t missing; /* numbers that are not there, unlike in training */
    uint64_t unknown; /* texts that are none of a category's, if they are looked for */
    uint64_t example; /* of the first of them, and its place in a row */
    uint32_t input;
};

/* Whether rows may lack numbers that no row of training lacked; columns: the model's, or
 * NULL. */
bool sb_missing_taken(const struct sb_model_info *i, const struct sb_columns *columns);

/* Adds what n rows have of them, the first being example `first` of those counted. */
void sb_missing_count(struct sb_missing *m, const struct sb_input *in, size_t n,
                      uint64_t first, bool texts, const struct sb_columns *columns,
                      uint32_t inputs);

/* In a sentence; false: nothing. columns: the model's, or NULL. */
bool sb_missing_note(const struct sb_missing *m, const struct sb_columns *columns,
                     char out[SB_MISSING_NOTE]);

/* What example i of floats has that is not taken, and where, for a message: "nan in column
 * 3 (age)", "inf in channel 0, row 4, column 7". size: channels, height, width. */
const char *sb_missing_bad(const struct sb_input *in, size_t i,
                           const struct sb_columns *columns, const uint32_t size[3],
                           char out[SB_MISSING_PLACE]);

#endif
