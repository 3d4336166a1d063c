/* onnx_walk - reads an ONNX file back without the code that wrote it: every field within its
 * message, every value defined once and before it is used, arrays as long as they say. The
 * operators' arithmetic is tests/interop's. */
#ifndef SB_TESTS_ONNX_WALK_H
#define SB_TESTS_ONNX_WALK_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct onnx_span {
    const uint8_t *at, *end;
};

struct onnx_field {
    uint64_t number, kind, value; /* of kind 0 */
    struct onnx_span bytes;       /* of kind 2 */
};

enum { ONNX_NAMES = 4096 };

/* The names that values have so far. */
struct onnx_names {
    struct onnx_span name[ONNX_NAMES];
    size_t count;
};

static inline uint64_t onnx_varint(struct onnx_span *s)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert(s->at < s->end && shift < 64);
        uint8_t byte = *s->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* The next field of a message; false: none is left. */
static inline int onnx_next(struct onnx_span *s, struct onnx_field *f)
{
    if (s->at == s->end)
        return 0;
    uint64_t key = onnx_varint(s), size = 4;
    *f = (struct onnx_field){.number = key >> 3, .kind = key & 7};
    assert(f->number > 0 && (f->kind == 0 || f->kind == 2 || f->kind == 5));
    if (f->kind == 0) {
        f->value = onnx_varint(s);
        return 1;
    }
    if (f->kind == 2)
        size = onnx_varint(s);
    assert(size <= (uint64_t)(s->end - s->at));
    f->bytes = (struct onnx_span){s->at, s->at + size};
    s->at += size;
    return 1;
}

static inline int onnx_known(const struct onnx_names *n, struct onnx_span name)
{
    size_t size = (size_t)(name.end - name.at);
    for (size_t i = 0; i < n->count; i++)
        if ((size_t)(n->name[i].end - n->name[i].at) == size &&
            memcmp(n->name[i].at, name.at, size) == 0)
            return 1;
    return 0;
}

static inline void onnx_define(struct onnx_names *n, struct onnx_span name)
{
    assert(name.end > name.at && !onnx_known(n, name) && n->count < ONNX_NAMES);
    n->name[n->count++] = name;
}

static inline void onnx_tensor(struct onnx_span s, struct onnx_names *n)
{
    struct onnx_field f;
    uint64_t count = 1, type = 0, bytes = 0;
    while (onnx_next(&s, &f)) {
        assert(f.number == 1 || f.number == 2 || f.number == 8 || f.number == 9);
        if (f.number == 1)
            count *= f.value;
        else if (f.number == 2)
            type = f.value;
        else if (f.number == 8)
            onnx_define(n, f.bytes);
        else
            bytes = (uint64_t)(f.bytes.end - f.bytes.at);
    }
    assert((type == 1 || type == 7) && bytes == count * (type == 1 ? 4 : 8));
}

static inline void onnx_node(struct onnx_span s, struct onnx_names *n)
{
    struct onnx_field f;
    unsigned outputs = 0, ops = 0;
    while (onnx_next(&s, &f)) {
        assert(f.number >= 1 && f.number <= 5);
        if (f.number == 1)
            assert(onnx_known(n, f.bytes));
        if (f.number == 2)
            onnx_define(n, f.bytes);
        outputs += f.number == 2;
        ops += f.number == 4;
    }
    assert(outputs == 1 && ops == 1);
}

/* The name of an input or output. */
static inline struct onnx_span onnx_value(struct onnx_span s)
{
    struct onnx_field f;
    struct onnx_span name = {0};
    while (onnx_next(&s, &f))
        if (f.number == 1)
            name = f.bytes;
    return name;
}

/* Fields number `which` of a graph: tensors (5), inputs (11), nodes (1), outputs (12). */
static inline size_t onnx_part(struct onnx_span s, uint64_t which, struct onnx_names *n)
{
    struct onnx_field f;
    size_t count = 0;
    while (onnx_next(&s, &f)) {
        if (f.number != which)
            continue;
        count++;
        if (which == 5)
            onnx_tensor(f.bytes, n);
        else if (which == 11)
            onnx_define(n, onnx_value(f.bytes));
        else if (which == 1)
            onnx_node(f.bytes, n);
        else
            assert(onnx_known(n, onnx_value(f.bytes)));
    }
    return count;
}

static inline void onnx_walk(const uint8_t *data, size_t size)
{
    static struct onnx_names names;
    struct onnx_span s = {data, data + size};
    struct onnx_field f;
    unsigned graphs = 0;
    names.count = 0;
    while (onnx_next(&s, &f)) {
        if (f.number != 7)
            continue;
        graphs++;
        assert(onnx_part(f.bytes, 5, &names) > 0 && onnx_part(f.bytes, 11, &names) == 1);
        assert(onnx_part(f.bytes, 1, &names) > 0 && onnx_part(f.bytes, 12, &names) > 0);
    }
    assert(graphs == 1);
}

#endif
