/* assess - what a finished run is worth, beyond the figures of its training (METHOD 6).
 *
 * The members of RUN/model.safetensors predict the test set, corrupted, foreign and
 * attacked images; what comes out is merged into RUN/results.json, object "evaluation",
 * section by section, and told as a table with the definitions used:
 *
 *     test, diversity, size, examples, support   always
 *     corruption, ood, attack                    when asked for
 *     trajectory                                 when the run recorded one
 *
 * Sections that were not computed this time stay as they are in the file, unless they were
 * of another way of sampling.
 */
#ifndef SB_ASSESS_ASSESS_H
#define SB_ASSESS_ASSESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/env.h"
#include "base/progress.h"
#include "base/status.h"
#include "train/config.h"
#include "train/method.h"

struct sb_assess_options {
    const char *run;                /* its directory */
    const struct sb_config *config; /* its recipe; eval.* says how */
    const struct sb_method *method;
    const char *test;       /* another test set, path or name; NULL: the recipe's */
    const char *const *ood; /* [oods] "NAME=PATH", or a known name */
    size_t oods;
    const char *corrupt; /* a directory like CIFAR-10-C, or "generate"; NULL: not */
    const char *attack;  /* "fgsm", "pgd", "pgd-STEPS"; NULL: not */
    bool all;            /* everything that can be: generated corruptions, FGSM, and the
                          * foreign sets that are known for this one and are there */
    struct sb_progress *progress; /* in images; may be NULL */
};

/* table: for people; the caller frees it (sb_free). */
sb_status sb_assess_run(const struct sb_env *env, const struct sb_assess_options *o,
                        char **table);

#endif
