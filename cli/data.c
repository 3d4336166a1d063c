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

/* "train" or "test". */
static bool read_split(const char *command, const char *word, enum sebays_split *out)
{
    *out = strcmp(word, "test") == 0 ? SEBAYS_TEST : SEBAYS_TRAIN;
    if (*out == SEBAYS_TEST || strcmp(word, "train") == 0)
        return true;
    fprintf(stderr, "sebays %s: --split %s: want train or test\n", command, word);
    return false;
}

int cli_data_open(const char *command, const struct cli_args *args, bool look,
                  struct sebays_data **out)
{
    char place[CLI_PATH];
    struct sebays_data_options o = {
        .label = args->label, .ignore = args->ignore, .look = look};
    *out = NULL;
    if (cli_data_directory(args->data_dir, place))
        o.data_dir = place;
    if (args->split && !read_split(command, args->split, &o.split))
        return CLI_USAGE;
    sebays_status st = sebays_data_open(args->operand, &o, out);
    if (st == SEBAYS_OK)
        return CLI_OK;
    o.split = SEBAYS_TEST;
    if (!args->split && sebays_data_open(args->operand, &o, out) == SEBAYS_OK)
        return CLI_OK;
    o.split = SEBAYS_TRAIN;
    if (!args->split) /* its sentence says more than what is wrong with a test split */
        st = sebays_data_open(args->operand, &o, out);
    return cli_fail(command, st);
}

bool cli_data_open_test(const struct cli_args *args, const struct sebays_data *train,
                        struct sebays_data **out)
{
    char place[CLI_PATH];
    struct sebays_data_options o = {.split = SEBAYS_TEST,
                                    .label = args->label,
                                    .ignore = args->ignore,
                                    .like = train};
    if (cli_data_directory(args->data_dir, place))
        o.data_dir = place;
    return sebays_data_open(args->operand, &o, out) == SEBAYS_OK;
}
