/* args - the command line of one command, taken apart.
 *
 * A command says which flags it takes, what its operand is called and whether it takes
 * many; the rest is the same for all: "--flag value", "--flag=value", "--" before an
 * operand that begins with a dash, "--help" anywhere. Some may be repeated, --set for one.
 */
#ifndef SEBAYS_CLI_ARGS_H
#define SEBAYS_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>

enum { CLI_LIST = 64, CLI_OPERANDS = 256, CLI_THREADS = 4096, CLI_MESSAGE = 512 };

/* The flags a command takes, as bits. */
enum cli_flags {
    CLI_OUT = 1 << 0,      /* --out DIR */
    CLI_SET = 1 << 1,      /* --set section.key=value */
    CLI_THREAD = 1 << 2,   /* --threads N */
    CLI_ISA = 1 << 3,      /* --isa NAME */
    CLI_RESUME = 1 << 4,   /* --resume */
    CLI_DRY_RUN = 1 << 5,  /* --dry-run, --from RUN */
    CLI_QUIET = 1 << 6,    /* --quiet */
    CLI_JSON = 1 << 7,     /* --json */
    CLI_SPLIT = 1 << 8,    /* --split train|test */
    CLI_SHEET = 1 << 9,    /* --sheet FILE.png */
    CLI_LABEL = 1 << 10,   /* --label COLUMN */
    CLI_DATA = 1 << 11,    /* --data-dir DIR */
    CLI_URL = 1 << 12,     /* --url BASE */
    CLI_KIND = 1 << 13,    /* --kind all|KIND[,KIND], --severity FIRST-LAST, --seed N */
    CLI_RANKS = 1 << 14,   /* --ranks N,N,..., --network RATE, --equal-cost M,M,... */
    CLI_TASK = 1 << 15,    /* --task classification|regression|auto */
    CLI_FILE = 1 << 16,    /* --out FILE, -o FILE */
    CLI_FORMAT = 1 << 17,  /* --format NAME */
    CLI_TEST = 1 << 18,    /* --test PATH */
    CLI_OOD = 1 << 19,     /* --ood NAME=PATH */
    CLI_CORRUPT = 1 << 20, /* --corrupt PATH|generate */
    CLI_ATTACK = 1 << 21,  /* --attack fgsm|pgd */
    CLI_SAMPLES = 1 << 22, /* --samples N|draw|mean|noise */
    CLI_ALL = 1 << 23,     /* --all */
    CLI_VARY = 1 << 24,    /* --vary section.key=v1,v2,... */
    CLI_PREDICT = 1 << 25, /* --input and what else only predict has */
    CLI_FORCE = 1 << 26,   /* --force */
    CLI_IGNORE = 1 << 29,  /* --ignore COLUMN,... */
    CLI_MEMBER = 1 << 27,  /* --member N */
    CLI_SIGMA = 1 << 28,   /* --sigma */
    CLI_MPI = 1 << 30      /* --mpi[=NAME], --mpi-limit SECONDS */
};

/* The values of a flag that may be repeated. */
struct cli_list {
    const char *item[CLI_LIST];
    size_t count;
};

struct cli_args {
    const char *operand;                /* the first; NULL when the command has none */
    const char *operands[CLI_OPERANDS]; /* [operand_count] all of them */
    size_t operand_count;
    const char *out;   /* NULL: not given */
    const char *isa;   /* NULL: not given */
    const char *split; /* NULL: not given */
    const char *sheet; /* NULL: not given, as all of these */
    const char *label;
    const char *task;
    const char *ignore;
    const char *data_dir;
    const char *url;
    const char *kind;
    const char *severity;
    const char *seed;
    const char *format;
    const char *test;
    const char *corrupt;
    const char *attack;
    const char *samples;
    const char *input;
    const char *top;
    const char *reject_above;
    const char *keep;
    const char *coverage;
    const char *quantiles;
    const char *member;
    const char *from;
    const char *ranks;
    const char *equal_cost;
    const char *network;
    const char *mpi;
    const char *mpi_limit;
    struct cli_list sets;   /* "section.key=value" */
    struct cli_list oods;   /* "NAME=PATH" */
    struct cli_list varied; /* "section.key=v1,v2,..." */
    unsigned threads;       /* 0: not given */
    bool resume, dry_run, quiet, json, all, probabilities, members, sigma, force;
    bool csv_safe, conformal, far;
    bool help; /* then nothing else is checked */
};

struct cli_command {
    const char *name;    /* of a part: "data info" */
    const char *operand; /* "RECIPE.ini"; NULL: takes none */
    bool many;           /* takes one or more of them */
    const char *summary; /* a line for sebays --help */
    const char *help;    /* the whole of sebays NAME --help */
    unsigned flags;
    int (*run)(const struct cli_args *args); /* returns the exit code */
    /* A command made of parts has these instead of run, operand and flags; NULL last. */
    const struct cli_command *const *parts;
};

/* Takes argv[0 .. argc), what stands behind the command's name; args borrows from it.
 * False: message is a sentence. */
bool cli_args_parse(const struct cli_command *command, int argc, char *const *argv,
                    struct cli_args *args, char message[CLI_MESSAGE]);

#endif
