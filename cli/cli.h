/* cli - what the commands share.
 *
 * Exit codes: 0 done; 1 it failed; 2 the command line or the recipe says what does not
 * exist or cannot be; 128 + n stopped by signal n.
 *
 * Results go to standard output; everything else, errors first, to standard error.
 */
#ifndef SEBAYS_CLI_H
#define SEBAYS_CLI_H

#include <stddef.h>

#include "args.h"
#include "sebays.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };
enum { CLI_PATH = 4096 }; /* bytes of a path */

/* One a file cmd_*.c; main.c has the table of those that are there. */
extern const struct cli_command cli_cmd_train;
extern const struct cli_command cli_cmd_merge;
extern const struct cli_command cli_cmd_init;
extern const struct cli_command cli_cmd_plan;
extern const struct cli_command cli_cmd_eval;
extern const struct cli_command cli_cmd_predict;
extern const struct cli_command cli_cmd_sweep;
extern const struct cli_command cli_cmd_inspect;
extern const struct cli_command cli_cmd_recipe;
extern const struct cli_command cli_cmd_options;
extern const struct cli_command cli_cmd_data;
extern const struct cli_command cli_cmd_report;
extern const struct cli_command cli_cmd_compare;
extern const struct cli_command cli_cmd_export;

/* The parts of sebays data; cmd_data.c has their table. */
extern const struct cli_command cli_cmd_data_info;
extern const struct cli_command cli_cmd_data_corrupt;
extern const struct cli_command cli_cmd_data_list;
extern const struct cli_command cli_cmd_data_fetch;
extern const struct cli_command cli_cmd_data_convert;

/* Prints the library's sentence of the failure st; returns the exit code for it. */
int cli_fail(const char *command, sebays_status st);

/* Whether the operand is a recipe, FILE.ini; else it is data, and the recipe is to be chosen. */
bool cli_is_recipe(const char *operand);

/* The recipe of the operand, or one for the data that it is, with --label, --task, --set
 * and --threads applied, checked. On failure prints why; *out is NULL unless CLI_OK. The caller
 * frees it. */
int cli_load_recipe(const char *command, const struct cli_args *args,
                    struct sebays_recipe **out);

/* Prints a text the library made and frees it. */
int cli_print(const char *command, char *text);

/* Prints a finished run's figures on the test set, and whether the ensemble is worth having.
 * first: the number of its first member, from 0. out: the run directory. */
void cli_result_print(const struct sebays_result *r, uint32_t first, const char *out);

/* The operands that work, each by itself, for a command that takes many; the others are named
 * on standard error, and also if none is left. The caller frees it; NULL: no memory, count 0. */
const char **cli_keep_runs(const char *command, const struct cli_args *args,
                           bool (*works)(const char *path), size_t *count);

/* A member's number, counted from 0; false, and it was said why: text is none. */
bool cli_read_member(const char *command, const char *text, uint32_t *out);

/* Where a run goes: --out, or runs/NAME for a recipe some/where/NAME.ini or data NAME.csv, one
 * member of it (--member K) to member-K below that; and where a recipe for that data: --out,
 * or NAME.ini. False when out is too small. */
bool cli_run_directory(const struct cli_args *args, char *out, size_t size);
bool cli_recipe_file(const struct cli_args *args, char *out, size_t size);

/* The recipe of a run directory, which has every --set in it. False when out is too small. */
bool cli_run_recipe(const char *run, char *out, size_t size);

#endif
