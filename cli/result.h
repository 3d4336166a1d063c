/* result - a finished run's figures, for people. */
#ifndef SEBAYS_CLI_RESULT_H
#define SEBAYS_CLI_RESULT_H

#include "sebays.h"

/* Prints figures on the test set, and whether the ensemble is worth having. first: the number
 * of its first member, from 0. out: the run directory. */
void cli_result_print(const struct sebays_result *r, uint32_t first, const char *out);

#endif
