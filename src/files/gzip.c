/* gzip - see gzip.h. zlib's own memory comes through our door too. */
#include "files/gzip.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "files/zstream.h"

enum {
    HEADER_AND_TRAILER = 18, /* the smallest member has these bytes and two more */
    FEED_BYTES = 1 << 30,    /* zlib counts in unsigned int */
    RATIO_MOST = 1032,       /* deflate's best: 258 bytes for two bits */
    FIRST_BYTES = 1 << 16,
    WINDOW_GZIP = 15 + 16 /* zlib: the largest window, and only gzip's wrapping */
};

struct unpacker {
    const char *path;
    size_t file_size;
    const unsigned char *end; /* of the file; z.next_in .. end is unread */
    bool ended;               /* after the last member */
    z_stream z;
};

static bool is_gzip(const unsigned char *data, size_t size)
{
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

static sb_status no_memory(const char *path)
{
    return sb_fail(SB_ENOMEM, "no memory to unpack %s", path);
}

static sb_status unpack_begin(struct unpacker *u, const char *path,
                              const unsigned char *data, size_t size)
{
    *u = (struct unpacker){
        .path = path, .file_size = size, .end = data + size, .ended = false};
    u->z = sb_zstream();
    u->z.next_in = data;
    return inflateInit2(&u->z, WINDOW_GZIP) == Z_OK ? SB_OK : no_memory(path);
}

/* After a member: another one, padding, the end of the file, or something strange. */
static sb_status next_member(struct unpacker *u)
{
    const unsigned char *next = u->z.next_in;
    size_t left = (size_t)(u->end - next), zeros = 0;
    if (left >= 2 && next[0] == 0x1f && next[1] == 0x8b) {
        (void)inflateReset(&u->z); /* fails only for a broken z_stream */
        return SB_OK;
    }
    while (zeros < left && next[zeros] == 0)
        zeros++;
    if (zeros < left)
        return sb_fail(SB_EFORMAT,
                       "%s: %zu bytes follow the end of its gzip data; fetch it again",
                       u->path, left);
    u->ended = true;
    return SB_OK;
}

static sb_status unpack_failed(const struct unpacker *u, int code)
{
    if (code == Z_MEM_ERROR)
        return no_memory(u->path);
    if (code == Z_BUF_ERROR)
        return sb_fail(SB_EFORMAT,
                       "%s: its gzip data stops short after %zu bytes; the file is "
                       "truncated, fetch it again",
                       u->path, u->file_size);
    return sb_fail(SB_EFORMAT, "%s: its gzip data is damaged; fetch it again", u->path);
}

/* Up to size more bytes; fewer only at the end. */
static sb_status unpack(struct unpacker *u, unsigned char *to, size_t size, size_t *got)
{
    *got = 0;
    while (*got < size && !u->ended) {
        size_t left = (size_t)(u->end - u->z.next_in), capacity = size - *got;
        uInt feed = (uInt)(left < FEED_BYTES ? left : FEED_BYTES);
        uInt space = (uInt)(capacity < FEED_BYTES ? capacity : FEED_BYTES);
        u->z.avail_in = feed;
        u->z.next_out = to + *got;
        u->z.avail_out = space;
        int code = inflate(&u->z, Z_NO_FLUSH);
        *got += space - u->z.avail_out;
        if (code != Z_OK && code != Z_STREAM_END)
            return unpack_failed(u, code);
        sb_status st = code == Z_STREAM_END ? next_member(u) : SB_OK;
        if (st != SB_OK)
            return st;
    }
    return SB_OK;
}

/* The size to begin with: what the trailer says, if that can be true at all. */
static size_t first_size(const unsigned char *data, size_t packed, size_t limit)
{
    size_t size = FIRST_BYTES;
    if (packed >= HEADER_AND_TRAILER) {
        const unsigned char *t = data + packed - 4;
        size_t said =
            (size_t)t[0] | (size_t)t[1] << 8 | (size_t)t[2] << 16 | (size_t)t[3] << 24;
        if (said > size && said / RATIO_MOST <= packed)
            size = said;
    }
    return size < limit ? size : limit;
}

/* Replaces b's buffer by a larger one. */
static sb_status grow(struct sb_bytes *b, const char *path, size_t *capacity,
                      size_t limit)
{
    size_t larger = *capacity < limit / 2 ? *capacity * 2 : limit;
    unsigned char *to = sb_malloc(larger, 1);
    if (!to)
        return no_memory(path);
    memcpy(to, b->copy, b->size);
    sb_free(b->copy);
    b->copy = to;
    *capacity = larger;
    return SB_OK;
}

/* Whenever the buffer is full, one byte is tried elsewhere: usually that is the end. */
static sb_status unpack_all(struct unpacker *u, struct sb_bytes *b, size_t capacity,
                            size_t limit)
{
    sb_status st = SB_OK;
    while (st == SB_OK) {
        size_t got;
        unsigned char extra;
        st = unpack(u, b->copy + b->size, capacity - b->size, &got);
        b->size += got;
        if (st == SB_OK)
            st = unpack(u, &extra, 1, &got);
        if (st != SB_OK || got == 0)
            break;
        if (capacity == limit)
            return sb_fail(SB_EFORMAT,
                           "%s: it unpacks to more than the %zu bytes expected; is it "
                           "the right file? If it is, unpack it first (gunzip)",
                           u->path, limit);
        st = grow(b, u->path, &capacity, limit);
        if (st == SB_OK)
            b->copy[b->size++] = extra;
    }
    return st;
}

/* b's bytes unpacked, which replace them. */
static sb_status open_gzip(struct sb_bytes *b, const char *path, size_t limit)
{
    struct unpacker u;
    struct sb_bytes out = {0};
    sb_status st = unpack_begin(&u, path, b->data, b->size);
    if (st != SB_OK)
        return st;
    size_t capacity = first_size(b->data, b->size, limit);
    out.copy = sb_malloc(capacity, 1);
    st = out.copy ? unpack_all(&u, &out, capacity, limit) : no_memory(path);
    (void)inflateEnd(&u.z);
    out.data = out.copy;
    sb_bytes_close(b);
    *b = out;
    return st;
}

sb_status sb_bytes_map(struct sb_bytes *b, const char *path)
{
    *b = (struct sb_bytes){0};
    size_t size = strlen(path) + 1;
    (void)sb_stamp_of(path, &b->stamped); /* before: a change after it is noticed */
    sb_status st = sb_map_open(&b->map, path);
    b->path = sb_malloc(size, 1);
    if (st == SB_OK && !b->path)
        st = sb_fail(SB_ENOMEM, "no memory for the name of %s", path);
    if (b->path)
        memcpy(b->path, path, size);
    b->data = b->map.data;
    b->size = b->map.size;
    return st;
}

void sb_bytes_unmap(struct sb_bytes *b)
{
    sb_map_close(&b->map);
    sb_free(b->path);
    b->path = NULL;
}

/* As it is on the disk. */
static sb_status open_plain(struct sb_bytes *b, const char *path)
{
    struct sb_stamp s = {0};
    if (!sb_stamp_of(path, &s) || s.size > SB_BYTES_COPIED)
        return sb_bytes_map(b, path);
    sb_status st = sb_file_read(path, SIZE_MAX, &b->copy, &b->size);
    b->data = b->copy;
    return st;
}

sb_status sb_bytes_open(struct sb_bytes *b, const char *path, size_t limit)
{
    *b = (struct sb_bytes){0};
    sb_status st = open_plain(b, path);
    if (st == SB_OK && is_gzip(b->data, b->size))
        st = open_gzip(b, path, limit);
    if (st != SB_OK)
        sb_bytes_close(b);
    return st;
}

sb_status sb_bytes_check(const struct sb_bytes *b)
{
    struct sb_stamp now;
    const struct sb_stamp *then = &b->stamped;
    if (!b->path || !sb_stamp_of(b->path, &now) || now.number != then->number ||
        now.device != then->device)
        return SB_OK;
    if (now.size != then->size)
        return sb_fail(SB_EIO,
                       "%s was changed while it was in use: it had %llu bytes and has "
                       "%llu now; write a new file and rename it over the old one",
                       b->path, (unsigned long long)then->size,
                       (unsigned long long)now.size);
    if (now.seconds != then->seconds || now.nanoseconds != then->nanoseconds)
        return sb_fail(SB_EIO,
                       "%s was written while it was in use; write a new file and rename "
                       "it over the old one",
                       b->path);
    return SB_OK;
}

void sb_bytes_close(struct sb_bytes *b)
{
    if (!b)
        return;
    sb_bytes_unmap(b);
    sb_free(b->copy);
    *b = (struct sb_bytes){0};
}

/* ---- a piece at a time ---- */

struct sb_unpack {
    struct sb_map map;
    bool packed;
    size_t at;         /* of a plain file */
    struct unpacker u; /* of a packed one */
};

static void stream_end(struct sb_unpack *u)
{
    if (u->packed)
        (void)inflateEnd(&u->u.z);
    sb_map_close(&u->map);
}

static sb_status stream_begin(struct sb_unpack *u, const char *path)
{
    *u = (struct sb_unpack){0};
    sb_status st = sb_map_open(&u->map, path);
    if (st == SB_OK && is_gzip(u->map.data, u->map.size)) {
        st = unpack_begin(&u->u, path, u->map.data, u->map.size);
        u->packed = st == SB_OK;
    }
    if (st != SB_OK)
        stream_end(u);
    return st;
}

sb_status sb_unpack_new(struct sb_unpack **out, const char *path)
{
    *out = NULL;
    struct sb_unpack *u = sb_malloc(1, sizeof *u);
    if (!u)
        return no_memory(path);
    sb_status st = stream_begin(u, path);
    if (st == SB_OK)
        *out = u;
    else
        sb_free(u);
    return st;
}

sb_status sb_unpack_read(struct sb_unpack *u, void *to, size_t size, size_t *got)
{
    if (u->packed)
        return unpack(&u->u, to, size, got);
    size_t left = u->map.size - u->at;
    *got = size < left ? size : left;
    memcpy(to, u->map.data + u->at, *got);
    u->at += *got;
    return SB_OK;
}

size_t sb_unpack_position(const struct sb_unpack *u)
{
    return u->packed ? (size_t)(u->u.z.next_in - u->map.data) : u->at;
}

size_t sb_unpack_size(const struct sb_unpack *u)
{
    return u->map.size;
}

void sb_unpack_free(struct sb_unpack *u)
{
    if (!u)
        return;
    stream_end(u);
    sb_free(u);
}

sb_status sb_bytes_head(const char *path, unsigned char *head, size_t want, size_t *have)
{
    struct sb_unpack u;
    *have = 0;
    sb_status st = stream_begin(&u, path);
    if (st != SB_OK)
        return st;
    st = sb_unpack_read(&u, head, want, have);
    stream_end(&u);
    return st;
}
