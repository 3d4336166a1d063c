/* zip_write - see zip_write.h. */
#include "files/zip_write.h"

#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

#include "base/mem.h"

enum {
    LOCAL_BYTES = 30,
    ENTRY_BYTES = 46,
    END_BYTES = 22,
    NAME_MOST = 256,
    FIRST_CAPACITY = 4096,
    VERSION = 20,       /* of the format that a reader must know */
    NO_DATE = 0x21,     /* the first of January 1980, the earliest there is */
    LOCAL = 0x04034b50, /* "PK", 3, 4, and so on */
    ENTRY = 0x02014b50,
    END = 0x06054b50
};

sb_status sb_zip_create(struct sb_zip_writer *w, const char *path)
{
    *w = (struct sb_zip_writer){0};
    w->directory = sb_malloc(FIRST_CAPACITY, 1);
    if (!w->directory)
        return sb_fail(SB_ENOMEM, "no memory to write %s", path);
    w->capacity = FIRST_CAPACITY;
    sb_status st = sb_file_create(&w->file, path);
    if (st != SB_OK)
        sb_zip_abort(w);
    return st;
}

/* Writes x as so many bytes, lowest first; returns what is behind them. */
static unsigned char *put(unsigned char *to, int bytes, uint64_t x)
{
    for (int i = 0; i < bytes; i++, x >>= 8)
        *to++ = (unsigned char)(x & 0xff);
    return to;
}

static void put_name(unsigned char *to, const char *name)
{
    while (*name)
        *to++ = (unsigned char)*name++;
}

/* What a member's local header and its entry in the directory have in common, up to the
 * length of its name. */
static unsigned char *put_common(unsigned char *to, const char *name, uint32_t checksum,
                                 uint64_t size)
{
    to = put(to, 2, VERSION);
    to = put(to, 4, 0); /* no flags; stored */
    to = put(to, 2, 0); /* no time */
    to = put(to, 2, NO_DATE);
    to = put(to, 4, checksum);
    to = put(to, 4, size); /* as it is stored, ... */
    to = put(to, 4, size); /* ... and unpacked */
    return put(to, 2, strlen(name));
}

static sb_status check(const struct sb_zip_writer *w, const char *name, size_t head_bytes,
                       size_t bytes)
{
    size_t n = strlen(name);
    if (n > NAME_MOST)
        return sb_fail(SB_EARG, "%s: a member's name of %zu bytes; at most %d work",
                       w->file.path, n, NAME_MOST);
    if (w->members == SB_ZIP_MEMBERS)
        return sb_fail(SB_EARG, "%s: more than %d members", w->file.path, SB_ZIP_MEMBERS);
    const uint64_t own = LOCAL_BYTES + ENTRY_BYTES + NAME_MOST + NAME_MOST;
    uint64_t left = UINT32_MAX - w->bytes - w->used - END_BYTES;
    if (left < own || head_bytes > left - own || bytes > left - own - head_bytes)
        return sb_fail(SB_EARG,
                       "%s: with %s it would be larger than 4 GB, which a ZIP "
                       "archive cannot be",
                       w->file.path, name);
    return SB_OK;
}

/* Room for one more entry. */
static sb_status reserve(struct sb_zip_writer *w)
{
    if (w->capacity - w->used >= ENTRY_BYTES + NAME_MOST)
        return SB_OK;
    unsigned char *more = sb_malloc(2 * w->capacity, 1);
    if (!more)
        return sb_fail(SB_ENOMEM, "no memory for the directory of %s", w->file.path);
    memcpy(more, w->directory, w->used);
    sb_free(w->directory);
    w->directory = more;
    w->capacity *= 2;
    return SB_OK;
}

static void add_entry(struct sb_zip_writer *w, const char *name, uint32_t checksum,
                      uint64_t size)
{
    size_t n = strlen(name);
    unsigned char *to = w->directory + w->used;
    to = put(to, 4, ENTRY);
    to = put(to, 2, VERSION); /* of the format that was written */
    to = put_common(to, name, checksum, size);
    to = put(to, 8, 0); /* no extra field, no comment, one disk, no kind */
    to = put(to, 4, 0); /* no permissions */
    to = put(to, 4, w->bytes);
    put_name(to, name);
    w->used += ENTRY_BYTES + n;
    w->members++;
}

sb_status sb_zip_add(struct sb_zip_writer *w, const char *name, const void *head,
                     size_t head_bytes, const void *data, size_t bytes)
{
    unsigned char local[LOCAL_BYTES + NAME_MOST];
    size_t n = strlen(name);
    sb_status st = check(w, name, head_bytes, bytes);
    if (st == SB_OK)
        st = reserve(w);
    if (st != SB_OK)
        return st;
    uint32_t checksum = (uint32_t)crc32_z(crc32_z(0, NULL, 0), head, head_bytes);
    checksum = (uint32_t)crc32_z(checksum, data, bytes);
    unsigned char *to =
        put_common(put(local, 4, LOCAL), name, checksum, head_bytes + bytes);
    put_name(put(to, 2, 0), name); /* no extra field */
    add_entry(w, name, checksum, head_bytes + bytes);
    w->bytes += LOCAL_BYTES + n + head_bytes + bytes;
    st = sb_file_write(&w->file, local, LOCAL_BYTES + n);
    if (st == SB_OK)
        st = sb_file_write(&w->file, head, head_bytes);
    return st == SB_OK ? sb_file_write(&w->file, data, bytes) : st;
}

sb_status sb_zip_finish(struct sb_zip_writer *w)
{
    unsigned char end[END_BYTES], *to = put(end, 4, END);
    to = put(to, 4, 0); /* one disk */
    to = put(to, 2, w->members);
    to = put(to, 2, w->members);
    to = put(to, 4, w->used);
    to = put(to, 4, w->bytes);
    put(to, 2, 0); /* no comment */
    sb_status st = sb_file_write(&w->file, w->directory, w->used);
    if (st == SB_OK)
        st = sb_file_write(&w->file, end, sizeof end);
    if (st == SB_OK)
        st = sb_file_commit(&w->file);
    sb_zip_abort(w);
    return st;
}

void sb_zip_abort(struct sb_zip_writer *w)
{
    if (!w)
        return;
    sb_file_abort(&w->file);
    sb_free(w->directory);
    *w = (struct sb_zip_writer){0};
}
