/* table_texts - see table_texts.h. */
#include "readers/table_texts.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "files/csv_text.h"
#include "readers/table_value.h"

/* ---- dates ---- */

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

static bool is_numeric_date(const char *s)
{
    size_t a = digits(s), b = a >= 1 && a <= 4 ? digits(s + a + (s[a] != '\0')) : 0;
    char mark = s[a];
    if (a < 1 || a > 4 || b < 1 || b > 2 || !strchr("-/.:", mark) || mark == '\0')
        return false;
    const char *rest = s + a + 1 + b;
    if (mark == ':')
        return *rest == '\0' || *rest == ':';
    size_t c = *rest == mark ? digits(rest + 1) : 0;
    if (c < 1 || c > 4 || (a <= 2 && c != 2 && c != 4) || (a > 2 && (a != 4 || c > 2)))
        return false;
    rest += 1 + c;
    return *rest == '\0' || *rest == ' ' || *rest == 'T';
}

static bool is_year(const char *s)
{
    return digits(s) == 4 && (strncmp(s, "19", 2) == 0 || strncmp(s, "20", 2) == 0);
}

/* 2024-03, 2024Q1, 2024-Q1; not 2024-1, which may be any number of that year. */
static bool is_part_of_year(const char *s)
{
    if (!is_year(s))
        return false;
    s += 4;
    bool apart = *s == '-' || *s == '/';
    s += apart;
    if (*s == 'Q' || *s == 'q')
        return s[1] >= '1' && s[1] <= '4' && s[2] == '\0';
    return apart && digits(s) == 2 && s[2] == '\0' &&
           (s[0] == '0' ? s[1] >= '1' : s[0] == '1' && s[1] <= '2');
}

static bool is_month(const char *s, size_t n)
{
    static const char *const names[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};
    for (int i = 0; i < 12; i++)
        if (n >= 3 && n <= strlen(names[i]) && strncasecmp(s, names[i], n) == 0)
            return true;
    return false;
}

/* The name of a month between numbers. */
static bool names_a_month(const char *s)
{
    uint32_t months = 0, numbers = 0;
    while (*s) {
        size_t letters = 0, n = digits(s);
        while (isalpha((unsigned char)s[letters]))
            letters++;
        if (letters > 0 && !is_month(s, letters))
            return false;
        if (letters == 0 && n == 0 && !strchr(" -/.,", *s))
            return false;
        months += letters > 0;
        numbers += n > 0;
        s += letters + n > 0 ? letters + n : 1;
    }
    return months == 1 && numbers >= 1;
}

bool sb_text_is_date(const char *s)
{
    return is_numeric_date(s) || is_part_of_year(s) || names_a_month(s);
}

const char *sb_texts_dates(const struct sb_words *w)
{
    const char *one = NULL;
    for (uint32_t k = 0; k < w->count; k++) {
        const char *text = sb_words_at(w, k);
        if (text[0] && !sb_text_is_date(text))
            return NULL;
        one = one || !text[0] ? one : text;
    }
    return one;
}

/* ---- numbers with marks ---- */

/* Bytes of a sign of money at s, or 0. */
static size_t money(const char *s)
{
    static const char *const signs[] = {"$", "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5"};
    for (int i = 0; i < 4; i++)
        if (strncmp(s, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 0;
}

/* Digits with `mark` before each three but the first ones: 12,345,678. How many of those
 * there are; *at moves behind them. */
static uint32_t thousands(const char **at, char mark)
{
    const char *s = *at;
    uint32_t n = 0;
    size_t first = digits(s);
    for (s += first; first >= 1 && first <= 3 && *s == mark && digits(s + 1) == 3; s += 4)
        n++;
    *at = s;
    return n;
}

/* The digits of a number, with or without marks; *marked: with. NULL: they are none. */
static const char *pass_digits(const char *s, bool *marked)
{
    const char *comma = s, *point = s;
    uint32_t commas = thousands(&comma, ','), points = thousands(&point, '.');
    bool decimal = *point == ',' && digits(point + 1) > 0; /* 1,5 and 1.234,5 */
    if (commas == 0 && (decimal || points > 1)) {
        *marked = true;
        return decimal ? point + 1 + digits(point + 1) : point;
    }
    *marked = commas > 0;
    const char *end = comma + (*comma == '.');
    end += digits(end);
    return digits(s) > 0 || end > s + 1 ? end : NULL;
}

/* -1,234.5 and 1.234,5 and 12 % and $3.20; *marked: it is no plain number. */
static bool is_number(const char *s, bool *marked)
{
    s += *s == '-' || *s == '+';
    size_t before = money(s);
    s += before;
    s += before > 0 && (*s == '-' || *s == ' ');
    s = pass_digits(s, marked);
    if (!s)
        return false;
    s += *s == ' ';
    size_t behind = *s == '%' ? 1 : money(s);
    *marked |= before + behind > 0;
    return s[behind] == '\0';
}

/* The letters behind a number, as in 12 mg and 3.5kg; NULL: it is something else. */
static const char *unit_of(const char *s)
{
    enum { LONG = 8 }; /* longer ones are words */
    bool marked = false;
    s += *s == '-' || *s == '+';
    s = pass_digits(s, &marked);
    if (!s || marked)
        return NULL;
    s += *s == ' ';
    size_t n = 0;
    while (isalpha((unsigned char)s[n]) || (unsigned char)s[n] >= 0x80)
        n++;
    return n > 0 && n <= LONG && s[n] == '\0' ? s : NULL;
}

const char *sb_texts_with_unit(const struct sb_words *w)
{
    enum { FEW = 10 }; /* fewer may well be kinds: 4a, 5a, 6a */
    const char *one = NULL, *unit = NULL;
    for (uint32_t k = 0; k < w->count; k++) {
        const char *text = sb_words_at(w, k), *here = unit_of(text);
        if (text[0] == '\0')
            continue;
        if (!here || (unit && strcmp(unit, here) != 0))
            return NULL;
        one = one ? one : text;
        unit = here;
    }
    return w->count >= FEW ? one : NULL;
}

const char *sb_texts_marked(const struct sb_words *w)
{
    enum { FEW = 5 }; /* fewer may be classes or steps: 5 %, 10 % */
    const char *one = NULL;
    double x;
    for (uint32_t k = 0; k < w->count; k++) {
        const char *text = sb_words_at(w, k);
        bool marked = false;
        if (text[0] == '\0' || sb_csv_number(text, strlen(text), &x))
            continue;
        if (!is_number(text, &marked))
            return NULL;
        one = one || !marked ? one : text;
    }
    return w->count >= FEW ? one : NULL;
}

/* ---- true and false ---- */

/* 1 or 0 of a pair of words that are true and false; pair: which one. -1: neither. */
static int boolean_of(const char *text, int *pair)
{
    static const char *const words[][2] = {
        {"false", "true"}, {"no", "yes"}, {"f", "t"}, {"n", "y"}};
    for (int k = 0; k < 4; k++)
        for (int value = 0; value < 2; value++)
            if (strcasecmp(text, words[k][value]) == 0) {
                *pair = k;
                return value;
            }
    return -1;
}

bool sb_texts_booleans(const struct sb_words *w)
{
    int first = -1;
    bool there[2] = {false, false};
    for (uint32_t k = 0; k < w->count; k++) {
        const char *text = sb_words_at(w, k);
        int pair = -1, value = boolean_of(text, &pair);
        if (text[0] == '\0')
            continue;
        if (value < 0 || (first >= 0 && pair != first))
            return false;
        first = pair;
        there[value] = true;
    }
    return there[0] && there[1];
}

bool sb_table_boolean(const char *text, size_t size, float *out)
{
    char word[8];
    int pair, value;
    if (size == 0 || size >= sizeof word)
        return false;
    memcpy(word, text, size);
    word[size] = '\0';
    value = boolean_of(word, &pair);
    if (value < 0 && size == 1 && (*text == '0' || *text == '1'))
        value = *text - '0';
    *out = (float)value;
    return value >= 0;
}
