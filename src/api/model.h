/* The public handles of models and predictors; see include/sebays.h. */
#ifndef SB_SEBAYS_MODEL_H
#define SB_SEBAYS_MODEL_H

#include "base/env.h"
#include "base/path.h"
#include "model/model.h"
#include "predict/loaded.h"
#include "predict/predictor.h"
#include "sebays.h"

/* What predictors share, made when the first one needs it. */
struct sb_share;

struct sebays_model {
    struct sb_model model;
    struct sb_share *share; /* owned */
    uint32_t inputs;        /* channels of an example: of a table its columns */
};

struct sebays_predictor {
    struct sb_predictor predictor;
    char note[SB_MISSING_NOTE];
};

/* What a caller wants, as the predictor takes it. */
sb_status sb_predictions_of(const struct sb_model *m, const struct sebays_prediction *out,
                            struct sb_predictions *predictions);
sb_status sb_predictions_of_outcomes(const struct sb_model *m,
                                     const struct sebays_outcomes *out,
                                     struct sb_predictions *predictions);

/* The model file that path means: itself, or the one in that run directory. */
sb_status sb_model_find(const char *path, char out[SB_PATH_BYTES]);

/* The model loaded for a way of sampling, a plan and the lanes of env's kernels; the
 * model's to keep. */
sb_status sb_share_get(const struct sebays_model *model, const struct sb_env *env,
                       enum sb_load load, enum sb_plan plan,
                       const struct sb_loaded **out);

#endif
