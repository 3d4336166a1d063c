/* cells - pieces of the tables that predictions are written as: CSV, JSON lines, NumPy.
 *
 * Numbers have nine digits, so that they read back as the same floats.
 */
#ifndef SEBAYS_CLI_CELLS_H
#define SEBAYS_CLI_CELLS_H

#include <stdbool.h>
#include <stdio.h>

#include "sebays.h"

/* How a table is written as CSV. */
struct cli_csv {
    FILE *to;
    bool files; /* a row has the name of its file */
    bool safe;  /* no cell begins as a formula of a spreadsheet does */
    bool plain; /* it is for a screen: control characters, which steer it, become ? */
};

/* A text of a CSV cell, in quotes if it needs them, prefix first; of a JSON string. */
void cli_put_cell(struct cli_csv c, const char *prefix, const char *text);
void cli_put_string(FILE *to, const char *text);

/* Numbers with commas between, `before` in front of the first. */
void cli_put_floats(FILE *to, const char *before, const float *x, size_t n);

/* A number of a JSON object; null for one that JSON has no word for. */
void cli_put_number(FILE *to, double x);

/* What is in front of a row's own cells, each with a comma behind it: "index,", a file's
 * name, kept columns. */
void cli_put_head(struct cli_csv c, const struct sebays_feed *feed);
void cli_put_front(struct cli_csv c, uint64_t index, const char *file,
                   const struct sebays_feed *feed, size_t i);

/* The same of a JSON object, from its opening bracket on. */
void cli_put_json_front(FILE *to, uint64_t index, const char *file,
                        const struct sebays_feed *feed, size_t i);

/* The head of an array float32 [count][width]; as long for any count. */
void cli_put_npy_head(FILE *to, uint64_t count, uint32_t width);

#endif
