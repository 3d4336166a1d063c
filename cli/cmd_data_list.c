/* sebays data list - the data sets known by name. */
#include "data.h"

static int run(const struct cli_args *args)
{
    static const char name[] = "data list";
    char place[CLI_PATH], *text;
    const char *dir = cli_data_directory(args->data_dir, place) ? place : NULL;
    sebays_status st = sebays_data_list(dir, &text);
    return st == SEBAYS_OK ? cli_print(name, text) : cli_fail(name, st);
}

const struct cli_command cli_cmd_data_list = {
    .name = "data list",
    .summary = "the data sets known by name",
    .help =
        "usage: sebays data list [--data-dir DIR]\n"
        "\n"
        "Prints the data sets that are known by name, how large the download is, and\n"
        "where each was found: in ./data, in the data directory (see sebays data fetch\n"
        "--help) or among Debian's data sets.\n"
        "\n"
        "example:\n"
        "  sebays data list\n",
    .flags = CLI_DATA,
    .run = run,
};
