/* The public model handle; see include/sebays.h. */
#ifndef SB_SEBAYS_MODEL_H
#define SB_SEBAYS_MODEL_H

#include "base/env.h"
#include "model/model.h"
#include "predict/loaded.h"
#include "sebays.h"

/* What predictors share, made when the first one needs it. */
struct sb_share;

struct sebays_model {
    struct sb_model model;
    struct sb_share *share; /* owned */
};

/* The model loaded for a way of sampling and a plan; the model's to keep. */
sb_status sb_share_get(const struct sebays_model *model, const struct sb_env *env,
                       enum sb_load load, enum sb_plan plan,
                       const struct sb_loaded **out);

#endif
