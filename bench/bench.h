/* bench - what the benchmark commands share. Speed is judged here, never in a test. */
#ifndef SB_BENCH_H
#define SB_BENCH_H

#include <stdint.h>

#include "base/env.h"

struct bench_options {
    double density; /* of existing weights; 0: the command's own list */
    uint32_t batch;
    int json;         /* one object a line instead of a table */
    int repeat;       /* measurements of which the best counts */
    const char *form; /* "mean", "mean+variance" or NULL: both */
};

double bench_now(void); /* seconds, monotonic */

/* The machine's fused-multiply-add rate on this many threads, GFLOP/s, operands in
 * registers; the best of several runs. */
double bench_peak(int threads);

/* The commands; an exit code. */
int bench_kernels(const struct sb_env *env, const struct bench_options *o);

#endif
