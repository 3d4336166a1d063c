/* log - see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/numeric.h"
#include "base/status.h"

enum { LINE_BYTES = 1024 };

void sb_log_write(const struct sb_log *log, enum sb_log_level level, const char *format,
                  ...)
{
    if (!log || !log->write || level < log->level)
        return;
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    locale_t before = sb_numeric_begin();
    int n = vsnprintf(line, sizeof line, format, args);
    sb_numeric_end(before);
    va_end(args);
    if (n < 0)
        return;
    sb_plain(line);
    log->write(log->context, level, line);
}
