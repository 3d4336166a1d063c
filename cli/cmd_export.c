/* sebays export - a model for PyTorch, NumPy and others. */
#include <stdio.h>

#include "cli.h"
#include "progress.h"
#include "signals.h"

static bool read_options(const struct cli_args *args, struct sebays_export_options *o)
{
    if (!args->format)
        fprintf(stderr,
                "sebays export: say which format, with --format safetensors-dense, "
                "npz or onnx\n");
    else if (!args->out)
        fprintf(stderr, "sebays export: say where to, with --out FILE\n");
    else if (!args->member || cli_read_member("export", args->member, &o->first_member))
        return true;
    return false;
}

static int run(const struct cli_args *args)
{
    struct cli_progress screen;
    struct sebays_export_options o = {
        .format = args->format,
        .out = args->out,
        .samples = args->samples,
        .sigma = args->sigma,
        .members = args->member ? 1 : 0,
        .progress = cli_progress_show,
        .progress_context = &screen,
        .progress_seconds = 0.25,
    };
    if (!read_options(args, &o))
        return CLI_USAGE;
    cli_progress_init(&screen, args->quiet);
    (void)cli_signals_catch(); /* if that fails, Ctrl-C ends us without a word */
    sebays_status st = sebays_export(args->operand, &o);
    cli_progress_end(&screen);
    if (st == SEBAYS_ECANCELED && cli_signals_caught()) {
        fprintf(stderr, "sebays export: stopped; %s was not written\n", args->out);
        return 128 + cli_signals_caught();
    }
    return st == SEBAYS_OK ? CLI_OK : cli_fail("export", st);
}

const struct cli_command cli_cmd_export = {
    .name = "export",
    .operand = "MODEL|RUN",
    .summary = "write a model for PyTorch, NumPy or ONNX runtimes",
    .help =
        "usage: sebays export MODEL|RUN --format safetensors-dense|npz|onnx --out FILE\n"
        "                     [--samples draw|mean] [--member N] [--sigma] [--quiet]\n"
        "\n"
        "Writes the members' weights as dense float arrays in PyTorch's layouts, 0 "
        "where\n"
        "no weight exists, with batch norms, normalisation and class names; or, as "
        "onnx,\n"
        "the ensemble as a graph that takes examples and gives probabilities.\n"
        "docs/interop.md has the names, and how to load them in ten lines.\n"
        "\n"
        "  --format NAME         safetensors-dense, npz for numpy.load, or onnx\n"
        "  --out FILE            replaced when the new one is whole\n"
        "  --samples draw|mean   the draw of the weights that predictions use (the\n"
        "                        default), or the posterior means\n"
        "  --member N            only this one, counted from 0\n"
        "  --sigma               each weight's posterior deviation, too\n"
        "  --quiet               no progress, only errors\n"
        "\n"
        "examples:\n"
        "  sebays export runs/quickstart --format safetensors-dense --out "
        "q.safetensors\n"
        "  sebays export runs/quickstart --format npz --member 0 --sigma --out q.npz\n",
    .flags = CLI_FORMAT | CLI_FILE | CLI_SAMPLES | CLI_MEMBER | CLI_SIGMA | CLI_QUIET,
    .run = run,
};
