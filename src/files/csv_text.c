/* csv_text - see csv_text.h. */
#include "files/csv_text.h"

#include <string.h>
#include <strings.h>

enum {
    SNIFF_LINES = 10,
    NUMBER_MOST = 1024, /* bytes of a number */
    DIGITS_MOST = 19,
    EXPONENT_MOST = 5000
};

/* ---- rows and fields ---- */

static bool is_blank(const struct sb_csv *c, char x)
{
    return x == ' ' || x == '\r' || (x == '\t' && c->separator != '\t');
}

static void skip_blanks(struct sb_csv *c)
{
    while (c->at < c->end && is_blank(c, *c->at))
        c->at++;
}

bool sb_csv_row(struct sb_csv *c)
{
    for (;; c->at++, c->line++) {
        skip_blanks(c);
        if (c->at == c->end || *c->at != '\n')
            break;
    }
    c->row_line = c->line;
    c->field = 0;
    c->more = c->at < c->end;
    return c->more;
}

/* After a field: at its separator, its line's end or the end of the text. */
static void pass_separator(struct sb_csv *c)
{
    bool blanks = c->separator == ' ';
    const char *before = c->at;
    skip_blanks(c);
    bool ended = c->at == c->end || *c->at == '\n';
    if (c->at < c->end && *c->at == '\n') {
        c->line++;
        c->at++;
    } else if (!ended && !blanks && *c->at == c->separator) {
        c->at++;
    }
    c->more = !ended && (!blanks || c->at > before);
}

static sb_status quoted_field(struct sb_csv *c, struct sb_field *f)
{
    uint64_t line = c->line;
    *f = (struct sb_field){.text = ++c->at, .quoted = true};
    for (;; c->at++) {
        if (c->at == c->end)
            return sb_fail(SB_EFORMAT, "%s: line %llu: a quote is not closed", c->name,
                           (unsigned long long)line);
        c->line += *c->at == '\n';
        if (*c->at != '"')
            continue;
        if (c->at + 1 < c->end && c->at[1] == '"') {
            f->doubled = true;
            c->at++;
            continue;
        }
        break;
    }
    f->size = (size_t)(c->at++ - f->text);
    char next = c->at < c->end ? *c->at : '\n';
    if (next != '\n' && next != c->separator && !is_blank(c, next))
        return sb_fail(SB_EFORMAT, "%s: line %llu: text follows a closing quote", c->name,
                       (unsigned long long)c->line);
    pass_separator(c);
    return SB_OK;
}

sb_status sb_csv_field(struct sb_csv *c, struct sb_field *f)
{
    skip_blanks(c);
    c->field++;
    if (c->at < c->end && *c->at == '"')
        return quoted_field(c, f);
    const char *start = c->at, *stop = start, *end = c->end;
    char separator = c->separator;
    if (separator == ' ')
        while (stop < end && *stop != '\n' && !is_blank(c, *stop))
            stop++;
    else
        while (stop < end && *stop != '\n' && *stop != separator)
            stop++;
    c->at = stop;
    while (stop > start && is_blank(c, stop[-1]))
        stop--;
    *f = (struct sb_field){.text = start, .size = (size_t)(stop - start)};
    pass_separator(c);
    return SB_OK;
}

sb_status sb_csv_text(const struct sb_csv *c, struct sb_field *f,
                      char buffer[SB_FIELD_MOST])
{
    if (f->size >= SB_FIELD_MOST)
        return sb_fail(SB_EFORMAT, "%s: line %llu: a text of %zu bytes is too long",
                       c->name, (unsigned long long)c->row_line, f->size);
    if (memchr(f->text, '\0', f->size))
        return sb_fail(SB_EFORMAT,
                       "%s: line %llu: it has a zero byte; is it a text file?", c->name,
                       (unsigned long long)c->row_line);
    if (!f->doubled)
        return SB_OK;
    size_t n = 0;
    for (size_t i = 0; i < f->size; i++) {
        buffer[n++] = f->text[i];
        i += f->text[i] == '"'; /* the second one */
    }
    *f = (struct sb_field){.text = buffer, .size = n, .quoted = true};
    return SB_OK;
}

/* ---- the separator ---- */

/* Separators in the line at *at outside quotes; *at moves behind it. */
static uint32_t count_in_line(const char **at, const char *end, char separator)
{
    bool quoted = false;
    uint32_t n = 0;
    const char *s = *at;
    for (; s < end && (quoted || *s != '\n'); s++) {
        quoted ^= *s == '"';
        n += !quoted && *s == separator;
    }
    *at = s < end ? s + 1 : end;
    return n;
}

/* How many there are in every one of the first lines; 0: it differs, or there are none. */
static uint32_t steady(const struct sb_csv *c, char separator)
{
    const char *at = c->at;
    uint32_t first = 0;
    for (int i = 0; i < SNIFF_LINES && at < c->end; i++) {
        const char *line = at;
        uint32_t n = count_in_line(&at, c->end, separator);
        while (line < at && (*line == ' ' || *line == '\r' || *line == '\n'))
            line++;
        if (line == at)
            continue; /* a blank line */
        if (n == 0 || (first > 0 && n != first))
            return 0;
        first = n;
    }
    return first;
}

/* Excel's first line about the separator, "sep=;": nothing else is in it. */
static bool says_separator(const char *text, size_t size)
{
    const char mark[] = "\xef\xbb\xbf";
    size_t at = size >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    return size - at >= 6 && memcmp(text + at, "sep=", 4) == 0 &&
           (text[at + 5] == '\n' || text[at + 5] == '\r');
}

sb_status sb_csv_check(const char *name, const char *text, size_t size)
{
    if (says_separator(text, size))
        return sb_fail(SB_EFORMAT,
                       "%s: line 1 says what is between fields, as Excel writes it, and "
                       "is no row of the table; remove it",
                       name);
    if (size >= 2 &&
        (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return sb_fail(SB_EFORMAT, "%s: it is UTF-16; save it as UTF-8", name);
    const char *cr = size > 0 ? memchr(text, '\r', size) : NULL;
    if (cr && cr + 1 < text + size && !memchr(text, '\n', size))
        return sb_fail(SB_EFORMAT,
                       "%s: its lines end with CR alone; save it with LF or CR LF", name);
    return SB_OK;
}

void sb_csv_begin(struct sb_csv *c, const char *name, const char *text, size_t size)
{
    static const char candidates[] = {'\t', ';', ','};
    *c = (struct sb_csv){.name = name, .at = text, .end = text + size, .separator = ' '};
    c->line = 1;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        c->at += 3;
    for (size_t i = 0; i < 3; i++)
        if (steady(c, candidates[i]) > 0) {
            c->separator = candidates[i];
            return;
        }
    const char *at = c->at;
    for (size_t i = 0; i < 3; i++, at = c->at)
        if (count_in_line(&at, c->end, candidates[i]) > 0)
            c->separator = candidates[i]; /* uneven rows: said where they are read */
}

/* ---- values ---- */

bool sb_csv_missing(const struct sb_field *f)
{
    enum { LONGEST = 4 };
    static const char *const words[] = {"?", "NA", "NaN", "N/A", "#N/A", "<NA>", "null"};
    if (f->size == 0)
        return true;
    if (f->size > LONGEST || (f->text[0] >= '-' && f->text[0] <= '9'))
        return false; /* most fields are numbers */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == f->size && strncasecmp(f->text, words[i], f->size) == 0)
            return true;
    return false;
}

static double scale(uint64_t digits, int exponent)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (digits < (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22)
        return exponent < 0 ? (double)digits / exact[-exponent]
                            : (double)digits * exact[exponent];
    long double x = (long double)digits, ten = 10.0L;
    for (unsigned n = (unsigned)(exponent < 0 ? -exponent : exponent); n > 0; n >>= 1) {
        if (n & 1)
            x = exponent < 0 ? x / ten : x * ten;
        ten *= ten;
    }
    return (double)x;
}

/* The exponent behind e; false: not a whole number. */
static bool read_exponent(const char *s, const char *end, int *out)
{
    bool negative = s < end && *s == '-';
    int x = 0;
    s += s < end && (*s == '-' || *s == '+');
    if (s == end)
        return false;
    for (; s < end; s++) {
        if (*s < '0' || *s > '9')
            return false;
        x = x < EXPONENT_MOST ? 10 * x + (*s - '0') : x;
    }
    *out += negative ? -x : x;
    return true;
}

bool sb_csv_number(const char *s, size_t n, double *out)
{
    const char *end = s + (n < NUMBER_MOST ? n : NUMBER_MOST);
    bool negative = n > 0 && *s == '-', point = false, any = false;
    uint64_t digits = 0;
    int kept = 0, exponent = 0;
    s += n > 0 && (*s == '-' || *s == '+');
    for (; s < end; s++) {
        if (*s == '.' && !point) {
            point = true;
            continue;
        }
        if (*s < '0' || *s > '9')
            break;
        any = true;
        if (kept < DIGITS_MOST) {
            digits = 10 * digits + (uint64_t)(*s - '0');
            kept += digits > 0;
            exponent -= point;
        } else {
            exponent += !point && exponent < EXPONENT_MOST;
        }
    }
    if (!any || n > NUMBER_MOST)
        return false;
    if (s < end && ((*s != 'e' && *s != 'E') || !read_exponent(s + 1, end, &exponent)))
        return false;
    if (exponent < -EXPONENT_MOST || exponent > EXPONENT_MOST)
        exponent = exponent < 0 ? -EXPONENT_MOST : EXPONENT_MOST;
    double x = digits ? scale(digits, exponent) : 0.0;
    *out = negative ? -x : x;
    return true;
}
