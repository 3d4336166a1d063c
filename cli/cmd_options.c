/* sebays options - every option of a recipe. */
#include "cli.h"

static int run(const struct cli_args *args)
{
    char *text;
    (void)args;
    sebays_status st = sebays_options_text(&text);
    return st == SEBAYS_OK ? cli_print("options", text) : cli_fail("options", st);
}

const struct cli_command cli_cmd_options = {
    .name = "options",
    .summary = "list every option of a recipe",
    .help =
        "usage: sebays options\n"
        "\n"
        "Lists every option a recipe can set, by section: its default, what it means\n"
        "and what it may be; where methods have a default of their own, that and their\n"
        "names. The same names work with --set.\n"
        "\n"
        "example:\n"
        "  sebays options | less\n",
    .run = run,
};
