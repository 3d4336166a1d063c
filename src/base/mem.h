/* mem - the one door through which the library gets memory.
 *
 * Every block is aligned to a cache line and carries its size in front:
 *
 *     | size, 64 bytes reserved | payload ... |
 *                               ^ what the caller sees, 64-byte aligned
 *
 * so the live byte count is exact, and tests can fail the n-th allocation from now on and
 * prove that everything built so far is given back. Large blocks ask the kernel for huge
 * pages: activations are walked with strides of a plane, which costs a TLB entry a plane
 * otherwise.
 *
 * An arena is one block cut into pieces that are freed together: what a training step
 * needs is laid out once, when it is planned.
 */
#ifndef SB_BASE_MEM_H
#define SB_BASE_MEM_H

#include <stddef.h>

#include "base/status.h"

enum { SB_ALIGN = 64 };

/* count * size bytes, uninitialised / zeroed; NULL when there is no memory, when the
 * product overflows, or when the fault injector says so. A product of 0 is a valid block.
 */
void *sb_malloc(size_t count, size_t size);
void *sb_calloc(size_t count, size_t size);
void sb_free(void *block);

/* Bytes asked for and not yet freed, and the most there ever were at once. */
size_t sb_mem_live(void);
size_t sb_mem_peak(void);
void sb_mem_peak_reset(void);

/* Number of successful allocations since the program began: a test that takes the
 * difference over a call shows that the call allocates nothing. */
size_t sb_mem_count(void);

/* After n more successful allocations, fail every one; n < 0 switches that off. */
void sb_mem_fail_after(long n);

struct sb_arena {
    unsigned char *base; /* owned */
    size_t size, used;
};

/* Bytes a piece of count * size takes in an arena, for adding up before sb_arena_init.
 * SIZE_MAX when that overflows. */
size_t sb_arena_bytes(size_t count, size_t size);

sb_status sb_arena_init(struct sb_arena *a, size_t size);
void sb_arena_fini(struct sb_arena *a);

/* The next piece, cache-line aligned; NULL when the arena was sized too small. */
void *sb_arena_take(struct sb_arena *a, size_t count, size_t size);

#endif
