/* main - finds the command and runs it. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct cli_command *const commands[] = {
    &cli_cmd_train,  &cli_cmd_init, &cli_cmd_merge,  &cli_cmd_eval,    &cli_cmd_predict,
    &cli_cmd_sweep,  &cli_cmd_plan, &cli_cmd_report, &cli_cmd_compare, &cli_cmd_inspect,
    &cli_cmd_export, &cli_cmd_data, &cli_cmd_recipe, &cli_cmd_options, NULL,
};

static void print_help(FILE *to)
{
    fputs("usage: sebays COMMAND [ARGUMENTS]\n"
          "\n"
          "Sparse Bayesian neural-network ensembles on CPUs.\n"
          "\n",
          to);
    for (size_t i = 0; commands[i]; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n"
          "  sebays COMMAND --help   a command's arguments, with examples\n"
          "  sebays --version        the version\n"
          "\n"
          "exit status: 0 done, 1 failed, also because a file or a run is not there, 2\n"
          "wrong command line or recipe, 129, 130 or 143 stopped by SIGHUP, Ctrl-C or\n"
          "SIGTERM\n",
          to);
}

/* The command of that name in a table; skip is what its names have in front. */
static const struct cli_command *find(const struct cli_command *const *table, size_t skip,
                                      const char *name)
{
    while (*table && strcmp((*table)->name + skip, name) != 0)
        table++;
    return *table;
}

/* What was printed must have arrived; a command that fails has said why. */
static int finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (code == CLI_OK)
        fprintf(stderr, "sebays: cannot write to standard output\n");
    return CLI_FAILED;
}

static bool is_help(const char *arg)
{
    return strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0;
}

/* argv[0 .. argc) is what stands behind the command's name. */
static int run(const struct cli_command *command, int argc, char **argv)
{
    char message[CLI_MESSAGE];
    struct cli_args args;
    if (!cli_args_parse(command, argc, argv, &args, message)) {
        fprintf(stderr, "sebays %s: %s\n", command->name, message);
        return CLI_USAGE;
    }
    if (args.help) {
        fputs(command->help, stdout);
        return CLI_OK;
    }
    return command->run(&args);
}

static int run_part(const struct cli_command *whole, int argc, char **argv)
{
    if (argc < 1 || is_help(argv[0])) {
        fputs(whole->help, argc < 1 ? stderr : stdout);
        return argc < 1 ? CLI_USAGE : CLI_OK;
    }
    const struct cli_command *part = find(whole->parts, strlen(whole->name) + 1, argv[0]);
    if (part)
        return run(part, argc - 1, argv + 1);
    fprintf(stderr, "sebays %s: there is no '%s'; see 'sebays %s --help'\n", whole->name,
            argv[0], whole->name);
    return CLI_USAGE;
}

/* "help COMMAND" is what many type for "COMMAND --help". */
static void swap_help(char **argv)
{
    static char help[] = "--help";
    if (strcmp(argv[1], "help") != 0)
        return;
    argv[1] = argv[2];
    argv[2] = help;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (argc == 3)
        swap_help(argv);
    if (is_help(argv[1]) || (argc == 2 && strcmp(argv[1], "help") == 0)) {
        print_help(stdout);
        return finish(CLI_OK);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("sebays %s\n", sebays_version());
        return finish(CLI_OK);
    }
    const struct cli_command *command = find(commands, 0, argv[1]);
    if (!command) {
        fprintf(stderr, "sebays: there is no command '%s'; see 'sebays --help'\n",
                argv[1]);
        return CLI_USAGE;
    }
    return finish(command->parts ? run_part(command, argc - 2, argv + 2)
                                 : run(command, argc - 2, argv + 2));
}
