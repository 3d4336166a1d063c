/* member_file - a member as tensors and figures of a safetensors file; model.h has the
 * format. Used by model files and checkpoints. */
#ifndef SB_MODEL_MEMBER_FILE_H
#define SB_MODEL_MEMBER_FILE_H

#include <stdbool.h>

#include "base/json.h"
#include "base/status.h"
#include "model/fields.h"
#include "model/member.h"
#include "nn/arch.h"

/* The shape of a layer's weights when all exist. */
struct sb_shape sb_member_shape(const struct sb_arch_node *n);

/* Adds m's tensors, "<prefix>.<layer>.<part>"; m is borrowed until it is written. */
sb_status sb_member_put(struct sb_st_writer *w, const char *prefix,
                        const struct sb_arch *a, const struct sb_member *m);

/* Reads them into *m, which is made here, sized by what the file has. The caller calls
 * sb_member_fini, also after a failure. */
sb_status sb_member_get(struct sb_fields *f, const char *prefix, const struct sb_arch *a,
                        bool gauss, struct sb_member *m);

/* Sample seed and figures as a JSON object; NULL: no memory. */
json_t *sb_member_to_json(const struct sb_member *m);

/* source names the text in sentences. */
sb_status sb_member_from_json(const json_t *object, const char *source,
                              struct sb_member *m);

#endif
