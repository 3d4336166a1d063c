/* sebays plan - what a recipe would cost, what several processes would make of it, and which
 * other ensembles cost as much. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "progress.h"

enum { NUMBERS = 32, LARGEST = 65536 };

/* What --ranks and --network, or --equal-cost, ask for. */
struct question {
    uint32_t number[NUMBERS]; /* of processes, or members */
    size_t count;             /* 0: nothing */
    double bits, latency;
};

/* "2,4,8". */
static bool read_numbers(const char *text, struct question *q)
{
    while (text) {
        char *end = NULL;
        unsigned long n = strtoul(text, &end, 10);
        if (end == text || (*end && *end != ',') || n < 1 || n > LARGEST ||
            q->count == NUMBERS)
            return false;
        q->number[q->count++] = (uint32_t)n;
        text = *end ? end + 1 : NULL;
    }
    return true;
}

/* "10Gb" or "10Gb,20us". */
static bool read_network(const char *text, struct question *q)
{
    char *end = NULL;
    q->bits = strtod(text, &end) * 1e9;
    if (!(q->bits > 0.0) || strncmp(end, "Gb", 2) != 0)
        return false;
    end += 2;
    if (*end == '\0')
        return true;
    if (*end != ',')
        return false;
    q->latency = strtod(end + 1, &end) * 1e-6;
    return strcmp(end, "us") == 0 && q->latency >= 0.0;
}

static bool read_question(const struct cli_args *args, struct question *q)
{
    *q = (struct question){.bits = 10e9, .latency = 50e-6};
    if (args->ranks && args->equal_cost)
        fprintf(stderr,
                "sebays plan: --ranks and --equal-cost are two questions; ask one "
                "at a time\n");
    else if (args->ranks && !read_numbers(args->ranks, q))
        fprintf(stderr,
                "sebays plan: --ranks %s: want up to %d numbers of processes, commas "
                "between: 2,4,8\n",
                args->ranks, NUMBERS);
    else if (args->equal_cost && !read_numbers(args->equal_cost, q))
        fprintf(stderr,
                "sebays plan: --equal-cost %s: want up to %d numbers of members, commas "
                "between: 1,3,7\n",
                args->equal_cost, NUMBERS);
    else if (args->network && !args->ranks)
        fprintf(stderr, "sebays plan: --network needs --ranks\n");
    else if (args->network && !read_network(args->network, q))
        fprintf(stderr,
                "sebays plan: --network %s: want a rate and, if you know it, a latency: "
                "10Gb or 100Gb,5us\n",
                args->network);
    else
        return true;
    return false;
}

/* The ensembles, and how to train them all. */
static int print_sizes(const struct cli_args *args, const struct sebays_recipe *recipe,
                       const struct sebays_run_options *o, const struct question *q)
{
    double sparsity[NUMBERS], cost[NUMBERS];
    sebays_status st = sebays_sizes(recipe, o, q->number, q->count, sparsity, cost);
    if (st != SEBAYS_OK)
        return cli_fail("plan", st);
    printf("%7s %9s %s\n", "members", "sparsity", "cost, of one dense run");
    for (size_t i = 0; i < q->count; i++)
        printf("%7u %9.4f %.2f\n", q->number[i], sparsity[i], cost[i]);
    printf("\ntrain them all: sebays sweep '%s' --out DIR", args->operand);
    for (size_t i = 0; i < args->sets.count; i++)
        printf(" --set '%s'", args->sets.item[i]);
    if (args->label)
        printf(" --set 'data.label=%s'", args->label);
    if (args->task)
        printf(" --set data.task=%s", args->task);
    printf(" \\\n    --vary method.members+method.sparsity=");
    for (size_t i = 0; i < q->count; i++)
        printf("%s%u:%.4f", i ? "," : "", q->number[i], sparsity[i]);
    printf("\n");
    return CLI_OK;
}

static int run(const struct cli_args *args)
{
    struct sebays_recipe *recipe;
    struct cli_progress screen;
    struct question q;
    char *text = NULL, place[CLI_PATH];
    cli_progress_init(&screen, args->quiet);
    struct sebays_run_options o = {
        .isa = args->isa,
        .data_dir = cli_data_directory(args->data_dir, place) ? place : NULL,
        .progress = cli_progress_show,
        .progress_context = &screen,
        .progress_seconds = 0.25,
    };
    if (!read_question(args, &q))
        return CLI_USAGE;
    int code = cli_load_recipe("plan", args, &recipe);
    if (code != CLI_OK)
        return code;
    if (args->equal_cost) {
        code = print_sizes(args, recipe, &o, &q);
        sebays_recipe_free(recipe);
        return code;
    }
    sebays_status st =
        q.count ? sebays_forecast(recipe, &o, q.number, q.count, q.bits, q.latency, &text)
                : sebays_plan(recipe, &o, &text);
    cli_progress_end(&screen);
    sebays_recipe_free(recipe);
    return st == SEBAYS_OK ? cli_print("plan", text) : cli_fail("plan", st);
}

const struct cli_command cli_cmd_plan = {
    .name = "plan",
    .operand = "RECIPE.ini or DATA",
    .summary = "print sizes, work and memory of a recipe without training",
    .help =
        "usage: sebays plan RECIPE.ini [--set section.key=value]... [--threads N]\n"
        "       sebays plan DATA [--label COLUMN] [--task NAME] ...\n"
        "                   [--isa NAME] [--data-dir DIR] [--quiet]\n"
        "                   [--ranks N,N,... [--network RATE[,LATENCY]]]\n"
        "                   [--equal-cost M,M,...]\n"
        "\n"
        "Prints what 'sebays train' would do: parameters and active weights by layer,\n"
        "memory, and for the stages of training their epochs, weights, arithmetic and\n"
        "the time a few real steps suggest; all of it as a multiple of one dense run.\n"
        "With --ranks, a forecast of a step and of the run that so many processes share\n"
        "(docs/cluster.md): a rank's share is measured here, exchanges are computed.\n"
        "With --equal-cost, the sparsity with which ensembles of so many members cost "
        "as\n"
        "much to train as this recipe, and the sweep that trains them.\n"
        "\n"
        "  --label COLUMN            of a table: its name or number; default: the last\n"
        "  --task NAME               classification, regression or auto (the default):\n"
        "                            numbers with fractions, or many of them, are\n"
        "                            continuous targets\n"
        "  --set section.key=value   change an option of the recipe; may be repeated\n"
        "  --threads N               default: one a processor\n"
        "  --isa NAME                instruction set of the kernels; default: the best\n"
        "  --data-dir DIR            where data sets are looked for by name, besides "
        "the\n"
        "                            recipe's data.dir and Debian's place\n"
        "  --ranks N,N,...           numbers of processes\n"
        "  --network RATE[,LATENCY]  between them: 10Gb (the default), 100Gb,5us; the\n"
        "                            latency is 50us unless given\n"
        "  --equal-cost M,M,...      numbers of members\n"
        "  --quiet                   no progress\n"
        "\n"
        "examples:\n"
        "  sebays plan recipes/paper/cifar10-sebays-m3-s80.ini\n"
        "  sebays plan recipes/quickstart.ini --ranks 2,4,8 --network 10Gb --threads 1\n"
        "  sebays plan recipes/quickstart.ini --equal-cost 1,3,5,7\n",
    .flags = CLI_SET | CLI_THREAD | CLI_ISA | CLI_DATA | CLI_QUIET | CLI_RANKS |
             CLI_LABEL | CLI_TASK,
    .run = run,
};
