/* parts - what the sections of an evaluation share. Internal to eval/. */
#ifndef SB_EVAL_PARTS_H
#define SB_EVAL_PARTS_H

#include "base/json.h"
#include "base/text.h"
#include "eval/ensemble.h"
#include "eval/eval.h"
#include "figures/metrics.h"
#include "figures/mixture.h"
#include "model/run_files.h"
#include "train/results.h"
#include "train/source.h"

enum { SB_EVAL_CHUNK = SB_ENSEMBLE_CHUNK };

struct sb_eval {
    const struct sb_env *env;
    const struct sb_eval_options *o;
    struct sb_model model;
    struct sb_ensemble ensemble;
    struct sb_source source; /* the run's own data */
    struct sb_dataset other; /* another test set, if one was named */
    struct sb_chosen test;   /* the examples of the test set */
    int32_t *label;          /* [test.n] owned; NULL: outcomes */
    float *target;           /* [test.n][targets] owned; NULL: classes */
    float *prob; /* [members][test.n][classes] owned: of the test set; of outcomes
                  * [members] of means and then variances, [test.n][targets] */
    const float **member;      /* [2 * members] owned: of prob */
    struct sb_probs probs;     /* the same, as metrics take them */
    struct sb_mixture mixture; /* of outcomes */
    json_t *sections;          /* owned: what was computed */
    struct sb_text table;      /* for people */
    bool failed;               /* no memory for a JSON value */
};

/* Adding to JSON values; value NULL or no memory sets a->failed. */
void sb_eval_put(struct sb_eval *a, json_t *object, const char *key, json_t *value);
void sb_eval_push(struct sb_eval *a, json_t *array, json_t *value);

/* {"acc", "nll", "ece"}, with "brier" if that is wanted. */
json_t *sb_eval_scores(const struct sb_scores *s, bool brier);

/* An array of numbers. */
json_t *sb_eval_numbers(struct sb_eval *a, const double *x, size_t n);

/* SB_EARG unless the test set is of images in bytes; what needs them, in a sentence. */
sb_status sb_eval_want_images(const struct sb_eval *a, const char *what);

/* The sections, each a file. */
sb_status sb_eval_test(struct sb_eval *a);
sb_status sb_eval_outcomes(struct sb_eval *a);
sb_status sb_eval_examples(struct sb_eval *a);
sb_status sb_eval_corruption(struct sb_eval *a, const char *source);
sb_status sb_eval_ood(struct sb_eval *a);
sb_status sb_eval_attack(struct sb_eval *a, const char *kind);
sb_status sb_eval_trajectory(struct sb_eval *a);
sb_status sb_eval_support(struct sb_eval *a);

/* Of the section `test`: figures by class; conformal sets, where there was a calibration
 * part; what a temperature would change. */
sb_status sb_eval_classes(struct sb_eval *a, json_t *test);
sb_status sb_eval_conformal(struct sb_eval *a, json_t *test);
sb_status sb_eval_temperature(struct sb_eval *a, json_t *test);

/* {"acc": "...", ...}, those of the task. */
json_t *sb_eval_definitions(const struct sb_eval *a);
void sb_eval_tell_definitions(struct sb_eval *a);

/* Merges a->sections into results.json. */
sb_status sb_eval_write(struct sb_eval *a);

/* "draw", "draws:10", "mean" or "activation-noise". */
void sb_eval_sampling(const struct sb_eval *a, char out[32]);

#endif
