/* env - what the whole library shares, passed down as one const pointer.
 *
 * There are no mutable globals: a caller that wants other kernels, another number of
 * threads or another log makes another env.
 */
#ifndef SB_BASE_ENV_H
#define SB_BASE_ENV_H

struct sb_kernels;
struct sb_log;

struct sb_env {
    const struct sb_kernels *kernels; /* borrowed, never NULL */
    const struct sb_log *log;         /* borrowed, may be NULL: silent */
    int threads;                      /* >= 1 */
};

#endif
