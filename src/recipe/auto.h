/* auto - options that follow the data.
 *
 * What nobody said is `open` in a resolved recipe (options.h). When the data is there, and
 * before anything is learned from it, the recipe is fitted: a function of a few facts alone,
 * so that the same rows give the same recipe from the command line, C and Python.
 *
 *     images                   as the method and the option table say: the paper's numbers
 *     rows of a table, classes a small network, an epoch's steps by the number of rows
 *     ..., continuous targets  a narrower one, far more and smaller steps, noise by example
 *
 * The numbers in auto.c come from validation parts of real tables; docs/tables.md says which.
 */
#ifndef SB_RECIPE_AUTO_H
#define SB_RECIPE_AUTO_H

#include "base/status.h"
#include "data/split.h"
#include "recipe/options.h"

/* What is known of the data before it is split into training and validation. */
struct sb_facts {
    bool table;            /* rows, not images */
    uint32_t rows;         /* that are trained or validated on */
    uint32_t classes;      /* 0: none */
    uint32_t columns;      /* that are numbers or texts of a row */
    uint32_t features;     /* of a row, before numbers are cut in pieces */
    enum sb_holdout usual; /* how such a set is split (sb_indices_usual) */
};

/* Closes what is open in a resolved recipe, and checks it again. SB_EARG. */
sb_status sb_recipe_fit(struct sb_recipe *r, const struct sb_facts *facts);

/* "model.arch = mlp-64-32, train.batch = 16, ...": what differs in the fitted recipe from
 * before, an open one, for people. The caller owns *out (sb_free). */
sb_status sb_recipe_chosen(const struct sb_recipe *before, const struct sb_recipe *fitted,
                           char **out);

#endif
