/* threads - see threads.h. OpenMP hands out chunks as threads ask for them, since they
 * differ in cost (a sparse row may be empty); several at a time where there are many, since
 * asking costs as much as a small chunk.
 */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT */
#include "base/threads.h"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

enum { TURNS = 64 }; /* how often a thread asks, at least, where there is enough to do */

void sb_threads_run(int threads, size_t chunks, sb_chunk_fn *fn, void *context)
{
    if (threads <= 1 || chunks <= 1 || omp_in_parallel()) {
        for (size_t chunk = 0; chunk < chunks; chunk++)
            fn(context, chunk, 0);
        return;
    }
    int team = chunks < (size_t)threads ? (int)chunks : threads;
    size_t several = chunks / ((size_t)team * TURNS);
    several = several > 0 ? several : 1;
#pragma omp parallel for schedule(dynamic, several) num_threads(team)
    for (size_t chunk = 0; chunk < chunks; chunk++)
        fn(context, chunk, omp_get_thread_num());
}

int sb_threads_available(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    long n;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        n = CPU_COUNT(&set);
    else /* more processors than cpu_set_t has bits */
        n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (int)n;
}
