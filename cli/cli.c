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
    sebays_status st = SEBAYS_OK;
    for (size_t i = 0; st == SEBAYS_OK && i < args->sets.count; i++)
        st = sebays_recipe_assign(recipe, args->sets.item[i]);
    if (st == SEBAYS_OK && args->threads > 0) {
        snprintf(number, sizeof number, "%u", args->threads);
        st = sebays_recipe_set(recipe, "train.threads", number);
    }
    return st;
}

int cli_load_recipe(const char *command, const struct cli_args *args,
                    struct sebays_recipe **out)
{
    sebays_status st = sebays_recipe_load(args->operand, out);
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

bool cli_take_member(const char *command, const char *text, uint32_t *out)
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

bool cli_run_directory(const struct cli_args *args, char *out, size_t size)
{
    int n;
    if (args->out) {
        n = snprintf(out, size, "%s", args->out);
    } else {
        const char *slash = strrchr(args->operand, '/');
        const char *base = slash ? slash + 1 : args->operand;
        size_t length = strlen(base);
        if (length > 4 && strcmp(base + length - 4, ".ini") == 0)
            length -= 4;
        n = snprintf(out, size, "runs/%.*s%s%s", (int)length, base,
                     args->member ? "/member-" : "", args->member ? args->member : "");
    }
    return n >= 0 && (size_t)n < size;
}
