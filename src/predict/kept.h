/* kept - what a model file keeps besides its networks, ready for use: what it knows about the
 * columns of tables, and the scores of its calibration part. */
#ifndef SB_PREDICT_KEPT_H
#define SB_PREDICT_KEPT_H

#include "data/columns.h"
#include "model/model.h"

/* The model's columns, whose features are what its network takes; *out is NULL for a model
 * that knows none, and after a failure. The caller owns it (sb_columns_free). */
sb_status sb_predict_columns(const struct sb_model_info *i, struct sb_columns **out);

/* *out: the quantile of the scores of a target (of classes: row 0) at a coverage in (0, 1),
 * as figures/conformal.h has it. The interval mean +- *out sd, or the set of classes with
 * 1 - p <= *out, has the truth with at least that probability; infinite where the part is too
 * small for it. SB_EARG where the model has no calibration part. */
sb_status sb_predict_conformal(const struct sb_model_info *i, uint32_t row,
                               double coverage, double *out);

#endif
