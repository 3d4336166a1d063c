/* predict_options - what the command line of sebays predict asks for. What cannot be is said on
 * standard error. */
#ifndef SEBAYS_CLI_PREDICT_OPTIONS_H
#define SEBAYS_CLI_PREDICT_OPTIONS_H

#include "cli.h"
#include "predictions.h"

/* What can be read before the model is open. */
bool cli_predict_read(const struct cli_args *args, struct cli_predictions *a,
                      struct sebays_predictor_options *o);

/* And what depends on a->model. */
bool cli_predict_fit(const struct cli_args *args, struct cli_predictions *a);

/* Factors of conformal intervals or sets, one a target, where they are wanted. */
sebays_status cli_predict_calibrate(struct cli_predictions *a);

/* Says that the calibration part is too small for the coverage, if it is. */
void cli_predict_warn(const struct cli_predictions *a);

#endif
