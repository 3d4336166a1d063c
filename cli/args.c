/* args - see args.h. */
#include "args.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { SWITCH, TEXT, NUMBER, LIST, MAYBE };

static const char usual_mpi[] = "openmpi"; /* of a MAYBE without a value: --mpi */

static const struct flag {
    const char *name, *value; /* value: what to call it; NULL for a switch */
    enum cli_flags bit;
    enum kind kind;
    size_t offset; /* in struct cli_args */
} flags[] = {
    {"--out", "DIR", CLI_OUT, TEXT, offsetof(struct cli_args, out)},
    {"--set", "section.key=value", CLI_SET, LIST, offsetof(struct cli_args, sets)},
    {"--threads", "N", CLI_THREAD, NUMBER, offsetof(struct cli_args, threads)},
    {"--isa", "NAME", CLI_ISA, TEXT, offsetof(struct cli_args, isa)},
    {"--resume", NULL, CLI_RESUME, SWITCH, offsetof(struct cli_args, resume)},
    {"--dry-run", NULL, CLI_DRY_RUN, SWITCH, offsetof(struct cli_args, dry_run)},
    {"--quiet", NULL, CLI_QUIET, SWITCH, offsetof(struct cli_args, quiet)},
    {"--force", NULL, CLI_FORCE, SWITCH, offsetof(struct cli_args, force)},
    {"--json", NULL, CLI_JSON, SWITCH, offsetof(struct cli_args, json)},
    {"--split", "train or test", CLI_SPLIT, TEXT, offsetof(struct cli_args, split)},
    {"--sheet", "FILE.png", CLI_SHEET, TEXT, offsetof(struct cli_args, sheet)},
    {"--out", "FILE", CLI_FILE, TEXT, offsetof(struct cli_args, out)},
    {"-o", "FILE", CLI_FILE, TEXT, offsetof(struct cli_args, out)},
    {"--format", "NAME", CLI_FORMAT, TEXT, offsetof(struct cli_args, format)},
    {"--label", "COLUMN", CLI_LABEL, TEXT, offsetof(struct cli_args, label)},
    {"--task", "classification, regression or auto", CLI_TASK, TEXT,
     offsetof(struct cli_args, task)},
    {"--ignore", "COLUMN,...", CLI_IGNORE, TEXT, offsetof(struct cli_args, ignore)},
    {"--data-dir", "DIR", CLI_DATA, TEXT, offsetof(struct cli_args, data_dir)},
    {"--url", "BASE", CLI_URL, TEXT, offsetof(struct cli_args, url)},
    {"--kind", "all or KIND,...", CLI_KIND, TEXT, offsetof(struct cli_args, kind)},
    {"--severity", "1 to 5", CLI_KIND, TEXT, offsetof(struct cli_args, severity)},
    {"--seed", "N", CLI_KIND, TEXT, offsetof(struct cli_args, seed)},
    {"--test", "PATH", CLI_TEST, TEXT, offsetof(struct cli_args, test)},
    {"--ood", "NAME=PATH", CLI_OOD, LIST, offsetof(struct cli_args, oods)},
    {"--corrupt", "PATH or generate", CLI_CORRUPT, TEXT,
     offsetof(struct cli_args, corrupt)},
    {"--attack", "fgsm or pgd", CLI_ATTACK, TEXT, offsetof(struct cli_args, attack)},
    {"--samples", "N, draw, mean or noise", CLI_SAMPLES, TEXT,
     offsetof(struct cli_args, samples)},
    {"--member", "N", CLI_MEMBER, TEXT, offsetof(struct cli_args, member)},
    {"--sigma", NULL, CLI_SIGMA, SWITCH, offsetof(struct cli_args, sigma)},
    {"--all", NULL, CLI_ALL, SWITCH, offsetof(struct cli_args, all)},
    {"--input", "FILE, DIR or -", CLI_PREDICT, TEXT, offsetof(struct cli_args, input)},
    {"--top", "K", CLI_PREDICT, TEXT, offsetof(struct cli_args, top)},
    {"--reject-above", "ENTROPY", CLI_PREDICT, TEXT,
     offsetof(struct cli_args, reject_above)},
    {"--coverage", "SHARE", CLI_PREDICT, TEXT, offsetof(struct cli_args, coverage)},
    {"--quantiles", "LEVEL,...", CLI_PREDICT, TEXT, offsetof(struct cli_args, quantiles)},
    {"--far", NULL, CLI_PREDICT, SWITCH, offsetof(struct cli_args, far)},
    {"--conformal", NULL, CLI_PREDICT, SWITCH, offsetof(struct cli_args, conformal)},
    {"--keep", "COLUMN,...", CLI_PREDICT, TEXT, offsetof(struct cli_args, keep)},
    {"--probabilities", NULL, CLI_PREDICT, SWITCH,
     offsetof(struct cli_args, probabilities)},
    {"--csv-safe", NULL, CLI_PREDICT, SWITCH, offsetof(struct cli_args, csv_safe)},
    {"--members", NULL, CLI_PREDICT, SWITCH, offsetof(struct cli_args, members)},
    {"--mpi", "NAME", CLI_MPI, MAYBE, offsetof(struct cli_args, mpi)},
    {"--ranks", "N,N,...", CLI_RANKS, TEXT, offsetof(struct cli_args, ranks)},
    {"--equal-cost", "M,M,...", CLI_RANKS, TEXT, offsetof(struct cli_args, equal_cost)},
    {"--network", "RATE", CLI_RANKS, TEXT, offsetof(struct cli_args, network)},
    {"--from", "RUN", CLI_DRY_RUN, TEXT, offsetof(struct cli_args, from)},
    {"--mpi-limit", "SECONDS", CLI_MPI, TEXT, offsetof(struct cli_args, mpi_limit)},
    {"--vary", "section.key=v1,v2,...", CLI_VARY, LIST,
     offsetof(struct cli_args, varied)},
};

__attribute__((format(printf, 2, 3))) static bool refuse(char message[CLI_MESSAGE],
                                                         const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(message, CLI_MESSAGE, format, list);
    va_end(list);
    return false;
}

/* The flag that arg names, up to a '='; NULL if the command has no such flag. */
static const struct flag *find(const struct cli_command *command, const char *arg)
{
    size_t n = strcspn(arg, "=");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].bit & command->flags && strlen(flags[i].name) == n &&
            strncmp(flags[i].name, arg, n) == 0)
            return &flags[i];
    return NULL;
}

static bool set_number(const char *text, unsigned *out)
{
    size_t n = strlen(text);
    if (n == 0 || n > 9 || strspn(text, "0123456789") != n)
        return false;
    *out = (unsigned)strtoul(text, NULL, 10);
    return *out >= 1 && *out <= CLI_THREADS;
}

static bool append(struct cli_list *list, const char *value)
{
    if (list->count == CLI_LIST)
        return false;
    list->item[list->count++] = value;
    return true;
}

static bool set_value(const struct flag *f, const char *value, struct cli_args *args,
                      char message[CLI_MESSAGE])
{
    void *field = (char *)args + f->offset;
    switch (f->kind) {
    case SWITCH:
        *(bool *)field = true;
        break;
    case TEXT:
    case MAYBE:
        if (!value[0])
            return refuse(message, "%s: want %s, have nothing", f->name, f->value);
        *(const char **)field = value;
        break;
    case NUMBER:
        if (!set_number(value, field))
            return refuse(message, "%s %s: want a whole number in 1 .. %d", f->name,
                          value, CLI_THREADS);
        break;
    case LIST:
        if (!append(field, value))
            return refuse(message, "%s: at most %d of them", f->name, CLI_LIST);
        break;
    }
    return true;
}

/* argv[*at] is a flag; *at moves past its value if that is an argument of its own. */
static bool set_flag(const struct cli_command *command, int argc, char *const *argv,
                     int *at, struct cli_args *args, char message[CLI_MESSAGE])
{
    const char *arg = argv[*at], *equals = strchr(arg, '=');
    const struct flag *f = find(command, arg);
    if (!f)
        return refuse(message, "there is no option '%s'; see 'sebays %s --help'", arg,
                      command->name);
    if (f->kind == SWITCH && equals)
        return refuse(message, "%s takes no value", f->name);
    if (f->kind == MAYBE && !equals)
        return set_value(f, usual_mpi, args, message);
    if (f->kind == SWITCH || equals)
        return set_value(f, equals ? equals + 1 : "", args, message);
    if (*at + 1 >= argc)
        return refuse(message, "%s: want %s, have nothing", f->name, f->value);
    return set_value(f, argv[++*at], args, message);
}

static bool set_operand(const struct cli_command *command, const char *arg,
                        struct cli_args *args, char message[CLI_MESSAGE])
{
    if (!command->operand)
        return refuse(message, "'%s': %s takes no argument", arg, command->name);
    if (args->operand && !command->many)
        return refuse(message, "'%s': want one %s, have '%s' already", arg,
                      command->operand, args->operand);
    if (args->operand_count == CLI_OPERANDS)
        return refuse(message, "%s takes at most %d times %s", command->name,
                      CLI_OPERANDS, command->operand);
    args->operands[args->operand_count++] = arg;
    args->operand = args->operands[0];
    return true;
}

static bool asks_for_help(int argc, char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

bool cli_args_parse(const struct cli_command *command, int argc, char *const *argv,
                    struct cli_args *args, char message[CLI_MESSAGE])
{
    bool operands_only = false;
    *args = (struct cli_args){.help = asks_for_help(argc, argv)};
    message[0] = '\0';
    if (args->help)
        return true;
    for (int i = 0; i < argc; i++) {
        bool ok = true;
        if (!operands_only && strcmp(argv[i], "--") == 0)
            operands_only = true;
        else if (!operands_only && argv[i][0] == '-' && argv[i][1] != '\0')
            ok = set_flag(command, argc, argv, &i, args, message);
        else
            ok = set_operand(command, argv[i], args, message);
        if (!ok)
            return false;
    }
    if (command->operand && !args->operand)
        return refuse(message, "want a %s; see 'sebays %s --help'", command->operand,
                      command->name);
    return true;
}
