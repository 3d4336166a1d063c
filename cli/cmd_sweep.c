/* sebays sweep - a recipe trained for every combination of some options' values. */
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "progress.h"
#include "signals.h"

enum { NAME = 256, MOST = 10000 };

/* Combination `number`: value number mod n of the last axis, and so on, as an odometer. */
struct sweep {
    const struct cli_args *args;
    size_t values[CLI_LIST]; /* of each axis; 0: none was found */
    size_t runs;
    size_t number;
    char name[NAME]; /* "train.seed=1,method.sparsity=0.9" */
    size_t failed;   /* runs that came to nothing */
    bool titled;     /* the names of the columns are printed */
};

enum { SHOWN = 3 }; /* figures of a run, the first ones of its task */

/* ---- combinations -------------------------------------------------------------------- */

/* How often c is in the first n characters. */
static size_t count_of(const char *text, size_t n, char c)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += text[i] == c;
    return found;
}

/* Options that an axis varies together: 1 in "section.key=v1,v2", 2 in "a.b+c.d=v1:w1,v2:w2". */
static size_t count_options(const char *text)
{
    return 1 + count_of(text, strcspn(text, "="), '+');
}

/* How many values an axis has; 0: it is not like that. */
static size_t count_values(const char *text)
{
    const char *p = strchr(text, '=');
    size_t n = 0, options = count_options(text);
    if (!p || p == text)
        return 0;
    do {
        size_t length = strcspn(++p, ",");
        if (length == 0 || (options > 1 && 1 + count_of(p, length, ':') != options))
            return 0;
        n++;
        p += length;
    } while (*p);
    return n;
}

/* The piece of a text with this number, of those that `between` separates; its length. */
static size_t piece(const char **text, size_t number, const char *between)
{
    while (number-- > 0)
        *text += strcspn(*text, between) + 1;
    return strcspn(*text, between);
}

/* out = "section.key=value": the axis' option with value k. False: too long. */
static bool read_value(const char *text, size_t option, size_t k, char out[NAME])
{
    const char *key = text, *value = strchr(text, '=') + 1;
    bool several = count_options(text) > 1;
    size_t keys = piece(&key, option, "+="), values = piece(&value, k, ",");
    if (several)
        values = piece(&value, option, ":,");
    int n = snprintf(out, NAME, "%.*s=%.*s", (int)keys, key, (int)values, value);
    return n > 0 && n < NAME;
}

/* The assignment of axis i's option in this combination. */
static bool assignment(const struct sweep *s, size_t i, size_t option, char out[NAME])
{
    size_t rest = s->number;
    for (size_t k = s->args->varied.count; k-- > i + 1;)
        rest /= s->values[k];
    return read_value(s->args->varied.item[i], option, rest % s->values[i], out);
}

/* A name for the combination that is a name of a directory too. */
static bool name_it(struct sweep *s)
{
    size_t used = 0;
    for (size_t i = 0; i < s->args->varied.count; i++)
        for (size_t k = 0; k < count_options(s->args->varied.item[i]); k++) {
            char one[NAME];
            if (!assignment(s, i, k, one))
                return false;
            int n = snprintf(s->name + used, NAME - used, "%s%s", used ? "," : "", one);
            if (n < 0 || (size_t)n >= NAME - used)
                return false;
            used += (size_t)n;
        }
    for (char *p = s->name; *p; p++)
        *p = *p == '/' || *p == ' ' ? '_' : *p;
    return true;
}

/* ---- one run ------------------------------------------------------------------------- */

static int load(const struct sweep *s, struct sebays_recipe **out)
{
    int code = cli_load_recipe("sweep", s->args, out);
    if (code != CLI_OK)
        return code;
    sebays_status st = SEBAYS_OK;
    for (size_t i = 0; i < s->args->varied.count; i++) {
        size_t options = count_options(s->args->varied.item[i]);
        for (size_t k = 0; k < options && st == SEBAYS_OK; k++) {
            char one[NAME];
            st = assignment(s, i, k, one) ? sebays_recipe_assign(*out, one) : SEBAYS_EARG;
        }
    }
    if (st == SEBAYS_OK)
        st = sebays_recipe_check(*out);
    if (st == SEBAYS_OK)
        return CLI_OK;
    sebays_recipe_free(*out);
    *out = NULL;
    return cli_fail("sweep", st);
}

/* SEBAYS_EARG: what is finished in out was trained by another recipe. */
static sebays_status check_finished(const char *out, const struct sebays_recipe *recipe)
{
    struct sebays_recipe *then = NULL;
    char path[CLI_PATH];
    sebays_status st = cli_run_recipe(out, path, sizeof path)
                           ? sebays_recipe_load(path, &then)
                           : SEBAYS_EARG;
    if (st == SEBAYS_OK)
        st = sebays_recipe_check(then);
    if (st == SEBAYS_OK)
        st = sebays_recipe_same(then, recipe);
    sebays_recipe_free(then);
    return st;
}

static sebays_status train(const struct sweep *s, const struct sebays_recipe *recipe,
                           const char *out, struct sebays_result **result)
{
    struct cli_progress screen;
    char place[CLI_PATH];
    if (s->args->resume && sebays_result_load(out, result) == SEBAYS_OK) {
        sebays_status same = check_finished(out, recipe);
        if (same != SEBAYS_OK)
            sebays_result_free(*result);
        return same;
    }
    cli_progress_init(&screen, s->args->quiet);
    if (!s->args->quiet)
        fprintf(stderr, "run %zu of %zu: %s\n", s->number + 1, s->runs, s->name);
    struct sebays_run_options o = {
        .out = out,
        .isa = s->args->isa,
        .resume = s->args->resume,
        .data_dir = cli_data_directory(s->args->data_dir, place) ? place : NULL,
        .progress = cli_progress_show,
        .progress_context = &screen,
        .progress_seconds = 0.25,
        .log = cli_progress_log,
        .log_context = &screen,
    };
    sebays_status st = sebays_train(recipe, &o, result);
    cli_progress_end(&screen);
    return st;
}

/* The names of the columns, with the first row: whether there are classes or continuous
 * targets is known then. NULL: it is not. */
static void print_title(struct sweep *s, const struct sebays_result *r)
{
    static const char *const usual[SHOWN] = {"acc", "nll", "ece"};
    if (s->titled)
        return;
    s->titled = true;
    printf("%-48s", "run");
    for (uint32_t i = 0; i < SHOWN; i++)
        printf(" %8s", r ? sebays_result_figure_name(r, i) : usual[i]);
    printf(" %8s %10s\n", "density", "seconds");
}

static void print_row(struct sweep *s, const struct sebays_result *r)
{
    print_title(s, r);
    printf("%-48s", s->name);
    for (uint32_t i = 0; i < SHOWN; i++)
        printf(" %8.4f", sebays_result_figure(r, sebays_result_members(r), i));
    printf(" %8.4f %10.1f\n", sebays_result_density(r), sebays_result_seconds(r));
}

static int run_one(struct sweep *s)
{
    char out[CLI_PATH];
    struct sebays_recipe *recipe;
    struct sebays_result *result;
    int n = snprintf(out, sizeof out, "%s/%s", s->args->out, s->name);
    if (n < 0 || (size_t)n >= sizeof out) {
        fprintf(stderr, "sebays sweep: the path of %s is too long\n", s->name);
        return CLI_USAGE;
    }
    int code = load(s, &recipe);
    if (code != CLI_OK)
        return code;
    sebays_status st = train(s, recipe, out, &result);
    sebays_recipe_free(recipe);
    if (st == SEBAYS_ECANCELED && cli_signals_caught()) {
        fprintf(stderr, "sebays sweep: %s; saved. Go on with --resume\n",
                sebays_message());
        return 128 + cli_signals_caught();
    }
    if (st == SEBAYS_EARG && !s->args->resume) /* a directory in use: they all are */
        return cli_fail("sweep", st);
    if (st != SEBAYS_OK) { /* the others need not suffer */
        s->failed++;
        fprintf(stderr, "sebays sweep: %s: %s\n", s->name, sebays_message());
        print_title(s, NULL);
        printf("%-48s failed\n", s->name);
        cli_signals_drop_output();
        return CLI_OK;
    }
    print_row(s, result);
    cli_signals_drop_output();
    sebays_result_free(result);
    return CLI_OK;
}

/* ---- all of them --------------------------------------------------------------------- */

static int check(struct sweep *s)
{
    const struct cli_list *v = &s->args->varied;
    if (!s->args->out || v->count == 0) {
        fprintf(stderr, "sebays sweep: %s\n",
                v->count ? "want --out DIR for the runs"
                         : "nothing to vary; want --vary section.key=v1,v2,...");
        return CLI_USAGE;
    }
    s->runs = 1;
    for (size_t i = 0; i < v->count; i++) {
        size_t n = s->values[i] = count_values(v->item[i]);
        if (n == 0) {
            fprintf(stderr,
                    "sebays sweep: --vary %s: want section.key=v1,v2,..., or several "
                    "options that change together, "
                    "section.key+section.key=v1:w1,v2:w2,...\n",
                    v->item[i]);
            return CLI_USAGE;
        }
        s->runs = n > MOST ? MOST + 1 : s->runs * n;
        if (s->runs > MOST) {
            fprintf(stderr, "sebays sweep: more than %d combinations\n", MOST);
            return CLI_USAGE;
        }
    }
    return CLI_OK;
}

/* Every recipe is read before the first one is trained: a wrong value is no surprise
 * after hours. */
static int run(const struct cli_args *args)
{
    struct sweep s = {.args = args};
    struct sebays_recipe *recipe;
    int code = check(&s);
    for (s.number = 0; code == CLI_OK && s.number < s.runs; s.number++) {
        if (!name_it(&s)) {
            fprintf(stderr, "sebays sweep: the values are too long for a name\n");
            return CLI_USAGE;
        }
        code = load(&s, &recipe);
        if (code == CLI_OK)
            sebays_recipe_free(recipe);
    }
    if (code != CLI_OK)
        return code;
    cli_signals_outlive_readers();
    (void)cli_signals_catch(); /* if that fails, Ctrl-C ends us without a word */
    for (s.number = 0; code == CLI_OK && s.number < s.runs; s.number++)
        code = name_it(&s) ? run_one(&s) : CLI_USAGE;
    if (s.failed > 0)
        fprintf(stderr, "sebays sweep: %zu of %zu runs failed; the table names them\n",
                s.failed, s.runs);
    return code == CLI_OK && s.failed > 0 ? CLI_FAILED : code;
}

const struct cli_command cli_cmd_sweep = {
    .name = "sweep",
    .operand = "RECIPE.ini",
    .summary = "train a recipe for every combination of some values",
    .help =
        "usage: sebays sweep RECIPE.ini --vary section.key=v1,v2,... [--vary ...] --out "
        "DIR\n"
        "                    [--set section.key=value]... [--resume] [--threads N]\n"
        "                    [--isa NAME] [--data-dir DIR] [--quiet]\n"
        "\n"
        "Trains the recipe once for each combination of the values into a directory\n"
        "below DIR that is named after them, and prints the ensembles' figures on the\n"
        "test set. With --resume finished runs of the same recipe are not trained "
        "again,\n"
        "and one that was stopped goes on. A run that fails is named in the table, and\n"
        "the others are trained; the exit status is then 1.\n"
        "\n"
        "  --vary section.key=v1,v2,...  values of an option; may be repeated. Options\n"
        "                                that change together are one: "
        "a.b+c.d=v1:w1,v2:w2\n"
        "  --out DIR                     where the runs go\n"
        "  --set section.key=value       for all runs; may be repeated\n"
        "  --resume                      go on with what is there\n"
        "  --threads N                   default: one a processor\n"
        "  --isa NAME                    instruction set of the kernels\n"
        "  --data-dir DIR                where data sets are looked for by name\n"
        "  --quiet                       no progress, only warnings and errors\n"
        "\n"
        "examples:\n"
        "  sebays sweep recipes/quickstart.ini --vary method.sparsity=0,0.5,0.8,0.9 \\\n"
        "      --out runs/sparsity\n"
        "  sebays sweep recipes/quickstart.ini --vary train.seed=1,2,3 \\\n"
        "      --vary method.name=sebays,bays --out runs/seeds --resume\n"
        "  sebays sweep recipes/quickstart.ini --out runs/sizes \\\n"
        "      --vary method.members+method.sparsity=1:0.7,3:0.8,7:0.9\n",
    .flags = CLI_VARY | CLI_OUT | CLI_SET | CLI_RESUME | CLI_THREAD | CLI_ISA | CLI_DATA |
             CLI_QUIET,
    .run = run,
};
