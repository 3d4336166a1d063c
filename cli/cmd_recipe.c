/* sebays recipe - what a recipe comes to. */
#include "cli.h"

static int run(const struct cli_args *args)
{
    struct sebays_recipe *recipe;
    char *text;
    int code = cli_load_recipe("recipe", args, &recipe);
    if (code != CLI_OK)
        return code;
    sebays_status st = sebays_recipe_text(recipe, !args->quiet, &text);
    sebays_recipe_free(recipe);
    return st == SEBAYS_OK ? cli_print("recipe", text) : cli_fail("recipe", st);
}

const struct cli_command cli_cmd_recipe = {
    .name = "recipe",
    .operand = "RECIPE.ini",
    .summary = "check a recipe and print it with every default filled in",
    .help = "usage: sebays recipe RECIPE.ini [--set section.key=value]... [--quiet]\n"
            "\n"
            "Reads a recipe, checks it and prints it with every option named: what was\n"
            "left out comes from the method, else from the defaults ('sebays options');\n"
            "auto is what the data decide, and its comment says what images get.\n"
            "\n"
            "  --set section.key=value   change an option; may be repeated\n"
            "  --quiet                   without the comments\n"
            "\n"
            "examples:\n"
            "  sebays recipe recipes/quickstart.ini\n"
            "  sebays recipe recipes/quickstart.ini --set method.name=bays > bays.ini\n",
    .flags = CLI_SET | CLI_QUIET,
    .run = run,
};
