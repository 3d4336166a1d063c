/* check - what the kernel tests share: counting, odd numbers, and comparing bits.
 *
 * Plain C and only base/ beneath it, because these programs also run under qemu-user. A
 * check is one comparison; failures are printed where they happen, and a program closes
 * with `N passed, M failed`.
 */
#ifndef SB_TESTS_CHECK_H
#define SB_TESTS_CHECK_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"

static struct {
    unsigned long passed, failed;
} check_total;

/* Counts; a failure says what was compared. */
__attribute__((format(printf, 2, 3))) static inline bool check(bool ok,
                                                               const char *format, ...)
{
    if (ok) {
        check_total.passed++;
        return true;
    }
    check_total.failed++;
    if (check_total.failed > 40)
        return false;
    va_list args;
    va_start(args, format);
    fputs("FAILED: ", stdout);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    return false;
}

/* The program's last line and its exit status. */
static inline int check_close(void)
{
    printf("%lu passed, %lu failed\n", check_total.passed, check_total.failed);
    return check_total.failed || !check_total.passed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* For what a test needs before it can compare anything. */
static inline void check_must(sb_status st, const char *what)
{
    if (st == SB_OK)
        return;
    printf("FAILED: %s: %s\n", what, sb_message());
    exit(EXIT_FAILURE);
}

/* Of the library's own door, so that blocks are aligned and end where ASan sees it. */
static inline void *check_alloc(size_t count, size_t size)
{
    void *p = sb_calloc(count, size);
    if (!p)
        check_must(SB_ENOMEM, "test memory");
    return p;
}

static inline float *check_floats(size_t n)
{
    return check_alloc(n, sizeof(float));
}

/* ---- numbers: SplitMix64, not the library's generator -------------------------------- */

struct dice {
    uint64_t state;
};

static inline uint64_t dice_bits(struct dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint32_t dice_below(struct dice *d, uint32_t bound)
{
    return (uint32_t)((dice_bits(d) >> 32) * bound >> 32);
}

/* in [0, 1) */
static inline double dice_unit(struct dice *d)
{
    return (double)(dice_bits(d) >> 11) * 0x1p-53;
}

/* in [-1, 1), nothing special */
static inline float dice_mild(struct dice *d)
{
    return (float)(2.0 * dice_unit(d) - 1.0);
}

/* Zeros of both signs, subnormals, tiny and large numbers among ordinary ones. No square of
 * them overflows. */
static inline float dice_wild(struct dice *d)
{
    static const float special[] = {0.0f,   -0.0f,   1e-42f, -3e-41f, 1e-38f, -2e-30f,
                                    1e-12f, -1e-5f,  1.0f,   -1.0f,   0.5f,   20.0f,
                                    -88.5f, 1000.5f, -3e7f,  2e12f};
    if (dice_below(d, 4) == 0)
        return special[dice_below(d, sizeof special / sizeof *special)];
    return dice_mild(d) * 8.0f;
}

typedef float dice_fn(struct dice *d);

static inline void dice_fill(struct dice *d, dice_fn *fn, float *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = fn(d);
}

/* ---- bits ---------------------------------------------------------------------------- */

/* First place where the bits differ; n if nowhere. */
static inline size_t check_difference(const float *a, const float *b, size_t n)
{
    if (n == 0 || memcmp(a, b, n * sizeof *a) == 0)
        return n;
    for (size_t i = 0; i < n; i++)
        if (memcmp(a + i, b + i, sizeof *a) != 0)
            return i;
    return n;
}

static inline bool check_same(const float *have, const float *want, size_t n,
                              const char *isa, const char *op, const char *what)
{
    size_t i = check_difference(have, want, n);
    if (i == n)
        return check(true, "%s", op);
    return check(false, "%s: %s: %s: [%zu] is %.9g (%a), not %.9g (%a)", isa, op, what, i,
                 (double)have[i], (double)have[i], (double)want[i], (double)want[i]);
}

#endif
