/* step - what `bench step` measures; see step.c. */
#ifndef SB_BENCH_STEP_H
#define SB_BENCH_STEP_H

#include "base/env.h"
#include "base/status.h"
#include "nn/net.h"

/* What is timed, in seconds. The first five make up a step. */
enum step_time {
    STEP_FORWARD,
    STEP_LOSS,
    STEP_BACKWARD,
    STEP_KL,        /* the prior's gradient */
    STEP_OPTIMISER, /* and the refresh of derived values */
    STEP_WHOLE,
    STEP_SILENT, /* a forward without drawing and mixing noise */
    STEP_PRODUCT_FORWARD,
    STEP_PRODUCT_INPUT,
    STEP_PRODUCT_WEIGHT,
    STEP_ROWS, /* scales and masks, both ways */
    STEP_TIMES
};

/* The parts of a step that only a run of their own can tell apart: the last five times,
 * kept in best where they are lower. Follows a whole step, whose buffers it takes and
 * leaves in disorder; the next forward and backward write them anew. */
sb_status step_parts(const struct sb_env *env, struct sb_net *n, double *best);

/* One prune-grow update after forward and loss: the seconds of the dense gradients, and of
 * pruning, growing and rebuilding kernel order. */
struct step_update {
    double gradients, moves;
};

sb_status step_update(const struct sb_env *env, struct sb_net *n,
                      struct step_update *out);

#endif
