/* ranks - the communicator behind a handle of include/sebays.h. */
#ifndef SB_API_RANKS_H
#define SB_API_RANKS_H

#include "base/comm.h"
#include "sebays.h"

/* For struct sb_env; NULL of NULL. */
const struct sb_comm *sb_api_comm(const struct sebays_ranks *ranks);

#endif
