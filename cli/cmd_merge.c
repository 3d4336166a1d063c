/* sebays merge - one run of members that were trained apart. */
#include <stdio.h>

#include "cli.h"
#include "data.h"
#include "progress.h"

/* All tasks have the same recipe; the library looks whether that is so. */
static int load_recipe(const struct cli_args *args, struct sebays_recipe **out)
{
    char path[CLI_PATH];
    struct cli_args first = *args;
    if (!cli_run_recipe(args->operand, path, sizeof path)) {
        fprintf(stderr, "sebays merge: a path is too long\n");
        return CLI_USAGE;
    }
    first.operand = path;
    return cli_load_recipe("merge", &first, out);
}

static int run(const struct cli_args *args)
{
    struct sebays_recipe *recipe;
    struct sebays_result *result = NULL;
    struct cli_progress screen;
    char place[CLI_PATH];
    if (!args->out) {
        fprintf(stderr, "sebays merge: say where to, with --out DIR\n");
        return CLI_USAGE;
    }
    int code = load_recipe(args, &recipe);
    if (code != CLI_OK)
        return code;
    cli_progress_init(&screen, args->quiet);
    struct sebays_run_options o = {
        .out = args->out,
        .isa = args->isa,
        .data_dir = cli_data_directory(args->data_dir, place) ? place : NULL,
        .log = cli_progress_log,
        .log_context = &screen,
    };
    sebays_status st =
        sebays_merge(recipe, &o, args->operands, args->operand_count, &result);
    cli_progress_end(&screen);
    sebays_recipe_free(recipe);
    if (st != SEBAYS_OK)
        return cli_fail("merge", st);
    cli_result_print(result, 0, args->out);
    sebays_result_free(result);
    return CLI_OK;
}

const struct cli_command cli_cmd_merge = {
    .name = "merge",
    .operand = "RUN",
    .many = true,
    .summary = "make one run of members that were trained apart",
    .help =
        "usage: sebays merge RUN... --out DIR [--threads N] [--isa NAME]\n"
        "                    [--data-dir DIR] [--quiet]\n"
        "\n"
        "Makes the run of members that 'sebays train RECIPE.ini --member K' trained one\n"
        "by one, for all K: the model (the same, to the bit, as if one run had trained\n"
        "them), metrics.jsonl, updates.jsonl, and figures on the test set. Refuses\n"
        "missing members, members given twice, and other recipes or data.\n"
        "\n"
        "  --out DIR        run directory\n"
        "  --threads N      default: one a processor; any number gives the same results\n"
        "  --isa NAME       instruction set of the kernels; default: the best\n"
        "  --data-dir DIR   where data sets are looked for by name, besides the "
        "recipe's\n"
        "                   data.dir and Debian's place\n"
        "  --quiet          only the result, warnings and errors\n"
        "\n"
        "example:\n"
        "  sebays merge runs/bays/member-* --out runs/bays\n",
    .flags = CLI_OUT | CLI_THREAD | CLI_ISA | CLI_DATA | CLI_QUIET,
    .run = run,
};
