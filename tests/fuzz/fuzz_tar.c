/* fuzz_tar - any bytes as a tar archive: what a sink is given stays inside its directory and
 * within the limit, and a file has the bytes it said. Of inputs of even size every header
 * gets its right checksum first, which a fuzzer would hardly find. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "files/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 4096, BLOCK = 512, SUM = 148, SUM_BYTES = 8 };

struct state {
    const uint8_t *data;
    size_t left;
    bool seal;
    uint64_t total, expected, written;
};

static void set_sum(unsigned char *h)
{
    unsigned sum = 0;
    memset(h + SUM, ' ', SUM_BYTES);
    for (size_t i = 0; i < BLOCK; i++)
        sum += h[i];
    if (sum != ' ' * SUM_BYTES) /* the end mark has none */
        snprintf((char *)h + SUM, SUM_BYTES, "%06o", sum);
    else
        memset(h + SUM, 0, SUM_BYTES);
}

static sb_status on_read(void *context, void *to, size_t size, size_t *got)
{
    struct state *s = context;
    *got = size < s->left ? size : s->left;
    if (*got > 0)
        memcpy(to, s->data, *got);
    s->data += *got;
    s->left -= *got;
    if (s->seal && *got == BLOCK)
        set_sum(to);
    return SB_OK;
}

/* Relative, and each part of it a name. */
static void check_path(const char *path)
{
    assert(path[0] != '\0' && strlen(path) < SB_TAR_PATH);
    for (;;) {
        size_t n = strcspn(path, "/");
        assert(n > 0 && !(n == 1 && path[0] == '.') &&
               !(n == 2 && path[0] == '.' && path[1] == '.'));
        if (path[n] == '\0')
            return;
        path += n + 1;
    }
}

static sb_status on_directory(void *context, const char *path)
{
    (void)context;
    check_path(path);
    return SB_OK;
}

static sb_status on_begin(void *context, const char *path, uint64_t size)
{
    struct state *s = context;
    check_path(path);
    s->expected = size;
    s->written = 0;
    s->total += size;
    assert(s->total <= LIMIT);
    return SB_OK;
}

static sb_status on_write(void *context, const void *data, size_t size)
{
    struct state *s = context;
    (void)data;
    s->written += size;
    return SB_OK;
}

static sb_status on_end(void *context)
{
    struct state *s = context;
    assert(s->written == s->expected);
    return SB_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct state s = {.data = data, .left = size, .seal = size % 2 == 0};
    struct sb_tar_source source = {on_read, &s};
    struct sb_tar_sink sink = {on_directory, on_begin, on_write, on_end, &s};
    if (sb_tar_read("fuzz", &source, &sink, LIMIT) != SB_OK)
        assert(strncmp(sb_message(), "fuzz: ", 6) == 0);
    assert(sb_mem_live() == 0);
    return 0;
}
