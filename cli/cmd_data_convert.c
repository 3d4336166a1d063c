/* sebays data convert - a data set as NumPy files. */
#include <stdio.h>

#include "data.h"

static const char name[] = "data convert";

/* data and, if it is a train split and no --split was given, the test split too. */
static sebays_status convert(const struct cli_args *args, const struct sebays_data *data)
{
    struct sebays_data *test;
    sebays_status st = sebays_data_convert(data, args->out);
    if (st != SEBAYS_OK || args->split || sebays_data_whole(data) ||
        sebays_data_split(data) == SEBAYS_TEST || !cli_data_open_test(args, data, &test))
        return st;
    st = sebays_data_convert(test, args->out);
    sebays_data_free(test);
    return st;
}

static int run(const struct cli_args *args)
{
    struct sebays_data *data;
    if (!args->out) {
        fprintf(stderr, "sebays %s: say where to with --out DIR\n", name);
        return CLI_USAGE;
    }
    int code = cli_data_open(name, args, false, &data);
    if (code != CLI_OK)
        return code;
    sebays_status st = convert(args, data);
    sebays_data_free(data);
    if (st != SEBAYS_OK)
        return cli_fail(name, st);
    printf("files in %s\n", args->out);
    return CLI_OK;
}

const struct cli_command cli_cmd_data_convert = {
    .name = "data convert",
    .operand = "PATH|NAME",
    .summary = "write a data set as NumPy files",
    .help =
        "usage: sebays data convert PATH|NAME --out DIR [--split train|test]\n"
        "                           [--label COLUMN] [--ignore COLUMN,...] [--data-dir "
        "DIR]\n"
        "\n"
        "Writes x_train.npy, y_train.npy, x_test.npy and y_test.npy (x.npy and y.npy "
        "for\n"
        "a set that has no splits) and class_names.txt into DIR. Images are\n"
        "[n][height][width][channels], tables [n][features], labels int64. The "
        "directory\n"
        "is a data set itself.\n"
        "\n"
        "  --out DIR            made if need be\n"
        "  --split train|test   default: both\n"
        "  --label COLUMN       of a table: the label, by name or number; default: last\n"
        "  --ignore COLUMN,...  of a table: columns that are not used\n"
        "  --data-dir DIR       where names are looked for besides ./data\n"
        "\n"
        "examples:\n"
        "  sebays data convert fashion-mnist --out data/fashion-npy\n"
        "  sebays data convert iris.csv --label species --out iris-npy\n",
    .flags = CLI_OUT | CLI_SPLIT | CLI_LABEL | CLI_IGNORE | CLI_DATA,
    .run = run,
};
