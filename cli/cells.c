/* cells - see cells.h. */
#include "cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NPY_HEAD = 128, NPY_BEFORE_TEXT = 10 };

/* Spreadsheets compute what begins with one of = + - @ or a tab; behind an apostrophe it is
 * a text. */
void cli_put_cell(struct cli_csv c, const char *prefix, const char *text)
{
    bool formula = c.safe && !prefix[0] && text[0] && strchr("=+-@\t\r", text[0]);
    bool quote = strpbrk(text, ",;\t\"\r\n") || text[0] == ' ';
    fprintf(c.to, "%s%s%s", quote ? "\"" : "", formula ? "'" : "", prefix);
    for (; *text; text++) {
        bool control = (unsigned char)*text < ' ' || *text == 0x7f;
        fputs(*text == '"' ? "\"" : "", c.to);
        fputc(c.plain && control ? '?' : *text, c.to);
    }
    fputs(quote ? "\"" : "", c.to);
}

/* Texts are UTF-8 already. */
void cli_put_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

void cli_put_floats(FILE *to, const char *before, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%s%.9g", i > 0 ? "," : before, (double)x[i]);
}

void cli_put_number(FILE *to, double x)
{
    if (isfinite(x))
        fprintf(to, "%.9g", x);
    else
        fputs("null", to);
}

void cli_put_head(struct cli_csv c, const struct sebays_feed *feed)
{
    fprintf(c.to, "index,%s", c.files ? "file," : "");
    for (uint32_t k = 0; k < sebays_feed_keeps(feed); k++) {
        cli_put_cell(c, "", sebays_feed_keep_name(feed, k));
        fputc(',', c.to);
    }
}

void cli_put_front(struct cli_csv c, uint64_t index, const char *file,
                   const struct sebays_feed *feed, size_t i)
{
    fprintf(c.to, "%" PRIu64 ",", index);
    if (c.files) {
        cli_put_cell(c, "", file ? file : "");
        fputc(',', c.to);
    }
    for (uint32_t k = 0; k < sebays_feed_keeps(feed); k++) {
        cli_put_cell(c, "", sebays_feed_keep_text(feed, i, k));
        fputc(',', c.to);
    }
}

/* "kept":{"id":"a17"}, */
static void put_kept(FILE *to, const struct sebays_feed *feed, size_t i)
{
    fputs("\"kept\":{", to);
    for (uint32_t k = 0; k < sebays_feed_keeps(feed); k++) {
        fputs(k > 0 ? "," : "", to);
        cli_put_string(to, sebays_feed_keep_name(feed, k));
        fputc(':', to);
        cli_put_string(to, sebays_feed_keep_text(feed, i, k));
    }
    fputs("},", to);
}

void cli_put_json_front(FILE *to, uint64_t index, const char *file,
                        const struct sebays_feed *feed, size_t i)
{
    fprintf(to, "{\"index\":%" PRIu64 ",", index);
    if (file) {
        fputs("\"file\":", to);
        cli_put_string(to, file);
        fputc(',', to);
    }
    if (sebays_feed_keeps(feed) > 0)
        put_kept(to, feed, i);
}

void cli_put_npy_head(FILE *to, uint64_t count, uint32_t width)
{
    static const unsigned char magic[NPY_BEFORE_TEXT] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, NPY_HEAD - NPY_BEFORE_TEXT, 0};
    const uint16_t one = 1;
    unsigned char head[NPY_HEAD], little;
    char text[NPY_HEAD];
    memcpy(&little, &one, 1);
    int n = snprintf(text, sizeof text,
                     "{'descr': '%cf4', 'fortran_order': False, 'shape': (%" PRIu64
                     ", %u), }",
                     little ? '<' : '>', count, width);
    memset(head, ' ', sizeof head);
    memcpy(head, magic, sizeof magic);
    memcpy(head + sizeof magic, text, (size_t)n); /* at most 95 of 118 bytes */
    head[NPY_HEAD - 1] = '\n';
    (void)fwrite(head, 1, sizeof head, to); /* the stream remembers a failure */
}
