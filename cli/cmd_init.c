/* sebays init - the recipe that training on data would choose, as a file to change. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data.h"

/* A file that is there is somebody's. */
static int put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f) {
        fprintf(stderr, "sebays init: %s: %s%s\n", path, strerror(errno),
                errno == EEXIST ? "; choose another --out, or remove it" : "");
        if (fd >= 0)
            close(fd);
        return errno == EEXIST ? CLI_USAGE : CLI_FAILED;
    }
    bool ok = fputs(text, f) >= 0;
    ok = fclose(f) == 0 && ok;
    if (!ok)
        fprintf(stderr, "sebays init: %s could not be written\n", path);
    else
        printf("%s: the recipe for this data\nnext: sebays train %s\n", path, path);
    return ok ? CLI_OK : CLI_FAILED;
}

static int run(const struct cli_args *args)
{
    struct sebays_recipe *recipe;
    char path[CLI_PATH], place[CLI_PATH], *text = NULL;
    struct sebays_run_options o = {
        .data_dir = cli_data_directory(args->data_dir, place) ? place : NULL};
    if (cli_is_recipe(args->operand) || !cli_recipe_file(args, path, sizeof path)) {
        fprintf(stderr, "sebays init: %s: want data, such as a table or a folder\n",
                args->operand);
        return CLI_USAGE;
    }
    int code = cli_load_recipe("init", args, &recipe);
    if (code != CLI_OK)
        return code;
    sebays_status st = sebays_recipe_fit(recipe, &o);
    if (st == SEBAYS_OK)
        st = sebays_recipe_text(recipe, true, &text);
    code = st == SEBAYS_OK ? put(path, text) : cli_fail("init", st);
    sebays_text_free(text);
    sebays_recipe_free(recipe);
    return code;
}

const struct cli_command cli_cmd_init = {
    .name = "init",
    .operand = "DATA",
    .summary = "write the recipe that suits some data",
    .help =
        "usage: sebays init DATA [--label COLUMN] [--task NAME] [--data-dir DIR]\n"
        "                   [--set section.key=value]... [--out FILE.ini]\n"
        "\n"
        "Looks at a table, a folder of images or another data set and writes the\n"
        "recipe that 'sebays train DATA' would choose for it, with every option and\n"
        "what it means, to be changed and trained.\n"
        "\n"
        "  --label COLUMN            of a table: its name or number; default: the last\n"
        "  --task NAME               classification, regression or auto (the default):\n"
        "                            numbers with fractions, or many of them, are\n"
        "                            continuous targets\n"
        "  --set section.key=value   say an option; others may follow it\n"
        "  --data-dir DIR            where data sets are looked for by name\n"
        "  --out FILE.ini            default: NAME.ini of NAME.csv\n"
        "\n"
        "example:\n"
        "  sebays init flowers.csv --label species\n",
    .flags = CLI_LABEL | CLI_TASK | CLI_SET | CLI_DATA | CLI_FILE,
    .run = run,
};
