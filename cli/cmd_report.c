/* sebays report - one HTML page about some runs. */
#include <stdio.h>

#include "cli.h"

enum { PATH_BYTES = 4096 };

static int run(const struct cli_args *args)
{
    char path[PATH_BYTES];
    int n = args->out ? snprintf(path, sizeof path, "%s", args->out)
                      : snprintf(path, sizeof path, "%s/report.html", args->operand);
    if (n < 0 || (size_t)n >= sizeof path) {
        fprintf(stderr, "sebays report: the page's path is too long\n");
        return CLI_USAGE;
    }
    sebays_status st = sebays_report(args->operands, args->operand_count, path);
    if (st != SEBAYS_OK)
        return cli_fail("report", st);
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
        "the command that adds it. Several runs stand side by side.\n"
        "\n"
        "  --out FILE, -o FILE   default: report.html in the first run directory\n"
        "\n"
        "examples:\n"
        "  sebays report runs/quickstart\n"
        "  sebays report runs/sebays runs/dnn -o report.html\n",
    .flags = CLI_FILE,
    .run = run,
};
