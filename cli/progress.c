/* progress - see progress.h. */
#include "progress.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "signals.h"

/* ---- the line ---- */

/* Fields in the order they are shown; the higher the rank, the sooner it is left out. */
enum { PHASE, MEMBER, EPOCH, BAR, PERCENT, DONE, RATE, LOSS, ACCURACY, LEFT, FIELDS };
static const int rank[FIELDS] = {
    [PHASE] = 0, [EPOCH] = 1,   [LEFT] = 2, [ACCURACY] = 3, [MEMBER] = 4,
    [LOSS] = 5,  [PERCENT] = 6, [RATE] = 7, [DONE] = 8,     [BAR] = 9,
};

enum { FIELD = 48, BAR_WIDTH = 24 };

static void format_left(double seconds, char out[FIELD])
{
    unsigned long s = seconds < 3.6e8 ? (unsigned long)(seconds + 0.5) : 360000000ul;
    if (s >= 3600)
        snprintf(out, FIELD, "%lu:%02lu:%02lu left", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, FIELD, "%lu:%02lu left", s / 60, s % 60);
}

/* A download: how much of it, how fast. */
static void format_bytes(const struct sebays_progress *r, char field[FIELDS][FIELD])
{
    double done = 1e-6 * (double)r->done, total = 1e-6 * (double)r->total;
    int full = r->total ? (int)(BAR_WIDTH * done / total) : 0;
    full = full < BAR_WIDTH ? full : BAR_WIDTH;
    if (r->total > 0) {
        snprintf(field[BAR], FIELD, "[%.*s%*s]", full, "########################",
                 BAR_WIDTH - full, "");
        snprintf(field[DONE], FIELD, "%.1f of %.1f MB", done, total);
    }
    if (r->rate > 0)
        snprintf(field[RATE], FIELD, "%.1f MB/s", 1e-6 * r->rate);
}

/* Empty where the report does not know. */
static void format_fields(const struct sebays_progress *r, char field[FIELDS][FIELD])
{
    memset(field, 0, sizeof(char[FIELDS][FIELD]));
    snprintf(field[PHASE], FIELD, "%s", r->phase ? r->phase : "");
    if (r->members > 0)
        snprintf(field[MEMBER], FIELD, "member %u/%u", r->member + 1, r->members);
    if (r->epochs > 0)
        snprintf(field[EPOCH], FIELD, "epoch %u/%u", r->epoch + 1, r->epochs);
    if (r->total > 0)
        snprintf(field[PERCENT], FIELD, "%d %%",
                 (int)(100.0 * (double)r->done / (double)r->total));
    if (r->bytes)
        format_bytes(r, field);
    else if (r->rate > 0)
        snprintf(field[RATE], FIELD, "%.0f examples/s", r->rate);
    if (!isnan(r->loss))
        snprintf(field[LOSS], FIELD, "loss %.4g", r->loss);
    if (!isnan(r->accuracy))
        snprintf(field[ACCURACY], FIELD, "val %.2f %%", 100 * r->accuracy);
    if (r->seconds_left >= 0 && !r->ended)
        format_left(r->seconds_left, field[LEFT]);
}

/* The fields of rank up to most, two blanks between them; returns the length. */
static size_t join(char field[FIELDS][FIELD], int most, char out[CLI_LINE])
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < FIELDS; i++) {
        if (rank[i] > most || !field[i][0])
            continue;
        int n = snprintf(out + used, CLI_LINE - used, "%s%s", used ? "  " : "", field[i]);
        used += n > 0 ? (size_t)n : 0;
        if (used >= CLI_LINE)
            return CLI_LINE;
    }
    return used;
}

void cli_progress_line(const struct sebays_progress *report, int width,
                       char out[CLI_LINE])
{
    char field[FIELDS][FIELD];
    size_t capacity = width < 0 ? 0 : width < CLI_LINE ? (size_t)width : CLI_LINE - 1;
    format_fields(report, field);
    if (width >= CLI_LINE) /* a line of a file; nothing there moves */
        field[BAR][0] = '\0';
    int most = FIELDS;
    while (join(field, most, out) > capacity && most > 0)
        most--;
    out[capacity] = '\0'; /* even the phase alone may be too long */
}

/* ---- where it goes ---- */

void cli_progress_init(struct cli_progress *p, bool quiet)
{
    *p = (struct cli_progress){.to = stderr, .quiet = quiet, .said = -1};
    p->terminal = isatty(STDERR_FILENO) == 1;
}

static int width_of(const struct cli_progress *p)
{
    struct winsize size;
    if (p->width > 0)
        return p->width;
    if (ioctl(fileno(p->to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

/* Back to the first column and erase to the end: works on every terminal there is. */
static void erase(struct cli_progress *p)
{
    if (p->live)
        fputs("\r\033[K", p->to);
    p->live = false;
}

void cli_progress_at(struct cli_progress *p, const struct sebays_progress *report,
                     double now)
{
    char line[CLI_LINE];
    if (p->quiet)
        return;
    if (p->terminal) {
        cli_progress_line(report, width_of(p) - 1, line); /* the last column would wrap */
        erase(p);
        fputs(line, p->to);
        p->live = !report->ended;
        if (report->ended)
            fputc('\n', p->to);
    } else {
        if (!report->ended && p->said >= 0 && now - p->said < CLI_PLAIN_SECONDS)
            return;
        cli_progress_line(report, CLI_LINE, line);
        fprintf(p->to, "%s\n", line);
        p->said = now;
    }
    fflush(p->to);
}

bool cli_progress_show(void *context, const struct sebays_progress *report)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    cli_progress_at(context, report, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
    return cli_signals_caught() == 0;
}

void cli_progress_log(void *context, enum sebays_level level, const char *line)
{
    struct cli_progress *p = context;
    if (level == SEBAYS_DEBUG || (p->quiet && level < SEBAYS_WARN))
        return;
    erase(p);
    fprintf(p->to, "%s%s\n", level == SEBAYS_WARN ? "warning: " : "", line);
    fflush(p->to);
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->live)
        fputc('\n', p->to);
    p->live = false;
    fflush(p->to);
}
