/* ranks - --mpi: the job that this process is one of.
 *
 * The library never reads the environment, so what a launcher says there is compared here: a
 * job of four that turns out to be four jobs of one would train everything four times.
 * Joining and leaving wait inside MPI, so that they are watched (watch.h) for --mpi-limit.
 */
#ifndef SEBAYS_CLI_RANKS_H
#define SEBAYS_CLI_RANKS_H

#include "cli.h"

/* Joins if --mpi was given; else *out is NULL. An exit code; if not CLI_OK it was said why. */
int cli_ranks_join(const char *command, const struct cli_args *args,
                   struct sebays_ranks **out);

/* cli_fail, with the rank in front where there are several. */
int cli_ranks_fail(const char *command, const struct sebays_ranks *ranks,
                   sebays_status st);

/* The end of a command: leaves the job with the others, or ends it for all if it failed. */
int cli_ranks_leave(const char *command, const struct cli_args *args,
                    struct sebays_ranks *ranks, int code);

#endif
