/* signals - Ctrl-C, SIGTERM and SIGHUP ask for an orderly end; insisting works, but not at once.
 *
 * The first signal is only noted: the progress callback sees it, the run stops after its
 * step and saves a checkpoint. Signals often come in twos (timeout(1) sends one to the
 * process and one to its group, a closed terminal HUP and TERM), so what comes in the few
 * seconds that saving may take is passed over. A later one ends the program at once, as it
 * would have without us.
 */
#ifndef SEBAYS_CLI_SIGNALS_H
#define SEBAYS_CLI_SIGNALS_H

#include <stdbool.h>

/* Seconds after the first signal in which the next ones are passed over. */
enum { CLI_SIGNALS_GRACE = 5 };

/* From now on SIGINT, SIGTERM and SIGHUP are noted; a SIGHUP that is ignored (nohup) stays
 * so. False when the system refuses. */
bool cli_signals_catch(void);

/* The signal that arrived; 0: none. The exit code is 128 more. */
int cli_signals_caught(void);

/* For commands whose files matter more than what they print: if nobody reads it any more
 * (train | head), they go on, and what they print is dropped. */
void cli_signals_outlive_readers(void);

/* After printing, for those commands: that standard output has no reader is no failure. */
void cli_signals_drop_output(void);

#endif
