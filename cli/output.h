/* output - where a command writes: standard output, or a file that is whole or not there.
 *
 * A file is written under another name beside it, "<name>.<pid>.tmp", and renamed when it is
 * complete; what processes that are no more left of such files is removed. What is
 * there and no regular file (a device, a pipe) is written as it is.
 */
#ifndef SEBAYS_CLI_OUTPUT_H
#define SEBAYS_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli.h"

struct cli_output {
    FILE *to;
    const char *path;         /* borrowed; NULL: standard output */
    char temporary[CLI_PATH]; /* "": none */
};

/* Whether out is one of these files that are there, by whatever name: [count], some may be
 * NULL. Who would write it loses what he reads. *which: the first of them. */
bool cli_output_is(const char *out, const char *const *files, size_t count,
                   const char **which);

/* False: errno says why. */
bool cli_output_open(struct cli_output *o, const char *path);

/* Makes what was written visible under its name. False: errno says why, and what was there
 * before is still there. o is closed. */
bool cli_output_commit(struct cli_output *o);

/* Closes o and removes what was written. Accepts zeroed and closed ones. */
void cli_output_abort(struct cli_output *o);

#endif
