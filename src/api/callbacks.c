/* callbacks - see callbacks.h. */
#include "api/callbacks.h"

static bool report(void *context, const struct sb_progress_report *r)
{
    const struct sb_callbacks *c = context;
    struct sebays_progress p = {
        .phase = r->phase,
        .done = r->done,
        .total = r->total,
        .member = r->member,
        .members = r->members,
        .epoch = r->epoch,
        .epochs = r->epochs,
        .rate = r->rate,
        .seconds = r->seconds,
        .seconds_left = r->seconds_left,
        .loss = r->loss,
        .accuracy = r->accuracy,
        .bytes = r->bytes,
        .ended = r->ended,
    };
    return c->progress(c->progress_context, &p);
}

static void write_line(void *context, enum sb_log_level level, const char *line)
{
    const struct sb_callbacks *c = context;
    c->log(c->log_context, (enum sebays_level)level, line);
}

void sb_callbacks_begin(struct sb_callbacks *c, double seconds)
{
    c->down = (struct sb_progress){.report = report, .context = c, .interval = seconds};
    c->lines = (struct sb_log){.level = SB_LOG_INFO, .write = write_line, .context = c};
}

struct sb_progress *sb_callbacks_progress(struct sb_callbacks *c)
{
    return c->progress ? &c->down : NULL;
}

const struct sb_log *sb_callbacks_log(const struct sb_callbacks *c)
{
    return c->log ? &c->lines : NULL;
}
