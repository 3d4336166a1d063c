/* callbacks - the caller's progress and log, as the library wants them. */
#ifndef SB_SEBAYS_CALLBACKS_H
#define SB_SEBAYS_CALLBACKS_H

#include "base/log.h"
#include "base/progress.h"
#include "sebays.h"

/* Its address is given away: it must not move. */
struct sb_callbacks {
    sebays_progress_fn *progress; /* may be NULL, like log */
    void *progress_context;
    sebays_log_fn *log;
    void *log_context;

    struct sb_progress down; /* for the library's functions */
    struct sb_log lines;
};

/* Completes c from its first four fields. */
void sb_callbacks_begin(struct sb_callbacks *c, double seconds);

/* NULL when nobody listens. */
struct sb_progress *sb_callbacks_progress(struct sb_callbacks *c);
const struct sb_log *sb_callbacks_log(const struct sb_callbacks *c);

#endif
