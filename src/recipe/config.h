/* config - everything a recipe can say, as plain values.
 *
 * One struct a section of the recipe: [data] [model] [method] [train] [eval]. The option
 * table (recipe/options.c) has one row a field: its name, range, default and help. Code that
 * trains reads this struct and never asks what was written and what was left out: when it
 * sees a config, the method's own defaults are filled in and the values fit together.
 *
 * Strings are inside the struct, so a config is copied by assignment and owns nothing.
 */
#ifndef SB_RECIPE_CONFIG_H
#define SB_RECIPE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/partials.h"
#include "predict/sampling.h"
#include "tensor/topology.h"

/* A path is as long as the system takes them (SB_PATH_BYTES), and so is a list of columns. */
enum {
    SB_CONFIG_NAME = 64,
    SB_CONFIG_COLUMN = 256,
    SB_CONFIG_PATH = 4096,
    SB_CONFIG_LIST = 6,
    SB_CONFIG_BRANCH = 48
};

struct sb_config_list {
    uint32_t count;
    double value[SB_CONFIG_LIST]; /* [count] */
};

enum sb_config_split {
    SB_CONFIG_SPLIT_AUTO, /* tail for IDX and CIFAR, stratified for other classes, random */
    SB_CONFIG_TAIL,
    SB_CONFIG_STRATIFIED,
    SB_CONFIG_RANDOM
};
enum sb_config_task {
    SB_CONFIG_TASK_AUTO,
    SB_CONFIG_CLASSIFICATION,
    SB_CONFIG_REGRESSION
};
enum sb_config_header {
    SB_CONFIG_HEADER_AUTO,
    SB_CONFIG_HEADER_YES,
    SB_CONFIG_HEADER_NO
};
enum sb_config_missing { SB_CONFIG_IMPUTE, SB_CONFIG_ERROR };
enum sb_config_numeric {
    SB_CONFIG_NUMERIC_AUTO,
    SB_CONFIG_STANDARD,
    SB_CONFIG_QUANTILE,
    SB_CONFIG_PIECES
};
enum sb_config_augment { SB_CONFIG_AUGMENT_NONE, SB_CONFIG_CROP_FLIP };
enum sb_config_normalise {
    SB_CONFIG_NORMALISE_AUTO, /* the set's published values, computed if it has none */
    SB_CONFIG_COMPUTED,       /* from the training part */
    SB_CONFIG_VALUES          /* data.mean and data.sd */
};

struct sb_config_data {
    char set[SB_CONFIG_PATH];  /* a name such as fashion-mnist, or a path */
    char dir[SB_CONFIG_PATH];  /* where to look for named sets, ':' between places */
    char size[SB_CONFIG_NAME]; /* of image files: HEIGHTxWIDTH, or auto */
    const char *last_dir; /* one more, after those; NULL: none. Not an option, nor ... */
    const char *set_path; /* ... where the set is, whatever its name; NULL: find it */
    char test[SB_CONFIG_PATH];    /* another set to test on; "": the set's own part, or */
    double test_share;            /* ... this share of a set that has no parts; 0: none */
    enum sb_config_task task;     /* classes, or continuous outcomes */
    char label[SB_CONFIG_PATH];   /* the label column of a table; "": the last */
    char ignore[SB_CONFIG_PATH];  /* columns of a table that are not used */
    char group[SB_CONFIG_COLUMN]; /* the column that says which rows belong together */
    char weight[SB_CONFIG_COLUMN]; /* the column that says how much a row counts */
    enum sb_config_header header;
    enum sb_config_missing missing;
    enum sb_config_numeric numeric; /* how numbers of a table are given to the network */
    uint32_t pieces;                /* of a number, where numeric is pieces */
    double validation;  /* below 1: share of the training set, else a count; 0: none */
    double calibration; /* a part for conformal prediction, likewise; 0: none */
    enum sb_config_split split;
    enum sb_config_augment augment;
    bool augment_validation; /* the authors' code does */
    uint32_t pad;            /* zeros around an image before it is cropped */
    enum sb_config_normalise normalise;
    struct sb_config_list mean, sd; /* one a channel, of pixels in [0, 1] */
};

enum sb_config_noise { SB_CONFIG_NOISE_SHARED, SB_CONFIG_NOISE_PER_EXAMPLE };

enum sb_config_width { SB_CONFIG_WIDTH_NONE, SB_CONFIG_WIDTH_FITTED };

struct sb_config_model {
    char arch[SB_CONFIG_NAME];  /* mlp-H1-H2..., lenet, resnet-D, wrn-D-K */
    enum sb_config_noise noise; /* of continuous outcomes */
    enum sb_config_width width; /* of their mixture, see figures/width.h */
};

enum sb_config_allocation { SB_CONFIG_ERK, SB_CONFIG_UNIFORM };
enum sb_config_decay { SB_CONFIG_DECAY_NONE, SB_CONFIG_DECAY_COSINE };
enum sb_config_anneal { SB_CONFIG_ANNEAL_EPOCH, SB_CONFIG_ANNEAL_STEP };

enum sb_config_mask { SB_CONFIG_ELEMENTS, SB_CONFIG_CHANNELS };
enum sb_config_scale_start { SB_CONFIG_NORMAL, SB_CONFIG_SIGNS };

/* A column of the method's row: as it is there, or the value of the column plus one. */
enum sb_config_posterior { SB_CONFIG_POSTERIOR_ROW, SB_CONFIG_POINT, SB_CONFIG_GAUSS };
enum sb_config_support {
    SB_CONFIG_SUPPORT_ROW,
    SB_CONFIG_DENSE,
    SB_CONFIG_STATIC,
    SB_CONFIG_PRUNE_GROW
};

struct sb_config_method {
    char name[SB_CONFIG_NAME];
    enum sb_config_posterior posterior;
    enum sb_config_support support;
    uint32_t members; /* M */
    double sparsity;  /* S, share of absent weights */
    enum sb_config_allocation allocation;
    double prior_variance; /* sigma_0^2 */
    double rho_init;
    /* below 1: a share of a run's; 0: beta is 1 from the start */
    double kl_anneal_epochs;
    enum sb_config_anneal kl_anneal_by; /* whether beta rises by the epoch or the step */
    uint32_t explore_epochs;            /* t_0, of every run */
    uint32_t exploit_epochs; /* t_ex, of every stage; one stage a run unless sequential */
    uint32_t tune_epochs;    /* of a network that was pruned (pf) */
    uint32_t rewind_epoch;   /* of the dense run, what ltr goes back to; 0: see stage.h */
    double prune_rate;       /* p */
    double prune_rate_large; /* p_L, between the members of a sequential run */
    uint32_t delta_t;        /* steps between two updates of the support */
    enum sb_config_decay rate_decay; /* of p and p_L */
    enum sb_criterion criterion;
    uint32_t grow_batches; /* the growth gradient is the mean over so many last batches */
    bool step_on_update;   /* the batch of an update also takes an optimiser step */
    double dropout_rate;   /* of mc-dropout */
    enum sb_config_mask dropout_mask;
    uint32_t passes;      /* with dropout on: members of mc-dropout */
    uint32_t repetitions; /* of mimo: rows an image is in */
    double same_share;    /* of mimo: rows whose images are all the same one */
    enum sb_config_scale_start scale_start; /* of batch-ensemble and rank1-bnn */
    double scale_spread;                    /* where they start as N(1, spread^2) */
    double scale_rate;                      /* learning rate, a multiple of mu's */
    double scale_sd, scale_prior_sd;        /* of rank1-bnn: at the start; of the prior */
    char branch_at[SB_CONFIG_BRANCH]; /* of treenet: a block or layer; "": by default */
};

enum sb_config_rho_rate {
    SB_CONFIG_RHO_AS_MU,   /* lr_rho in exploration, then as mu */
    SB_CONFIG_RHO_CONSTANT /* lr_rho throughout, as the authors' code */
};

enum sb_config_shape {
    SB_CONFIG_STEPS, /* lr_first in the first half, lr_second in the second */
    SB_CONFIG_COSINE /* from lr_first to lr_second along half a cosine */
};

/* Which epoch of a stage becomes the member: the best on the validation part by this. */
enum sb_config_choose { SB_CONFIG_CHOOSE_AUTO, SB_CONFIG_BY_ACCURACY, SB_CONFIG_BY_NLL };

enum sb_config_class_weights { SB_CONFIG_UNWEIGHTED, SB_CONFIG_BALANCED };

enum sb_config_divergence {
    SB_CONFIG_STOP, /* the run ends */
    SB_CONFIG_HALVE /* the epoch again, with half the learning rates */
};

enum sb_config_estimator {
    SB_CONFIG_LOCAL,  /* every output element draws its noise, as the paper */
    SB_CONFIG_WEIGHTS /* convolutions draw their weights, once a group of rows */
};

struct sb_config_train {
    uint32_t batch;
    uint32_t shards; /* of a batch, see kernels/shards.h; after sb_recipe_resolve, as many
                      * as a full batch has */
    enum sb_config_estimator estimator; /* of the data term, with Gaussian weights */
    uint32_t group;                     /* rows of a group, a multiple of 16 */
    uint32_t seed;
    uint32_t limit;   /* use only the first so many training examples; 0: all */
    uint32_t threads; /* 0: as many as there are processors */
    double lr;        /* of mu and the point parameters: in exploration */
    double lr_first;  /* in exploitation: at first ... */
    double lr_second; /* ... and at last */
    enum sb_config_shape lr_shape;
    double lr_tune; /* of a network that was pruned (pf) */
    double lr_rho;
    enum sb_config_rho_rate rho_rate;
    /* When milestones are given, they replace lr_first and lr_second: lr * factor^k after k
     * of them, which are epochs of the run or, below 1, shares of it. Not for sequential
     * schedules. */
    struct sb_config_list milestones;
    double milestone_factor;
    uint32_t warmup_epochs; /* in which the rates of a run rise from 0 */
    double momentum;
    bool nesterov;
    double weight_decay; /* not on rho */
    double clip;         /* what a step's gradients are shortened to; 0: any length */
    enum sb_config_divergence on_divergence;
    enum sb_config_class_weights class_weights;
    enum sb_config_choose choose;
    uint32_t patience; /* validations without a better one that end a phase; 0: never */
    uint32_t validate_every;    /* epochs */
    double checkpoint_seconds;  /* 0: not by time */
    uint32_t checkpoint_epochs; /* 0: not by epochs */
    bool trajectory;            /* record predictions after each epoch */
};

enum sb_config_corruption {
    SB_CONFIG_POOLED, /* figures of all corrupted images together, as the authors' code */
    SB_CONFIG_PER_SET /* the mean of each set's figures */
};

/* Rows that a shard of a batch has a multiple of: sums over 16 rows, and draws of weights, lie
 * within one. */
static inline uint32_t sb_config_shard_step(const struct sb_config_train *t)
{
    return t->estimator == SB_CONFIG_WEIGHTS ? t->group : SB_PARTIALS;
}

struct sb_config_eval {
    uint32_t bins; /* of the calibration error */
    enum sb_config_corruption corruption;
    enum sb_sample_kind sampling;
    uint32_t draws;   /* of SB_SAMPLE_DRAWS */
    bool temperature; /* fit one on the validation part and say what it changes */
};

static inline struct sb_sampling sb_config_sampling(const struct sb_config_eval *e)
{
    bool several = e->sampling == SB_SAMPLE_DRAWS;
    return (struct sb_sampling){e->sampling, several ? e->draws : 1};
}

struct sb_config {
    struct sb_config_data data;
    struct sb_config_model model;
    struct sb_config_method method;
    struct sb_config_train train;
    struct sb_config_eval eval;
};

#endif
