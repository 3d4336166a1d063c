/* npy - see npy.h: the header. */
#include "readers/npy.h"

#include <string.h>

#include "base/mem.h"
#include "files/gzip.h"

enum {
    MAGIC_BYTES = 8,
    TEXT_MOST = 1 << 16,
    HEAD_MOST = MAGIC_BYTES + 4 + TEXT_MOST /* with the text's length */
};

/* Python's words for a dictionary, read from left to right. */
struct text {
    const char *at, *end;
};

static void skip_blanks(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t'))
        t->at++;
}

/* Takes one character if it is the next one. */
static bool accept(struct text *t, char c)
{
    skip_blanks(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool take_word(struct text *t, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

/* 'text' or "text" of up to buffer - 1 bytes. */
static bool take_string(struct text *t, char *out, size_t buffer)
{
    skip_blanks(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
        return false;
    char quote = *t->at++;
    const char *stop = memchr(t->at, quote, (size_t)(t->end - t->at));
    size_t n = stop ? (size_t)(stop - t->at) : buffer;
    if (n >= buffer)
        return false;
    memcpy(out, t->at, n);
    out[n] = '\0';
    t->at = stop + 1;
    return true;
}

/* A size; Python 2 wrote an L behind long ones. */
static bool take_size(struct text *t, uint64_t *out)
{
    const char *start;
    skip_blanks(t);
    *out = 0;
    for (start = t->at; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
        if (__builtin_mul_overflow(*out, 10u, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*t->at - '0'), out))
            return false;
    bool digits = t->at > start;
    if (digits && t->at < t->end && *t->at == 'L')
        t->at++;
    return digits;
}

static bool take_shape(struct text *t, struct sb_npy *a)
{
    if (!accept(t, '('))
        return false;
    a->dims = 0;
    while (!accept(t, ')')) {
        if (a->dims == SB_NPY_DIMS || !take_size(t, &a->shape[a->dims]))
            return false;
        a->dims++;
        if (!accept(t, ',')) {
            if (!accept(t, ')'))
                return false;
            break;
        }
    }
    return true;
}

static bool take_type(struct text *t, struct sb_npy *a, char type[16])
{
    const uint16_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    if (!take_string(t, type, 16))
        return false;
    char order = type[0], kind = type[1], size = type[1] ? type[2] : '\0';
    bool known = (strchr("ui", kind) && strchr("1248", size)) ||
                 (kind == 'f' && strchr("48", size)) || (kind == 'b' && size == '1');
    if (!strchr("<>|=", order) || !kind || !size || type[3] != '\0' || !known)
        return true; /* a->size stays 0: not one of ours */
    a->kind = kind;
    a->size = (uint32_t)(size - '0');
    a->swap = a->size > 1 && order == (low ? '>' : '<');
    return true;
}

static bool take_order(struct text *t, struct sb_npy *a)
{
    a->fortran = take_word(t, "True");
    return a->fortran || take_word(t, "False");
}

/* The three keys, each once, in any order. */
static bool take_dictionary(struct text *t, struct sb_npy *a, char type[16])
{
    unsigned seen = 0;
    if (!accept(t, '{'))
        return false;
    while (!accept(t, '}')) {
        char key[16];
        unsigned which = 0;
        if (!take_string(t, key, sizeof key) || !accept(t, ':'))
            return false;
        if (strcmp(key, "descr") == 0 && take_type(t, a, type))
            which = 1;
        else if (strcmp(key, "fortran_order") == 0 && take_order(t, a))
            which = 2;
        else if (strcmp(key, "shape") == 0 && take_shape(t, a))
            which = 4;
        if (!which || seen & which ||
            (!accept(t, ',') && (t->at == t->end || *t->at != '}')))
            return false;
        seen |= which;
    }
    skip_blanks(t);
    return seen == 7 && t->at == t->end;
}

/* Where the text is; *start: after it. */
static sb_status find_text(struct text *t, const char *name, const unsigned char *b,
                           size_t size, size_t *start)
{
    if (size < MAGIC_BYTES || memcmp(b, "\x93NUMPY", 6) != 0)
        return sb_fail(SB_EFORMAT, "%s: it does not begin as an NPY file does", name);
    if (b[6] < 1 || b[6] > 3)
        return sb_fail(SB_EFORMAT, "%s: it is an NPY file of version %u; want 1, 2 or 3",
                       name, b[6]);
    size_t width = b[6] == 1 ? 2 : 4, length = 0;
    for (size_t i = 0; i < width && size >= MAGIC_BYTES + width; i++)
        length |= (size_t)b[MAGIC_BYTES + i] << (8 * i);
    if (length > TEXT_MOST)
        return sb_fail(SB_EFORMAT, "%s: an NPY header of %zu bytes is too long", name,
                       length);
    if (size < MAGIC_BYTES + width || length > size - MAGIC_BYTES - width)
        return sb_fail(SB_EFORMAT,
                       "%s: %zu bytes are too few for its NPY header; the file is "
                       "truncated",
                       name, size);
    t->at = (const char *)b + MAGIC_BYTES + width;
    t->end = t->at + length;
    *start = MAGIC_BYTES + width + length;
    return SB_OK;
}

/* Bytes of all elements. */
static sb_status count(struct sb_npy *a, uint64_t *bytes)
{
    a->count = 1;
    bool fits = true;
    for (uint32_t i = 0; i < a->dims && fits; i++)
        fits = !__builtin_mul_overflow(a->count, a->shape[i], &a->count);
    if (!fits || __builtin_mul_overflow(a->count, (uint64_t)a->size, bytes) ||
        *bytes > SIZE_MAX / 2)
        return sb_fail(SB_EFORMAT, "%s: its header says more elements than can be",
                       a->name);
    return SB_OK;
}

/* The header at bytes[size], which may end with it. *start: where elements begin. */
static sb_status parse_header(struct sb_npy *a, const char *name,
                              const unsigned char *bytes, size_t size, size_t *start)
{
    struct text t = {0};
    char type[16] = "";
    *a = (struct sb_npy){.name = name};
    sb_status st = find_text(&t, name, bytes, size, start);
    if (st != SB_OK)
        return st;
    if (!take_dictionary(&t, a, type))
        return sb_fail(SB_EFORMAT,
                       "%s: its NPY header cannot be read; want descr (a number type), "
                       "fortran_order and shape",
                       name);
    if (a->size == 0)
        return sb_fail(SB_EFORMAT,
                       "%s: its elements are '%s'; want whole numbers (u1 to i8), f4, "
                       "f8 or b1",
                       name, type);
    return SB_OK;
}

sb_status sb_npy_file_size(const char *path, size_t *out)
{
    struct sb_npy a;
    uint64_t bytes = 0;
    size_t start = 0, have = 0;
    unsigned char *head = sb_malloc(HEAD_MOST, 1);
    if (!head)
        return sb_fail(SB_ENOMEM, "%s: no memory for its header", path);
    sb_status st = sb_bytes_head(path, head, HEAD_MOST, &have);
    if (st == SB_OK)
        st = parse_header(&a, path, head, have, &start);
    if (st == SB_OK)
        st = count(&a, &bytes);
    *out = start + (size_t)bytes;
    sb_free(head);
    return st;
}

sb_status sb_npy_parse(struct sb_npy *a, const char *name, const unsigned char *bytes,
                       size_t size)
{
    size_t start = 0;
    uint64_t want = 0;
    sb_status st = parse_header(a, name, bytes, size, &start);
    if (st == SB_OK)
        st = count(a, &want);
    if (st != SB_OK)
        return st;
    size_t left = size - start;
    a->data = bytes + start;
    if (want != left)
        return sb_fail(SB_EFORMAT,
                       "%s: its header says %llu bytes of elements, but there are %zu; "
                       "the file is %s",
                       a->name, (unsigned long long)want, left,
                       left < want ? "truncated" : "damaged");
    return SB_OK;
}
