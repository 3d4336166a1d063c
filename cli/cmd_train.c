/* sebays train - trains a recipe, or data with a recipe that is chosen for it, into a run
 * directory. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "data.h"
#include "progress.h"
#include "signals.h"

enum { PATH_BYTES = 4096 };

static void print_row(const char *name, struct sebays_scores s)
{
    printf("%-10s %8.4f %8.4f %8.4f\n", name, s.accuracy, s.nll, s.ece);
}

/* Figures on the test set, and whether the ensemble is worth having. */
static void print_result(const struct sebays_result *r, const char *out)
{
    uint32_t members = sebays_result_members(r), best = 0;
    struct sebays_scores all = sebays_result_ensemble(r);
    bool tested = !isnan(all.accuracy);
    if (tested)
        printf("%-10s %8s %8s %8s\n", "test", "acc", "nll", "ece");
    else
        printf("there is no test part: nothing was kept to judge the model by\n");
    for (uint32_t i = 0; tested && i < members; i++) {
        char name[32];
        snprintf(name, sizeof name, "member %u", i + 1);
        print_row(name, sebays_result_member(r, i));
        if (sebays_result_member(r, i).accuracy > sebays_result_member(r, best).accuracy)
            best = i;
    }
    if (tested && members > 1) {
        struct sebays_scores top = sebays_result_member(r, best);
        print_row("ensemble", all);
        printf(
            "the ensemble is %s its best member (member %u): %+.2f points of accuracy, "
            "%+.4f nll\n",
            all.accuracy > top.accuracy ? "better than" : "not better than", best + 1,
            100.0 * (all.accuracy - top.accuracy), all.nll - top.nll);
    }
    printf("density %.4f, %.1f s of training, %.0f images/s\n", sebays_result_density(r),
           sebays_result_seconds(r), sebays_result_images_per_second(r));
    printf("files in %s\n", out);
}

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

/* The run directory's own recipe has every --set in it. */
static bool recipe_of(const char *out, char path[PATH_BYTES])
{
    int n = snprintf(path, PATH_BYTES, "%s/recipe.ini", out);
    return n > 0 && n < PATH_BYTES && access(path, R_OK) == 0;
}

static int say_go_on(const char *what, const char *recipe, const char *out, int code)
{
    fprintf(stderr,
            "sebays train: %s; %s. Go on with: sebays train %s --out %s --resume\n",
            sebays_message(), what, recipe, out);
    return code;
}

static int train(const struct cli_args *args, const struct sebays_recipe *recipe,
                 const char *out)
{
    struct cli_progress screen;
    struct sebays_result *result;
    char place[CLI_PATH];
    cli_progress_init(&screen, args->quiet);
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
    };
    sebays_status st = sebays_train(recipe, &o, &result);
    cli_progress_end(&screen);
    char recipe_path[PATH_BYTES];
    bool begun = recipe_of(out, recipe_path);
    if (begun && st == SEBAYS_ECANCELED && cli_signals_caught())
        return say_go_on("saved", recipe_path, out, 128 + cli_signals_caught());
    if (begun && st == SEBAYS_EIO)
        return say_go_on("what was saved before is kept", recipe_path, out, CLI_FAILED);
    if (st != SEBAYS_OK)
        return cli_fail("train", st);
    print_result(result, out);
    if (!cli_is_recipe(args->operand))
        print_next(out);
    cli_signals_drop_output();
    sebays_result_free(result);
    return CLI_OK;
}

static int run(const struct cli_args *args)
{
    struct sebays_recipe *recipe;
    char out[PATH_BYTES], *plan;
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
        code = train(args, recipe, out);
    }
    sebays_recipe_free(recipe);
    return code;
}

const struct cli_command cli_cmd_train = {
    .name = "train",
    .operand = "RECIPE.ini or DATA",
    .summary = "train an ensemble",
    .help =
        "usage: sebays train RECIPE.ini [--out DIR] [--set section.key=value]...\n"
        "       sebays train DATA [--label COLUMN] [--out DIR] ...\n"
        "                    [--threads N] [--isa NAME] [--data-dir DIR]\n"
        "                    [--resume [--force]] [--dry-run] [--quiet]\n"
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
        "\n"
        "examples:\n"
        "  sebays train flowers.csv --label species\n"
        "  sebays train recipes/quickstart.ini\n"
        "  sebays train recipes/quickstart.ini --out runs/seed2 --set train.seed=2\n"
        "  sebays train recipes/quickstart.ini --resume\n",
    .flags = CLI_OUT | CLI_SET | CLI_THREAD | CLI_ISA | CLI_RESUME | CLI_DRY_RUN |
             CLI_QUIET | CLI_DATA | CLI_FORCE | CLI_LABEL,
    .run = run,
};
