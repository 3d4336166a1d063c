/* text - see text.h. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/numeric.h"

enum { FIRST_BYTES = 1 << 10 };

static bool grow(struct sb_text *t, size_t want)
{
    size_t capacity = t->capacity ? t->capacity : FIRST_BYTES;
    while (capacity < want)
        capacity *= 2;
    char *larger = sb_malloc(capacity, 1);
    if (!larger)
        return false;
    if (t->text)
        memcpy(larger, t->text, t->used);
    sb_free(t->text);
    t->text = larger;
    t->capacity = capacity;
    return true;
}

void sb_text_add(struct sb_text *t, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    locale_t before = sb_numeric_begin();
    int n = vsnprintf(NULL, 0, format, list);
    size_t want = t->used + (n > 0 ? (size_t)n : 0) + 1;
    if (!t->failed && (n < 0 || (want > t->capacity && !grow(t, want))))
        t->failed = true;
    if (!t->failed) {
        vsnprintf(t->text + t->used, t->capacity - t->used, format, again);
        t->used = want - 1;
    }
    sb_numeric_end(before);
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

int sb_text_cut(const char *s, int most)
{
    int n = 0;
    while (n < most && s[n])
        n++;
    while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80)
        n--;
    return n;
}
