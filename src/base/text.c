/* text - see text.h. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_BYTES = 1 << 10 };

static bool grow(struct sb_text *t, size_t want)
{
    size_t room = t->room ? t->room : FIRST_BYTES;
    while (room < want)
        room *= 2;
    char *larger = sb_malloc(room, 1);
    if (!larger)
        return false;
    if (t->text)
        memcpy(larger, t->text, t->used);
    sb_free(t->text);
    t->text = larger;
    t->room = room;
    return true;
}

void sb_text_add(struct sb_text *t, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, list);
    size_t want = t->used + (n > 0 ? (size_t)n : 0) + 1;
    if (!t->failed && (n < 0 || (want > t->room && !grow(t, want))))
        t->failed = true;
    if (!t->failed) {
        vsnprintf(t->text + t->used, t->room - t->used, format, again);
        t->used = want - 1;
    }
    va_end(again);
    va_end(list);
}

sb_status sb_text_take(struct sb_text *t, char **out)
{
    sb_text_add(t, "%s", ""); /* an empty text is a text */
    *out = t->failed ? NULL : t->text;
    if (*out)
        t->text = NULL;
    sb_text_fini(t);
    return *out ? SB_OK : sb_fail(SB_ENOMEM, "no memory for a text");
}

void sb_text_fini(struct sb_text *t)
{
    if (!t)
        return;
    sb_free(t->text);
    *t = (struct sb_text){0};
}
