/* columns - what a model of tables knows about their columns. */
#ifndef SB_PREDICT_COLUMNS_H
#define SB_PREDICT_COLUMNS_H

#include "data/columns.h"
#include "model/model.h"

/* The model's columns, whose features are what its network takes; *out is NULL for a model
 * that knows none, and after a failure. The caller owns it (sb_columns_free). */
sb_status sb_predict_columns(const struct sb_model_info *i, struct sb_columns **out);

#endif
