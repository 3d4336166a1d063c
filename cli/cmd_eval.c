/* sebays eval - what a finished run is worth. */
#include <stdio.h>

#include "data.h"
#include "progress.h"
#include "signals.h"

static int run(const struct cli_args *args)
{
    struct cli_progress screen;
    char place[CLI_PATH], *table;
    cli_progress_init(&screen, args->quiet);
    (void)cli_signals_catch(); /* if that fails, Ctrl-C ends us without a word */
    struct sebays_eval_options o = {
        .test = args->test,
        .ood = args->oods.item,
        .oods = args->oods.count,
        .corrupt = args->corrupt,
        .attack = args->attack,
        .all = args->all,
        .force = args->force,
        .samples = args->samples,
        .set = args->sets.item,
        .sets = args->sets.count,
        .threads = args->threads,
        .isa = args->isa,
        .data_dir = cli_data_directory(args->data_dir, place) ? place : NULL,
        .progress = cli_progress_show,
        .progress_context = &screen,
        .progress_seconds = 0.25,
        .log = cli_progress_log,
        .log_context = &screen,
    };
    sebays_status st = sebays_eval(args->operand, &o, &table);
    cli_progress_end(&screen);
    if (st == SEBAYS_ECANCELED && cli_signals_caught()) {
        fprintf(stderr, "sebays eval: stopped; results.json is as it was\n");
        return 128 + cli_signals_caught();
    }
    return st == SEBAYS_OK ? cli_print("eval", table) : cli_fail("eval", st);
}

const struct cli_command cli_cmd_eval = {
    .name = "eval",
    .operand = "RUN",
    .summary = "evaluate a trained ensemble: corruption, unlike data, attacks, ...",
    .help =
        "usage: sebays eval RUN [--test PATH] [--ood NAME=PATH]... [--corrupt "
        "PATH|generate]\n"
        "                   [--attack fgsm|pgd|pgd-STEPS] [--all] [--samples "
        "N|draw|mean|noise]\n"
        "                   [--set eval.key=value]... [--data-dir DIR] [--threads N]\n"
        "                   [--isa NAME] [--force] [--quiet]\n"
        "\n"
        "Predicts the test set with the members of a finished run, prints figures with\n"
        "their definitions, and merges them into RUN/results.json.\n"
        "\n"
        "  --test PATH               another test set than the recipe's\n"
        "                            (into other_tests of results.json: report and\n"
        "                            compare stay with the recipe's)\n"
        "  --ood NAME=PATH           a data set of another kind (out of distribution);\n"
        "                            images are made to fit; may be repeated\n"
        "  --corrupt generate        19 corruptions at 5 severities of the test images\n"
        "  --corrupt PATH            the same from files like CIFAR-10-C's\n"
        "  --attack fgsm             images attacked with each member's gradient\n"
        "  --all                     all of these: generated corruptions, FGSM, and the\n"
        "                            --ood sets known for this data set that are there\n"
        "  --samples N|draw|mean|noise\n"
        "                            draws of the weights a member (draw: one), means "
        "of\n"
        "                            the posterior, or activation noise; default:\n"
        "                            as the recipe says\n"
        "  --set eval.key=value      change an option of the evaluation; may be "
        "repeated\n"
        "  --data-dir DIR            where data sets are looked for by name\n"
        "  --threads N               default: one a processor; any number gives the\n"
        "                            same figures\n"
        "  --isa NAME                instruction set of the kernels; default: the best\n"
        "  --force                   although the data is not what was trained on, if\n"
        "                            columns and classes are; test examples may then be\n"
        "                            among those that were trained on\n"
        "  --quiet                   no progress, only warnings and errors\n"
        "\n"
        "examples:\n"
        "  sebays eval runs/quickstart\n"
        "  sebays eval runs/quickstart --all\n"
        "  sebays eval runs/quickstart --ood letters=data/notmnist --samples 10\n",
    .flags = CLI_TEST | CLI_OOD | CLI_CORRUPT | CLI_ATTACK | CLI_ALL | CLI_SAMPLES |
             CLI_SET | CLI_DATA | CLI_THREAD | CLI_ISA | CLI_QUIET | CLI_FORCE,
    .run = run,
};
