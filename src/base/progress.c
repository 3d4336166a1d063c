/* progress - see progress.h. */
#include "base/progress.h"

#include <math.h>
#include <time.h>

static double system_clock(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double clock_now(const struct sb_progress *p)
{
    return p->clock ? p->clock(p->context) : system_clock();
}

static bool listened_to(const struct sb_progress *p)
{
    return p && p->report;
}

static sb_status report(struct sb_progress *p, double time)
{
    struct sb_progress_report *r = &p->now;
    r->seconds = time - p->began;
    r->rate = r->seconds > 0.0 && r->done > p->first
                  ? (double)(r->done - p->first) / r->seconds
                  : 0.0;
    r->seconds_left = -1.0;
    if (r->total > 0 && r->done >= r->total)
        r->seconds_left = 0.0;
    else if (r->total > 0 && r->rate > 0.0)
        r->seconds_left = (double)(r->total - r->done) / r->rate;
    p->reported = time;
    if (p->report(p->context, r))
        return SB_OK;
    return sb_fail(SB_ECANCELED, "%s: canceled on request", r->phase);
}

void sb_progress_begin(struct sb_progress *p, const char *phase, uint64_t done,
                       uint64_t total)
{
    if (!listened_to(p))
        return;
    p->now = (struct sb_progress_report){
        .phase = phase, .done = done, .total = total, .loss = NAN, .accuracy = NAN};
    p->first = done;
    p->began = clock_now(p);
    p->reported = -INFINITY;
}

void sb_progress_begin_bytes(struct sb_progress *p, const char *phase, uint64_t done,
                             uint64_t total)
{
    sb_progress_begin(p, phase, done, total);
    if (p)
        p->now.bytes = true;
}

void sb_progress_place(struct sb_progress *p, uint32_t member, uint32_t members,
                       uint32_t epoch, uint32_t epochs)
{
    if (!p)
        return;
    p->now.member = member;
    p->now.members = members;
    p->now.epoch = epoch;
    p->now.epochs = epochs;
}

void sb_progress_measure(struct sb_progress *p, double loss, double accuracy)
{
    if (!p)
        return;
    p->now.loss = loss;
    p->now.accuracy = accuracy;
}

sb_status sb_progress_update(struct sb_progress *p, uint64_t done)
{
    if (!listened_to(p))
        return SB_OK;
    p->now.done = done;
    double time = clock_now(p);
    return time - p->reported < p->interval ? SB_OK : report(p, time);
}

sb_status sb_progress_end(struct sb_progress *p)
{
    if (!listened_to(p) || !p->now.phase) /* nothing ever began */
        return SB_OK;
    p->now.ended = true;
    return report(p, clock_now(p));
}
