/* eval - what a finished run is worth, beyond the figures of its training (method.md 6).
 *
 * The members of RUN/model.safetensors predict the test set, corrupted, out-of-distribution and
 * attacked images; what comes out is merged into RUN/results.json, object "evaluation",
 * section by section, and told as a table with the definitions used:
 *
 *     test, diversity, size, examples, support   always
 *     corruption, ood, attack                    when asked for
 *     trajectory                                 when the run recorded one
 *
 * Sections that were not computed this time stay as they are in the file, unless they were
 * of another way of sampling; so do, within ood and attack, sets of other names and attacks of
 * another kind or number of steps.
 */
#ifndef SB_EVAL_ASSESS_H
#define SB_EVAL_ASSESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/progress.h"
#include "base/status.h"
#include "recipe/config.h"
#include "recipe/method.h"

struct sb_eval_options {
    const char *run;                /* its directory */
    const struct sb_config *config; /* its recipe; eval.* says how */
    const struct sb_method *method;
    const char *test;       /* another test set, path or name; NULL: the recipe's */
    const char *const *ood; /* [oods] "NAME=PATH", or a known name */
    size_t oods;
    const char *corrupt; /* a directory like CIFAR-10-C, or "generate"; NULL: not */
    const char *attack;  /* "fgsm", "pgd", "pgd-STEPS"; NULL: not */
    /* everything that can be: generated corruptions, FGSM, and the out-of-distribution
     * sets that are known for this one and are there */
    bool all;
    bool force; /* the run's data may have changed, but for classes and columns */
    struct sb_progress *progress; /* in images; may be NULL */
};

/* table: for people; the caller frees it (sb_free). */
sb_status sb_eval_run(const struct sb_env *env, const struct sb_eval_options *o,
                      char **table);

#endif
