/* watch - a limit on how long a call may take that cannot be told to come back.
 *
 * Joining a job and leaving it wait inside MPI for the other processes, without a limit. A
 * thread of the command's own looks at the clock meanwhile and, when it is over, says so and
 * ends the process; the launcher then ends the others.
 */
#ifndef SEBAYS_CLI_WATCH_H
#define SEBAYS_CLI_WATCH_H

#include <pthread.h>
#include <stdbool.h>

struct cli_watch {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool begun, done;
    double limit; /* seconds */
    const char *command, *what;
};

/* The process ends with CLI_FAILED unless cli_watch_end is called within so many seconds.
 * what: "joining the other processes". Where there can be no thread there is no limit. */
void cli_watch_begin(struct cli_watch *w, const char *command, const char *what,
                     double limit);
void cli_watch_end(struct cli_watch *w);

#endif
