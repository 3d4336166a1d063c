/* progress - how far a long run is, told to a callback that may stop it.
 *
 *     struct sb_progress p = {.report = show, .context = screen, .interval = 0.5};
 *     sb_progress_begin(&p, "explore", 0, images);
 *     for (...) {
 *         sb_progress_measure(&p, loss, NAN);
 *         st = sb_progress_update(&p, done);      SB_ECANCELED when show() said false
 *         ...
 *     }
 *     st = sb_progress_end(&p);
 *
 * An update costs one look at the clock; the callback is called at most once an interval.
 * Nothing is allocated. Every function accepts NULL, and a struct whose report is NULL:
 * then nobody listens and nothing is canceled. One thread at a time.
 */
#ifndef SB_BASE_PROGRESS_H
#define SB_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct sb_progress_report {
    const char *phase;        /* borrowed from the caller of sb_progress_begin */
    uint64_t done, total;     /* in the phase's unit: images, bytes; total 0: unknown */
    uint32_t member, members; /* member counts from 0; members 0: does not apply */
    uint32_t epoch, epochs;   /* likewise */
    double rate;              /* units a second, since the phase began; 0: unknown */
    double seconds;           /* since the phase began */
    double seconds_left;      /* of the phase; negative: unknown */
    double loss, accuracy;    /* the latest; NAN: none yet */
    bool bytes;               /* the unit is bytes */
    bool ended;               /* the last report of the phase */
};

/* Returns false to cancel. */
typedef bool sb_progress_fn(void *context, const struct sb_progress_report *report);

struct sb_progress {
    sb_progress_fn *report;         /* set by the caller; NULL: nobody listens */
    void *context;                  /* borrowed, given to report and clock */
    double interval;                /* seconds between two reports, at least */
    double (*clock)(void *context); /* seconds since some moment; NULL: the system's */

    struct sb_progress_report now; /* from here on progress.c's own */
    double began, reported;
    uint64_t first; /* done when the phase began: what a resumed run need not redo */
};

/* A new phase; done > 0 where an earlier run stopped. The first update is always
 * reported. */
void sb_progress_begin(struct sb_progress *p, const char *phase, uint64_t done,
                       uint64_t total);

/* As above for a phase counted in bytes, not images. */
void sb_progress_begin_bytes(struct sb_progress *p, const char *phase, uint64_t done,
                             uint64_t total);

/* What the next reports say besides; both are forgotten when a phase begins. */
void sb_progress_place(struct sb_progress *p, uint32_t member, uint32_t members,
                       uint32_t epoch, uint32_t epochs);
void sb_progress_measure(struct sb_progress *p, double loss, double accuracy);

/* done units of the phase are done. SB_ECANCELED if a report was due and refused. */
sb_status sb_progress_update(struct sb_progress *p, uint64_t done);

/* The phase is over: one more report, whatever the interval. SB_ECANCELED as above. */
sb_status sb_progress_end(struct sb_progress *p);

#endif
