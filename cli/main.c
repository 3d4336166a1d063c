/* main - finds the command and runs it. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct cli_command *const commands[] = {
    &cli_cmd_train, &cli_cmd_plan, &cli_cmd_inspect, &cli_cmd_recipe, &cli_cmd_options,
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to)
{
    fputs("usage: sebays COMMAND [ARGUMENTS]\n"
          "\n"
          "Sparse Bayesian neural-network ensembles on CPUs.\n"
          "\n",
          to);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n"
          "  sebays COMMAND --help   a command's arguments, with examples\n"
          "  sebays --version        the version\n"
          "\n"
          "exit status: 0 done, 1 failed, 2 wrong command line or recipe, 130 or 143\n"
          "stopped by Ctrl-C or SIGTERM\n",
          to);
}

static const struct cli_command *find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* What was printed must have arrived. */
static int finish(int code)
{
    return fflush(stdout) == 0 && !ferror(stdout) ? code : CLI_FAILED;
}

int main(int argc, char **argv)
{
    char message[CLI_MESSAGE];
    struct cli_args args;
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return finish(CLI_OK);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("sebays %s\n", sebays_version());
        return finish(CLI_OK);
    }
    const struct cli_command *command = find(argv[1]);
    if (!command) {
        fprintf(stderr, "sebays: there is no command '%s'; see 'sebays --help'\n",
                argv[1]);
        return CLI_USAGE;
    }
    if (!cli_args_parse(command, argc - 2, argv + 2, &args, message)) {
        fprintf(stderr, "sebays %s: %s\n", command->name, message);
        return CLI_USAGE;
    }
    if (args.help) {
        fputs(command->help, stdout);
        return finish(CLI_OK);
    }
    return finish(command->run(&args));
}
