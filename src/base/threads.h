/* threads - work split into chunks whose number never depends on the thread count.
 *
 * A caller cuts its work by the shape of the data alone, and a chunk writes only what it
 * owns (or its own partial sum, folded in chunk order afterwards). Which thread runs
 * which chunk, and when, then cannot change a single bit of the result.
 */
#ifndef SB_BASE_THREADS_H
#define SB_BASE_THREADS_H

#include <stddef.h>

/* worker is in [0, threads): the index of the scratch memory this call may use. */
typedef void sb_chunk_fn(void *context, size_t chunk, int worker);

/* Calls fn for every chunk in [0, chunks), on up to `threads` threads, and waits. Nested
 * calls run on the calling thread, in order, as worker 0: their scratch memory must
 * belong to the chunk that makes the call. */
void sb_threads_run(int threads, size_t chunks, sb_chunk_fn *fn, void *context);

/* The number of processors this process may run on, at least 1. */
int sb_threads_available(void);

#endif
