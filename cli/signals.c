/* signals - see signals.h. The mutable globals of the program: a handler has no other way to
 * tell. */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t caught;
static volatile sig_atomic_t first_second; /* of the monotonic clock */

static sig_atomic_t seconds(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now); /* a handler may */
    return (sig_atomic_t)now.tv_sec;
}

/* The signal is blocked while it is handled: raised again, it ends the program at return. */
static void note(int signal_number)
{
    int before = errno;
    if (!caught) {
        caught = signal_number;
        first_second = seconds();
    } else if (seconds() - first_second > CLI_SIGNALS_GRACE) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
    errno = before;
}

bool cli_signals_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&action.sa_mask, numbers[i]); /* one after the other */
    caught = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        bool nohup = numbers[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
                     before.sa_handler == SIG_IGN;
        if (!nohup && sigaction(numbers[i], &action, NULL) != 0)
            return false;
    }
    return true;
}

int cli_signals_caught(void)
{
    return caught;
}

void cli_signals_outlive_readers(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
}

void cli_signals_drop_output(void)
{
    if (fflush(stdout) != 0 && errno == EPIPE)
        (void)freopen("/dev/null", "w", stdout); /* NULL: then finish() will say */
}
