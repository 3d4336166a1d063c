/* source - the data of a run as its recipe describes it: both splits, what is held out, and
 * how pixels become numbers. */
#ifndef SB_TRAIN_SOURCE_H
#define SB_TRAIN_SOURCE_H

#include "base/env.h"
#include "base/status.h"
#include "data/batch.h"
#include "data/dataset.h"
#include "data/identity.h"
#include "data/normalise.h"
#include "data/split.h"
#include "data/targets.h"
#include "model/model.h"
#include "nn/likelihood.h"
#include "recipe/auto.h"
#include "recipe/config.h"

struct sb_source {
    struct sb_dataset train, test;
    struct sb_indices part; /* of train: what is trained on, what validates */
    uint32_t *test_index;   /* [tests] of train, which has no test part of its own; owned;
                             * NULL: all of test */
    uint32_t tests;
    uint32_t *calibration; /* [calibrations] of train: chooses nothing, see
                            * figures/conformal.h; owned */
    uint32_t calibrations; /* 0: none */
    /* [rests] owned: of train, what is not kept for the test; NULL: all */
    uint32_t *rest;
    uint32_t rests;
    bool whole;    /* the test examples, if there are any, are some of train's */
    float *weight; /* [train.n] owned: what a row's loss is multiplied with, 1 in the mean
                    * over the training part; NULL: with nothing */
    struct sb_normalise normal;
    struct sb_target_scale scale; /* of continuous outcomes; count 0: classes */
    struct sb_augment augment;    /* of training batches */
    /* views for prediction, without augmentation ... */
    struct sb_batch_source train_clean;
    struct sb_batch_source test_clean;
    struct sb_batch_source validation; /* ... but for the recipe that wants it */
};

/* A data set's path or name, looked for where the recipe and the caller say. */
sb_status sb_source_find(const struct sb_config *c, const char *name, char *path,
                         size_t size);

/* How the recipe says that tables are read. */
struct sb_open_options sb_source_options(const struct sb_config *c, enum sb_split split);

/* What its outcomes are to a network, and the plain network that the recipe trains. */
enum sb_likelihood_kind sb_source_likelihood(const struct sb_source *s,
                                             const struct sb_config *c);
struct sb_arch_shape sb_source_shape(const struct sb_source *s,
                                     const struct sb_config *c);

/* Of sb_source_open: splits what is not kept for the test, rest[n] of train (NULL: all). */
sb_status sb_source_split(struct sb_source *s, const struct sb_config *c,
                          const uint32_t *rest, uint32_t n);

/* Of sb_source_open: learns how rows become features, from the training part. */
sb_status sb_source_encode(struct sb_source *s, const struct sb_env *env,
                           const struct sb_config *c);

/* Of sb_source_begin: SB_EFORMAT unless two classes have examples; those without, and whole
 * numbers that are taken for very many classes, to the log. */
sb_status sb_source_check_classes(const struct sb_dataset *d, const struct sb_env *env);
void sb_source_tell_whole(const struct sb_dataset *d, const struct sb_env *env);

/* Of sb_source_begin and sb_source_prepare: what is odd about a table, to the log. */
void sb_source_warn(const struct sb_dataset *d, const struct sb_env *env,
                    bool header_guessed);
void sb_source_warn_constant(const struct sb_source *s, const struct sb_env *env);
void sb_source_warn_rounded(const struct sb_source *s, const struct sb_env *env);

/* Rows index[n] (NULL: the first n) of a test set, read like the training set, that are among
 * the rows which are trained on, to the log: of tables, if they are too many for chance. Of
 * sb_source_prepare, and of who has another test set. */
void sb_source_warn_overlap(const struct sb_source *s, const struct sb_env *env,
                            const struct sb_dataset *test, const uint32_t *index,
                            uint32_t n);

/* Of sb_source_prepare: s->weight, from the rows' own weights and, balanced, such that every
 * class of the training part counts the same. */
sb_status sb_source_weigh(struct sb_source *s, bool balanced);

/* The views point into s: it must not move. The caller calls sb_source_fini, also after a
 * failure. In two steps: opening, after which the recipe can be fitted to the facts; then
 * validation part, features and normalisation, as the fitted recipe says. */
sb_status sb_source_begin(struct sb_source *s, const struct sb_env *env,
                          const struct sb_config *c, struct sb_facts *facts);
sb_status sb_source_prepare(struct sb_source *s, const struct sb_env *env,
                            const struct sb_config *c);

/* Both, for a recipe that is fitted. */
sb_status sb_source_open(struct sb_source *s, const struct sb_env *env,
                         const struct sb_config *c);
void sb_source_fini(struct sb_source *s);

/* SB_EARG: the data is not what the model at path says it was trained on, as far as the use
 * asks (identity.c). force as in sb_identity_compare. */
sb_status sb_source_check(const struct sb_source *s, const char *path,
                          const struct sb_model_info *i, enum sb_identity_use use,
                          bool force);

#endif
