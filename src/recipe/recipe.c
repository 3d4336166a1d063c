/* options_recipe - recipes as INI text, read through inih and written; see options.h.
 *
 * inih is handed one line at a time from memory. That is where we know the line's number,
 * see that it is longer than inih's buffer (it would be cut in two and the rest taken for
 * a line of its own) and remove what is in front of a key (an indented line would continue
 * the value above). Of a long line inih is told the key, and the value is kept for its
 * handler. After the first failure there are no more lines.
 */
#include <ctype.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "recipe/options.h"

/* ---- reading ---- */

struct reader {
    struct sb_recipe *recipe;
    const char *source;
    const char *next, *end;
    int line;                 /* the one inih has, from 1 */
    int given[SB_OPTION_MAX]; /* the line an option was given in; 0: not yet */
    bool kept;                /* value is what the line at hand says */
    char value[SB_OPTION_VALUE];
    sb_status st;
};

static sb_status fail_here(struct reader *r, sb_status st, const char *sentence)
{
    r->st = sb_fail(st, "%s:%d: %s", r->source, r->line, sentence);
    return r->st;
}

/* Whether the table has such a section; if not, *nearest is the closest it has. */
static bool has_section(const char *section, char nearest[SB_CONFIG_NAME])
{
    size_t best = (size_t)-1;
    for (size_t i = 0; sb_option_at(i); i++) {
        char name[SB_CONFIG_NAME];
        const char *full = sb_option_at(i)->name;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(full, "."), full);
        size_t d = sb_nearest_distance(section, name);
        if (strcmp(section, name) == 0)
            return true;
        if (d < best) {
            best = d;
            memcpy(nearest, name, sizeof name);
        }
    }
    return false;
}

/* A [section] is checked where it stands: inih tells of it only with the first key. */
static sb_status check_section(struct reader *r, const char *line, size_t n)
{
    char name[SB_CONFIG_NAME], nearest[SB_CONFIG_NAME] = "";
    const char *end = memchr(line, ']', n);
    if (line[0] != '[' || !end)
        return SB_OK; /* not one, or not closed: inih says so */
    snprintf(name, sizeof name, "%.*s", (int)(end - line - 1), line + 1);
    if (has_section(name, nearest))
        return SB_OK;
    char sentence[2 * SB_CONFIG_NAME + 96];
    snprintf(sentence, sizeof sentence, "there is no section [%s]; the nearest is [%s]",
             name, nearest);
    return fail_here(r, SB_EARG, sentence);
}

static bool is_blank(char c)
{
    return isspace((unsigned char)c) != 0;
}

/* The value of a line as inih would read it: up to a comment, without blanks around it. */
static void keep_value(struct reader *r, const char *text, size_t n)
{
    size_t end = 0;
    while (end < n && (text[end] != ';' || (end > 0 && !is_blank(text[end - 1]))))
        end++;
    while (end > 0 && is_blank(text[end - 1]))
        end--;
    for (; end > 0 && is_blank(*text); end--)
        text++;
    if (end >= sizeof r->value) {
        char sentence[96];
        snprintf(sentence, sizeof sentence, "a value of %zu bytes; at most %zu fit", end,
                 sizeof r->value - 1);
        fail_here(r, SB_EFORMAT, sentence);
        return;
    }
    memcpy(r->value, text, end);
    r->value[end] = '\0';
    r->kept = true;
}

/* What inih gets of text[n], a line that it has no room for: *n bytes of it. */
static void shorten(struct reader *r, const char *text, size_t *n, size_t most)
{
    size_t key = 0;
    while (key < *n && text[key] != '=' && text[key] != ':')
        key++;
    if (*text == '#' || *text == ';') {
        *n = 1;
    } else if (*text != '[' && key < *n && key < most) {
        keep_value(r, text + key + 1, *n - key - 1);
        *n = key + 1;
    } else {
        char sentence[96];
        snprintf(sentence, sizeof sentence,
                 "a line of %zu bytes; without a key and a value at most %zu fit", *n,
                 most);
        fail_here(r, SB_EFORMAT, sentence);
    }
}

/* inih's fgets. */
static char *next_line(char *out, int size, void *context)
{
    struct reader *r = context;
    if (r->st != SB_OK || r->next == r->end)
        return NULL;
    r->kept = false;
    size_t left = (size_t)(r->end - r->next);
    const char *newline = memchr(r->next, '\n', left);
    size_t n = newline ? (size_t)(newline - r->next) : left;
    const char *text = r->next;
    r->next += newline ? n + 1 : n;
    r->line++;
    while (n > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        n--;
    }
    if (memchr(text, '\0', n)) {
        char sentence[96];
        snprintf(sentence, sizeof sentence, "a line of %zu bytes has a zero byte", n);
        fail_here(r, SB_EFORMAT, sentence);
        return NULL;
    }
    if (n + 2 > (size_t)size)
        shorten(r, text, &n, (size_t)size - 2);
    if (r->st != SB_OK)
        return NULL;
    if (n > 0 && check_section(r, text, n) != SB_OK)
        return NULL;
    memcpy(out, text, n);
    out[n] = '\n';
    out[n + 1] = '\0';
    return out;
}

static sb_status set_option(struct reader *r, const char *section, const char *key,
                            const char *value)
{
    char name[2 * SB_CONFIG_NAME], sentence[2 * SB_CONFIG_NAME + 96];
    const struct sb_option *o;
    if (section[0] == '\0') {
        snprintf(sentence, sizeof sentence, "'%s' comes before any [section]", key);
        return fail_here(r, SB_EFORMAT, sentence);
    }
    snprintf(name, sizeof name, "%s.%s", section, key);
    sb_status st = sb_option_find(name, &o);
    if (st != SB_OK)
        return fail_here(r, st, sb_message());
    int *given = &r->given[o - sb_option_at(0)];
    if (*given) {
        snprintf(sentence, sizeof sentence, "%s was given in line %d already", name,
                 *given);
        return fail_here(r, SB_EARG, sentence);
    }
    *given = r->line;
    st = sb_recipe_set(r->recipe, name, value);
    return st == SB_OK ? SB_OK : fail_here(r, st, sb_message());
}

/* inih's handler: 0 is an error, of which we know more than it does. */
static int handle(void *context, const char *section, const char *key, const char *value)
{
    struct reader *r = context;
    const char *said = r->kept ? r->value : value ? value : "";
    return r->st == SB_OK && set_option(r, section, key, said) == SB_OK;
}

/* The text of a line, for a sentence. */
static void quote_line(const char *text, const char *end, int line, char *out,
                       size_t size)
{
    for (; line > 1; line--)
        text = (const char *)memchr(text, '\n', (size_t)(end - text)) + 1;
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    size_t n = (size_t)((newline ? newline : end) - text);
    snprintf(out, size, "%.*s", (int)n, text);
    out[strcspn(out, "\r")] = '\0';
}

sb_status sb_recipe_parse(struct sb_recipe *recipe, const char *source, const char *text,
                          size_t size)
{
    struct reader r = {
        .recipe = recipe, .source = source, .next = text, .end = text + size};
    int bad = ini_parse_stream(next_line, &r, handle, &r);
    if (r.st == SB_OK && bad > 0) {
        char line[64];
        quote_line(text, text + size, bad, line, sizeof line);
        return sb_fail(SB_EFORMAT, "%s:%d: want '[section]' or 'key = value', have '%s'",
                       source, bad, line);
    }
    if (r.st == SB_OK && bad < 0)
        return sb_fail(SB_ENOMEM, "%s: no memory to read it", source);
    return r.st;
}

sb_status sb_recipe_read(struct sb_recipe *r, const char *path)
{
    struct sb_map m;
    sb_status st = sb_map_open(&m, path);
    if (st != SB_OK)
        return st;
    st = sb_recipe_parse(r, path, (const char *)m.data, m.size);
    sb_map_close(&m);
    return st;
}

/* ---- writing ---- */

/* A string that is first measured, then written: text is NULL the first time. */
struct writer {
    char *text; /* [size] */
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w,
                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = w->text ? vsnprintf(w->text + w->used, w->size - w->used, format, args)
                    : vsnprintf(NULL, 0, format, args);
    va_end(args);
    w->used += n > 0 ? (size_t)n : 0;
}

/* "[section]" where the i-th option begins one. */
static void put_section(struct writer *w, size_t i)
{
    const char *name = sb_option_at(i)->name;
    size_t n = strcspn(name, ".") + 1;
    if (i == 0 || strncmp(sb_option_at(i - 1)->name, name, n) != 0)
        put(w, "%s[%.*s]\n", i ? "\n" : "", (int)(n - 1), name);
}

static const char *key_of(const struct sb_option *o)
{
    return strchr(o->name, '.') + 1;
}

static void put_recipe(struct writer *w, const struct sb_recipe *r, bool comments)
{
    char value[SB_OPTION_VALUE];
    const struct sb_option *o;
    for (size_t i = 0; (o = sb_option_at(i)); i++) {
        put_section(w, i);
        sb_option_format(o, (const char *)&r->config + o->offset, value);
        if (comments)
            put(w, "# %s\n", o->help);
        if (comments && r->open[i] && strcmp(value, "auto") != 0)
            put(w, "# auto: %s for images, by the number of rows for tables\n", value);
        put(w, "%s =%s%s\n", key_of(o), value[0] ? " " : "", r->open[i] ? "auto" : value);
    }
}

/* What a method says of an option that a recipe leaves out; NULL: nothing. */
static const char *implied_by(const struct sb_method *m, const struct sb_option *o)
{
    for (size_t i = 0; i < m->implied_count; i++)
        if (strcmp(m->implied[i].key, o->name) == 0)
            return m->implied[i].value;
    return NULL;
}

/* "4: dnn-ensemble, batch-ensemble": a value and the methods that say it, where the k-th is
 * the first of them, in lines of less than 80. */
static void put_implied(struct writer *w, const struct sb_option *o, size_t k)
{
    const char *value = implied_by(sb_method_at(k), o), *other;
    size_t column = 0;
    for (size_t i = 0; i < k; i++)
        if ((other = implied_by(sb_method_at(i), o)) && strcmp(value, other) == 0)
            return;
    for (size_t i = k; sb_method_at(i); i++) {
        const char *name = sb_method_at(i)->name;
        if (!(other = implied_by(sb_method_at(i), o)) || strcmp(value, other) != 0)
            continue;
        bool fits = column + strlen(name) + 2 < 80;
        if (i == k)
            put(w, "        %s: %s", value, name);
        else
            put(w, fits ? ", %s" : ",\n          %s", name);
        column = i == k ? 10 + strlen(value) : fits ? column + 2 : 10;
        column += strlen(name);
    }
    put(w, "\n");
}

static void put_list(struct writer *w)
{
    char expected[256];
    const struct sb_option *o;
    for (size_t i = 0; (o = sb_option_at(i)); i++) {
        put_section(w, i);
        bool automatic = o->flags & SB_OPTION_AUTO,
             word = strcmp(o->initial, "auto") == 0;
        put(w, "%s =%s%s\n        %s\n", key_of(o), o->initial[0] ? " " : "",
            automatic ? "auto" : o->initial, o->help);
        if (automatic && !word)
            put(w, "        auto: %s for images, by the number of rows for tables\n",
                o->initial);
        for (size_t k = 0; sb_method_at(k); k++)
            if (implied_by(sb_method_at(k), o))
                put_implied(w, o, k);
        sb_option_expected(o, expected, sizeof expected);
        if (strcmp(o->name, "method.name") == 0) {
            for (size_t k = 0; sb_method_at(k); k++)
                put(w, "          %-14s %s\n", sb_method_at(k)->name,
                    sb_method_at(k)->summary);
        } else if (o->type != SB_OPTION_TEXT) {
            put(w, "        %s\n", expected);
        }
    }
}

static sb_status allocate(struct writer *w)
{
    w->size = w->used + 1;
    w->used = 0;
    w->text = sb_malloc(w->size, 1);
    return w->text ? SB_OK
                   : sb_fail(SB_ENOMEM, "options: no memory for %zu bytes", w->size);
}

sb_status sb_recipe_write(const struct sb_recipe *r, bool comments, char **out)
{
    struct writer w = {0};
    put_recipe(&w, r, comments);
    sb_status st = allocate(&w);
    if (st == SB_OK)
        put_recipe(&w, r, comments);
    *out = w.text;
    return st;
}

sb_status sb_options_list(char **out)
{
    struct writer w = {0};
    put_list(&w);
    sb_status st = allocate(&w);
    if (st == SB_OK)
        put_list(&w);
    *out = w.text;
    return st;
}
