/* zip - see zip.h. */
#include "files/zip.h"

#include <string.h>

#include "base/mem.h"
#include "files/zstream.h"

enum {
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    ENTRY_BYTES = 46,
    LOCAL_BYTES = 30,
    COMMENT_MOST = 65535,
    RATIO_MOST = 1032, /* deflate's best: 258 bytes for two bits */
    FEED_BYTES = 1 << 30,
    RAW_WINDOW = -15, /* zlib: no wrapping */
    STORED = 0,
    DEFLATED = 8,
    EXTRA_ZIP64 = 1
};

/* One entry of the central directory. */
struct entry {
    uint32_t flags, method, checksum;
    uint64_t packed, size, local;
    const unsigned char *name; /* [name_bytes] */
    uint32_t name_bytes;
};

static uint64_t little(const unsigned char *b, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes - 1; i >= 0; i--)
        x = x << 8 | b[i];
    return x;
}

static bool is_record(const unsigned char *b, unsigned third, unsigned fourth)
{
    return b[0] == 'P' && b[1] == 'K' && b[2] == third && b[3] == fourth;
}

static sb_status damaged(const struct sb_zip *z, const char *what)
{
    return sb_fail(SB_EFORMAT, "%s: %s; the archive is truncated or damaged", z->path,
                   what);
}

/* ---- the directory ---- */

/* From the end: a comment may follow the record. z->size: there is none. */
static size_t find_end(const struct sb_zip *z)
{
    if (z->size < END_BYTES)
        return z->size;
    size_t last = z->size - END_BYTES;
    size_t first = last > COMMENT_MOST ? last - COMMENT_MOST : 0;
    for (size_t at = last + 1; at-- > first;)
        if (is_record(z->data + at, 5, 6))
            return at;
    return z->size;
}

/* The larger record, if a locator before the end record points to one. */
static sb_status read_end64(struct sb_zip *z, size_t end)
{
    if (end < LOCATOR_BYTES || !is_record(z->data + end - LOCATOR_BYTES, 6, 7))
        return damaged(z, "its zip64 record is missing");
    uint64_t at = little(z->data + end - LOCATOR_BYTES + 8, 8);
    if (at > end - LOCATOR_BYTES || end - LOCATOR_BYTES - at < END64_BYTES ||
        !is_record(z->data + at, 6, 6))
        return damaged(z, "its zip64 record is not where it should be");
    z->entries = little(z->data + at + 32, 8);
    z->bytes = (size_t)little(z->data + at + 40, 8);
    z->start = (size_t)little(z->data + at + 48, 8);
    return SB_OK;
}

sb_status sb_zip_init(struct sb_zip *z, const char *path, const unsigned char *data,
                      size_t size)
{
    *z = (struct sb_zip){.path = path, .data = data, .size = size};
    size_t end = find_end(z);
    if (end == size)
        return damaged(z, "there is no end of a ZIP archive");
    const unsigned char *b = data + end;
    z->entries = little(b + 10, 2);
    z->bytes = (size_t)little(b + 12, 4);
    z->start = (size_t)little(b + 16, 4);
    if (z->entries == 0xffff || z->bytes == 0xffffffff || z->start == 0xffffffff) {
        sb_status st = read_end64(z, end);
        if (st != SB_OK)
            return st;
    }
    if (z->start > end || z->bytes > end - z->start)
        return damaged(z, "its directory reaches beyond its end");
    return SB_OK;
}

/* ---- an entry ---- */

/* Sizes that did not fit 32 bits are in an extra field, in this order. */
static bool read_zip64(struct entry *e, const unsigned char *extra, size_t bytes)
{
    uint64_t *field[] = {&e->size, &e->packed, &e->local};
    while (bytes >= 4) {
        size_t id = (size_t)little(extra, 2), n = (size_t)little(extra + 2, 2);
        if (n > bytes - 4)
            return false;
        const unsigned char *at = extra + 4;
        for (size_t i = 0; id == EXTRA_ZIP64 && i < 3; i++) {
            if (*field[i] != 0xffffffff)
                continue;
            if ((size_t)(extra + 4 + n - at) < 8)
                return false;
            *field[i] = little(at, 8);
            at += 8;
        }
        if (id == EXTRA_ZIP64)
            return true;
        extra += 4 + n;
        bytes -= 4 + n;
    }
    return e->size != 0xffffffff && e->packed != 0xffffffff && e->local != 0xffffffff;
}

/* The entry at *at within the directory, which moves past it. */
static sb_status read_entry(const struct sb_zip *z, size_t *at, struct entry *e)
{
    size_t left = z->bytes - *at;
    const unsigned char *b = z->data + z->start + *at;
    if (left < ENTRY_BYTES || !is_record(b, 1, 2))
        return damaged(z, "its directory has a wrong entry");
    size_t name = (size_t)little(b + 28, 2), extra = (size_t)little(b + 30, 2);
    size_t comment = (size_t)little(b + 32, 2);
    if (name + extra + comment > left - ENTRY_BYTES)
        return damaged(z, "its directory has a wrong entry");
    *e = (struct entry){.flags = (uint32_t)little(b + 8, 2),
                        .method = (uint32_t)little(b + 10, 2),
                        .checksum = (uint32_t)little(b + 16, 4),
                        .packed = little(b + 20, 4),
                        .size = little(b + 24, 4),
                        .local = little(b + 42, 4),
                        .name = b + ENTRY_BYTES,
                        .name_bytes = (uint32_t)name};
    if (!read_zip64(e, b + ENTRY_BYTES + name, extra))
        return damaged(z, "its directory has a wrong zip64 entry");
    *at += ENTRY_BYTES + name + extra + comment;
    return SB_OK;
}

static sb_status locate(const struct sb_zip *z, const char *name, const struct entry *e,
                        struct sb_zip_member *m)
{
    if (e->flags & 1)
        return sb_fail(SB_EFORMAT, "%s: its %s is encrypted", z->path, name);
    if (e->method != STORED && e->method != DEFLATED)
        return sb_fail(SB_EFORMAT,
                       "%s: its %s is packed by method %u; stored and deflated ones can "
                       "be read",
                       z->path, name, e->method);
    if (e->local > z->size || z->size - e->local < LOCAL_BYTES ||
        !is_record(z->data + e->local, 3, 4))
        return damaged(z, "a member is not where its directory says");
    const unsigned char *b = z->data + e->local;
    size_t head = LOCAL_BYTES + (size_t)little(b + 26, 2) + (size_t)little(b + 28, 2);
    size_t left = z->size - (size_t)e->local;
    if (head > left || e->packed > left - head)
        return damaged(z, "a member reaches beyond its end");
    bool deflated = e->method == DEFLATED;
    if (deflated ? e->size / RATIO_MOST > e->packed : e->size != e->packed)
        return sb_fail(SB_EFORMAT, "%s: its %s cannot be %llu bytes unpacked from %llu",
                       z->path, name, (unsigned long long)e->size,
                       (unsigned long long)e->packed);
    *m = (struct sb_zip_member){.data = b + head,
                                .packed = (size_t)e->packed,
                                .size = (size_t)e->size,
                                .checksum = e->checksum,
                                .deflated = deflated};
    return SB_OK;
}

sb_status sb_zip_find(const struct sb_zip *z, const char *name, struct sb_zip_member *m,
                      bool *found)
{
    size_t at = 0, length = strlen(name);
    *found = false;
    for (uint64_t i = 0; i < z->entries; i++) {
        struct entry e;
        sb_status st = read_entry(z, &at, &e);
        if (st != SB_OK)
            return st;
        if (e.name_bytes == length && memcmp(e.name, name, length) == 0) {
            *found = true;
            return locate(z, name, &e, m);
        }
    }
    return SB_OK;
}

/* ---- the bytes ---- */

/* Z_STREAM_END when exactly m->size bytes came out and the data ended there. */
static int inflate_all(z_stream *s, const struct sb_zip_member *m, unsigned char *out)
{
    size_t done = 0;
    int code = Z_OK;
    s->next_in = m->data;
    while (code == Z_OK) {
        size_t left = (size_t)(m->data + m->packed - s->next_in),
               capacity = m->size - done;
        uInt space = (uInt)(capacity < FEED_BYTES ? capacity : FEED_BYTES);
        s->avail_in = (uInt)(left < FEED_BYTES ? left : FEED_BYTES);
        s->next_out = out + done;
        s->avail_out = space;
        code = inflate(s, Z_NO_FLUSH);
        done += space - s->avail_out;
        if (code == Z_OK && s->avail_out == space && s->avail_in == 0)
            break; /* nothing moves any more */
    }
    return code == Z_STREAM_END && done < m->size ? Z_DATA_ERROR : code;
}

sb_status sb_zip_read(const struct sb_zip *z, const char *name,
                      const struct sb_zip_member *m, unsigned char *out)
{
    int code = Z_STREAM_END;
    if (m->deflated) {
        z_stream s = sb_zstream();
        code = inflateInit2(&s, RAW_WINDOW);
        if (code == Z_OK)
            code = inflate_all(&s, m, out);
        (void)inflateEnd(&s);
    }
    if (code == Z_MEM_ERROR)
        return sb_fail(SB_ENOMEM, "no memory to unpack %s", z->path);
    if (code != Z_STREAM_END ||
        crc32_z(0, m->deflated ? out : m->data, m->size) != m->checksum)
        return sb_fail(SB_EFORMAT, "%s: its %s is damaged; make or fetch it again",
                       z->path, name);
    return SB_OK;
}

static sb_status open_member(struct sb_bytes *b, const char *path, const char *name,
                             bool *found)
{
    struct sb_zip z;
    struct sb_zip_member m = {0};
    sb_status st = sb_zip_init(&z, path, b->map.data, b->map.size);
    if (st == SB_OK)
        st = sb_zip_find(&z, name, &m, found);
    if (st != SB_OK || !*found)
        return st;
    bool copied = m.deflated || m.size <= SB_BYTES_COPIED;
    if (copied) {
        b->copy = sb_malloc(m.size, 1);
        if (!b->copy)
            return sb_fail(SB_ENOMEM, "no memory to unpack %s", path);
    }
    if (copied && !m.deflated)
        memcpy(b->copy, m.data, m.size);
    b->data = copied ? b->copy : m.data;
    b->size = m.size;
    return sb_zip_read(&z, name, &m, b->copy);
}

sb_status sb_zip_open(struct sb_bytes *b, const char *path, const char *name, bool *found)
{
    *b = (struct sb_bytes){0};
    *found = false;
    sb_status st = sb_bytes_map(b, path);
    if (st == SB_OK)
        st = open_member(b, path, name, found);
    if (st != SB_OK || !*found)
        sb_bytes_close(b);
    else if (b->copy)
        sb_bytes_unmap(b);
    return st;
}
