/* trial - one operation under every kernel table and number of threads.
 *
 * A case runs first on scalar with one thread, and what it keeps is stored; then again on
 * every other table, and on the best one with 2, 3 and 4 threads, and what it keeps must be
 * the same bytes in the same order. A case makes its activations itself, for the lanes of
 * the table. No operation may allocate.
 */
#ifndef SB_TESTS_TRIAL_H
#define SB_TESTS_TRIAL_H

#include "base/env.h"
#include "check.h"
#include "kernels/act.h"
#include "kernels/kernels.h"
#include "tables.h"

struct trial {
    struct sb_env env;
    const char *name; /* of the case */
    bool first;       /* stores instead of comparing */
    size_t used;      /* bytes of the store */
    size_t allocations;
};

/* What the first run kept, grown as needed: not through the door that is being counted. */
static struct {
    unsigned char *bytes;
    size_t capacity;
    float *flat;
    size_t flat_capacity;
} trial_store;

static inline void *trial_grow(void *block, size_t *capacity, size_t want)
{
    if (want <= *capacity)
        return block;
    *capacity = 2 * want;
    block = realloc(block, *capacity);
    if (!block)
        check_must(SB_ENOMEM, "test memory");
    return block;
}

/* The operation `op` has just run: it took no memory. */
static inline void trial_quiet(const struct trial *t, const char *op)
{
    check(sb_mem_count() == t->allocations, "%s, %d threads: %s: %s allocates",
          t->env.kernels->name, t->env.threads, t->name, op);
}

static inline void trial_keep(struct trial *t, const char *what, const void *data,
                              size_t bytes)
{
    if (t->first) {
        trial_store.bytes =
            trial_grow(trial_store.bytes, &trial_store.capacity, t->used + bytes);
        if (bytes)
            memcpy(trial_store.bytes + t->used, data, bytes);
    } else {
        bool same = !bytes || memcmp(trial_store.bytes + t->used, data, bytes) == 0;
        check(same, "%s, %d threads: %s: %s differs", t->env.kernels->name,
              t->env.threads, t->name, what);
    }
    t->used += bytes;
}

static inline void trial_keep_floats(struct trial *t, const char *what, const float *data,
                                     size_t n)
{
    trial_keep(t, what, data, n * sizeof *data);
}

/* The images of an act, without padding. */
static inline void trial_keep_act(struct trial *t, const char *what,
                                  const struct sb_act *a)
{
    size_t n = (size_t)a->batch * a->channels * a->height * a->width;
    trial_store.flat =
        trial_grow(trial_store.flat, &trial_store.flat_capacity, n * sizeof(float));
    sb_act_store(a, trial_store.flat);
    trial_keep_floats(t, what, trial_store.flat, n);
}

/* Every lane of every pixel is finite; padding lanes of a gradient are zero. */
static inline void trial_lanes(const struct trial *t, const char *what,
                               const struct sb_act *a, bool gradient)
{
    bool ok = true;
    for (uint32_t b = 0; b < a->blocks; b++)
        for (uint32_t c = 0; c < a->channels; c++) {
            const float *plane = sb_act_plane(a, b, c);
            for (size_t i = 0; i < (size_t)a->height * a->width * a->lanes; i++)
                ok = ok && isfinite(plane[i]) &&
                     (!gradient || i % a->lanes < sb_act_lanes(a, b) || plane[i] == 0.0f);
        }
    check(ok, "%s, %d threads: %s: %s has %s", t->env.kernels->name, t->env.threads,
          t->name, what,
          gradient ? "a padding lane that is not zero" : "a lane that is not finite");
}

typedef void trial_fn(struct trial *t, void *input);

static inline void trial_once(trial_fn *fn, void *input, const char *name,
                              const struct sb_kernels *k, int threads, bool first)
{
    struct trial t = {.env = {.kernels = k, .threads = threads},
                      .name = name,
                      .first = first,
                      .allocations = sb_mem_count()};
    fn(&t, input);
}

static inline void trial_run(trial_fn *fn, void *input, const char *name)
{
    const struct sb_kernels *table[SB_MOST_KERNELS];
    size_t n = sb_kernels_list(table, SB_MOST_KERNELS);
    trial_once(fn, input, name, table[0], 1, true);
    for (size_t i = 1; i < n; i++)
        trial_once(fn, input, name, table[i], 1, false);
    for (int threads = 2; threads <= 4; threads++)
        trial_once(fn, input, name, table[n - 1], threads, false);
}

/* Says which tables were compared; the last line and exit status. */
static inline int trial_close(void)
{
    const struct sb_kernels *table[SB_MOST_KERNELS];
    size_t n = sb_kernels_list(table, SB_MOST_KERNELS);
    for (size_t i = 1; i < n; i++)
        printf("%s equals scalar\n", table[i]->name);
    check_absent(table, n);
    printf("%s on 1, 2, 3 and 4 threads\n", table[n - 1]->name);
    free(trial_store.bytes);
    free(trial_store.flat);
    return check_close();
}

#endif
