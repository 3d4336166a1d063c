/* trained_file - a trained network as tensors and figures of a safetensors file, and what else
 * model files, checkpoints and exports share; model.h has the format. */
#ifndef SB_MODEL_TRAINED_FILE_H
#define SB_MODEL_TRAINED_FILE_H

#include <stdbool.h>

#include "base/json.h"
#include "base/status.h"
#include "model/fields.h"
#include "model/model.h"
#include "nn/arch.h"
#include "nn/trained.h"

/* The shape in a file: a list of existing weights, or the record's own. */
struct sb_shape sb_param_shape(const struct sb_param *p);

/* Adds t's tensors, "<prefix>.<layer>.<part>"; t is borrowed until it is written. */
sb_status sb_trained_put(struct sb_st_writer *w, const char *prefix,
                         const struct sb_trained *t);

/* Reads them into *t, which is made here, sized by what the file has. The caller calls
 * sb_trained_fini, also after a failure. */
sb_status sb_trained_get(struct sb_fields *f, const char *prefix, const struct sb_arch *a,
                         bool gauss, struct sb_trained *t);

/* Sample seed and figures as a JSON object; NULL: no memory. */
json_t *sb_trained_to_json(const struct sb_trained *t);

/* source names the text in sentences. */
sb_status sb_trained_from_json(const json_t *object, const char *source,
                               struct sb_trained *t);

/* ---- a model ----------------------------------------------------------------------- */

#define SB_MODEL_FORMAT "sebays-model"
#define SB_MODEL_SCORES "conformal.scores"
enum { SB_MODEL_VERSION = 2, SB_TRAINED_PREFIX = 24, SB_MODEL_TARGETS = 4096 };

/* Seeds and figures of trained networks as a JSON array; NULL: no memory. */
json_t *sb_model_figures(const struct sb_trained *network, uint32_t networks);

/* The metadata of model.h that says what a model is and takes, from arch to columns. */
sb_status sb_model_put_info(struct sb_st_writer *w, const struct sb_model_info *o);

#endif
