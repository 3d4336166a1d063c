/* sebays train - trains a recipe into a run directory. */
#include "cli.h"

const struct cli_command cli_cmd_train = {
    .name = "train",
    .operand = "RECIPE.ini",
    .summary = "train an ensemble",
    .help =
        "usage: sebays train RECIPE.ini [--out DIR] [--set section.key=value]...\n"
        "                    [--threads N] [--isa NAME] [--resume] [--dry-run] "
        "[--quiet]\n"
        "\n"
        "Trains what the recipe says and writes recipe.ini (with every default filled\n"
        "in), metrics.jsonl, checkpoints, model.safetensors and results.json into a\n"
        "run directory. Ctrl-C stops after the step at hand and saves a checkpoint.\n"
        "\n"
        "  --out DIR                 run directory; default runs/NAME of NAME.ini\n"
        "  --set section.key=value   change an option of the recipe; may be repeated\n"
        "  --threads N               default: one a processor; any number gives the\n"
        "                            same results\n"
        "  --isa NAME                instruction set of the kernels; default: the best\n"
        "  --resume                  go on where the run directory stopped\n"
        "  --dry-run                 print the plan and train nothing\n"
        "  --quiet                   no progress, only warnings and errors\n"
        "\n"
        "examples:\n"
        "  sebays train recipes/quickstart.ini\n"
        "  sebays train recipes/quickstart.ini --out runs/seed2 --set train.seed=2\n"
        "  sebays train recipes/quickstart.ini --resume\n",
    .flags =
        CLI_OUT | CLI_SET | CLI_THREAD | CLI_ISA | CLI_RESUME | CLI_DRY_RUN | CLI_QUIET,
};
