/* log - see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINE_BYTES = 1024 };

void sb_log_write(const struct sb_log *log, enum sb_log_level level, const char *format,
                  ...)
{
    if (!log || !log->write || level < log->level)
        return;
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n >= 0)
        log->write(log->context, level, line);
}
