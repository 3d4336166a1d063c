/* paper - what the paper reports for its rows (method.md 7), to stand beside our own. */
#ifndef SB_REPORT_PAPER_H
#define SB_REPORT_PAPER_H

#include <stddef.h>
#include <stdint.h>

#include "recipe/config.h"

struct sb_paper_row {
    const char *data, *method;
    uint32_t members; /* 0: any, mc-dropout's is one network */
    double sparsity;
    double acc, nll, ece;    /* on the test set; accuracies are shares, not per cent */
    double cacc, cnll, cece; /* on its corrupted copies, pooled */
};

/* The row that a recipe repeats; NULL: it is none of them. All of the paper's rows are
 * WRN-28-10's; those of forms have the options of method.md 5.2, mc-dropout's one pass. */
const struct sb_paper_row *sb_paper_find(const struct sb_config *c);

/* The paper's row of a single member of what the recipe trains; NULL: it has none. */
const struct sb_paper_row *sb_paper_single(const struct sb_config *c);

/* Row i; NULL when there are not so many. */
const struct sb_paper_row *sb_paper_at(size_t i);

/* Its number in the paper's tables, one after the other. */
size_t sb_paper_index(const struct sb_paper_row *r);

/* FLOPs of training that the paper reports, as a multiple of one dense run; NAN: none. */
double sb_paper_cost(const struct sb_paper_row *r);

#endif
