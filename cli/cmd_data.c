/* sebays data - the table of its parts, one a file cmd_data_*.c. */
#include "cli.h"

static const struct cli_command *const parts[] = {
    &cli_cmd_data_info,    &cli_cmd_data_list,    &cli_cmd_data_fetch,
    &cli_cmd_data_convert, &cli_cmd_data_corrupt, NULL,
};

const struct cli_command cli_cmd_data = {
    .name = "data",
    .summary = "look at data sets, fetch and convert them",
    .help =
        "usage: sebays data PART [ARGUMENTS]\n"
        "\n"
        "  info       what a data set holds: shape, classes, mean and deviation\n"
        "  list       the data sets known by name: which are here, and where\n"
        "  fetch      download one of them\n"
        "  convert    write a data set as NumPy files\n"
        "  corrupt    images with noise, blur, snow, ...: the 19 kinds of CIFAR-10-C\n"
        "\n"
        "  sebays data PART --help   a part's arguments, with examples\n"
        "\n"
        "A data set is given by its path, or by its name: fashion-mnist, cifar10, ...\n",
    .parts = parts,
};
