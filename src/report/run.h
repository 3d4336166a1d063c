/* run - a finished (or still training) run as reports see it: its recipe and what its files
 * say, checked.
 *
 * A run directory may come from anywhere: results.json and metrics.jsonl pass through
 * schema.h, and pictures must have the pixels they claim, before anything looks at them.
 */
#ifndef SB_REPORT_RUN_H
#define SB_REPORT_RUN_H

#include "base/json.h"
#include "base/status.h"
#include "recipe/config.h"

/* The recipe, from whoever can read recipes: report/ lies below them. */
struct sb_report_recipe {
    struct sb_config config; /* resolved */
    char *text;              /* owned: as the run directory has it */
    char *group;             /* owned: equal for runs that differ in their seed only */
};

struct sb_report_run {
    const char *path; /* borrowed: the directory, as the user wrote it */
    struct sb_report_recipe recipe;
    json_t *results; /* owned; NULL: training has not ended */
    json_t *metrics; /* owned: an array, one object a validation */
};

/* Reads results.json and metrics.jsonl of path; either may be absent. A last line of
 * metrics.jsonl without its newline is still being written, and left out. Needs a fini, also
 * after a failure. SB_EIO, SB_EFORMAT. */
sb_status sb_report_run_init(struct sb_report_run *r, const char *path);
void sb_report_run_fini(struct sb_report_run *r);

/* SB_EIO with what to do, if the run has no results yet. */
sb_status sb_report_run_finished(const struct sb_report_run *r);

/* evaluation.NAME of the results; NULL: not evaluated. Borrowed. */
const json_t *sb_report_section(const struct sb_report_run *r, const char *name);

/* A new JSON string; bytes that are no UTF-8 become '?'. NULL: no memory. */
json_t *sb_report_string(const char *text);

#endif
