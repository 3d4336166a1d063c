/* conformal - what a model keeps of its calibration part, as a quantile (figures/conformal.h). */
#ifndef SB_PREDICT_CONFORMAL_H
#define SB_PREDICT_CONFORMAL_H

#include "base/status.h"
#include "model/model.h"

/* *out: the quantile of the scores of a target (of classes: row 0) at a coverage in (0, 1).
 * The interval mean +- *out sd, or the set of classes with 1 - p <= *out, has the truth with
 * at least that probability; infinite where the part is too small for it. SB_EARG where the
 * model has no calibration part. */
sb_status sb_predict_conformal(const struct sb_model_info *i, uint32_t row,
                               double coverage, double *out);

#endif
