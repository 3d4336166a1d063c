/* mem - see mem.h. The counters are, with the threads' pool, the library's only shared
 * mutable state; they are atomic, relaxed (nothing is published through them), and no
 * result depends on them.
 *
 * A block of HUGE_FROM bytes or more starts on a huge page, header included, so that the
 * header costs 64 bytes and not a page of its own. If it is to be zero it is left as the
 * system gives it, which is zero: memory that nobody has touched yet is not there, so what is
 * sized for a batch of many images and used for a few (a plan) takes what it uses.
 */
#include "base/mem.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct header {
    size_t size; /* of the payload */
    void *start; /* of what the system gave */
};

enum { HUGE_PAGE = 2 << 20, HUGE_FROM = 4 << 20 };

static_assert(sizeof(struct header) <= SB_ALIGN,
              "the header fits in front of the payload");

static atomic_size_t live, peak, allocations;
static atomic_long fail_after = -1;

/* Whether the fault injector lets one more allocation through. */
static int allowed(void)
{
    long n = atomic_load_explicit(&fail_after, memory_order_relaxed);
    while (n > 0)
        if (atomic_compare_exchange_weak(&fail_after, &n, n - 1))
            return 1;
    return n < 0;
}

static void count_block(size_t size)
{
    size_t now = atomic_fetch_add_explicit(&live, size, memory_order_relaxed) + size;
    size_t most = atomic_load_explicit(&peak, memory_order_relaxed);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
        ;
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

/* Of a block that begins `before` bytes behind start: writes the header, and counts it. */
static void *finish(void *start, size_t before, size_t payload)
{
    unsigned char *block = (unsigned char *)start + before;
#ifdef MADV_HUGEPAGE
    if (payload >= HUGE_FROM) /* a wish: small pages work too */
        (void)madvise(block, payload + SB_ALIGN, MADV_HUGEPAGE);
#endif
    *(struct header *)(void *)block = (struct header){payload, start};
    count_block(payload);
    return block + SB_ALIGN;
}

void *sb_malloc(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - SB_ALIGN) / size)
        return NULL;
    if (!allowed())
        return NULL;
    size_t payload = count * size, total = payload + SB_ALIGN;
    void *block = NULL;
    if (posix_memalign(&block, payload >= HUGE_FROM ? HUGE_PAGE : SB_ALIGN, total) != 0)
        return NULL;
    return finish(block, 0, payload);
}

static void *large_zeroed(size_t payload)
{
    void *start = allowed() ? calloc(1, payload + SB_ALIGN + HUGE_PAGE) : NULL;
    return start ? finish(start, -(uintptr_t)start % HUGE_PAGE, payload) : NULL;
}

void *sb_calloc(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - SB_ALIGN - HUGE_PAGE) / size)
        return NULL;
    if (count * size >= HUGE_FROM)
        return large_zeroed(count * size);
    void *p = sb_malloc(count, size);
    if (p)
        memset(p, 0, count * size);
    return p;
}

void sb_free(void *block)
{
    if (!block)
        return;
    struct header h = *(struct header *)(void *)((unsigned char *)block - SB_ALIGN);
    atomic_fetch_sub_explicit(&live, h.size, memory_order_relaxed);
    free(h.start);
}

size_t sb_mem_live(void)
{
    return atomic_load_explicit(&live, memory_order_relaxed);
}

size_t sb_mem_peak(void)
{
    return atomic_load_explicit(&peak, memory_order_relaxed);
}

void sb_mem_peak_reset(void)
{
    atomic_store(&peak, sb_mem_live());
}

size_t sb_mem_count(void)
{
    return atomic_load_explicit(&allocations, memory_order_relaxed);
}

void sb_mem_fail_after(long n)
{
    atomic_store(&fail_after, n < 0 ? -1 : n);
}

size_t sb_arena_bytes(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - SB_ALIGN) / size)
        return SIZE_MAX;
    return (count * size + SB_ALIGN - 1) / SB_ALIGN * SB_ALIGN;
}

sb_status sb_arena_init(struct sb_arena *a, size_t size)
{
    *a = (struct sb_arena){0};
    a->base = sb_malloc(size, 1);
    if (!a->base)
        return sb_fail(SB_ENOMEM, "arena: no memory for %zu bytes", size);
    a->size = size;
    return SB_OK;
}

void sb_arena_fini(struct sb_arena *a)
{
    if (!a)
        return;
    sb_free(a->base);
    *a = (struct sb_arena){0};
}

void *sb_arena_take(struct sb_arena *a, size_t count, size_t size)
{
    size_t bytes = sb_arena_bytes(count, size);
    if (!a->base || bytes > a->size - a->used)
        return NULL;
    void *piece = a->base + a->used;
    a->used += bytes;
    return piece;
}
