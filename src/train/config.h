/* config - everything a recipe can say, as plain values.
 *
 * One struct a section of the recipe: [data] [model] [method] [train] [eval]. The option
 * table (options.c) has one row a field: its name, range, default and help. Code that
 * trains reads this struct and never asks what was written and what was left out: when it
 * sees a config, the method's own defaults are filled in and the values fit together.
 *
 * Strings are inside the struct, so a config is copied by assignment and owns nothing.
 */
#ifndef SB_TRAIN_CONFIG_H
#define SB_TRAIN_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor/topology.h"

/* A recipe's line has at most 198 bytes (inih): room for a path, or for six numbers of up
 * to 24. */
enum { SB_CONFIG_NAME = 64, SB_CONFIG_PATH = 160, SB_CONFIG_LIST = 6 };

struct sb_config_list {
    uint32_t count;
    double value[SB_CONFIG_LIST]; /* [count] */
};

enum sb_config_split { SB_CONFIG_TAIL, SB_CONFIG_STRATIFIED };
enum sb_config_augment { SB_CONFIG_AUGMENT_NONE, SB_CONFIG_CROP_FLIP };
enum sb_config_normalise {
    SB_CONFIG_NORMALISE_AUTO, /* the set's published values, computed if it has none */
    SB_CONFIG_COMPUTED,       /* from the training part */
    SB_CONFIG_VALUES          /* data.mean and data.sd */
};

struct sb_config_data {
    char set[SB_CONFIG_PATH];   /* a name such as fashion-mnist, or a path */
    char dir[SB_CONFIG_PATH];   /* where to look for named sets, ':' between places */
    char size[SB_CONFIG_NAME];  /* of image files: HEIGHTxWIDTH, or auto */
    const char *last_dir;       /* one more, after those; NULL: none. Not an option */
    char test[SB_CONFIG_PATH];  /* another set to test on; "": the set's own part, or */
    double test_share;          /* ... this share of a set that has no parts */
    char label[SB_CONFIG_NAME]; /* the label column of a table; "": the last */
    double validation;          /* below 1: share of the training set, else a count */
    enum sb_config_split split;
    enum sb_config_augment augment;
    bool augment_validation; /* the authors' code does */
    uint32_t pad;            /* zeros around an image before it is cropped */
    enum sb_config_normalise normalise;
    struct sb_config_list mean, sd; /* one a channel, of pixels in [0, 1] */
};

struct sb_config_model {
    char arch[SB_CONFIG_NAME]; /* mlp-H1-H2..., lenet, resnet-D, wrn-D-K */
};

enum sb_config_allocation { SB_CONFIG_ERK, SB_CONFIG_UNIFORM };
enum sb_config_decay { SB_CONFIG_DECAY_NONE, SB_CONFIG_DECAY_COSINE };

struct sb_config_method {
    char name[SB_CONFIG_NAME];
    uint32_t members; /* M */
    double sparsity;  /* S, share of absent weights */
    enum sb_config_allocation allocation;
    double prior_variance; /* sigma_0^2 */
    double rho_init;
    uint32_t kl_anneal_epochs; /* 0: beta is 1 from the start */
    uint32_t explore_epochs;   /* t_0, of every run */
    uint32_t exploit_epochs; /* t_ex, of every phase; one phase a run unless sequential */
    double prune_rate;       /* p */
    double prune_rate_large; /* p_L, between the phases of a sequential run */
    uint32_t delta_t;        /* steps between two updates of the support */
    enum sb_config_decay rate_decay; /* of p and p_L */
    enum sb_criterion criterion;
    uint32_t grow_batches; /* the growth gradient is the mean over so many last batches */
    bool step_on_update;   /* the batch of an update also takes an optimiser step */
};

enum sb_config_rho_rate {
    SB_CONFIG_RHO_AS_MU,   /* lr_rho in exploration, then as mu */
    SB_CONFIG_RHO_CONSTANT /* lr_rho throughout, as the authors' code */
};

struct sb_config_train {
    uint32_t batch;
    uint32_t seed;
    uint32_t limit;   /* use only the first so many training examples; 0: all */
    uint32_t threads; /* 0: as many as there are processors */
    double lr;        /* of mu and the point parameters: in exploration */
    double lr_first;  /* in the first half of an exploitation phase */
    double lr_second; /* in the second half */
    double lr_rho;
    enum sb_config_rho_rate rho_rate;
    /* When milestones are given, they replace lr_first and lr_second: lr * factor^k after k
     * of these epochs of the run. Not for sequential schedules. */
    struct sb_config_list milestones;
    double milestone_factor;
    double momentum;
    bool nesterov;
    double weight_decay;        /* not on rho */
    uint32_t validate_every;    /* epochs */
    double checkpoint_seconds;  /* 0: not by time */
    uint32_t checkpoint_epochs; /* 0: not by epochs */
    bool trajectory;            /* record predictions after each epoch */
};

enum sb_config_sampling {
    SB_CONFIG_DRAW,            /* one draw of the weights a member, kept with it */
    SB_CONFIG_DRAWS,           /* eval.draws of them */
    SB_CONFIG_MEAN,            /* the posterior mean */
    SB_CONFIG_ACTIVATION_NOISE /* fresh noise for every input, as the authors' code */
};

enum sb_config_corruption {
    SB_CONFIG_POOLED, /* figures of all corrupted images together, as the authors' code */
    SB_CONFIG_PER_SET /* the mean of each set's figures */
};

struct sb_config_eval {
    uint32_t bins; /* of the calibration error */
    enum sb_config_corruption corruption;
    enum sb_config_sampling sampling;
    uint32_t draws;
};

struct sb_config {
    struct sb_config_data data;
    struct sb_config_model model;
    struct sb_config_method method;
    struct sb_config_train train;
    struct sb_config_eval eval;
};

#endif
