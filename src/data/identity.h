/* identity - what the data of a run is, kept with it, so that another day's data is not
 * taken for it.
 *
 *     {"classes": 4, "class_names": ["a", ...], "columns": {...}, "rows": 80,
 *      "shape": [2, 1, 1], "split": "9f...", "test": "03...", "tests": 12, "train": "71..."}
 *
 * rows is what the training set has, tests how many examples test. train, test and split
 * are fingerprints (base/hash.h): of the examples, labels and weights of each set, and of
 * which examples train, validate and test. Of more than 64 MiB, a thousand pieces evenly
 * spread stand for all; of image files that are read as they are needed, their names and
 * labels. class_names, columns and target_names are missing where a set has none. Where
 * the data is does not matter: it may move.
 */
#ifndef SB_DATA_IDENTITY_H
#define SB_DATA_IDENTITY_H

#include <stdbool.h>

#include "base/json.h"
#include "base/status.h"
#include "data/dataset.h"
#include "data/split.h"

struct sb_identity_of {
    const struct sb_dataset *train;
    const struct sb_dataset *test; /* NULL: part of train */
    const struct sb_indices *part;
    const uint32_t *test_index; /* [tests] of train; NULL: all of test */
    uint32_t tests;
    const uint32_t *calibration; /* [calibrations] of train */
    uint32_t calibrations;       /* 0: none */
};

/* The caller owns *out (json_decref); it is NULL after a failure. */
sb_status sb_identity_make(const struct sb_identity_of *of, json_t **out);

/* What the comparison is for: how much must be the same. */
enum sb_identity_use {
    SB_IDENTITY_RESUME, /* everything */
    SB_IDENTITY_FILES,  /* what files say, whatever a recipe chooses of it */
    SB_IDENTITY_EVAL,   /* columns, classes, and which examples were trained on */
    SB_IDENTITY_OTHER   /* columns and classes: other examples are judged */
};

/* SB_EARG names the first difference with both values, what they are of (source), and what
 * to do. force: a difference that does not make the result meaningless is passed over.
 * then may lack what was not kept when it was made. */
sb_status sb_identity_compare(const char *source, const json_t *then, const json_t *now,
                              enum sb_identity_use use, bool force);

/* The same for texts; SB_EFORMAT: then is none. */
sb_status sb_identity_compare_text(const char *source, const char *then, const char *now,
                                   enum sb_identity_use use, bool force);

#endif
