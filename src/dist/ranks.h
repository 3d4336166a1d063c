/* ranks - a job of several processes, joined through an MPI that is opened at run time.
 *
 * A plugin (plugin.h) is looked for beside the program or library: in its own folder (a build
 * folder), in sebays/ below it, and in the installed lib/sebays. Joining and leaving are the
 * job's: once a process, all ranks together. There is no thread: a wait asks again and
 * again, for 50 us at once and then sleeping in between, and gives up after the limit.
 */
#ifndef SB_DIST_RANKS_H
#define SB_DIST_RANKS_H

#include "base/comm.h"
#include "base/status.h"

struct sb_ranks;

/* mpi: "openmpi", "mpich", or the path of a plugin (it has a slash). limit: seconds that one
 * exchange may take, above 0. The caller calls sb_ranks_leave. */
sb_status sb_ranks_join(const char *mpi, double limit, struct sb_ranks **out);

/* For struct sb_env; lives as long as ranks. */
const struct sb_comm *sb_ranks_comm(const struct sb_ranks *ranks);

/* The MPI's own name and version. */
const char *sb_ranks_mpi(const struct sb_ranks *ranks);

/* After it, MPI cannot be used again in this process. Waits for the others: not after a
 * failure. NULL is fine. */
void sb_ranks_leave(struct sb_ranks *ranks);

#endif
