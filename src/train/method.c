/* method - see method.h. */
#include "train/method.h"

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
static const struct sb_implied fixed[] = {
    {"method.explore_epochs", "125"},
    {"method.exploit_epochs", "125"},
};

static const struct sb_method table[] = {
    {"dnn", "one dense network", SB_POSTERIOR_POINT, SB_SUPPORT_DENSE, SB_SCHEDULE_ONE,
     SB_WRAPPER_PLAIN, IMPLY(dense_one)},
    {"dnn-ensemble", "dense networks, trained apart", SB_POSTERIOR_POINT,
     SB_SUPPORT_DENSE, SB_SCHEDULE_PARALLEL, SB_WRAPPER_PLAIN, IMPLY(dnn_ensemble)},
    {"bnn", "one dense Bayesian network", SB_POSTERIOR_GAUSS, SB_SUPPORT_DENSE,
     SB_SCHEDULE_ONE, SB_WRAPPER_PLAIN, IMPLY(dense_one)},
    {"bnn-ensemble", "dense Bayesian networks, trained apart", SB_POSTERIOR_GAUSS,
     SB_SUPPORT_DENSE, SB_SCHEDULE_PARALLEL, SB_WRAPPER_PLAIN, IMPLY(bnn_ensemble)},
    {"static", "sparse networks on random fixed supports, trained apart",
     SB_POSTERIOR_POINT, SB_SUPPORT_STATIC, SB_SCHEDULE_PARALLEL, SB_WRAPPER_PLAIN,
     IMPLY(fixed)},
    {"dst", "sparse networks with moving supports, trained apart", SB_POSTERIOR_POINT,
     SB_SUPPORT_PRUNE_GROW, SB_SCHEDULE_PARALLEL, SB_WRAPPER_PLAIN, IMPLY(dst)},
    {"edst", "sparse networks with a moving support, from one run", SB_POSTERIOR_POINT,
     SB_SUPPORT_PRUNE_GROW, SB_SCHEDULE_SEQUENTIAL, SB_WRAPPER_PLAIN, IMPLY(edst)},
    {"bays", "sparse Bayesian networks with moving supports, trained apart",
     SB_POSTERIOR_GAUSS, SB_SUPPORT_PRUNE_GROW, SB_SCHEDULE_PARALLEL, SB_WRAPPER_PLAIN,
     IMPLY(bays)},
    {"sebays", "sparse Bayesian networks with a moving support, from one run",
     SB_POSTERIOR_GAUSS, SB_SUPPORT_PRUNE_GROW, SB_SCHEDULE_SEQUENTIAL, SB_WRAPPER_PLAIN,
     NULL, 0},
};

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
