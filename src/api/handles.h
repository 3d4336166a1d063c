/* handles - what is behind struct sebays_recipe and struct sebays_ranks, for the files that
 * implement include/sebays.h; model.h has those of models and predictors. */
#ifndef SB_API_HANDLES_H
#define SB_API_HANDLES_H

#include "base/comm.h"
#include "recipe/options.h"
#include "sebays.h"

struct sebays_recipe {
    struct sb_recipe recipe;
    char source[]; /* what sentences call it; "" for one that is no file */
};

/* For struct sb_env; NULL of NULL. */
const struct sb_comm *sb_api_comm(const struct sebays_ranks *ranks);

#endif
