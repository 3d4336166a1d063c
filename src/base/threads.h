/* threads - work split into chunks whose number never depends on the thread count.
 *
 * A caller cuts its work by the shape of the data alone, and a chunk writes only what it
 * owns (or its own partial sum, folded in chunk order afterwards). Which thread runs
 * which chunk, and when, then cannot change a single bit of the result.
 *
 * Helpers are shared by the whole process, because processors are: several callers at once
 * get what is idle, and more helpers than there are processors (or than one caller asked
 * for) are never started. A caller needs none of them: it works itself, and waits only for
 * helpers that are in the middle of a chunk. So a system that gives no threads, a child
 * after fork() and a machine that is busy with other things cost time, never the answer.
 */
#ifndef SB_BASE_THREADS_H
#define SB_BASE_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* worker is in [0, threads): the index of the scratch memory this call may use. */
typedef void sb_chunk_fn(void *context, size_t chunk, int worker);

/* Calls fn for every chunk in [0, chunks), on up to `threads` threads, and waits. Nested
 * calls run on the calling thread, in order, as worker 0: their scratch memory must
 * belong to the chunk that makes the call. */
void sb_threads_run(int threads, size_t chunks, sb_chunk_fn *fn, void *context);

/* The number of processors this process may use, at least 1: those the calling thread may
 * run on, or fewer if the process's container grants the time of fewer. */
int sb_threads_available(void);

/* A thread that leaves all signals to the others; false: there is none to be had. */
bool sb_threads_start(pthread_t *thread, void *(*fn)(void *), void *context);

/* After n more threads, fail to start any; n < 0 switches that off. For tests. */
void sb_threads_fail_after(long n);

#endif
