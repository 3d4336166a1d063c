/* sebays data fetch - downloads a data set. */
#include <stdio.h>

#include "data.h"
#include "progress.h"
#include "signals.h"

static const char name[] = "data fetch";

/* Stopped by Ctrl-C: how to go on. */
static int say_stopped(const struct cli_args *args)
{
    fprintf(stderr, "sebays %s: %s; what has arrived is kept. Go on with: sebays %s %s",
            name, sebays_message(), name, args->operand);
    if (args->data_dir)
        fprintf(stderr, " --data-dir %s", args->data_dir);
    if (args->url)
        fprintf(stderr, " --url %s", args->url);
    fputc('\n', stderr);
    return 128 + cli_signals_caught();
}

static int run(const struct cli_args *args)
{
    struct cli_progress screen;
    char place[CLI_PATH], *path;
    bool there;
    if (!cli_data_directory(args->data_dir, place)) {
        fprintf(stderr,
                "sebays %s: there is no HOME to put it into; say where with --data-dir\n",
                name);
        return CLI_USAGE;
    }
    cli_progress_init(&screen, args->quiet);
    (void)cli_signals_catch(); /* if that fails, Ctrl-C ends us without a word */
    struct sebays_fetch_options o = {
        .data_dir = place,
        .url = args->url,
        .progress = cli_progress_show,
        .progress_context = &screen,
        .progress_seconds = 0.25,
        .log = cli_progress_log,
        .log_context = &screen,
    };
    sebays_status st = sebays_data_fetch(args->operand, &o, &path, &there);
    cli_progress_end(&screen);
    if (st == SEBAYS_ECANCELED && cli_signals_caught())
        return say_stopped(args);
    if (st != SEBAYS_OK)
        return cli_fail(name, st);
    printf("%s %s %s\n", args->operand, there ? "is already in" : "is now in", path);
    sebays_text_free(path);
    return CLI_OK;
}

const struct cli_command cli_cmd_data_fetch = {
    .name = "data fetch",
    .operand = "NAME",
    .summary = "download a data set",
    .help =
        "usage: sebays data fetch NAME [--data-dir DIR] [--url BASE] [--quiet]\n"
        "\n"
        "Downloads a data set that 'sebays data list' names, checks its SHA-256 and\n"
        "unpacks it into DIR/NAME, where recipes and the other commands find it by its\n"
        "name. Ctrl-C, a lost connection or a reboot lose nothing: the same command "
        "goes\n"
        "on where it stopped.\n"
        "\n"
        "  --data-dir DIR   default: $XDG_DATA_HOME/sebays, else ~/.local/share/sebays;\n"
        "                   ./data is searched by recipes too\n"
        "  --url BASE       directory of a mirror that has the same files\n"
        "  --quiet          no progress, only warnings and errors\n"
        "\n"
        "examples:\n"
        "  sebays data fetch cifar10\n"
        "  sebays data fetch svhn --data-dir data\n"
        "  sebays data fetch mnist --url https://ossci-datasets.s3.amazonaws.com/mnist\n",
    .flags = CLI_DATA | CLI_URL | CLI_QUIET,
    .run = run,
};
