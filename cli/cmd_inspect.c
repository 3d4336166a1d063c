/* sebays inspect - what is in a model file. */
#include "cli.h"

const struct cli_command cli_cmd_inspect = {
    .name = "inspect",
    .operand = "MODEL",
    .summary = "print layers, density and signal-to-noise of a model file",
    .help =
        "usage: sebays inspect MODEL\n"
        "\n"
        "Prints what a model file holds: members, layers, how many weights exist, the\n"
        "signal-to-noise ratio of their posterior, sizes.\n"
        "\n"
        "example:\n"
        "  sebays inspect runs/quickstart/model.safetensors\n",
};
