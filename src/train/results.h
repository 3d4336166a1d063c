/* results - the results.json of a run, read again. */
#ifndef SB_TRAIN_RESULTS_H
#define SB_TRAIN_RESULTS_H

#include "base/json.h"
#include "train/trainer.h"

/* Parses path, an object; NULL and SB_OK if there is no such file. The caller owns *out. */
sb_status sb_results_open(const char *path, json_t **out);

/* Gives results the evaluations that path has: the model of a run that is taken up again
 * after its end is the same. */
sb_status sb_results_keep(const char *path, json_t *results);

/* The figures in path. SB_EIO when there is no such file. The caller calls
 * sb_run_result_fini, also after a failure. */
sb_status sb_results_read(const char *path, struct sb_run_result *out);

#endif
