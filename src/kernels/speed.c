/* speed - see speed.h. */
#include "kernels/speed.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/threads.h"
#include "kernels/kernels.h"

enum {
    ROUNDS = 100000,
    RUNS = 24,
    COPIED_BYTES = 64 << 20, /* of each of two arrays */
    PIECE_BYTES = 1 << 20
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Measuring ends early where it takes long: on kernels that are slow by design. */
static bool goes_on(int run, double begin)
{
    return run < 2 || (run < RUNS && now() - begin < 0.25);
}

struct spinning {
    const struct sb_kernels *kernels;
    float rate; /* what the compiler must not know */
};

static void spin_chunk(void *context, size_t chunk, int worker)
{
    struct spinning *s = context;
    (void)worker;
    float x = s->kernels->spin(ROUNDS, (float)chunk);
    if (x == -1.0f) /* never; but nobody knows */
        s->rate = x;
}

double sb_speed_arithmetic(const struct sb_env *env)
{
    struct spinning s = {.kernels = env->kernels};
    size_t chunks = 4 * (size_t)env->threads;
    double flops = 2.0 * SB_SPIN_CHAINS * ROUNDS * env->kernels->lanes * (double)chunks;
    double best = 0.0, begin = now();
    for (int run = 0; goes_on(run, begin); run++) {
        double start = now();
        sb_threads_run(env->threads, chunks, spin_chunk, &s);
        double rate = flops / (now() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

struct copying {
    char *from, *to;
};

static void copy_chunk(void *context, size_t chunk, int worker)
{
    const struct copying *c = context;
    (void)worker;
    memcpy(c->to + chunk * PIECE_BYTES, c->from + chunk * PIECE_BYTES, PIECE_BYTES);
}

sb_status sb_speed_memory(const struct sb_env *env, double *out)
{
    struct copying c = {sb_calloc(COPIED_BYTES, 1), sb_calloc(COPIED_BYTES, 1)};
    sb_status st = SB_OK;
    *out = 0.0;
    if (!c.from || !c.to)
        st = sb_fail(SB_ENOMEM, "no memory to measure how fast %d MB are copied",
                     COPIED_BYTES >> 20);
    double begin = now();
    for (int run = 0; st == SB_OK && goes_on(run, begin); run++) {
        double start = now();
        sb_threads_run(env->threads, COPIED_BYTES / PIECE_BYTES, copy_chunk, &c);
        double rate = 2.0 * COPIED_BYTES / (now() - start);
        *out = rate > *out ? rate : *out;
    }
    sb_free(c.from);
    sb_free(c.to);
    return st;
}
