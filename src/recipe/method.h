/* method - the ways to train, one row each (method.md 5).
 *
 * A method is a choice in four columns,
 *
 *     posterior x support x schedule x form
 *
 * plus the defaults it implies for options the recipe leaves out. The columns say which
 * stages a run has (train/stage.h); everything that is a number is an option. A new method
 * is a new row, a new idea a new value of a column.
 */
#ifndef SB_RECIPE_METHOD_H
#define SB_RECIPE_METHOD_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "forms/form.h"

enum sb_posterior {
    SB_POSTERIOR_POINT, /* weights are numbers */
    SB_POSTERIOR_GAUSS  /* weights are N(mu, sigma^2) */
};

enum sb_support {
    SB_SUPPORT_DENSE,      /* every weight exists */
    SB_SUPPORT_STATIC,     /* a random support, never changed */
    SB_SUPPORT_PRUNE_GROW, /* a support that moves every delta_t steps */
    SB_SUPPORT_REWIND, /* one mask from a dense run, members retrained from early weights */
    SB_SUPPORT_FINE_TUNE /* dense, pruned by magnitude over all layers, trained on */
};

enum sb_schedule_kind {
    SB_SCHEDULE_ONE,       /* one run, one member */
    SB_SCHEDULE_PARALLEL,  /* a run a member */
    SB_SCHEDULE_SEQUENTIAL /* one run, a member at the end of each exploitation */
};

/* What an option is when the method says so and the recipe does not. */
struct sb_implied {
    const char *key, *value; /* as in a recipe: "method.members", "4" */
};

struct sb_method {
    const char *name;
    const char *summary; /* a line for help texts */
    enum sb_posterior posterior;
    enum sb_support support;
    enum sb_schedule_kind schedule;
    enum sb_form_kind form;
    uint32_t least_members; /* a method of fewer makes no sense, or has another name */
    const struct sb_implied *implied; /* [implied_count] */
    size_t implied_count;
};

/* Row i of the table; NULL when there are not so many. */
const struct sb_method *sb_method_at(size_t i);

/* The row with other columns, where that makes sense; SB_EARG. */
sb_status sb_method_relative(const struct sb_method *row, enum sb_posterior posterior,
                             enum sb_support support, const struct sb_method **out);

/* The row of that name. SB_EARG: the sentence says which name is the nearest. */
sb_status sb_method_find(const char *name, const struct sb_method **out);

#endif
