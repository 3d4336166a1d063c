/* collect - rows that several processes answer, in one output.
 *
 * Each process of a job answers every size-th batch of the input, as text in memory; after a
 * round of batches rank 0 gets them all and writes them in order. What a process gives begins
 * with where its rows are in the input, so that processes that read different files are
 * noticed.
 */
#ifndef SEBAYS_CLI_COLLECT_H
#define SEBAYS_CLI_COLLECT_H

#include <stdint.h>
#include <stdio.h>

#include "predictions.h"
#include "sebays.h"

/* What stands before a process's rows. */
struct cli_collect_head {
    uint64_t first, count, rejected;
};

struct cli_collect {
    struct sebays_ranks *ranks; /* borrowed */
    FILE *output;               /* borrowed: rank 0's */
    uint64_t *sizes;            /* [size] owned */
    uint64_t count, rejected;   /* of all so far */
};

/* False: no memory. */
bool cli_collect_init(struct cli_collect *c, struct sebays_ranks *ranks, FILE *output);
void cli_collect_fini(struct cli_collect *c);

/* A round: the got predictions in a, which the feed gave. *more: there may be others; if not,
 * a counts the rows of all on rank 0. a->to is the output again. Whether that could be written
 * is the output's to say. SEBAYS_EIO without a sentence: *apart, ranks read other rows. */
sebays_status cli_collect_round(struct cli_collect *c, struct cli_predictions *a,
                                struct sebays_feed *feed, size_t got, bool *more,
                                bool *apart);

#endif
