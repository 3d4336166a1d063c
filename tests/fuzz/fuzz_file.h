/* fuzz_file - an input as a file, for readers that take a path.
 *
 * Files lie in a directory of the program's own, in memory where the system has such a
 * place, which goes away with it.
 */
#ifndef SB_TESTS_FUZZ_FILE_H
#define SB_TESTS_FUZZ_FILE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "readers/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_FIXED_BYTES = 32 << 20, FUZZ_FACTOR = 2048 }; /* deflate makes 1032 of 1 */

static char fuzz_place[] = "/dev/shm/sebays-fuzz.XXXXXX";

static void fuzz_leave(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", fuzz_place);
    if (chdir("/") != 0 || system(command) != 0)
        perror(fuzz_place);
}

/* The absolute path of a file there; the first call makes the directory. The working
 * directory stays: libFuzzer names its corpora relative to it. */
static const char *fuzz_path(const char *name, char out[128])
{
    static int ready;
    if (!ready) {
        if (access("/dev/shm", W_OK) != 0)
            memcpy(fuzz_place, "/var/tmp", 8);
        if (!mkdtemp(fuzz_place))
            abort();
        atexit(fuzz_leave);
        ready = 1;
    }
    snprintf(out, 128, "%s/%s", fuzz_place, name);
    return out;
}

static inline void fuzz_put(const char *name, const void *data, size_t size)
{
    char path[128];
    FILE *f = fopen(fuzz_path(name, path), "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
}

static inline void fuzz_remove(const char *name)
{
    char path[128];
    (void)unlink(fuzz_path(name, path));
}

/* What opened must keep its promises. */
static inline void fuzz_check(const struct sb_dataset *d)
{
    uint64_t sum = 0;
    size_t all = d->n * sb_dataset_elements(d);
    assert(d->n > 0 && d->channels > 0 && d->height > 0 && d->width > 0);
    assert(!d->labels || d->classes >= 2);
    for (uint32_t i = 0; d->labels && i < d->n; i++)
        assert(d->labels[i] < d->classes);
    for (uint32_t c = 0; d->class_names && c < d->classes; c++)
        sum += strlen(d->class_names[c]);
    for (size_t i = 0; d->images && i < all; i++)
        sum += d->images[i];
    for (size_t i = 0; d->values && i < all; i++)
        assert(d->values[i] - d->values[i] == 0.0f); /* finite */
    __asm__ volatile("" : : "r"(sum));
}

/* Opens path as o says; whatever comes, a sentence or a sound data set, bounded memory, and
 * nothing left behind. */
static inline void fuzz_open(const char *name, const struct sb_open_options *o,
                             size_t size)
{
    char path[128];
    struct sb_dataset d;
    sb_mem_peak_reset();
    (void)sb_fail(SB_OK, "%s", "");
    sb_status st = sb_dataset_open_with(&d, fuzz_path(name, path), o);
    assert(sb_mem_peak() <= FUZZ_FIXED_BYTES + FUZZ_FACTOR * size);
    if (st == SB_OK)
        fuzz_check(&d);
    else
        assert(sb_message()[0] != '\0');
    sb_dataset_fini(&d);
    assert(sb_mem_live() == 0);
}

#endif
