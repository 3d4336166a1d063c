/* param - the numbers of a network as one list of records.
 *
 * Whoever handles all of them walks the list: the optimiser, the KL term, the search for
 * what is not finite, copies of a network (nn/trained.h), model files, checkpoints, exports.
 * The order is that of the architecture's nodes and, within a node, that of the table in
 * param.c; it is the order in files.
 *
 *     weight   mu, rho (Gaussian), bias
 *     norm     weight, bias, running_mean, running_var
 *     scale    r or s, or r.mu and r.rho; bias
 *     mask     keep, of a network that predicts with one mask
 *     noise    log_variance, one a target, that all examples share (likelihood.h); it
 *              belongs to no node and comes last
 *
 * A record of weights follows their layer's support: it has one number for each weight that
 * exists. Every other one has all its numbers.
 */
#ifndef SB_NN_PARAM_H
#define SB_NN_PARAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "nn/arch.h"

enum sb_param_role {
    SB_PARAM_MU,
    SB_PARAM_RHO,
    SB_PARAM_BIAS,
    SB_PARAM_GAMMA,
    SB_PARAM_BETA,
    SB_PARAM_RUNNING_MEAN,
    SB_PARAM_RUNNING_VAR,
    SB_PARAM_SCALE,
    SB_PARAM_SCALE_RHO,
    SB_PARAM_SCALE_BIAS,
    SB_PARAM_KEEP,
    SB_PARAM_NOISE,
    SB_PARAM_ROLES
};

/* Which learning rate it follows. */
enum sb_rate_group {
    SB_RATE_NONE, /* it is not trained */
    SB_RATE_MU,
    SB_RATE_RHO,
    SB_RATE_SCALE,
    SB_RATE_GROUPS
};

struct sb_param {
    char layer[SB_NODE_NAME], part[16];
    enum sb_param_role role;
    uint32_t node; /* SB_NODE_NONE: it belongs to none */
    /* number of the layer whose support it follows; SB_NODE_NONE: none */
    uint32_t weight;
    uint32_t ndim, dim[4]; /* when every weight exists */
    uint32_t count;        /* numbers there are */
    enum sb_rate_group rate;
    bool decays;
    /* of a Gaussian's means: the record of its deviations, else SB_NODE_NONE */
    uint32_t rho;
    float prior_mean, prior_sd; /* of a Gaussian's means */
    float *value;               /* [count]; NULL in a list without numbers */
    float *gradient, *momentum; /* [count]; NULL where there are none */
};

struct sb_param_list {
    struct sb_param *param; /* [n] owned */
    uint32_t n;
};

/* The records of an architecture, without numbers. active: [a->weights] weights that exist,
 * NULL: all. gauss: weights have a posterior. SB_EARG when a layer has none or more than all,
 * or too many for the 32-bit positions of a file. The caller calls sb_param_list_fini, also
 * after a failure. */
sb_status sb_param_list_init(struct sb_param_list *l, const struct sb_arch *a,
                             const uint32_t *active, bool gauss);
void sb_param_list_fini(struct sb_param_list *l);

/* Numbers when every weight exists. */
uint32_t sb_param_all(const struct sb_param *p);

/* Whether two are the same record of two networks, numbers aside: name and count. */
bool sb_param_alike(const struct sb_param *a, const struct sb_param *b);

#endif
