/* find - opens the plugin for an MPI. Internal to dist/. */
#ifndef SB_DIST_FIND_H
#define SB_DIST_FIND_H

#include "base/status.h"
#include "dist/plugin.h"

/* mpi: a name or a path. The plugin stays open for the rest of the process: an MPI cannot be
 * unloaded. */
sb_status sb_find_plugin(const char *mpi, const struct sb_plugin **out);

#endif
