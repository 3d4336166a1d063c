/* sebays data corrupt - images as they look in bad weather, through bad lenses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "progress.h"
#include "signals.h"

static const char name[] = "data corrupt";

/* "3" or "1-5". */
static bool read_severities(const char *text, struct sebays_corrupt_options *o)
{
    size_t n = strlen(text);
    if ((n != 1 && n != 3) || (n == 3 && text[1] != '-'))
        return false;
    o->first_severity = (uint32_t)(text[0] - '0');
    o->last_severity = (uint32_t)(text[n - 1] - '0');
    return text[0] >= '1' && text[0] <= text[n - 1] && text[n - 1] <= '5';
}

static bool read_seed(const char *text, uint64_t *out)
{
    size_t n = strlen(text);
    if (n == 0 || n > 19 || strspn(text, "0123456789") != n) /* 19 digits are < 2^64 */
        return false;
    *out = strtoull(text, NULL, 10);
    return true;
}

static bool read_options(const struct cli_args *args, struct sebays_corrupt_options *o)
{
    if (!args->out && !args->sheet)
        fprintf(stderr,
                "sebays %s: nothing to write; want --out DIR or --sheet FILE.png\n",
                name);
    else if (args->severity && !read_severities(args->severity, o))
        fprintf(stderr, "sebays %s: --severity %s: want 1 to 5, or a range such as 1-5\n",
                name, args->severity);
    else if (args->seed && !read_seed(args->seed, &o->seed))
        fprintf(stderr,
                "sebays %s: --seed %s: want a whole number of at most 19 digits\n", name,
                args->seed);
    else
        return true;
    return false;
}

static int run(const struct cli_args *args)
{
    struct cli_args test = *args; /* the split that models are judged by */
    struct cli_progress screen;
    struct sebays_data *data;
    struct sebays_corrupt_options o = {
        .kinds = args->kind,
        .seed = 1,
        .threads = args->threads,
        .out = args->out,
        .sheet = args->sheet,
        .progress = cli_progress_show,
        .progress_context = &screen,
        .progress_seconds = 0.25,
    };
    test.split = args->split ? args->split : "test";
    if (!read_options(args, &o))
        return CLI_USAGE;
    int code = cli_data_open(name, &test, false, &data);
    if (code != CLI_OK)
        return code;
    cli_progress_init(&screen, args->quiet);
    (void)cli_signals_catch(); /* if that fails, Ctrl-C ends us without a word */
    sebays_status st = sebays_data_corrupt(data, &o);
    cli_progress_end(&screen);
    sebays_data_free(data);
    if (st == SEBAYS_ECANCELED && cli_signals_caught()) {
        fprintf(stderr, "sebays %s: stopped; files that are there are whole\n", name);
        return 128 + cli_signals_caught();
    }
    return st == SEBAYS_OK ? CLI_OK : cli_fail(name, st);
}

const struct cli_command cli_cmd_data_corrupt = {
    .name = "data corrupt",
    .operand = "PATH|NAME",
    .summary = "images with noise, blur, snow, ...",
    .help =
        "usage: sebays data corrupt PATH|NAME [--out DIR] [--sheet FILE.png]\n"
        "                           [--kind all|KIND[,KIND]] [--severity 1-5] [--seed "
        "N]\n"
        "                           [--split train|test] [--threads N] [--quiet]\n"
        "\n"
        "Writes corrupted images in the layout of CIFAR-10-C: DIR/KIND.npy has the set\n"
        "once a severity, [severities * n][height][width][channels] bytes; "
        "DIR/labels.npy\n"
        "has the labels as many times. The same seed gives the same bytes.\n"
        "\n"
        "  --kind LIST          default: all; of gaussian_noise shot_noise "
        "impulse_noise\n"
        "                       speckle_noise gaussian_blur defocus_blur glass_blur\n"
        "                       motion_blur zoom_blur snow frost fog brightness spatter\n"
        "                       contrast elastic_transform pixelate jpeg_compression\n"
        "                       saturate\n"
        "  --severity N|N-M     default: 1-5, which evaluation wants\n"
        "  --seed N             default: 1\n"
        "  --split train|test   default: test\n"
        "  --out DIR            where the arrays go\n"
        "  --sheet FILE.png     draw the first image: a row a kind, clean, then "
        "severities\n"
        "  --threads N          default: one a processor\n"
        "  --quiet              no progress, only warnings and errors\n"
        "\n"
        "examples:\n"
        "  sebays data corrupt cifar10 --out data/cifar10-c\n"
        "  sebays data corrupt fashion-mnist --kind fog,snow --severity 3 --out foggy\n"
        "  sebays data corrupt cifar10 --sheet corruptions.png\n",
    .flags = CLI_OUT | CLI_SHEET | CLI_KIND | CLI_SPLIT | CLI_THREAD | CLI_QUIET,
    .run = run,
};
