/* progress - a run's progress for people.
 *
 * On a terminal one line that is written over and over and always fits the width; what
 * matters least is left out first. Elsewhere plain lines, at most one in PLAIN_SECONDS,
 * and one for the end of each phase. Quiet: nothing.
 *
 * The callback answers false once a signal has asked for the end.
 */
#ifndef SEBAYS_CLI_PROGRESS_H
#define SEBAYS_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

#include "sebays.h"

enum { CLI_LINE = 256, CLI_PLAIN_SECONDS = 10 };

struct cli_progress {
    FILE *to; /* borrowed */
    bool quiet;
    bool terminal;
    int width;   /* columns of the terminal; 0: ask it each time */
    double said; /* when the last plain line was written; negative: never */
    bool live;   /* an unfinished line is on the screen */
};

/* Writes to standard error. */
void cli_progress_init(struct cli_progress *p, bool quiet);

/* One report as a line of at most width columns, no newline. */
void cli_progress_line(const struct sebays_progress *report, int width,
                       char out[CLI_LINE]);

/* What sebays_progress_fn does, with the time in seconds given. */
void cli_progress_at(struct cli_progress *p, const struct sebays_progress *report,
                     double now);

/* The callbacks; context is a struct cli_progress. Log lines push the live line down.
 * Quiet lets warnings through. */
bool cli_progress_show(void *context, const struct sebays_progress *report);
void cli_progress_log(void *context, enum sebays_level level, const char *line);

/* Ends the live line, before anything else is printed. */
void cli_progress_end(struct cli_progress *p);

#endif
