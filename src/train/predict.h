/* predict - probabilities of a net's current weights over a set of examples. */
#ifndef SB_TRAIN_PREDICT_H
#define SB_TRAIN_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/status.h"
#include "data/batch.h"
#include "nn/net.h"

struct sb_predict {
    const struct sb_env *env;
    struct sb_net *net;
    const struct sb_batch_source *source;
    const uint32_t *index; /* [n] examples; NULL: the first n */
    uint32_t n;
    bool noise; /* activation noise per input instead of the weights' mean */
    uint64_t seed;
    uint32_t member, pass; /* of the noise */
};

/* probabilities: [n][classes], label: [n] (may be NULL). Uses the net's buffers. */
sb_status sb_predict_run(const struct sb_predict *p, float *probabilities,
                         int32_t *label);

#endif
