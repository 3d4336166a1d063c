/* sebays compare - the paper's table for some runs.
 *
 * A shell's pattern also finds runs that are still in training and directories of sweeps:
 * they are named and left out, and the table of the others is printed. The status says so.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

static bool compares(const char *path)
{
    char *text;
    if (sebays_compare(&path, 1, "text", &text) != SEBAYS_OK)
        return false;
    sebays_text_free(text);
    return true;
}

/* The table of those that can be compared, after a failure with all of them. */
static int run_some(const struct cli_args *args, const char *format)
{
    size_t count;
    const char **path = cli_keep_runs("compare", args, compares, &count);
    char *text;
    int code = CLI_FAILED;
    sebays_status st = count > 0 ? sebays_compare(path, count, format, &text) : SEBAYS_OK;
    if (st != SEBAYS_OK)
        code = cli_fail("compare", st);
    else if (count > 0)
        (void)cli_print("compare", text);
    free(path);
    return code;
}

static int run(const struct cli_args *args)
{
    char *text;
    const char *format = args->format ? args->format : "text";
    sebays_status st = sebays_compare(args->operands, args->operand_count, format, &text);
    if (st == SEBAYS_OK)
        return cli_print("compare", text);
    return args->operand_count == 1 ? cli_fail("compare", st) : run_some(args, format);
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
        "What is no finished run is named and left out; the exit status is then 1.\n"
        "\n"
        "  --format NAME   text (the default), markdown, latex, csv or json\n"
        "\n"
        "examples:\n"
        "  sebays compare runs/*\n"
        "  sebays compare runs/sebays runs/dnn --format latex >table.tex\n",
    .flags = CLI_FORMAT,
    .run = run,
};
