/* tar - see tar.h. The header's fields, by offset:
 *
 *     0 name[100]  124 size[12]  148 checksum[8]  156 type  257 "ustar"  345 prefix[155]
 *
 * Numbers are octal text. pax's records, "<length> <key>=<value>\n", stand in an entry of
 * their own (type x) before the one they are about; so does GNU's long name (type L).
 */
#include "files/tar.h"

#include <stdio.h>
#include <string.h>

enum {
    BLOCK = 512,
    NAME = 0,
    NAME_BYTES = 100,
    SIZE = 124,
    SIZE_BYTES = 12,
    SUM = 148,
    SUM_BYTES = 8,
    TYPE = 156,
    MAGIC = 257,
    PREFIX = 345,
    PREFIX_BYTES = 155,
    EXTRA_MOST = 1 << 16, /* bytes of an entry that describes the next one */
    PIECE = 1 << 14,
};

struct reader {
    const char *name;
    const struct sb_tar_source *source;
    const struct sb_tar_sink *sink;
    uint64_t left;    /* of the limit */
    uint32_t entries; /* so far */

    char path[SB_TAR_PATH]; /* of the next entry, by an extra one; "": by its header */
    bool has_size;          /* likewise */
    uint64_t size;
};

static sb_status truncated(const struct reader *r)
{
    return sb_fail(SB_EFORMAT, "%s: the archive stops short; fetch it again", r->name);
}

static sb_status read_block(const struct reader *r, unsigned char *to, size_t size)
{
    size_t got;
    sb_status st = r->source->read(r->source->context, to, size, &got);
    return st == SB_OK && got < size ? truncated(r) : st;
}

/* ---- fields ---- */

/* Octal digits, blanks before, a blank or NUL or the field's end behind. */
static bool parse_octal(const unsigned char *field, size_t size, uint64_t *out)
{
    size_t i = 0;
    *out = 0;
    while (i < size && field[i] == ' ')
        i++;
    size_t first = i;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
        *out = *out << 3 | (uint64_t)(field[i] - '0'); /* 12 digits are 36 bits */
    return i > first && (i == size || field[i] == ' ' || field[i] == '\0');
}

static bool sum_is_right(const unsigned char *h)
{
    uint64_t want, sum = 0;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= SUM && i < SUM + SUM_BYTES ? ' ' : h[i];
    return parse_octal(h + SUM, SUM_BYTES, &want) && want == sum;
}

static bool is_zero(const unsigned char *h)
{
    for (size_t i = 0; i < BLOCK; i++)
        if (h[i] != 0)
            return false;
    return true;
}

/* ---- paths ---- */

static bool is_plain(const char *part, size_t n)
{
    if (n == 2 && part[0] == '.' && part[1] == '.')
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)part[i] < 0x20 || part[i] == 0x7f)
            return false;
    return true;
}

/* out = from without "." and doubled slashes; "" for the archive's own top. False if it
 * leads out of where it is unpacked. */
static bool clean_path(const char *from, char out[SB_TAR_PATH])
{
    size_t used = 0;
    if (from[0] == '/')
        return false;
    while (*from) {
        size_t n = strcspn(from, "/");
        if (!is_plain(from, n) || used + n + 2 > SB_TAR_PATH)
            return false;
        if (n > 0 && !(n == 1 && from[0] == '.')) {
            if (used > 0)
                out[used++] = '/';
            memcpy(out + used, from, n);
            used += n;
        }
        from += n + (from[n] == '/');
    }
    out[used] = '\0';
    return true;
}

/* The path of the entry as the archive says it. */
static void raw_path(const struct reader *r, const unsigned char *h,
                     char out[SB_TAR_PATH])
{
    const char *prefix = (const char *)h + PREFIX, *name = (const char *)h + NAME;
    /* GNU's old format has other things where ustar has the prefix. */
    bool ustar = memcmp(h + MAGIC, "ustar\0", 6) == 0;
    if (r->path[0])
        memcpy(out, r->path, SB_TAR_PATH);
    else if (ustar && prefix[0])
        snprintf(out, SB_TAR_PATH, "%.*s/%.*s", PREFIX_BYTES, prefix, NAME_BYTES, name);
    else
        snprintf(out, SB_TAR_PATH, "%.*s", NAME_BYTES, name);
}

/* ---- entries that describe the next one ---- */

static bool set_path(struct reader *r, const char *value, size_t n)
{
    if (n == 0 || n >= SB_TAR_PATH || memchr(value, '\0', n))
        return false;
    memcpy(r->path, value, n);
    r->path[n] = '\0';
    return true;
}

static bool set_size(struct reader *r, const char *value, size_t n)
{
    r->size = 0;
    r->has_size = true;
    for (size_t i = 0; i < n; i++) {
        if (value[i] < '0' || value[i] > '9' || i >= 18)
            return false;
        r->size = r->size * 10 + (uint64_t)(value[i] - '0');
    }
    return n > 0;
}

static bool read_record(struct reader *r, const char *key, const char *end)
{
    const char *value = memchr(key, '=', (size_t)(end - key));
    if (!value)
        return false;
    size_t k = (size_t)(value - key), n = (size_t)(end - ++value);
    if (k == 4 && memcmp(key, "path", k) == 0)
        return set_path(r, value, n);
    if (k == 4 && memcmp(key, "size", k) == 0)
        return set_size(r, value, n);
    return true;
}

/* Every record of text[size]. */
static bool read_pax(struct reader *r, const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        size_t length = 0, i = at;
        for (; i < size && text[i] >= '0' && text[i] <= '9' && length < EXTRA_MOST; i++)
            length = length * 10 + (size_t)(text[i] - '0');
        if (i >= size || text[i] != ' ' || length > size - at || at + length < i + 2 ||
            text[at + length - 1] != '\n')
            return false;
        if (!read_record(r, text + i + 1, text + at + length - 1))
            return false;
        at += length;
    }
    return true;
}

static sb_status read_extra(struct reader *r, char type, uint64_t size)
{
    char text[EXTRA_MOST];
    if (size > EXTRA_MOST - BLOCK)
        return sb_fail(SB_EFORMAT,
                       "%s: %llu bytes describe one file; the archive is damaged",
                       r->name, (unsigned long long)size);
    size_t padded = (size_t)(size + BLOCK - 1) / BLOCK * BLOCK;
    sb_status st = read_block(r, (unsigned char *)text, padded);
    if (st != SB_OK || type == 'g') /* what holds for all files does not matter to us */
        return st;
    bool good = type == 'x' ? read_pax(r, text, (size_t)size)
                            : set_path(r, text, strnlen(text, (size_t)size));
    return good ? SB_OK
                : sb_fail(SB_EFORMAT,
                          "%s: an extended header cannot be read; the archive is damaged",
                          r->name);
}

/* ---- files ---- */

static sb_status copy_bytes(struct reader *r, uint64_t size)
{
    unsigned char piece[PIECE];
    uint64_t padding = (BLOCK - size % BLOCK) % BLOCK;
    sb_status st = SB_OK;
    while (size > 0 && st == SB_OK) {
        size_t n = size < PIECE ? (size_t)size : PIECE;
        st = read_block(r, piece, n);
        if (st == SB_OK)
            st = r->sink->write(r->sink->context, piece, n);
        size -= n;
    }
    return st == SB_OK ? read_block(r, piece, (size_t)padding) : st;
}

static sb_status read_file(struct reader *r, const char *path, uint64_t size)
{
    if (size > r->left)
        return sb_fail(SB_EFORMAT,
                       "%s: %s has %llu bytes, which is more than all of the archive may "
                       "have; it is not what it should be",
                       r->name, path, (unsigned long long)size);
    r->left -= size;
    sb_status st = r->sink->begin(r->sink->context, path, size);
    if (st == SB_OK)
        st = copy_bytes(r, size);
    return st == SB_OK ? r->sink->end(r->sink->context) : st;
}

static sb_status read_entry(struct reader *r, const unsigned char *h, uint64_t size)
{
    char said[SB_TAR_PATH], path[SB_TAR_PATH];
    char type = (char)h[TYPE];
    raw_path(r, h, said);
    size_t n = strlen(said);
    bool directory = type == '5' || (n > 0 && said[n - 1] == '/');
    if (!clean_path(said, path) || (!directory && path[0] == '\0'))
        return sb_fail(
            SB_EFORMAT,
            "%s: the archive has a file \"%.200s\", which would not stay in its "
            "directory; nothing of it is used",
            r->name, said);
    if (type != '0' && type != '\0' && type != '5')
        return sb_fail(SB_EFORMAT,
                       "%s: %s is neither a file nor a directory (type %d); nothing of "
                       "the archive is used",
                       r->name, path, type);
    r->path[0] = '\0';
    r->has_size = false;
    if (!directory)
        return read_file(r, path, size);
    return path[0] ? r->sink->directory(r->sink->context, path) : SB_OK;
}

static sb_status read_one(struct reader *r, const unsigned char *h)
{
    uint64_t size;
    if (!sum_is_right(h) || !parse_octal(h + SIZE, SIZE_BYTES, &size))
        return sb_fail(SB_EFORMAT,
                       "%s: not a tar archive, or damaged: header %u cannot be read",
                       r->name, r->entries + 1);
    if (++r->entries > SB_TAR_ENTRIES)
        return sb_fail(SB_EFORMAT, "%s: the archive has more than %d files", r->name,
                       SB_TAR_ENTRIES);
    char type = (char)h[TYPE];
    if (type == 'x' || type == 'g' || type == 'L')
        return read_extra(r, type, size);
    return read_entry(r, h, r->has_size ? r->size : size);
}

sb_status sb_tar_read(const char *name, const struct sb_tar_source *source,
                      const struct sb_tar_sink *sink, uint64_t limit)
{
    struct reader r = {.name = name, .source = source, .sink = sink, .left = limit};
    unsigned char header[BLOCK];
    for (;;) {
        sb_status st = read_block(&r, header, BLOCK);
        if (st != SB_OK || is_zero(header))
            return st;
        st = read_one(&r, header);
        if (st != SB_OK)
            return st;
    }
}
