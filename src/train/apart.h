/* apart - members of a run trained at the same time by groups of a job's processes. Internal to
 * train/; sb_run_train of trainer.h is here, too.
 *
 * Where a method trains its members apart, a job's processes are cut into groups, each of which
 * trains some members: as tasks (task.c), each in a directory member-K of the run directory,
 * with checkpoints of its own, and every batch shared within the group. At the end all make
 * the run of the tasks. A run that has such directories goes on with them, on any number of
 * processes.
 *
 * ltr's members begin with one dense run, which groups would have to repeat: its processes
 * stay together.
 */
#ifndef SB_TRAIN_APART_H
#define SB_TRAIN_APART_H

#include "train/state.h"

/* How many groups so many processes make for members whose batches have so many shards, which
 * a group has at least as many of as processes: the number that ends first, if work follows
 * shards; of two, the larger, whose groups exchange less. 1 if none can be. */
uint32_t sb_apart_groups(uint32_t members, uint32_t ranks, uint32_t shards);

#endif
