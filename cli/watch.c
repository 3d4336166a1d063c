/* watch - see watch.h. */
#include "watch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static struct timespec after(double seconds)
{
    struct timespec t;
    double whole = floor(seconds);
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)whole;
    t.tv_nsec += (long)(1e9 * (seconds - whole));
    t.tv_sec += t.tv_nsec / 1000000000L;
    t.tv_nsec %= 1000000000L;
    return t;
}

static void *look(void *context)
{
    struct cli_watch *w = context;
    struct timespec end = after(w->limit);
    int code = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->done && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&w->over, &w->lock, &end);
    if (!w->done) {
        fprintf(stderr,
                "sebays %s: %s took longer than %g s (--mpi-limit): one of them did not "
                "start, hangs or cannot be reached. Does every host of the job run the "
                "same command, and do the hosts reach each other?\n",
                w->command, w->what, w->limit);
        fflush(stderr);
        _exit(CLI_FAILED); /* the main thread is inside MPI */
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void cli_watch_begin(struct cli_watch *w, const char *command, const char *what,
                     double limit)
{
    pthread_condattr_t monotonic;
    *w = (struct cli_watch){.command = command, .what = what, .limit = limit};
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->over, &monotonic);
    pthread_condattr_destroy(&monotonic);
    w->begun = pthread_create(&w->thread, NULL, look, w) == 0;
}

void cli_watch_end(struct cli_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->done = true;
    pthread_cond_signal(&w->over);
    pthread_mutex_unlock(&w->lock);
    if (w->begun)
        pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->over);
    pthread_mutex_destroy(&w->lock);
}
