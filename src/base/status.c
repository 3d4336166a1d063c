/* status - see status.h. The one thread-local buffer of the library lives here. */
#include "base/status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/numeric.h"

static _Thread_local char message[SB_MESSAGE_BYTES];

void sb_plain(char *text)
{
    unsigned char *c = (unsigned char *)text;
    for (; *c; c++) {
        bool high = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
        if (high)
            *c++ = '?';
        if (high || *c < ' ' || *c == 0x7f)
            *c = '?';
    }
}

sb_status sb_fail(sb_status st, const char *format, ...)
{
    char text
        [SB_MESSAGE_BYTES]; /* apart, so that an argument may be sb_message() itself */
    va_list args;
    va_start(args, format);
    locale_t before = sb_numeric_begin();
    int n = vsnprintf(text, sizeof text, format, args);
    sb_numeric_end(before);
    va_end(args);
    if (n < 0)
        text[0] = '\0';
    sb_plain(text);
    memcpy(message, text, sizeof message);
    return st;
}

const char *sb_message(void)
{
    return message;
}

const char *sb_status_name(sb_status st)
{
    static const char *const names[SB_STATUS_COUNT] = {
        [SB_OK] = "ok",
        [SB_ENOMEM] = "out of memory",
        [SB_EARG] = "bad argument",
        [SB_EIO] = "input/output error",
        [SB_EFORMAT] = "bad format",
        [SB_ENUMERIC] = "number not finite",
        [SB_ECANCELED] = "canceled",
        [SB_EMISSING] = "not in this build",
    };
    return (unsigned)st < SB_STATUS_COUNT ? names[st] : "unknown status";
}
