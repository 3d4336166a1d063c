/* parts - what the sections of an evaluation share. Internal to assess/. */
#ifndef SB_ASSESS_PARTS_H
#define SB_ASSESS_PARTS_H

#include "assess/assess.h"
#include "assess/ensemble.h"
#include "base/json.h"
#include "base/text.h"
#include "eval/metrics.h"
#include "train/results.h"
#include "train/source.h"

enum { SB_ASSESS_CHUNK = SB_ENSEMBLE_CHUNK };

struct sb_assess {
    const struct sb_env *env;
    const struct sb_assess_options *o;
    struct sb_model model;
    struct sb_ensemble ensemble;
    struct sb_source source; /* the run's own data */
    struct sb_dataset other; /* another test set, if one was named */
    struct sb_chosen test;   /* the examples of the test set */
    int32_t *label;          /* [test.n] owned */
    float *prob;             /* [members][test.n][classes] owned: of the test set */
    const float **member;    /* [members] owned: of prob */
    struct sb_probs probs;   /* the same, as metrics take them */
    json_t *sections;        /* owned: what was computed */
    struct sb_text table;    /* for people */
    bool failed;             /* no memory for a JSON value */
};

/* Adding to JSON values; value NULL or no memory sets a->failed. */
void sb_assess_put(struct sb_assess *a, json_t *object, const char *key, json_t *value);
void sb_assess_push(struct sb_assess *a, json_t *array, json_t *value);

/* {"acc", "nll", "ece"}, with "brier" if that is wanted. */
json_t *sb_assess_scores(const struct sb_scores *s, bool brier);

/* An array of numbers. */
json_t *sb_assess_numbers(struct sb_assess *a, const double *x, size_t n);

/* SB_EARG unless the test set is of images in bytes; what needs them, in a sentence. */
sb_status sb_assess_want_images(const struct sb_assess *a, const char *what);

/* The sections, each a file. */
sb_status sb_assess_test(struct sb_assess *a);
sb_status sb_assess_examples(struct sb_assess *a);
sb_status sb_assess_corruption(struct sb_assess *a, const char *source);
sb_status sb_assess_ood(struct sb_assess *a);
sb_status sb_assess_attack(struct sb_assess *a, const char *kind);
sb_status sb_assess_trajectory(struct sb_assess *a);
sb_status sb_assess_support(struct sb_assess *a);

/* {"acc": "...", ...} */
json_t *sb_assess_definitions(void);
void sb_assess_tell_definitions(struct sb_assess *a);

/* Merges a->sections into results.json. */
sb_status sb_assess_write(struct sb_assess *a);

/* "draw", "draws:10", "mean" or "activation-noise". */
void sb_assess_sampling(const struct sb_assess *a, char out[32]);

#endif
