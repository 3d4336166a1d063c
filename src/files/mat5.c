/* mat5 - see mat5.h. */
#include "files/mat5.h"

#include <assert.h>
#include <string.h>

enum {
    HEADER = 128,
    TAG = 8,
    DEFLATE_MOST = 1032, /* bytes that one byte can become */
    TYPE_INT8 = 1,
    TYPE_UINT8 = 2,
    TYPE_INT32 = 5,
    TYPE_UINT32 = 6,
    TYPE_SINGLE = 7,
    TYPE_DOUBLE = 9,
    TYPE_MATRIX = 14,
    TYPE_COMPRESSED = 15,
    CLASS_DOUBLE = 6, /* below are cells, characters, ...: dimensions and a name too */
    CLASS_UINT8 = 9,
    CLASS_UINT64 = 15,
    FLAG_COMPLEX = 0x800
};

struct tag {
    uint32_t type, bytes;
    bool small;            /* ... in one word with its data: */
    unsigned char data[4]; /* [bytes] */
};

/* ---- numbers in bytes ---- */

static uint64_t little(const unsigned char *b, size_t n)
{
    uint64_t x = 0;
    for (size_t i = 0; i < n; i++)
        x |= (uint64_t)b[i] << (8 * i);
    return x;
}

/* Bytes of a number, 0 if the type is none. */
static size_t size_of(uint32_t type)
{
    static const unsigned char sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
    return type < sizeof sizes ? sizes[type] : 0;
}

static bool is_signed(uint32_t type)
{
    return type == TYPE_INT8 || type == 3 || type == TYPE_INT32 || type == 12;
}

static double number(uint32_t type, size_t size, const unsigned char *b)
{
    uint64_t bits = little(b, size);
    if (type == TYPE_SINGLE) {
        uint32_t half = (uint32_t)bits;
        float f;
        memcpy(&f, &half, sizeof f);
        return (double)f;
    }
    if (type == TYPE_DOUBLE) {
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    if (is_signed(type) && size < 8 && bits >> (8 * size - 1))
        bits |= ~(uint64_t)0 << (8 * size);
    return is_signed(type) ? (double)(int64_t)bits : (double)bits;
}

/* ---- the stream ---- */

static sb_status damaged(const struct sb_mat_var *v, const char *what)
{
    return sb_fail(
        SB_EFORMAT, "%s: variable %u%s%s %s; the file is damaged, fetch or save it again",
        v->file->path, v->file->variables, *v->name ? ", " : "", v->name, what);
}

static sb_status unpack(struct sb_mat_var *v, unsigned char *out, size_t size)
{
    while (size > 0) {
        uInt piece = size < 1u << 30 ? (uInt)size : 1u << 30;
        v->z.next_out = out;
        v->z.avail_out = piece;
        int code = inflate(&v->z, Z_NO_FLUSH);
        size_t got = piece - v->z.avail_out;
        if (code == Z_MEM_ERROR)
            return sb_fail(SB_ENOMEM, "no memory to unpack %s", v->file->path);
        if ((code != Z_OK && code != Z_STREAM_END) || got == 0)
            return damaged(v, "cannot be unpacked");
        out += got;
        size -= got;
    }
    return SB_OK;
}

static sb_status read_bytes(struct sb_mat_var *v, void *out, size_t size)
{
    if (size > v->left)
        return damaged(v, "ends too early");
    v->left -= size;
    if (v->packed && !v->in_tag)
        return unpack(v, out, size);
    memcpy(out, v->next, size);
    v->next += size;
    return SB_OK;
}

static sb_status read_tag(struct sb_mat_var *v, struct tag *t)
{
    unsigned char b[TAG];
    *t = (struct tag){0};
    sb_status st = read_bytes(v, b, sizeof b);
    if (st != SB_OK)
        return st;
    t->type = (uint32_t)little(b, 4);
    t->bytes = (uint32_t)little(b + 4, 4);
    t->small = t->type >> 16 != 0;
    if (t->small) {
        t->bytes = t->type >> 16;
        t->type &= 0xffff;
        memcpy(t->data, b + 4, sizeof t->data);
        if (t->bytes > sizeof t->data)
            return damaged(v, "has a small element that is not small");
    }
    return SB_OK;
}

/* An element of `type` with at most `most` bytes, padding and all; *bytes of them count. */
static sb_status read_element(struct sb_mat_var *v, uint32_t type, void *out, size_t most,
                              size_t *bytes)
{
    struct tag t;
    unsigned char padding[TAG];
    sb_status st = read_tag(v, &t);
    if (st != SB_OK)
        return st;
    if (t.type != type || t.bytes > most)
        return damaged(v, "has an element of a strange type or size");
    *bytes = t.bytes;
    if (t.small) {
        memcpy(out, t.data, t.bytes);
        return SB_OK;
    }
    st = read_bytes(v, out, t.bytes);
    return st == SB_OK ? read_bytes(v, padding, (TAG - t.bytes % TAG) % TAG) : st;
}

/* ---- a variable ---- */

static sb_status read_dims(struct sb_mat_var *v)
{
    unsigned char b[4 * 32]; /* MATLAB itself has no more */
    size_t bytes;
    sb_status st = read_element(v, TYPE_INT32, b, sizeof b, &bytes);
    if (st != SB_OK)
        return st;
    if (bytes < 8 || bytes % 4 != 0)
        return damaged(v, "has strange dimensions");
    v->dims = (uint32_t)bytes / 4;
    v->count = 1;
    for (uint32_t i = 0; i < SB_MAT_DIMS; i++) {
        v->dim[i] = i < v->dims ? (uint32_t)little(b + 4 * (size_t)i, 4) : 1;
        if (v->dim[i] > INT32_MAX ||
            __builtin_mul_overflow(v->count, v->dim[i], &v->count))
            return damaged(v, "has strange dimensions");
    }
    return SB_OK;
}

static sb_status read_name(struct sb_mat_var *v)
{
    size_t bytes;
    char name[SB_MAT_NAME] = "";
    sb_status st = read_element(v, TYPE_INT8, name, sizeof name - 1, &bytes);
    if (st == SB_OK)
        for (size_t i = 0; i < bytes; i++)
            if (name[i] <= ' ' || name[i] > '~')
                return damaged(v, "has a strange name");
    memcpy(v->name, name, sizeof name);
    return st;
}

/* Where the numbers begin; v->type. */
static sb_status read_numbers(struct sb_mat_var *v, uint64_t packed_size)
{
    struct tag t;
    sb_status st = read_tag(v, &t);
    if (st != SB_OK)
        return st;
    v->type = t.type;
    if (size_of(t.type) == 0 || (v->bytes && t.type != TYPE_UINT8))
        return damaged(v, "has numbers of a strange type");
    if (t.bytes != v->count * size_of(t.type) || v->count > UINT32_MAX)
        return damaged(v, "has another number of numbers than its dimensions say");
    if (t.small) { /* read from the tag itself */
        memcpy(v->small, t.data, sizeof v->small);
        v->next = v->small;
        v->left = t.bytes;
        v->in_tag = true;
    } else if (t.bytes > v->left || (v->packed && t.bytes / DEFLATE_MOST > packed_size)) {
        return damaged(v, "has too few bytes for its dimensions");
    }
    return SB_OK;
}

static sb_status parse(struct sb_mat_var *v, uint64_t packed_size)
{
    unsigned char flags[TAG] = {0};
    size_t bytes;
    sb_status st = read_element(v, TYPE_UINT32, flags, sizeof flags, &bytes);
    if (st != SB_OK)
        return st;
    uint32_t kind = flags[0];
    bool real = !(little(flags, 4) & FLAG_COMPLEX);
    if (kind == 0 || kind > CLASS_UINT64)
        return SB_OK; /* functions, objects: theirs is another layout */
    st = read_dims(v);
    if (st == SB_OK)
        st = read_name(v);
    v->numeric = kind >= CLASS_DOUBLE && real && v->dims <= SB_MAT_DIMS;
    v->bytes = kind == CLASS_UINT8;
    return st == SB_OK && v->numeric ? read_numbers(v, packed_size) : st;
}

static sb_status begin_packed(struct sb_mat_var *v, const unsigned char *data,
                              uint32_t size)
{
    struct tag t;
    v->packed = true;
    v->z = sb_zstream();
    v->z.next_in = data;
    v->z.avail_in = size;
    if (inflateInit(&v->z) != Z_OK) {
        v->packed = false;
        return sb_fail(SB_ENOMEM, "no memory to unpack %s", v->file->path);
    }
    v->left = TAG;
    sb_status st = read_tag(v, &t);
    if (st == SB_OK && (t.type != TYPE_MATRIX || t.small))
        st = damaged(v, "is not an array");
    v->left = t.bytes;
    return st;
}

sb_status sb_mat_next(struct sb_mat *m, struct sb_mat_var *v, bool *end)
{
    *v = (struct sb_mat_var){.file = m};
    *end = m->at == m->size;
    if (*end)
        return SB_OK;
    m->variables++;
    if (m->size - m->at < TAG)
        return damaged(v, "ends too early");
    uint32_t type = (uint32_t)little(m->data + m->at, 4);
    uint32_t bytes = (uint32_t)little(m->data + m->at + 4, 4);
    m->at += TAG;
    if (bytes > m->size - m->at)
        return sb_fail(SB_EFORMAT,
                       "%s: variable %u should have %u bytes, but only %zu follow; the "
                       "file is truncated, fetch it again",
                       m->path, m->variables, bytes, m->size - m->at);
    v->next = m->data + m->at;
    v->left = bytes;
    m->at += bytes;
    sb_status st = SB_OK;
    if (type == TYPE_COMPRESSED)
        st = begin_packed(v, v->next, bytes);
    else if (type != TYPE_MATRIX)
        st = damaged(v, "is not an array");
    if (st == SB_OK)
        st = parse(v, bytes);
    if (st != SB_OK)
        sb_mat_close(v);
    return st;
}

void sb_mat_close(struct sb_mat_var *v)
{
    if (v->packed)
        (void)inflateEnd(&v->z);
    v->packed = false;
}

sb_status sb_mat_bytes(struct sb_mat_var *v, uint8_t *out, size_t n)
{
    return read_bytes(v, out, n);
}

sb_status sb_mat_doubles(struct sb_mat_var *v, double *out, size_t n)
{
    unsigned char raw[4096];
    size_t size = size_of(v->type);
    assert(v->numeric && size > 0);
    size_t most = sizeof raw / size;
    while (n > 0) {
        size_t piece = n < most ? n : most;
        sb_status st = read_bytes(v, raw, piece * size);
        if (st != SB_OK)
            return st;
        for (size_t i = 0; i < piece; i++)
            out[i] = number(v->type, size, raw + i * size);
        out += piece;
        n -= piece;
    }
    return SB_OK;
}

/* What is left is padding; then zlib compares its checksum. */
sb_status sb_mat_end(struct sb_mat_var *v)
{
    unsigned char rest[TAG];
    if (v->in_tag)
        return SB_OK;
    if (v->left >= TAG)
        return damaged(v, "has more bytes than its dimensions say");
    sb_status st = read_bytes(v, rest, (size_t)v->left);
    if (st != SB_OK || !v->packed)
        return st;
    v->z.next_out = rest;
    v->z.avail_out = 1;
    if (inflate(&v->z, Z_FINISH) != Z_STREAM_END || v->z.avail_out != 1)
        return damaged(v, "cannot be unpacked");
    return SB_OK;
}

/* ---- the header ---- */

sb_status sb_mat_open(struct sb_mat *m, const char *path, const unsigned char *data,
                      size_t size)
{
    *m = (struct sb_mat){.path = path, .data = data, .size = size, .at = HEADER};
    if (size < HEADER || memcmp(data, "MATLAB", 6) != 0)
        return sb_fail(SB_EFORMAT, "%s: it does not begin like a MATLAB 5 file", path);
    uint32_t version = (uint32_t)little(data + 124, 2);
    if (memcmp(data + 126, "MI", 2) == 0)
        return sb_fail(SB_EFORMAT,
                       "%s: its numbers are big-endian; load it and save it again on "
                       "this machine",
                       path);
    if (memcmp(data + 126, "IM", 2) == 0 && version == 0x200)
        return sb_fail(SB_EMISSING,
                       "%s is a MATLAB 7.3 file (HDF5), which sebays does not read; in "
                       "MATLAB, load it and save it again with the option -v7",
                       path);
    if (memcmp(data + 126, "IM", 2) != 0 || version != 0x100)
        return sb_fail(SB_EFORMAT, "%s: it does not begin like a MATLAB 5 file", path);
    return SB_OK;
}
