/* sebays report - one HTML page about some runs.
 *
 * What a shell's pattern finds beside runs is named and left out, as compare does; runs that
 * are still in training have a page, too.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

/* The page's path: --out, or in the first run. */
static bool name_page(const struct cli_args *args, const char *first, char path[CLI_PATH])
{
    int n = args->out ? snprintf(path, CLI_PATH, "%s", args->out)
                      : snprintf(path, CLI_PATH, "%s/report.html", first);
    if (n >= 0 && n < CLI_PATH)
        return true;
    fprintf(stderr, "sebays report: the page's path is too long\n");
    return false;
}

static bool has_page(const char *path)
{
    return sebays_report(&path, 1, NULL) == SEBAYS_OK;
}

/* The page of those that can have one, after a failure with all of them. */
static int run_some(const struct cli_args *args)
{
    char page[CLI_PATH];
    size_t count;
    const char **path = cli_keep_runs("report", args, has_page, &count);
    int code = CLI_FAILED;
    if (count > 0 && name_page(args, path[0], page)) {
        sebays_status st = sebays_report(path, count, page);
        if (st != SEBAYS_OK)
            code = cli_fail("report", st);
        else
            printf("%s\n", page);
    }
    free(path);
    return code;
}

static int run(const struct cli_args *args)
{
    char path[CLI_PATH];
    if (!name_page(args, args->operand, path))
        return CLI_USAGE;
    sebays_status st = sebays_report(args->operands, args->operand_count, path);
    if (st != SEBAYS_OK)
        return args->operand_count == 1 ? cli_fail("report", st) : run_some(args);
    printf("%s\n", path);
    return CLI_OK;
}

const struct cli_command cli_cmd_report = {
    .name = "report",
    .operand = "RUN",
    .many = true,
    .summary = "write an HTML page about some runs",
    .help =
        "usage: sebays report RUN... [--out FILE]\n"
        "\n"
        "Writes one HTML file that needs no network and prints its path: the figures "
        "and\n"
        "what they mean, training curves, calibration, robustness, diversity, examples,\n"
        "and how to repeat the run. What 'sebays eval' has not computed is left out, "
        "with\n"
        "the command that adds it. Several runs stand side by side. What is no run is\n"
        "named and left out; the exit status is then 1.\n"
        "\n"
        "  --out FILE, -o FILE   default: report.html in the first run directory\n"
        "\n"
        "examples:\n"
        "  sebays report runs/quickstart\n"
        "  sebays report runs/sebays runs/dnn -o report.html\n",
    .flags = CLI_FILE,
    .run = run,
};
