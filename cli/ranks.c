/* ranks - see ranks.h. */
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "watch.h"

/* How many processes launchers say that they started. */
static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                         "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"};

/* Whether a launcher says that there are more. */
static bool launched_apart(const char *command, const char *mpi, uint32_t size)
{
    for (size_t i = 0; i < sizeof size_names / sizeof *size_names; i++) {
        const char *text = getenv(size_names[i]);
        unsigned long said = text ? strtoul(text, NULL, 10) : 0;
        if (said <= size)
            continue;
        fprintf(stderr,
                "sebays %s: the launcher says %lu processes (%s), but %s sees %lu: each "
                "would train everything. Is it the launcher of another MPI (then "
                "--mpi=openmpi or --mpi=mpich), or was sebays started without mpirun or "
                "srun --mpi=pmix?\n",
                command, said, size_names[i], mpi, (unsigned long)size);
        return true;
    }
    return false;
}

static bool read_limit(const char *text, double *out)
{
    char *end = NULL;
    *out = text ? strtod(text, &end) : SEBAYS_RANKS_SECONDS;
    return !text || (*end == '\0' && *out > 0.0 && *out < 1e9);
}

int cli_ranks_join(const char *command, const struct cli_args *args,
                   struct sebays_ranks **out)
{
    double limit;
    *out = NULL;
    if (!read_limit(args->mpi_limit, &limit)) {
        fprintf(stderr, "sebays %s: --mpi-limit %s: want seconds, more than 0\n", command,
                args->mpi_limit);
        return CLI_USAGE;
    }
    if (!args->mpi)
        return CLI_OK;
    struct cli_watch watch;
    cli_watch_begin(&watch, command, "joining the other processes", limit);
    sebays_status st = sebays_ranks_join(args->mpi, limit, out);
    cli_watch_end(&watch);
    if (st != SEBAYS_OK)
        return cli_fail(command, st);
    if (!launched_apart(command, args->mpi, sebays_ranks_size(*out)))
        return CLI_OK;
    sebays_ranks_leave(*out);
    *out = NULL;
    return CLI_USAGE;
}

int cli_ranks_fail(const char *command, const struct sebays_ranks *ranks,
                   sebays_status st)
{
    const char *sentence = sebays_message();
    /* Sentences about exchanges say it themselves. */
    if (sebays_ranks_size(ranks) < 2 || strncmp(sentence, "rank ", 5) == 0)
        return cli_fail(command, st);
    /* One call: lines of several processes must not mix. */
    fprintf(stderr, "sebays %s: rank %u of %u: %s\n", command, sebays_ranks_rank(ranks),
            sebays_ranks_size(ranks), sentence[0] ? sentence : sebays_status_name(st));
    return st == SEBAYS_EARG ? CLI_USAGE : CLI_FAILED;
}

/* MPICH's launcher throws away what it has not yet read when a job is aborted: the sentence
 * that says why. */
static void let_it_be_read(const struct sebays_ranks *ranks)
{
    const struct timespec moment = {.tv_nsec = 300000000L};
    if (sebays_ranks_size(ranks) > 1)
        (void)nanosleep(&moment, NULL);
}

int cli_ranks_leave(const char *command, const struct cli_args *args,
                    struct sebays_ranks *ranks, int code)
{
    struct cli_watch watch;
    double limit;
    if (!ranks)
        return code;
    fflush(stdout);
    if (code == CLI_FAILED || code == CLI_USAGE) {
        let_it_be_read(ranks);
        sebays_ranks_abort(ranks);
    }
    (void)read_limit(args->mpi_limit, &limit); /* was looked at when it joined */
    cli_watch_begin(&watch, command, "leaving the other processes", limit);
    sebays_ranks_leave(ranks);
    cli_watch_end(&watch);
    return code;
}
