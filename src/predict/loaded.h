/* loaded - the members of a model made ready to run: weights drawn, kernel order made.
 *
 * Only read once it is made, so predictors on any number of threads share one: what a
 * thread needs of its own is memory to run in (predictor.h). How a layer is planned
 * depends on how many images come at once; the bits of the results do not.
 *
 * Members of one trained network that begin with the same layers (a tree's trunk, all of a
 * MIMO network but its heads) have those once: the first of such a group owns them, the
 * others borrow them.
 */
#ifndef SB_PREDICT_LOADED_H
#define SB_PREDICT_LOADED_H

#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "model/model.h"
#include "nn/net.h"
#include "predict/sampling.h"

/* What is loaded: a draw, means, or means and variances. */
enum sb_load { SB_LOAD_DRAW, SB_LOAD_MEAN, SB_LOAD_GAUSS, SB_LOAD_COUNT };

enum sb_load sb_load_for(const struct sb_model *m, const struct sb_sampling *s);

/* Plans to choose from, by the number of images that a thread has at once. */
enum sb_plan { SB_PLAN_SINGLE, SB_PLAN_FEW, SB_PLAN_MANY, SB_PLAN_COUNT };

enum sb_plan sb_plan_for(const struct sb_env *env, enum sb_load load, uint32_t max_batch);

/* Whole blocks that n images are for each of so many threads, in images. */
uint32_t sb_plan_share(uint64_t n, uint32_t threads, uint32_t lanes);

/* So many images leave most lanes of wide kernels empty: narrow ones have the same bits. */
enum { SB_FEW_IMAGES = 8 };

struct sb_loaded {
    struct sb_net *member; /* [members] owned, parameters only */
    uint32_t members;
    /* members, one after the other, whose first nodes are one computation; 1: there
     * are none */
    uint32_t group;
};

/* The caller calls sb_loaded_fini, also after a failure. */
sb_status sb_loaded_init(struct sb_loaded *l, const struct sb_env *env,
                         const struct sb_model *m, enum sb_load load, enum sb_plan plan);
void sb_loaded_fini(struct sb_loaded *l);

#endif
