/* log - lines for the user, handed to whoever called the library.
 *
 * The library never prints: it gives finished lines to a callback, or to nobody. There is
 * no level for errors, because a failure is a status and a sentence (status.h), not a
 * line.
 */
#ifndef SB_BASE_LOG_H
#define SB_BASE_LOG_H

enum sb_log_level {
    SB_LOG_DEBUG, /* for us */
    SB_LOG_INFO,  /* what goes on */
    SB_LOG_WARN   /* it works, but probably not as the user wants */
};

/* line has no newline and is valid during the call only. Called on the thread that logs.
 */
typedef void sb_log_fn(void *context, enum sb_log_level level, const char *line);

struct sb_log {
    enum sb_log_level level; /* the lowest level that is passed on */
    sb_log_fn *write;        /* NULL: silent */
    void *context;           /* borrowed, given to write */
};

/* One line, at most 1023 bytes; what is longer is cut. A NULL log is silent. (Plain
 * sb_log is the logarithm, fmath.h.) */
void sb_log_write(const struct sb_log *log, enum sb_log_level level, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));

#endif
