/* data_fixture - a scratch directory, and small data files made on the spot. */
#ifndef SB_TESTS_DATA_FIXTURE_H
#define SB_TESTS_DATA_FIXTURE_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "readers/readers.h"
#include "refused.h"

#define FASHION "/usr/share/datasets/fashion-mnist"

/* ---- scratch directory: every test begins in an empty one ---- */

struct scratch {
    char name[32];
    size_t live; /* bytes at the start */
};

static inline int set_up(void **state)
{
    struct scratch *s = calloc(1, sizeof *s);
    if (!s)
        return -1;
    strcpy(s->name, "test_data.XXXXXX");
    s->live = sb_mem_live();
    *state = s;
    return mkdtemp(s->name) && chdir(s->name) == 0 ? 0 : -1;
}

/* The working directory, and what is below. */
static inline void empty_directory(void)
{
    DIR *d = opendir(".");
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            remove(e->d_name) == 0 || chdir(e->d_name) != 0)
            continue;
        empty_directory();
        if (chdir("..") != 0)
            break;
        (void)remove(e->d_name);
    }
    if (d)
        closedir(d);
}

static inline int tear_down(void **state)
{
    struct scratch *s = *state;
    empty_directory();
    int leaked = sb_mem_live() != s->live;
    int bad = chdir("..") != 0 || rmdir(s->name) != 0;
    free(s);
    return leaked || bad ? -1 : 0;
}

/* ---- files ---- */

static inline void put(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb"); /* sb_file_put waits for the disk, every time */
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

/* size bytes as one gzip member at out[capacity]; its size. */
static inline size_t pack(const void *data, size_t size, unsigned char *out,
                          size_t capacity)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)data,
                  .avail_in = (uInt)size,
                  .next_out = out,
                  .avail_out = (uInt)capacity};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t packed = z.total_out;
    deflateEnd(&z);
    return packed;
}

static inline void put_gzip(const char *path, const void *data, size_t size)
{
    size_t capacity = size + size / 8 + 1000;
    unsigned char *packed = malloc(capacity);
    assert_non_null(packed);
    put(path, packed, pack(data, size, packed, capacity));
    free(packed);
}

/* Bytes that look like nothing. */
static inline void noise(uint8_t *out, size_t size, uint64_t seed)
{
    struct sb_stream s = sb_rng_stream(seed, SB_RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < size; i++) {
        uint32_t bits[4];
        sb_rng_bits(&s, i, bits);
        out[i] = (uint8_t)bits[0];
    }
}

static inline void put_u32(unsigned char *at, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(x >> (24 - 8 * i));
}

/* IDX images of n x height x width noise into out (16 + n * height * width bytes). */
static inline size_t idx_images(unsigned char *out, uint32_t n, uint32_t height,
                                uint32_t width)
{
    size_t size = (size_t)n * height * width;
    put_u32(out, 0x803);
    put_u32(out + 4, n);
    put_u32(out + 8, height);
    put_u32(out + 12, width);
    noise(out + 16, size, 1);
    return 16 + size;
}

/* Labels i % classes. */
static inline size_t idx_labels(unsigned char *out, uint32_t n, uint32_t classes)
{
    put_u32(out, 0x801);
    put_u32(out + 4, n);
    for (uint32_t i = 0; i < n; i++)
        out[8 + i] = (unsigned char)(i % classes);
    return 8 + (size_t)n;
}

/* n CIFAR records; label bytes are i % limit. */
static inline size_t cifar_records(unsigned char *out, uint32_t n, bool hundred,
                                   uint64_t seed)
{
    size_t record = hundred ? 3074 : 3073;
    noise(out, n * record, seed);
    for (uint32_t i = 0; i < n; i++) {
        out[i * record] = (unsigned char)(i % (hundred ? 20 : 10));
        if (hundred)
            out[i * record + 1] = (unsigned char)(i * 7 % 100);
    }
    return n * record;
}

/* A data set in memory that needs no file; path and labels are the test's. */
static inline struct sb_dataset made_up(const uint8_t *images, uint32_t *labels,
                                        uint32_t n, uint32_t channels, uint32_t height,
                                        uint32_t width, uint32_t classes)
{
    static char path[] = "made-up";
    return (struct sb_dataset){.images = images,
                               .labels = labels,
                               .n = n,
                               .channels = channels,
                               .height = height,
                               .width = width,
                               .classes = classes,
                               .path = path};
}

#endif
