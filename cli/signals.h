/* signals - Ctrl-C and SIGTERM ask for an orderly end; the second one does not ask.
 *
 * The first signal is only noted: the progress callback sees it, the run stops after its
 * step and saves a checkpoint. A second one ends the program at once, as the signal
 * would have without us.
 */
#ifndef SEBAYS_CLI_SIGNALS_H
#define SEBAYS_CLI_SIGNALS_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM are noted. False when the system refuses. */
bool cli_signals_catch(void);

/* The signal that arrived; 0: none. The exit code is 128 more. */
int cli_signals_caught(void);

#endif
