/* csv - tables as text: CSV, TSV, semicolons or blanks between, perhaps gzipped.
 *
 * A file that looks like text is a table. A directory has train and test as train.csv and
 * test.csv (or .tsv, .txt). What the text may look like: csv_text.h; what columns mean:
 * columns.h.
 */
#include <stdio.h>
#include <string.h>

#include "readers/readers.h"
#include "readers/table.h"

static const char *const endings[] = {"csv", "tsv", "txt"};
enum { ENDINGS = sizeof endings / sizeof *endings };

static bool find_file(const char *directory, enum sb_split split, char out[SB_PATH_BYTES])
{
    for (size_t i = 0; i < ENDINGS; i++) {
        char name[16];
        snprintf(name, sizeof name, "%s.%s", sb_split_name(split), endings[i]);
        if (sb_reader_locate(directory, name, out))
            return true;
    }
    return false;
}

/* Control characters are not in a text, but for a byte-order mark's. */
static bool probe(const struct sb_probe *p)
{
    char path[SB_PATH_BYTES];
    if (p->directory)
        return find_file(p->path, SB_SPLIT_TRAIN, path) ||
               find_file(p->path, SB_SPLIT_TEST, path);
    bool wide = p->have >= 2 && ((p->head[0] == 0xff && p->head[1] == 0xfe) ||
                                 (p->head[0] == 0xfe && p->head[1] == 0xff));
    for (size_t i = 0; i < p->have && !wide; i++) {
        unsigned char c = p->head[i];
        if ((c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
            return false;
    }
    return true;
}

sb_status sb_table_find(const struct sb_probe *p, enum sb_split split,
                        char out[SB_PATH_BYTES])
{
    if (p->directory)
        return find_file(p->path, split, out)
                   ? SB_OK
                   : sb_fail(SB_EIO, "there is no %s.csv (nor .tsv or .txt) in %s",
                             sb_split_name(split), p->path);
    int n = snprintf(out, SB_PATH_BYTES, "%s", p->path);
    if (n < 0 || n >= SB_PATH_BYTES)
        return sb_fail(SB_EARG, "a path of %zu bytes is too long", strlen(p->path));
    return SB_OK;
}

/* What a compressed file may unpack to. Deflate can make a thousand bytes of one; a table that
 * is worth reading is not the same over and over. */
static size_t most_text(const char *path)
{
    enum { ALWAYS = 1 << 26, A_BYTE = 64 };
    struct sb_stamp s = {0};
    (void)sb_stamp_of(path, &s);
    return s.size < (SIZE_MAX - ALWAYS) / A_BYTE ? ALWAYS + A_BYTE * (size_t)s.size
                                                 : SIZE_MAX;
}

/* What the values of a table may take: any small amount, and beyond it so much a byte of its
 * text. Of a compressed file text counts as far as it is not the same over and over. A few
 * bytes that become many rows of a thousand categories cannot claim all the memory. */
static size_t most_bytes(const char *path, size_t text)
{
    enum { ALWAYS = 1 << 28, A_BYTE = 64, PACKED = 32 };
    struct sb_stamp s = {.size = text};
    (void)sb_stamp_of(path, &s);
    size_t counts = s.size < text / PACKED ? (size_t)s.size * PACKED : text;
    return counts < SIZE_MAX / A_BYTE - ALWAYS ? ALWAYS + A_BYTE * counts : SIZE_MAX;
}

static sb_status open_text(struct sb_dataset *d, const struct sb_probe *p,
                           const struct sb_open_options *o)
{
    char path[SB_PATH_BYTES];
    struct sb_bytes b;
    struct sb_open_options bounded = *o;
    sb_status st = sb_table_find(p, o->split, path);
    if (st == SB_OK)
        st = sb_bytes_open(&b, path, most_text(path));
    if (st != SB_OK)
        return st;
    bounded.most_bytes = most_bytes(path, b.size);
    d->format = "csv";
    d->whole = !p->directory;
    st = sb_table_read(d, path, (const char *)b.data, b.size, &bounded);
    sb_bytes_close(&b);
    return st;
}

const struct sb_reader sb_reader_csv = {
    .name = "csv",
    .wanted = "a text table, or train.csv and test.csv",
    .lines = true,
    .probe = probe,
    .open = open_text,
};
