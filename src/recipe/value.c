/* options_value - an option's value as text and back; see options.h.
 *
 * Numbers are read and written in the C locale whatever the program around the library has
 * set: a recipe means the same everywhere. A real is written with as few digits as give it
 * back exactly.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/numeric.h"
#include "base/text.h"
#include "data/reader.h"
#include "recipe/options.h"

/* Enum fields are read and written as unsigned. */
_Static_assert(sizeof(enum sb_config_split) == sizeof(unsigned), "enums are ints");

/* ---- numbers ---- */

/* A decimal number at the start of text; *end after it. Not hexadecimal, inf or nan. */
static bool read_real(const char *text, const char **end, double *x)
{
    size_t n = strspn(text, "+-.0123456789eE");
    char copy[64], *stop;
    if (n == 0 || n >= sizeof copy)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    locale_t before = sb_numeric_begin();
    *x = strtod(copy, &stop);
    sb_numeric_end(before);
    *end = text + n;
    return *stop == '\0' && stop != copy && isfinite(*x);
}

enum { REAL_TEXT = 32 };

/* out: [at least REAL_TEXT] */
static void write_real(double x, char *out)
{
    char text[REAL_TEXT];
    locale_t before = sb_numeric_begin();
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    sb_numeric_end(before);
    memcpy(out, text, sizeof text);
}

static bool in_range(const struct sb_option *o, double x)
{
    if (o->flags & SB_OPTION_ABOVE_MIN ? x <= o->min : x < o->min)
        return false;
    return o->flags & SB_OPTION_BELOW_MAX ? x < o->max : x <= o->max;
}

/* ---- what is expected ---- */

/* Appends to out, which stays a string when it is too short. */
__attribute__((format(printf, 3, 4))) static void add(char *out, size_t size,
                                                      const char *format, ...)
{
    size_t used = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

static void add_range(const struct sb_option *o, char *out, size_t size)
{
    char min[REAL_TEXT], max[REAL_TEXT];
    write_real(o->min, min);
    if (o->type == SB_OPTION_COUNT)
        snprintf(max, sizeof max, "%.0f", o->max);
    else
        write_real(o->max, max);
    add(out, size, " in %c%s, %s%c", o->flags & SB_OPTION_ABOVE_MIN ? '(' : '[', min, max,
        o->flags & SB_OPTION_BELOW_MAX ? ')' : ']');
}

void sb_option_expected(const struct sb_option *o, char *out, size_t size)
{
    out[0] = '\0';
    switch (o->type) {
    case SB_OPTION_CHOICE:
        for (size_t i = 0; o->choices[i]; i++)
            add(out, size, "%s%s", i ? ", " : "one of ", o->choices[i]);
        break;
    case SB_OPTION_SWITCH:
        add(out, size, "yes or no");
        break;
    case SB_OPTION_COUNT:
        add(out, size, "a whole number");
        add_range(o, out, size);
        break;
    case SB_OPTION_REAL:
        add(out, size, "a number");
        add_range(o, out, size);
        break;
    case SB_OPTION_LIST:
        add(out, size, "up to %d numbers", SB_CONFIG_LIST);
        add_range(o, out, size);
        break;
    case SB_OPTION_TEXT:
        add(out, size,
            "%d to %zu bytes, no ';', no control characters, no blank at either end",
            o->flags & SB_OPTION_EMPTY ? 0 : 1, o->size - 1);
        break;
    }
}

static sb_status refuse(const struct sb_option *o, const char *text)
{
    enum { SHOWN = 512 }; /* so that there is room for what is wanted */
    char expected[256];
    sb_option_expected(o, expected, sizeof expected);
    return sb_fail(SB_EARG, "%s = %.*s%s: want %s", o->name, sb_text_cut(text, SHOWN),
                   text, strlen(text) > SHOWN ? "..." : "", expected);
}

/* ---- text to value ---- */

static sb_status parse_choice(const struct sb_option *o, const char *text, void *field)
{
    struct sb_nearest nearest = sb_nearest_begin(text);
    for (unsigned i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], text) == 0) {
            memcpy(field, &i, sizeof i);
            return SB_OK;
        }
        sb_nearest_offer(&nearest, o->choices[i]);
    }
    sb_status st = refuse(o, text);
    return sb_fail(st, "%s; the nearest is %s", sb_message(), nearest.best);
}

static sb_status parse_switch(const struct sb_option *o, const char *text, void *field)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        bool value = i % 2;
        if (strcmp(words[i], text) == 0) {
            memcpy(field, &value, sizeof value);
            return SB_OK;
        }
    }
    return refuse(o, text);
}

static sb_status parse_count(const struct sb_option *o, const char *text, void *field)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return refuse(o, text);
    errno = 0;
    unsigned long long n = strtoull(text, NULL, 10);
    if (errno != 0 || n > UINT32_MAX || !in_range(o, (double)n))
        return refuse(o, text);
    uint32_t value = (uint32_t)n;
    memcpy(field, &value, sizeof value);
    return SB_OK;
}

static sb_status parse_real(const struct sb_option *o, const char *text, void *field)
{
    double x;
    const char *end;
    if (!read_real(text, &end, &x) || *end != '\0' || !in_range(o, x))
        return refuse(o, text);
    memcpy(field, &x, sizeof x);
    return SB_OK;
}

static sb_status parse_list(const struct sb_option *o, const char *text, void *field)
{
    struct sb_config_list list = {0};
    const char *p = text;
    for (;;) {
        p += strspn(p, " \t,");
        if (*p == '\0')
            break;
        double x;
        if (list.count == SB_CONFIG_LIST || !read_real(p, &p, &x) || !in_range(o, x))
            return refuse(o, text);
        list.value[list.count++] = x;
    }
    memcpy(field, &list, sizeof list);
    return SB_OK;
}

/* What an INI line cannot carry is refused, so that a recipe written out reads back. */
static sb_status parse_text(const struct sb_option *o, const char *text, void *field)
{
    size_t n = strlen(text);
    bool fits = n > 0 ? n < o->size && text[0] != ' ' && text[n - 1] != ' '
                      : (o->flags & SB_OPTION_EMPTY) != 0;
    for (size_t i = 0; i < n && fits; i++)
        fits = (unsigned char)text[i] >= ' ' && text[i] != 0x7f && text[i] != ';';
    if (!fits)
        return refuse(o, text);
    if (!sb_names_is_utf8(text, n)) /* checkpoints and models could not be written */
        return sb_fail(
            SB_EARG,
            "%s: its text is not UTF-8; rename what it names, or lead there by "
            "a link (ln -s)",
            o->name);
    memset(field, 0, o->size);
    memcpy(field, text, n);
    return SB_OK;
}

sb_status sb_option_parse(const struct sb_option *o, const char *text, void *field)
{
    switch (o->type) {
    case SB_OPTION_CHOICE:
        return parse_choice(o, text, field);
    case SB_OPTION_SWITCH:
        return parse_switch(o, text, field);
    case SB_OPTION_COUNT:
        return parse_count(o, text, field);
    case SB_OPTION_REAL:
        return parse_real(o, text, field);
    case SB_OPTION_LIST:
        return parse_list(o, text, field);
    case SB_OPTION_TEXT:
        break;
    }
    return parse_text(o, text, field);
}

/* ---- value to text ---- */

static void format_list(const struct sb_config_list *list, char *out, size_t size)
{
    char number[REAL_TEXT];
    out[0] = '\0';
    for (uint32_t i = 0; i < list->count; i++) {
        write_real(list->value[i], number);
        add(out, size, "%s%s", i ? " " : "", number);
    }
}

void sb_option_format(const struct sb_option *o, const void *field,
                      char out[SB_OPTION_VALUE])
{
    unsigned choice;
    double real;
    struct sb_config_list list;
    switch (o->type) {
    case SB_OPTION_CHOICE:
        memcpy(&choice, field, sizeof choice);
        snprintf(out, SB_OPTION_VALUE, "%s", o->choices[choice]);
        break;
    case SB_OPTION_SWITCH:
        snprintf(out, SB_OPTION_VALUE, "%s", *(const bool *)field ? "yes" : "no");
        break;
    case SB_OPTION_COUNT:
        snprintf(out, SB_OPTION_VALUE, "%u", *(const uint32_t *)field);
        break;
    case SB_OPTION_REAL:
        memcpy(&real, field, sizeof real);
        write_real(real, out);
        break;
    case SB_OPTION_LIST:
        memcpy(&list, field, sizeof list);
        format_list(&list, out, SB_OPTION_VALUE);
        break;
    case SB_OPTION_TEXT:
        snprintf(out, SB_OPTION_VALUE, "%s", (const char *)field);
        break;
    }
}
