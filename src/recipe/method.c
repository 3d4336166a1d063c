/* method - see method.h. */
#include "recipe/method.h"

#include <string.h>

#include "base/nearest.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define IMPLY(list)  (list), COUNT(list)

/* Where a list is silent, the option table's default holds; that one is SeBayS's. */
static const struct sb_implied dense_one[] = {
    {"method.members", "1"},          {"method.sparsity", "0"},
    {"method.explore_epochs", "125"}, {"method.exploit_epochs", "125"},
    {"method.prior_variance", "1"},
};
static const struct sb_implied dnn_ensemble[] = {
    {"method.members", "4"},
    {"method.sparsity", "0"},
    {"method.explore_epochs", "125"},
    {"method.exploit_epochs", "125"},
};
static const struct sb_implied bnn_ensemble[] = {
    {"method.members", "3"},          {"method.sparsity", "0"},
    {"method.explore_epochs", "125"}, {"method.exploit_epochs", "125"},
    {"method.prior_variance", "1"},
};
static const struct sb_implied bays[] = {
    {"method.explore_epochs", "125"},
    {"method.exploit_epochs", "125"},
    {"method.prior_variance", "1"},
};
/* Sparsity first: sparse relatives (below) leave that out. */
static const struct sb_implied mc_dropout[] = {
    {"method.sparsity", "0"},
    {"method.members", "1"},
    {"method.explore_epochs", "0"},
    {"method.exploit_epochs", "200"},
    {"train.lr", "0.05"},
    {"train.milestones", "0.3 0.6 0.8"},
    {"train.milestone_factor", "0.2"},
    {"train.nesterov", "yes"},
    {"train.weight_decay", "0.0006"},
    {"train.warmup_epochs", "1"},
};
#define SHARED_SCHEDULE                                                                  \
    {"method.sparsity", "0"}, {"method.explore_epochs", "0"},                            \
        {"method.exploit_epochs", "250"}, {"train.milestones", "0.4 0.8 0.9"},           \
        {"train.milestone_factor", "0.2"}, {"train.nesterov", "yes"},                    \
    {                                                                                    \
        "train.warmup_epochs", "1"                                                       \
    }
static const struct sb_implied mimo[] = {
    SHARED_SCHEDULE, {"method.members", "3"}, {"train.weight_decay", "0.0006"}};
static const struct sb_implied batch_ensemble[] = {SHARED_SCHEDULE,
                                                   {"method.members", "4"},
                                                   {"method.scale_rate", "0.5"},
                                                   {"train.weight_decay", "0.0006"}};
static const struct sb_implied rank_1[] = {
    SHARED_SCHEDULE,
    {"method.members", "4"},
    {"method.scale_start", "signs"},
    {"method.kl_anneal_epochs", "0.8"},
    {"method.kl_anneal_by", "step"},
    {"train.weight_decay", "0.0002"},
};
static const struct sb_implied treenet[] = {
    {"method.sparsity", "0"},
    {"method.members", "3"},
    {"method.explore_epochs", "125"},
    {"method.exploit_epochs", "125"},
};
/* Free Tickets' two: prune by magnitude, and the optimiser steps on update batches. */
static const struct sb_implied dst[] = {
    {"method.explore_epochs", "125"},
    {"method.exploit_epochs", "125"},
    {"method.criterion", "magnitude"},
    {"method.step_on_update", "yes"},
};
static const struct sb_implied edst[] = {
    {"method.criterion", "magnitude"},
    {"method.step_on_update", "yes"},
};
/* Of every run: of a random support, of a dense network that is pruned, of a rewound one. */
static const struct sb_implied run_of_250[] = {
    {"method.explore_epochs", "125"},
    {"method.exploit_epochs", "125"},
};
static const struct sb_implied snapshot[] = {
    {"method.members", "5"},
    {"method.sparsity", "0"},
    {"method.explore_epochs", "0"},
    {"method.exploit_epochs", "50"},
};

static const struct sb_method table[] = {
    {"dnn", "one dense network", SB_POSTERIOR_POINT, SB_SUPPORT_DENSE, SB_SCHEDULE_ONE,
     SB_FORM_PLAIN, 1, IMPLY(dense_one)},
    {"dnn-ensemble", "dense networks, trained apart", SB_POSTERIOR_POINT,
     SB_SUPPORT_DENSE, SB_SCHEDULE_PARALLEL, SB_FORM_PLAIN, 2, IMPLY(dnn_ensemble)},
    {"bnn", "one dense Bayesian network", SB_POSTERIOR_GAUSS, SB_SUPPORT_DENSE,
     SB_SCHEDULE_ONE, SB_FORM_PLAIN, 1, IMPLY(dense_one)},
    {"bnn-ensemble", "dense Bayesian networks, trained apart", SB_POSTERIOR_GAUSS,
     SB_SUPPORT_DENSE, SB_SCHEDULE_PARALLEL, SB_FORM_PLAIN, 2, IMPLY(bnn_ensemble)},
    {"snapshot", "dense networks, one at the end of each cycle of the learning rate",
     SB_POSTERIOR_POINT, SB_SUPPORT_DENSE, SB_SCHEDULE_SEQUENTIAL, SB_FORM_PLAIN, 2,
     IMPLY(snapshot)},
    {"ltr", "one mask from a dense run, retrained from its early weights",
     SB_POSTERIOR_POINT, SB_SUPPORT_REWIND, SB_SCHEDULE_PARALLEL, SB_FORM_PLAIN, 1,
     IMPLY(run_of_250)},
    {"pf", "dense networks, trained apart, pruned by magnitude and fine-tuned",
     SB_POSTERIOR_POINT, SB_SUPPORT_FINE_TUNE, SB_SCHEDULE_PARALLEL, SB_FORM_PLAIN, 1,
     IMPLY(run_of_250)},
    {"static", "sparse networks on random fixed supports, trained apart",
     SB_POSTERIOR_POINT, SB_SUPPORT_STATIC, SB_SCHEDULE_PARALLEL, SB_FORM_PLAIN, 1,
     IMPLY(run_of_250)},
    {"dst", "sparse networks with moving supports, trained apart", SB_POSTERIOR_POINT,
     SB_SUPPORT_PRUNE_GROW, SB_SCHEDULE_PARALLEL, SB_FORM_PLAIN, 1, IMPLY(dst)},
    {"edst", "sparse networks with a moving support, from one run", SB_POSTERIOR_POINT,
     SB_SUPPORT_PRUNE_GROW, SB_SCHEDULE_SEQUENTIAL, SB_FORM_PLAIN, 1, IMPLY(edst)},
    {"bays", "sparse Bayesian networks with moving supports, trained apart",
     SB_POSTERIOR_GAUSS, SB_SUPPORT_PRUNE_GROW, SB_SCHEDULE_PARALLEL, SB_FORM_PLAIN, 1,
     IMPLY(bays)},
    {"sebays", "sparse Bayesian networks with a moving support, from one run",
     SB_POSTERIOR_GAUSS, SB_SUPPORT_PRUNE_GROW, SB_SCHEDULE_SEQUENTIAL, SB_FORM_PLAIN, 1,
     NULL, 0},
    {"mc-dropout", "one dense network whose dropout stays on", SB_POSTERIOR_POINT,
     SB_SUPPORT_DENSE, SB_SCHEDULE_ONE, SB_FORM_DROPOUT, 1, IMPLY(mc_dropout)},
    {"mimo", "several images in one dense network, a head for each", SB_POSTERIOR_POINT,
     SB_SUPPORT_DENSE, SB_SCHEDULE_ONE, SB_FORM_MIMO, 2, IMPLY(mimo)},
    {"batch-ensemble", "one dense network with scales for each member",
     SB_POSTERIOR_POINT, SB_SUPPORT_DENSE, SB_SCHEDULE_ONE, SB_FORM_BATCH_ENSEMBLE, 2,
     IMPLY(batch_ensemble)},
    {"rank1-bnn", "one dense network with Bayesian scales for each member",
     SB_POSTERIOR_POINT, SB_SUPPORT_DENSE, SB_SCHEDULE_ONE, SB_FORM_RANK_1, 2,
     IMPLY(rank_1)},
    {"treenet", "one dense network that branches", SB_POSTERIOR_POINT, SB_SUPPORT_DENSE,
     SB_SCHEDULE_ONE, SB_FORM_TREE, 2, IMPLY(treenet)},
};

/* Which other columns go with a form: sparse or Gaussian weights, where a member is a plain
 * network of the weights themselves. Scales multiply weights of every member alike: there
 * neither a support nor a posterior of the weights is one member's. */
#define SPARSE(list) (list) + 1, COUNT(list) - 1
#define RELATIVES(name, text, form, least, list)                                         \
    {name, text,  SB_POSTERIOR_GAUSS, SB_SUPPORT_DENSE, SB_SCHEDULE_ONE,                 \
     form, least, IMPLY(list)},                                                          \
        {name, text,  SB_POSTERIOR_POINT, SB_SUPPORT_STATIC, SB_SCHEDULE_ONE,            \
         form, least, SPARSE(list)},                                                     \
        {name, text,  SB_POSTERIOR_GAUSS, SB_SUPPORT_STATIC, SB_SCHEDULE_ONE,            \
         form, least, SPARSE(list)},                                                     \
        {name, text,  SB_POSTERIOR_POINT, SB_SUPPORT_PRUNE_GROW, SB_SCHEDULE_ONE,        \
         form, least, SPARSE(list)},                                                     \
    {                                                                                    \
        name, text, SB_POSTERIOR_GAUSS, SB_SUPPORT_PRUNE_GROW, SB_SCHEDULE_ONE, form,    \
            least, SPARSE(list)                                                          \
    }

static const struct sb_method relatives[] = {
    RELATIVES("mc-dropout", "one network whose dropout stays on", SB_FORM_DROPOUT, 1,
              mc_dropout),
    RELATIVES("mimo", "several images in one network, a head for each", SB_FORM_MIMO, 2,
              mimo),
    RELATIVES("treenet", "one network that branches", SB_FORM_TREE, 2, treenet),
};

sb_status sb_method_relative(const struct sb_method *row, enum sb_posterior posterior,
                             enum sb_support support, const struct sb_method **out)
{
    *out = row;
    if (posterior == row->posterior && support == row->support)
        return SB_OK;
    for (size_t i = 0; i < COUNT(relatives); i++)
        if (strcmp(relatives[i].name, row->name) == 0 &&
            relatives[i].posterior == posterior && relatives[i].support == support) {
            *out = &relatives[i];
            return SB_OK;
        }
    return sb_fail(SB_EARG,
                   "method.posterior and method.support: %s has no others than its own; "
                   "mc-dropout, mimo and treenet go with point or gauss weights that are "
                   "dense, static or prune-grow",
                   row->name);
}

const struct sb_method *sb_method_at(size_t i)
{
    return i < COUNT(table) ? &table[i] : NULL;
}

sb_status sb_method_find(const char *name, const struct sb_method **out)
{
    struct sb_nearest nearest = sb_nearest_begin(name);
    *out = NULL;
    for (size_t i = 0; i < COUNT(table); i++) {
        if (strcmp(table[i].name, name) == 0) {
            *out = &table[i];
            return SB_OK;
        }
        sb_nearest_offer(&nearest, table[i].name);
    }
    return sb_fail(SB_EARG, "there is no method '%s'; the nearest is '%s'", name,
                   nearest.best);
}
