/* protobuf - see protobuf.h. */
#include "files/protobuf.h"

#include <string.h>

#include "base/mem.h"

enum {
    NUMBER = 0,
    BYTES = 2,
    FOUR_BYTES = 5,
    MOST_OF_A_NUMBER = 10,
    FIRST_CAPACITY = 256
};

/* Room for size more bytes; NULL: none, which is remembered. */
static unsigned char *reserve(struct sb_pb *p, size_t size)
{
    if (p->failed)
        return NULL;
    if (size <= p->capacity - p->used)
        return p->data + p->used;
    size_t capacity = p->capacity ? p->capacity : FIRST_CAPACITY;
    while (capacity - p->used < size && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    unsigned char *more =
        capacity - p->used < size ? NULL : sb_malloc(capacity, sizeof *more);
    if (!more) {
        p->failed = true;
        return NULL;
    }
    if (p->used > 0)
        memcpy(more, p->data, p->used);
    sb_free(p->data);
    p->data = more;
    p->capacity = capacity;
    return p->data + p->used;
}

/* out [MOST_OF_A_NUMBER]; how many bytes it took. */
static size_t encode(uint64_t value, unsigned char *out)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (unsigned char)(value | 0x80);
    out[n++] = (unsigned char)value;
    return n;
}

static void append(struct sb_pb *p, const void *data, size_t size)
{
    unsigned char *to = reserve(p, size);
    if (!to || size == 0)
        return;
    memcpy(to, data, size);
    p->used += size;
}

static void append_number(struct sb_pb *p, uint64_t value)
{
    unsigned char bytes[MOST_OF_A_NUMBER];
    append(p, bytes, encode(value, bytes));
}

static void append_key(struct sb_pb *p, uint32_t field, uint32_t kind)
{
    append_number(p, (uint64_t)field << 3 | kind);
}

void sb_pb_integer(struct sb_pb *p, uint32_t field, uint64_t value)
{
    append_key(p, field, NUMBER);
    append_number(p, value);
}

void sb_pb_float(struct sb_pb *p, uint32_t field, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const unsigned char bytes[] = {(unsigned char)bits, (unsigned char)(bits >> 8),
                                   (unsigned char)(bits >> 16),
                                   (unsigned char)(bits >> 24)};
    append_key(p, field, FOUR_BYTES);
    append(p, bytes, sizeof bytes);
}

void sb_pb_bytes(struct sb_pb *p, uint32_t field, const void *data, size_t size)
{
    sb_pb_announce(p, field, size);
    append(p, data, size);
}

void sb_pb_text(struct sb_pb *p, uint32_t field, const char *text)
{
    sb_pb_bytes(p, field, text, strlen(text));
}

size_t sb_pb_begin(struct sb_pb *p, uint32_t field)
{
    append_key(p, field, BYTES);
    return p->used;
}

void sb_pb_end(struct sb_pb *p, size_t begun)
{
    unsigned char length[MOST_OF_A_NUMBER];
    size_t size = p->used - begun, n = encode(size, length);
    if (!reserve(p, n))
        return;
    memmove(p->data + begun + n, p->data + begun, size);
    memcpy(p->data + begun, length, n);
    p->used += n;
}

void sb_pb_announce(struct sb_pb *p, uint32_t field, uint64_t size)
{
    append_key(p, field, BYTES);
    append_number(p, size);
}

sb_status sb_pb_status(const struct sb_pb *p)
{
    return p->failed
               ? sb_fail(SB_ENOMEM, "no memory for a message of over %zu bytes", p->used)
               : SB_OK;
}

void sb_pb_fini(struct sb_pb *p)
{
    if (!p)
        return;
    sb_free(p->data);
    *p = (struct sb_pb){0};
}
