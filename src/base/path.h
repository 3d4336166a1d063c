/* path - how long a path may be, and a name in a directory. */
#ifndef SB_BASE_PATH_H
#define SB_BASE_PATH_H

#include "base/status.h"

enum { SB_PATH_BYTES = 4096 };

/* out = directory/name; SB_EARG if it does not fit. */
sb_status sb_path_join(char out[SB_PATH_BYTES], const char *directory, const char *name);

#endif
