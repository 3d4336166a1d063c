/* model_format - what the model's writer and reader, checkpoints and exports share. */
#ifndef SB_MODEL_MODEL_FORMAT_H
#define SB_MODEL_MODEL_FORMAT_H

#include <stdint.h>

#include "base/json.h"
#include "base/status.h"
#include "model/fields.h"
#include "model/member.h"
#include "model/model.h"

#define SB_MODEL_FORMAT "sebays-model"
enum { SB_MODEL_VERSION = 1, SB_MEMBER_PREFIX = 24 };

/* Seeds and figures of all members as a JSON array; NULL: no memory. */
json_t *sb_model_figures(const struct sb_member *member, uint32_t members);

/* The metadata of model.h that says what a model is and takes, from arch to columns. */
sb_status sb_model_put_info(struct sb_st_writer *w, const struct sb_model_info *o);

#endif
