/* export - a model as dense arrays in one file, for PyTorch, NumPy and others, or as a
 * network that ONNX runtimes compute.
 *
 * For each member m and each layer of the architecture in order, in PyTorch's layouts:
 *
 *     member.<m>.<layer>.weight         [out][in][kh][kw] or [out][in], 0 where no weight
 *                                       exists
 *     member.<m>.<layer>.weight_sigma   the same: the posterior's deviation, if wanted
 *     member.<m>.<layer>.bias           [out], linear layers only
 *     member.<m>.<norm>.weight, .bias, .running_mean, .running_var   [channels]
 *     member.<m>.keep.<site>            [channels][height][width] what dropout multiplies
 *                                       elements of convolutions with, where it does
 *
 * and beside them what a model needs to be used; docs/interop.md has it all. Weights are
 * the draw that a predictor uses by default (predict/loaded.h), to the bit, or the
 * posterior means. Nothing else of the library makes a layer dense, and here it is one
 * layer at a time.
 */
#ifndef SB_MODEL_EXPORT_H
#define SB_MODEL_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "base/progress.h"
#include "base/status.h"
#include "model/model.h"

struct sb_export {
    const struct sb_env *env;
    const struct sb_model *model;
    uint32_t first, members;      /* which; members 0: all from first on */
    bool mean;                    /* posterior means, not the draw that is kept */
    bool sigma;                   /* deviations too */
    struct sb_progress *progress; /* in bytes; may be NULL */
};

/* Writes path in one step (base/file.h), in a format by name. SB_EARG for a name that is
 * none, members that are not there, or deviations of a point model. */
sb_status sb_export_write(const struct sb_export *e, const char *format,
                          const char *path);

#endif
