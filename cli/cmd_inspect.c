/* sebays inspect - what is in a model file. */
#include "cli.h"

static int run(const struct cli_args *args)
{
    char *text;
    sebays_status st = sebays_inspect(args->operand, &text);
    return st == SEBAYS_OK ? cli_print("inspect", text) : cli_fail("inspect", st);
}

const struct cli_command cli_cmd_inspect = {
    .name = "inspect",
    .operand = "MODEL|RUN",
    .summary = "print layers, density and signal-to-noise of a model file",
    .help =
        "usage: sebays inspect MODEL|RUN\n"
        "\n"
        "Prints what a model file holds: members, layers, how many weights exist, the\n"
        "signal-to-noise ratio of their posterior, sizes.\n"
        "\n"
        "example:\n"
        "  sebays inspect runs/quickstart\n",
    .run = run,
};
