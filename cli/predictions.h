/* predictions - what a model says about examples, as a table (CSV), as one JSON object a line,
 * or as a NumPy array of probabilities or of means. What is special to continuous targets is
 * in outcomes.c. */
#ifndef SEBAYS_CLI_PREDICTIONS_H
#define SEBAYS_CLI_PREDICTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "cells.h"
#include "sebays.h"

enum cli_predictions_format {
    CLI_PREDICTIONS_CSV,
    CLI_PREDICTIONS_JSON,
    CLI_PREDICTIONS_NPY
};

enum { CLI_QUANTILES = 64 };

struct cli_class {
    float probability;
    uint32_t number;
};

struct cli_predictions {
    const struct sebays_model *model; /* borrowed, as all pointers of the first part */
    FILE *to;
    enum cli_predictions_format format;
    uint32_t top;        /* classes a row names; at least 1 */
    bool files;          /* a row has the name of its file */
    bool probabilities;  /* of all classes */
    bool members;        /* of every member */
    bool far;            /* how unlike training rows examples are */
    bool csv_safe;       /* no cell begins as a formula does */
    bool screen;         /* `to` is a terminal */
    bool rejects;        /* those of more entropy than ... */
    double reject_above; /* ... this, in nats */
    double coverage;     /* of intervals, or of conformal sets */
    bool conformal;
    double quantiles[CLI_QUANTILES]; /* those that are wanted of targets, ... */
    size_t quantile_count;           /* ... so many */

    struct sebays_prediction out;   /* room for SEBAYS_FEED_BATCH examples; owned */
    struct cli_class *order;        /* [classes] owned */
    struct sebays_outcomes outcome; /* the same of targets; owned */
    double *levels; /* [2 + quantile_count] owned: the interval's ends, then the others */
    double *factor; /* [targets, or 1] owned: of conformal prediction; NULL: none */
    uint64_t count, rejected; /* so far */
};

static inline struct cli_csv cli_csv_of(const struct cli_predictions *a)
{
    return (struct cli_csv){a->to, a->files, a->csv_safe, a->screen};
}

/* Room for the predictions. False: no memory. The caller calls cli_predictions_fini. */
bool cli_predictions_init(struct cli_predictions *a);
void cli_predictions_fini(struct cli_predictions *a);

/* What stands before the first row. count: rows to come, of an array; 0 if that is not
 * known, then cli_predictions_end corrects it, and `to` must be a file. */
void cli_predictions_begin(struct cli_predictions *a, const struct sebays_feed *feed,
                           uint64_t count);

/* The first n predictions in a->out; their files' names are feed's. */
void cli_predictions_write(struct cli_predictions *a, struct sebays_feed *feed, size_t n);

/* All rows are written; count as before. Whether they could be is to's to say. */
void cli_predictions_end(struct cli_predictions *a, uint64_t count);

/* ---- between predictions.c and outcomes.c: continuous targets ---- */

/* Memory for them. False: there is none. */
bool cli_outcomes_init(struct cli_predictions *a);
void cli_outcomes_fini(struct cli_predictions *a);

/* The names of a table's columns, and a row: example i of the last n. */
void cli_outcomes_head(const struct cli_predictions *a, const struct sebays_feed *feed);
void cli_outcomes_row(const struct cli_predictions *a, struct sebays_feed *feed, size_t i,
                      size_t n);

#endif
