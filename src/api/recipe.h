/* sebays_recipe - the handle behind struct sebays_recipe, for the files that implement
 * include/sebays.h. */
#ifndef SB_SEBAYS_RECIPE_H
#define SB_SEBAYS_RECIPE_H

#include "recipe/options.h"

struct sebays_recipe {
    struct sb_recipe recipe;
    char source[]; /* what sentences call it; "" for one that is no file */
};

#endif
