/* sebays data info - what a data set holds. */
#include "data.h"

static int run(const struct cli_args *args)
{
    static const char name[] = "data info";
    struct sebays_data *data;
    char *text;
    int code = cli_data_open(name, args, true, &data);
    if (code != CLI_OK)
        return code;
    sebays_status st = args->sheet ? sebays_data_sheet(data, args->sheet) : SEBAYS_OK;
    if (st == SEBAYS_OK)
        st = sebays_data_info(data, args->json, &text);
    code = st == SEBAYS_OK ? cli_print(name, text) : cli_fail(name, st);
    sebays_data_free(data);
    return code;
}

const struct cli_command cli_cmd_data_info = {
    .name = "data info",
    .operand = "PATH|NAME",
    .summary = "what a data set holds",
    .help =
        "usage: sebays data info PATH|NAME [--split train|test] [--label COLUMN]\n"
        "                        [--ignore COLUMN,...] [--sheet FILE.png] [--json] "
        "[--data-dir DIR]\n"
        "\n"
        "Prints format, shape, mean and standard deviation of each channel (of pixels "
        "in\n"
        "0 .. 1), of a table kind, range and missing share of each column; classes and "
        "how\n"
        "many examples each has.\n"
        "\n"
        "  --split train|test   default: train, or test if there is no train split\n"
        "  --label COLUMN       of a table: the label, by name or number; default: last\n"
        "  --ignore COLUMN,...  of a table: columns that are not used\n"
        "  --sheet FILE.png     also draw the first images of each class\n"
        "  --json               print a JSON object\n"
        "  --data-dir DIR       where names are looked for besides ./data and Debian's\n"
        "                       place; default: where sebays data fetch puts them\n"
        "\n"
        "examples:\n"
        "  sebays data info fashion-mnist\n"
        "  sebays data info data/cifar-10-batches-bin --split test --sheet cifar.png\n"
        "  sebays data info fashion-mnist --json | jq .classes\n",
    .flags = CLI_SPLIT | CLI_LABEL | CLI_IGNORE | CLI_SHEET | CLI_JSON | CLI_DATA,
    .run = run,
};
