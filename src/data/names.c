/* names - class names from a table or from a text file of one name a line.
 *
 * They end up in JSON and on terminals, so they must be UTF-8 without control characters.
 * The pointers and the text are one block:
 *
 *     | char *[classes] | "airplane\0automobile\0..." |
 */
#include <string.h>

#include "base/mem.h"
#include "data/reader.h"

enum { FILE_BYTES = 1 << 20 };

/* Where the text goes; NULL: no memory. */
static char *allocate(struct sb_dataset *d, size_t text)
{
    size_t pointers = d->classes * sizeof *d->class_names;
    sb_free(d->class_names);
    d->class_names = sb_malloc(pointers + text, 1);
    return d->class_names ? (char *)d->class_names + pointers : NULL;
}

static sb_status no_memory(const struct sb_dataset *d)
{
    return sb_fail(SB_ENOMEM, "no memory for the names of %u classes", d->classes);
}

sb_status sb_names_copy(struct sb_dataset *d, const char *const *names)
{
    size_t text = 0;
    for (uint32_t i = 0; i < d->classes; i++)
        text += strlen(names[i]) + 1;
    char *to = allocate(d, text);
    if (!to)
        return no_memory(d);
    for (uint32_t i = 0; i < d->classes; i++) {
        size_t length = strlen(names[i]) + 1;
        d->class_names[i] = memcpy(to, names[i], length);
        to += length;
    }
    return SB_OK;
}

/* Bytes of the character at s[left] as UTF-8, 0 if it is none: overlong forms, surrogates
 * and what is above U+10FFFF are not. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    size_t more = s[0] < 0x80 ? 0 : s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : 1;
    if (more >= left || (s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4)
        return 0;
    for (size_t i = 1; i <= more; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return more + 1;
}

bool sb_names_is_utf8(const char *text, size_t size)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0, step; i < size; i += step) {
        step = utf8_length(s + i, size - i);
        if (step == 0)
            return false;
    }
    return true;
}

bool sb_names_valid(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return sb_names_is_utf8(text, size);
}

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next line of [*at, end), without blanks at its ends. */
static const unsigned char *next_line(const unsigned char **at, const unsigned char *end,
                                      size_t *length)
{
    const unsigned char *s = *at, *stop = memchr(s, '\n', (size_t)(end - s));
    *at = stop ? stop + 1 : end;
    stop = stop ? stop : end;
    while (s < stop && is_blank(*s))
        s++;
    while (s < stop && is_blank(stop[-1]))
        stop--;
    *length = (size_t)(stop - s);
    return s;
}

static sb_status read_lines(struct sb_dataset *d, const char *path,
                            const struct sb_bytes *b, char *to)
{
    const unsigned char *at = b->data, *end = at + b->size;
    uint32_t count = 0, line = 0;
    while (at < end) {
        size_t length;
        const unsigned char *name = next_line(&at, end, &length);
        line++;
        if (length == 0)
            continue;
        if (!sb_names_valid((const char *)name, length))
            return sb_fail(SB_EFORMAT, "%s: line %u is not a class name in UTF-8", path,
                           line);
        if (count < d->classes) {
            d->class_names[count] = memcpy(to, name, length);
            to[length] = '\0';
            to += length + 1;
        }
        count++;
    }
    if (count != d->classes)
        return sb_fail(SB_EFORMAT,
                       "%s: %u class names, want %u; fetch it again or remove it", path,
                       count, d->classes);
    return SB_OK;
}

sb_status sb_names_read(struct sb_dataset *d, const char *path)
{
    struct sb_bytes b;
    sb_status st = sb_bytes_open(&b, path, FILE_BYTES);
    if (st != SB_OK)
        return st;
    if (b.size > FILE_BYTES) {
        st = sb_fail(SB_EFORMAT, "%s: %zu bytes are too many for class names", path,
                     b.size);
        goto done;
    }
    char *to = allocate(d, b.size + 1); /* a name ends where its line did */
    st = to ? read_lines(d, path, &b, to) : no_memory(d);
    if (st != SB_OK) {
        sb_free(d->class_names);
        d->class_names = NULL;
    }
done:
    sb_bytes_close(&b);
    return st;
}

sb_status sb_names_read_all(struct sb_dataset *d, const char *path)
{
    struct sb_bytes b;
    sb_status st = sb_bytes_open(&b, path, FILE_BYTES);
    if (st != SB_OK)
        return st;
    const unsigned char *at = b.data, *end = at + b.size;
    uint32_t count = 0;
    while (at < end) {
        size_t length;
        (void)next_line(&at, end, &length);
        count += length > 0;
    }
    sb_bytes_close(&b);
    if (count > d->classes)
        d->classes = count;
    return sb_names_read(d, path);
}
