/* sebays compare - the paper's table for some runs. */
#include "cli.h"

static int run(const struct cli_args *args)
{
    char *text;
    sebays_status st = sebays_compare(args->operands, args->operand_count,
                                      args->format ? args->format : "text", &text);
    return st == SEBAYS_OK ? cli_print("compare", text) : cli_fail("compare", st);
}

const struct cli_command cli_cmd_compare = {
    .name = "compare",
    .operand = "RUN",
    .many = true,
    .summary = "print the paper's table for some runs",
    .help =
        "usage: sebays compare RUN... [--format text|markdown|latex|csv|json]\n"
        "\n"
        "Prints a table of finished runs: method, members M, sparsity S, accuracy,\n"
        "negative log-likelihood and calibration error on the test set and, once\n"
        "'sebays eval' has been there, on its corrupted copies; what training cost, as "
        "a\n"
        "multiple of one dense run; and beside the paper's rows what the paper reports.\n"
        "The best of a column is marked. Runs that differ in train.seed only are one "
        "row\n"
        "with mean and standard deviation; each data set has a table of its own.\n"
        "\n"
        "  --format NAME   text (the default), markdown, latex, csv or json\n"
        "\n"
        "examples:\n"
        "  sebays compare runs/*\n"
        "  sebays compare runs/sebays runs/dnn --format latex >table.tex\n",
    .flags = CLI_FORMAT,
    .run = run,
};
