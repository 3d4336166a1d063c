/* export_parts - what the formats of an export share. Internal to export*.c. */
#ifndef SB_MODEL_EXPORT_PARTS_H
#define SB_MODEL_EXPORT_PARTS_H

#include "model/export.h"
#include "model/fields.h"

enum { SB_EXPORT_NAME = 128 };

struct sb_export_array {
    char name[SB_EXPORT_NAME];
    struct sb_shape shape;
    const float *values; /* [count of shape]; NULL: made of a layer's weights, ... */
    uint32_t member, layer;
    bool sigma; /* ... their deviations */
};

/* values [count of shape] are valid during the call. */
typedef sb_status sb_export_fn(void *context, const struct sb_export_array *a,
                               const float *values);

/* Calls visit for every array in the order of the file, values NULL. */
sb_status sb_export_each(const struct sb_export *e, sb_export_fn *visit, void *context);

/* The same with values, reporting progress. Memory for the largest layer, twice. */
sb_status sb_export_each_value(const struct sb_export *e, sb_export_fn *visit,
                               void *context);

/* "draw" or "mean", or "point": a model that has only one set of weights. */
const char *sb_export_sampling(const struct sb_export *e);

/* What the model is, as texts by name. */
sb_status sb_export_put_texts(struct sb_st_writer *w, const struct sb_export *e);

/* The formats. Of e->members there is at least one. */
sb_status sb_export_safetensors(const struct sb_export *e, const char *path);
sb_status sb_export_npz(const struct sb_export *e, const char *path);
sb_status sb_export_onnx(const struct sb_export *e, const char *path);

#endif
