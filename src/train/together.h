/* together - a run of several processes that share every batch. Internal to train/.
 *
 * All have all parameters and make the same steps with the same bits, so they come to the
 * same decisions by themselves: the best epoch, a move of the support, divergence. What bits
 * do not decide rank 0 does: when to save, and whether somebody asked to stop. Only rank 0
 * writes; all read a checkpoint, which must be where all of them see it.
 */
#ifndef SB_TRAIN_TOGETHER_H
#define SB_TRAIN_TOGETHER_H

#include "train/state.h"

/* Whether this process writes the run's files. */
bool sb_together_writes(const struct sb_trainer *t);

/* Before anything is trained: SB_EARG unless all have the same library, recipe and data. */
sb_status sb_together_check(const struct sb_trainer *t);

/* The same place to go on from, after a checkpoint was read. */
sb_status sb_together_check_position(const struct sb_trainer *t);

/* Rank 0's word on what comes next: st is SB_OK or SB_ECANCELED, returned as rank 0 has it,
 * and so is *save. Any other status of a process is returned to it alone. */
sb_status sb_together_decide(const struct sb_trainer *t, sb_status st, bool *save);

/* *flag is rank 0's. */
sb_status sb_together_agree(const struct sb_trainer *t, const char *what, bool *flag);

/* Of n examples, those that this process judges: [*first, *end). */
void sb_together_part(const struct sb_trainer *t, uint32_t n, uint32_t *first,
                      uint32_t *end);

/* Everybody's part of data, n examples of `bytes` each. */
sb_status sb_together_gather(const struct sb_trainer *t, const char *what, uint32_t n,
                             size_t bytes, void *data);

#endif
