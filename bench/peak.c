/* peak - the ceiling every share is measured against. Built with the flags of the best
 * instruction set of the architecture; main checks that the machine has it. */
#include "bench.h"

#include "base/threads.h"
#include "kernels/lanes.h"

enum {
    CHAINS = 10, /* latency times width of two units, and a margin */
    ROUNDS = 4000000,
    MOST_THREADS = 1024 /* that main lets through */
};

static float spin(void)
{
    vf a[CHAINS], factor = vf_set(0.999f), term = vf_set(0.1f), sum = vf_set(0.0f);
    for (int i = 0; i < CHAINS; i++)
        a[i] = vf_set((float)i);
    for (int r = 0; r < ROUNDS; r++)
#pragma GCC unroll 10
        for (int i = 0; i < CHAINS; i++)
            a[i] = vf_fma(a[i], factor, term);
    for (int i = 0; i < CHAINS; i++)
        sum += a[i];
    return vf_sum8(sum, 0);
}

static void spin_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    ((float *)context)[chunk] = spin();
}

double bench_peak(int threads)
{
    static float sink[MOST_THREADS];
    double best = 0.0;
    for (int run = 0; run < 8; run++) {
        double start = bench_now();
        sb_threads_run(threads, (size_t)threads, spin_chunk, sink);
        double rate = 2.0 * 8 * CHAINS * ROUNDS * threads / (bench_now() - start) / 1e9;
        best = rate > best && sink[0] != 0.0f ? rate : best;
    }
    return best;
}
