/* sebays plan - what a recipe would cost. */
#include "data.h"

static int run(const struct cli_args *args)
{
    struct sebays_recipe *recipe;
    char *text, place[CLI_PATH];
    struct sebays_run_options o = {
        .isa = args->isa,
        .data_dir = cli_data_directory(args->data_dir, place) ? place : NULL,
    };
    int code = cli_load_recipe("plan", args, &recipe);
    if (code != CLI_OK)
        return code;
    sebays_status st = sebays_plan(recipe, &o, &text);
    sebays_recipe_free(recipe);
    return st == SEBAYS_OK ? cli_print("plan", text) : cli_fail("plan", st);
}

const struct cli_command cli_cmd_plan = {
    .name = "plan",
    .operand = "RECIPE.ini or DATA",
    .summary = "print sizes, work and memory of a recipe without training",
    .help =
        "usage: sebays plan RECIPE.ini [--set section.key=value]... [--threads N]\n"
        "       sebays plan DATA [--label COLUMN] ...\n"
        "                   [--isa NAME] [--data-dir DIR]\n"
        "\n"
        "Prints what 'sebays train' would do: parameters and active weights by layer,\n"
        "memory, and for the stages of training their epochs, weights, arithmetic and\n"
        "the time a few real steps suggest; all of it as a multiple of one dense run.\n"
        "\n"
        "  --label COLUMN            of a table: its name or number; default: the last\n"
        "  --set section.key=value   change an option of the recipe; may be repeated\n"
        "  --threads N               default: one a processor\n"
        "  --isa NAME                instruction set of the kernels; default: the best\n"
        "  --data-dir DIR            where data sets are looked for by name, besides "
        "the\n"
        "                            recipe's data.dir and Debian's place\n"
        "\n"
        "example:\n"
        "  sebays plan recipes/paper/cifar10-sebays-m3-s80.ini\n",
    .flags = CLI_SET | CLI_THREAD | CLI_ISA | CLI_DATA | CLI_LABEL,
    .run = run,
};
