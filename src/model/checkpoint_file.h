/* checkpoint_file - the contents of one checkpoint file; checkpoint.h has the format. */
#ifndef SB_MODEL_CHECKPOINT_FILE_H
#define SB_MODEL_CHECKPOINT_FILE_H

#include "base/status.h"
#include "model/checkpoint.h"

sb_status sb_checkpoint_write(const struct sb_checkpoint *c, const char *path);

/* SB_EFORMAT: not intact, or not of this network; SB_EARG: of another recipe. The net is
 * not refreshed. */
sb_status sb_checkpoint_read(struct sb_checkpoint *c, const char *path);

#endif
