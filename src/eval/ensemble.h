/* ensemble - a model's members as they predict examples of data sets (method.md 6).
 *
 * A predictor with what it needs besides: members loaded once, examples brought together
 * from wherever their data set has them. Data sets must have the model's shape.
 */
#ifndef SB_EVAL_ENSEMBLE_H
#define SB_EVAL_ENSEMBLE_H

#include "base/env.h"
#include "base/status.h"
#include "data/dataset.h"
#include "model/model.h"
#include "predict/loaded.h"
#include "predict/predictor.h"
#include "recipe/config.h"

enum { SB_ENSEMBLE_CHUNK = 1024 }; /* examples brought together at once */

struct sb_ensemble {
    const struct sb_env *env;     /* borrowed */
    const struct sb_model *model; /* borrowed; has members */
    struct sb_sampling sampling;  /* what is done, whatever was asked */
    struct sb_loaded loaded;
    struct sb_predictor predictor;
    unsigned char *buffer; /* [chunk] examples, bytes or floats; owned */
    float *part;           /* [members][chunk][size] owned */
};

/* batch: images at once. The caller calls sb_ensemble_fini, also after a failure. */
sb_status sb_ensemble_init(struct sb_ensemble *e, const struct sb_env *env,
                           const struct sb_model *m, const struct sb_config_eval *how,
                           uint32_t batch);
void sb_ensemble_fini(struct sb_ensemble *e);

/* Channels of an example: of a model of tables its columns. */
static inline uint32_t sb_ensemble_inputs(const struct sb_ensemble *e)
{
    return sb_normalise_inputs(&e->predictor.normal);
}

/* Which examples of a data set. */
struct sb_chosen {
    const struct sb_dataset *data;
    const uint32_t *index; /* [n]; NULL: the first n */
    uint32_t n;
    uint32_t first; /* the number of the first one, for activation noise */
};

/* SB_EARG unless there are examples and they have the model's shape. */
sb_status sb_ensemble_check(const struct sb_ensemble *e, const struct sb_dataset *d);

/* out: [members][n][classes]; of a model of outcomes [members][2][n][targets], means and then
 * variances. */
sb_status sb_ensemble_predict(struct sb_ensemble *e, const struct sb_chosen *c,
                              float *out);

/* How unlike training rows they are (figures/far.h): out [n]. SB_EARG of a model that has
 * nothing of it. */
sb_status sb_ensemble_far(struct sb_ensemble *e, const struct sb_chosen *c, float *out);

#endif
