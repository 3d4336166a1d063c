/* compare - the paper's table for some runs.
 *
 * A row is a recipe: runs that differ in train.seed only are one row, with mean and sample
 * standard deviation. Runs of one data set are one table, if they were tested on the same
 * examples for the same answers (compare_sets.c). Tables and rows that are the
 * paper's come first, in its order, then all others in the order of the runs. Where the paper
 * has a row of a single member, the best member of an ensemble (of most accuracy, then least
 * nll) is a row of its own. A figure that one of a row's runs lacks is missing in the row.
 *
 *     acc nll ece       of the ensemble on the test set: as `sebays eval` found them last, or
 *                       as training did
 *     cacc cnll cece    the same over its corrupted copies, predictions pooled
 *     cost              FLOPs of training, as a multiple of one dense run: a dense network of
 *                       the same architecture, explored and exploited once
 *     dense_run_epochs  the epochs of that dense run: costs compare where these are the same
 *     training_runs     how often a curve of the learning rate was begun anew
 */
#ifndef SB_REPORT_COMPARE_H
#define SB_REPORT_COMPARE_H

#include <stddef.h>

#include "report/paper.h"
#include "report/run.h"

enum sb_figure {
    SB_FIGURE_ACC,
    SB_FIGURE_NLL,
    SB_FIGURE_ECE,
    SB_FIGURE_CACC,
    SB_FIGURE_CNLL,
    SB_FIGURE_CECE,
    SB_FIGURE_SCORES, /* those of the paper */
    SB_FIGURE_COST = SB_FIGURE_SCORES,
    SB_FIGURE_UNIT,
    SB_FIGURE_RUNS,
    SB_FIGURE_SECONDS,
    SB_FIGURE_RMSE, /* of continuous targets, whose nll is with the others */
    SB_FIGURE_MAE,
    SB_FIGURE_CRPS,
    SB_FIGURES
};

struct sb_compare_row {
    const struct sb_report_run *first; /* borrowed: the recipe is its */
    size_t table;                      /* rows of one data set have one number, from 0 */
    size_t runs;
    bool single;             /* it is the best member of each run */
    double mean[SB_FIGURES]; /* NAN: missing */
    double sd[SB_FIGURES];   /* NAN: missing, or one run */
    bool best[SB_FIGURES];   /* of its table, as printed; never in a table of one row */
    const struct sb_paper_row *paper; /* NULL: none of the paper's */
};

struct sb_compare {
    struct sb_compare_row *row; /* [rows] owned */
    size_t rows, tables;
    const struct sb_report_run *unlike[2]; /* borrowed: the first two of one data set that
                                            * were not evaluated alike; NULL: all were */
};

/* run: [runs] borrowed, all finished. SB_EARG names the first that is not. */
sb_status sb_compare_init(struct sb_compare *c, const struct sb_report_run *run,
                          size_t runs);
void sb_compare_fini(struct sb_compare *c);

/* "acc", ...; digits behind the point when printed, in per cent if that is how. */
const char *sb_figure_name(enum sb_figure f);
int sb_figure_digits(enum sb_figure f);
double sb_figure_scale(enum sb_figure f);

/* Method and members as they are shown. */
const char *sb_compare_method(const struct sb_compare_row *r,
                              char out[SB_CONFIG_NAME + 8]);
uint32_t sb_compare_members(const struct sb_compare_row *r);

/* The paper's value; NAN where it has none: of time, of some costs. */
double sb_figure_of_paper(const struct sb_paper_row *p, enum sb_figure f);

enum sb_compare_format {
    SB_COMPARE_TEXT,
    SB_COMPARE_MARKDOWN,
    SB_COMPARE_LATEX,
    SB_COMPARE_CSV,
    SB_COMPARE_JSON
};

/* A sentence about runs that were not evaluated alike; empty if all were. */
enum { SB_COMPARE_UNLIKE = 1024 };
const char *sb_compare_unlike(const struct sb_compare *c, char out[SB_COMPARE_UNLIKE]);

/* The format of a name: text, markdown, latex, csv, json. SB_EARG. */
sb_status sb_compare_format_find(const char *name, enum sb_compare_format *out);

/* The caller owns *out (sb_free). */
sb_status sb_compare_write(const struct sb_compare *c, enum sb_compare_format format,
                           char **out);

/* As JSON, for the page; the caller owns *out (json_decref). */
sb_status sb_compare_json(const struct sb_compare *c, json_t **out);

/* ---- between the files of compare ---- */

/* Whether figures of two runs can stand in one table. */
bool sb_compare_same_data(const struct sb_report_run *a, const struct sb_report_run *b);

/* What the data set of a table is called, with what tells it apart from other tables of that
 * set. The caller owns *out (sb_free). */
sb_status sb_compare_title(const struct sb_compare *c, size_t table, char **out);

sb_status sb_compare_csv(const struct sb_compare *c, char **out);
sb_status sb_compare_tables(const struct sb_compare *c, enum sb_compare_format format,
                            char **out);

#endif
