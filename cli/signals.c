/* signals - see signals.h. The one mutable global of the program: a handler has no other
 * way to tell. */
#include "signals.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t caught;

/* SA_RESETHAND has put the default action back for this signal; the other one of the two
 * would still be noted only, so it is put back here. */
static void note(int signal_number)
{
    caught = signal_number;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

bool cli_signals_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = (int)(SA_RESTART | SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    caught = 0;
    return sigaction(SIGINT, &action, NULL) == 0 &&
           sigaction(SIGTERM, &action, NULL) == 0;
}

int cli_signals_caught(void)
{
    return caught;
}
