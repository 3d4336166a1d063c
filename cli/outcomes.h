/* outcomes - predictions of continuous targets: mean, deviations, an interval, quantiles. */
#ifndef SEBAYS_CLI_OUTCOMES_H
#define SEBAYS_CLI_OUTCOMES_H

#include "predictions.h"

/* Room for them. False: no memory. */
bool cli_outcomes_init(struct cli_predictions *a);
void cli_outcomes_fini(struct cli_predictions *a);

/* The names of a table's columns, and a row: example i of the last n. */
void cli_outcomes_head(const struct cli_predictions *a, const struct sebays_feed *feed);
void cli_outcomes_row(const struct cli_predictions *a, struct sebays_feed *feed, size_t i,
                      size_t n);

#endif
