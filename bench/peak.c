/* peak - the ceiling every share is measured against. Built with the flags of the best
 * instruction set of the architecture; main checks that the machine has it. */
#include "bench.h"

#include <omp.h>

#include "kernels/lanes.h"

enum {
    CHAINS = 10,
    ROUNDS = 4000000
}; /* latency times width of two units, and a margin */

static float spin(void)
{
    v8 a[CHAINS], factor = v8_set(0.999f), term = v8_set(0.1f), sum = v8_set(0.0f);
    for (int i = 0; i < CHAINS; i++)
        a[i] = v8_set((float)i);
    for (int r = 0; r < ROUNDS; r++)
#pragma GCC unroll 10
        for (int i = 0; i < CHAINS; i++)
            a[i] = v8_fma(a[i], factor, term);
    for (int i = 0; i < CHAINS; i++)
        sum += a[i];
    return v8_sum(sum);
}

double bench_peak(int threads)
{
    double best = 0.0;
    for (int run = 0; run < 8; run++) {
        float sink = 0.0f;
        double start = bench_now();
#pragma omp parallel num_threads(threads) reduction(+ : sink)
        sink += spin();
        double rate = 2.0 * 8 * CHAINS * ROUNDS * threads / (bench_now() - start) / 1e9;
        best = rate > best && sink != 0.0f ? rate : best;
    }
    return best;
}
