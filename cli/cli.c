/* cli - see cli.h. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_fail(const char *command, sebays_status st)
{
    const char *sentence = sebays_message();
    fprintf(stderr, "sebays %s: %s\n", command,
            sentence[0] ? sentence : sebays_status_name(st));
    return st == SEBAYS_EARG ? CLI_USAGE : CLI_FAILED;
}

static sebays_status apply(struct sebays_recipe *recipe, const struct cli_args *args)
{
    char number[16];
    sebays_status st =
        args->label ? sebays_recipe_set(recipe, "data.label", args->label) : SEBAYS_OK;
    if (st == SEBAYS_OK && args->task)
        st = sebays_recipe_set(recipe, "data.task", args->task);
    for (size_t i = 0; st == SEBAYS_OK && i < args->sets.count; i++)
        st = sebays_recipe_assign(recipe, args->sets.item[i]);
    if (st == SEBAYS_OK && args->threads > 0) {
        snprintf(number, sizeof number, "%u", args->threads);
        st = sebays_recipe_set(recipe, "train.threads", number);
    }
    return st;
}

static bool ends_in(const char *text, size_t n, const char *ending)
{
    size_t k = strlen(ending);
    return n > k && strncmp(text + n - k, ending, k) == 0;
}

bool cli_is_recipe(const char *operand)
{
    return ends_in(operand, strlen(operand), ".ini");
}

/* A recipe, or one that says no more than what the data is. */
static sebays_status open_recipe(const char *command, const struct cli_args *args,
                                 struct sebays_recipe **out)
{
    if (cli_is_recipe(args->operand) || strcmp(command, "recipe") == 0)
        return sebays_recipe_load(args->operand, out);
    sebays_status st = sebays_recipe_new(out);
    return st == SEBAYS_OK ? sebays_recipe_set(*out, "data.set", args->operand) : st;
}

int cli_load_recipe(const char *command, const struct cli_args *args,
                    struct sebays_recipe **out)
{
    sebays_status st = open_recipe(command, args, out);
    if (st == SEBAYS_OK)
        st = apply(*out, args);
    if (st == SEBAYS_OK)
        st = sebays_recipe_check(*out);
    if (st == SEBAYS_OK)
        return CLI_OK;
    int code = cli_fail(command, st);
    sebays_recipe_free(*out);
    *out = NULL;
    return st == SEBAYS_EFORMAT ? CLI_USAGE : code; /* a recipe is the user's own words */
}

int cli_print(const char *command, char *text)
{
    bool ok = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
    sebays_text_free(text);
    if (!ok)
        fprintf(stderr, "sebays %s: cannot write to standard output\n", command);
    return ok ? CLI_OK : CLI_FAILED;
}

const char **cli_keep_runs(const char *command, const struct cli_args *args,
                           bool (*works)(const char *path), size_t *count)
{
    const char **path = malloc(args->operand_count * sizeof *path);
    *count = 0;
    if (!path)
        return fprintf(stderr, "sebays %s: no memory for the runs\n", command), NULL;
    for (size_t i = 0; i < args->operand_count; i++)
        if (works(args->operands[i]))
            path[(*count)++] = args->operands[i];
        else
            fprintf(stderr, "sebays %s: left out: %s\n", command, sebays_message());
    if (*count == 0)
        fprintf(stderr, "sebays %s: no run is left to %s\n", command, command);
    return path;
}

bool cli_read_member(const char *command, const char *text, uint32_t *out)
{
    size_t n = strlen(text);
    if (n == 0 || n > 9 || strspn(text, "0123456789") != n) {
        fprintf(stderr, "sebays %s: --member %s: want a whole number from 0\n", command,
                text);
        return false;
    }
    *out = (uint32_t)strtoul(text, NULL, 10);
    return true;
}

/* What the operand is called: its last part, without the ending of a file. */
static size_t name_of(const char *operand, const char **name)
{
    static const char *const endings[] = {".gz",  ".ini", ".csv", ".tsv", ".txt",
                                          ".npy", ".npz", ".mat", NULL};
    size_t n = strlen(operand), first = 0;
    while (n > 1 && operand[n - 1] == '/')
        n--;
    for (size_t i = 0; i < n; i++)
        if (operand[i] == '/' && i + 1 < n)
            first = i + 1;
    *name = operand + first;
    n -= first;
    for (size_t i = 0; endings[i]; i++)
        if (ends_in(*name, n, endings[i]))
            n -= strlen(endings[i]);
    return n;
}

static bool name_file(const struct cli_args *args, const char *before, const char *after,
                      char *out, size_t size)
{
    const char *name = "";
    size_t length = args->out ? 0 : name_of(args->operand, &name);
    int n = args->out ? snprintf(out, size, "%s", args->out)
                      : snprintf(out, size, "%s%.*s%s", before, (int)length, name, after);
    return n >= 0 && (size_t)n < size;
}

bool cli_run_directory(const struct cli_args *args, char *out, size_t size)
{
    char member[32] = "";
    if (args->member)
        snprintf(member, sizeof member, "/member-%s", args->member);
    return name_file(args, "runs/", member, out, size);
}

bool cli_recipe_file(const struct cli_args *args, char *out, size_t size)
{
    return name_file(args, "", ".ini", out, size);
}

bool cli_run_recipe(const char *run, char *out, size_t size)
{
    int n = snprintf(out, size, "%s/%s", run, sebays_run_file(0));
    return n >= 0 && (size_t)n < size;
}
