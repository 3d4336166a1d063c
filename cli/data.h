/* data - what the parts of sebays data share. */
#ifndef SEBAYS_CLI_DATA_H
#define SEBAYS_CLI_DATA_H

#include "cli.h"

/* Where fetched data sets go and are found: dir if given, else $XDG_DATA_HOME/sebays, else
 * ~/.local/share/sebays. False when there is no such place or its path is too long. */
bool cli_data_directory(const char *dir, char out[CLI_PATH]);

/* Opens the operand as --split says or, if it was not given, its train split or else its
 * test split. look as in sebays.h. On failure prints why; *out is NULL unless CLI_OK. The
 * caller frees it. */
int cli_data_open(const char *command, const struct cli_args *args, bool look,
                  struct sebays_data **out);

/* The test split that goes with a train split of the same operand. False, and nothing
 * said, if there is none. */
bool cli_data_open_test(const struct cli_args *args, const struct sebays_data *train,
                        struct sebays_data **out);

#endif
