/* sebays train - trains a recipe, or data with a recipe that is chosen for it, into a run
 * directory. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "data.h"
#include "progress.h"
#include "ranks.h"
#include "signals.h"

/* For who trained on data without a recipe. */
static void print_next(const char *out)
{
    printf("the recipe that was chosen: %s/recipe.ini\n"
           "next:\n"
           "  sebays eval %s\n"
           "  sebays report %s\n"
           "  sebays predict %s/model.safetensors --input NEW_DATA\n",
           out, out, out, out);
}

static int say_go_on(const char *what, const struct cli_args *args, const char *recipe,
                     const char *out, int code)
{
    fprintf(stderr,
            "sebays train: %s; %s. Go on with: sebays train %s --out %s%s%s --resume\n",
            sebays_message(), what, recipe, out, args->member ? " --member " : "",
            args->member ? args->member : "");
    return code;
}

/* A training that did not end; what is saved can be gone on with. */
static int say_stopped(const struct cli_args *args, const char *out,
                       const struct sebays_ranks *ranks, sebays_status st)
{
    char recipe[CLI_PATH];
    bool begun = cli_run_recipe(out, recipe, sizeof recipe) && access(recipe, R_OK) == 0;
    if (begun && st == SEBAYS_ECANCELED) { /* another rank may be the one that was told */
        int code = 128 + (cli_signals_caught() ? cli_signals_caught() : SIGTERM);
        return sebays_ranks_rank(ranks) == 0 ? say_go_on("saved", args, recipe, out, code)
                                             : code;
    }
    return begun && st == SEBAYS_EIO
               ? say_go_on("what was saved before is kept", args, recipe, out, CLI_FAILED)
               : cli_ranks_fail("train", ranks, st);
}

static int train(const struct cli_args *args, const struct sebays_recipe *recipe,
                 const char *out, const struct sebays_ranks *ranks)
{
    bool first = sebays_ranks_rank(ranks) == 0; /* the one that talks */
    struct cli_progress screen;
    struct sebays_result *result;
    char place[CLI_PATH];
    cli_progress_init(&screen, args->quiet || !first);
    cli_signals_outlive_readers();
    if (!cli_signals_catch())
        fprintf(stderr, "sebays train: signals cannot be caught; Ctrl-C will not save\n");
    struct sebays_run_options o = {
        .out = out,
        .isa = args->isa,
        .resume = args->resume,
        .force = args->force,
        .data_dir = cli_data_directory(args->data_dir, place) ? place : NULL,
        .progress = cli_progress_show,
        .progress_context = &screen,
        .progress_seconds = 0.25,
        .log = cli_progress_log,
        .log_context = &screen,
        .ranks = ranks,
        .one_member = args->member != NULL,
        .dense_from = args->from,
    };
    if (args->member && !cli_read_member("train", args->member, &o.member))
        return CLI_USAGE;
    sebays_status st = sebays_train(recipe, &o, &result);
    cli_progress_end(&screen);
    if (st != SEBAYS_OK)
        return say_stopped(args, out, ranks, st);
    if (first)
        cli_result_print(result, o.member, out);
    if (first && !cli_is_recipe(args->operand))
        print_next(out);
    cli_signals_drop_output();
    sebays_result_free(result);
    return CLI_OK;
}

static int run_with(const struct cli_args *args, const struct sebays_ranks *ranks)
{
    struct sebays_recipe *recipe;
    char out[CLI_PATH], *plan;
    int code = cli_load_recipe("train", args, &recipe);
    if (code != CLI_OK)
        return code;
    if (!cli_run_directory(args, out, sizeof out)) {
        fprintf(stderr, "sebays train: the run directory's path is too long\n");
        code = CLI_USAGE;
    } else if (args->dry_run) {
        char place[CLI_PATH];
        struct sebays_run_options o = {
            .isa = args->isa,
            .data_dir = cli_data_directory(args->data_dir, place) ? place : NULL,
        };
        sebays_status st = sebays_plan(recipe, &o, &plan);
        code = st == SEBAYS_OK ? cli_print("train", plan) : cli_fail("train", st);
    } else {
        code = train(args, recipe, out, ranks);
    }
    sebays_recipe_free(recipe);
    return code;
}

static int run(const struct cli_args *args)
{
    struct sebays_ranks *ranks;
    int code = cli_ranks_join("train", args, &ranks);
    return code == CLI_OK ? cli_ranks_leave("train", args, ranks, run_with(args, ranks))
                          : code;
}

const struct cli_command cli_cmd_train = {
    .name = "train",
    .operand = "RECIPE.ini or DATA",
    .summary = "train an ensemble",
    .help =
        "usage: sebays train RECIPE.ini [--out DIR] [--set section.key=value]...\n"
        "       sebays train DATA [--label COLUMN] [--task NAME] [--out DIR] ...\n"
        "                    [--threads N] [--isa NAME] [--data-dir DIR]\n"
        "                    [--resume [--force]] [--dry-run] [--quiet]\n"
        "                    [--member K [--from RUN]]\n"
        "                    [--mpi[=NAME] [--mpi-limit SECONDS]]\n"
        "\n"
        "Trains what the recipe says and writes recipe.ini (with every default filled\n"
        "in), metrics.jsonl, checkpoints, model.safetensors and results.json into a\n"
        "run directory. Ctrl-C, SIGTERM and SIGHUP stop after the step at hand and save\n"
        "a checkpoint; insist after a few seconds to end without it.\n"
        "\n"
        "DATA is a table (.csv, .tsv, .npy, .npz), a folder of images a class, or any "
        "set\n"
        "that 'sebays data info' knows: the recipe is chosen by what it is and how many\n"
        "rows it has, said, and written into the run directory.\n"
        "\n"
        "  --label COLUMN            of a table: its name or number; default: the last\n"
        "  --task NAME               classification, regression or auto (the default):\n"
        "                            numbers with fractions, or many of them, are\n"
        "                            continuous targets\n"
        "  --out DIR                 run directory; default runs/NAME of NAME.ini\n"
        "  --set section.key=value   change an option of the recipe; may be repeated\n"
        "  --threads N               default: one a processor; any number gives the\n"
        "                            same results\n"
        "  --isa NAME                instruction set of the kernels; default: the best\n"
        "  --data-dir DIR            where data sets are looked for by name, besides "
        "the\n"
        "                            recipe's data.dir and Debian's place; default:\n"
        "                            where sebays data fetch puts them\n"
        "  --resume                  go on where the run directory stopped\n"
        "  --force                   go on although the data has changed since, if its\n"
        "                            size, columns and classes have not\n"
        "  --dry-run                 print the plan and train nothing\n"
        "  --quiet                   no progress, only warnings and errors\n"
        "  --member K                train only this member, counted from 0, of a "
        "method\n"
        "                            that trains members apart, into DIR or\n"
        "                            runs/NAME/member-K; sebays merge makes the run\n"
        "  --from RUN                with --member, of ltr: take the dense stage from "
        "that\n"
        "                            run instead of repeating it\n"
        "  --mpi[=NAME]              train with the other processes that mpirun or srun\n"
        "                            started: openmpi (the default), mpich, or the path\n"
        "                            of a plugin; docs/cluster.md\n"
        "  --mpi-limit SECONDS       end the job when processes wait longer for each\n"
        "                            other; default 600\n"
        "\n"
        "examples:\n"
        "  sebays train flowers.csv --label species\n"
        "  sebays train houses.csv --label rooms --task regression\n"
        "  sebays train recipes/quickstart.ini\n"
        "  sebays train recipes/quickstart.ini --out runs/seed2 --set train.seed=2\n"
        "  sebays train recipes/quickstart.ini --resume\n",
    .flags = CLI_OUT | CLI_SET | CLI_THREAD | CLI_ISA | CLI_RESUME | CLI_DRY_RUN |
             CLI_QUIET | CLI_DATA | CLI_FORCE | CLI_MPI | CLI_MEMBER | CLI_LABEL |
             CLI_TASK,
    .run = run,
};
