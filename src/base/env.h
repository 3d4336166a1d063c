/* env - what the whole library shares, passed down as one const pointer.
 *
 * A caller that wants other kernels, another number of threads or another log makes another
 * env: there are no mutable globals but for what belongs to the process itself, the memory
 * counters (mem.h) and the helper threads (threads.h).
 */
#ifndef SB_BASE_ENV_H
#define SB_BASE_ENV_H

struct sb_comm;
struct sb_kernels;
struct sb_log;

struct sb_env {
    const struct sb_kernels *kernels; /* borrowed, never NULL */
    const struct sb_log *log;         /* borrowed, may be NULL: silent */
    int threads;                      /* >= 1 */
    const struct sb_comm *comm;       /* borrowed, may be NULL: one process (comm.h) */
};

#endif
