/* data - see data.h. */
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_data_directory(const char *dir, char out[CLI_PATH])
{
    const char *share = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int n = -1;
    if (dir)
        n = snprintf(out, CLI_PATH, "%s", dir);
    else if (share && share[0] == '/') /* others are to be ignored, says the standard */
        n = snprintf(out, CLI_PATH, "%s/sebays", share);
    else if (home && home[0])
        n = snprintf(out, CLI_PATH, "%s/.local/share/sebays", home);
    return n >= 0 && n < CLI_PATH;
}

static int open_given(const char *command, const struct cli_args *args, const char *dir,
                      struct sebays_data **out)
{
    enum sebays_split split =
        strcmp(args->split, "test") == 0 ? SEBAYS_TEST : SEBAYS_TRAIN;
    if (split == SEBAYS_TRAIN && strcmp(args->split, "train") != 0) {
        fprintf(stderr, "sebays %s: --split %s: want train or test\n", command,
                args->split);
        return CLI_USAGE;
    }
    sebays_status st = sebays_data_open(args->operand, dir, split, out);
    return st == SEBAYS_OK ? CLI_OK : cli_fail(command, st);
}

int cli_data_open(const char *command, const struct cli_args *args,
                  struct sebays_data **out)
{
    char place[CLI_PATH];
    const char *dir = cli_data_directory(NULL, place) ? place : NULL;
    *out = NULL;
    if (args->split)
        return open_given(command, args, dir, out);
    if (sebays_data_open(args->operand, dir, SEBAYS_TRAIN, out) == SEBAYS_OK ||
        sebays_data_open(args->operand, dir, SEBAYS_TEST, out) == SEBAYS_OK)
        return CLI_OK;
    sebays_status st = sebays_data_open(args->operand, dir, SEBAYS_TRAIN, out);
    return cli_fail(command, st); /* what is wrong with the train split says more */
}
