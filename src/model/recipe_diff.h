/* recipe_diff - whether two recipes say the same, and if not, where they part.
 *
 * Recipes are INI texts as the option table writes them: every key, in a fixed order.
 * Blank lines, comments and space at either end of a line do not count. */
#ifndef SB_MODEL_RECIPE_DIFF_H
#define SB_MODEL_RECIPE_DIFF_H

#include "base/status.h"

/* SB_EARG, with the section and the first line that differs, unless they are the same.
 * path is the file that `then` comes from. */
sb_status sb_recipe_diff(const char *path, const char *then, const char *now);

#endif
