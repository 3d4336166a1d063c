/* run_files - the files of a run directory: their names, here and nowhere else.
 *
 *     recipe.ini                  the resolved recipe
 *     metrics.jsonl               one object a validation
 *     updates.jsonl               one object an update of the support
 *     trajectory.npy              predictions after each epoch, where train.trajectory
 *     model.safetensors           the members
 *     results.json                figures on the test set, and evaluations
 *     epoch.safetensors           what a run that diverges goes back to (train/divergence.c)
 *     train.lock                  held by the process that trains (base/lock.h)
 *     checkpoint-*.safetensors    where a stopped run goes on, the last two (checkpoint.h)
 *     member-K/                   a member that is trained apart: a run directory, too
 *     width/                      a run that tells how wide intervals are (train/width.c)
 */
#ifndef SB_MODEL_RUN_FILES_H
#define SB_MODEL_RUN_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/path.h"
#include "base/status.h"

enum sb_run_file {
    SB_RUN_RECIPE,
    SB_RUN_METRICS,
    SB_RUN_UPDATES,
    SB_RUN_TRAJECTORY,
    SB_RUN_MODEL, /* these two: of a run that is finished */
    SB_RUN_RESULTS,
    SB_RUN_KEPT, /* the files above are a run; those below come and go with its training */
    SB_RUN_EPOCH = SB_RUN_KEPT,
    SB_RUN_LOCK,
    SB_RUN_FILES
};

const char *sb_run_file_name(enum sb_run_file file);

/* out = where the file is, whether it is there or not; SB_EARG: the path is too long. */
sb_status sb_run_path(const char *run, enum sb_run_file file, char out[SB_PATH_BYTES]);

/* Whether it is there. */
bool sb_run_has(const char *run, enum sb_run_file file);

/* As sb_run_path, but SB_EIO with what to do where the file is not there. */
sb_status sb_run_find(const char *run, enum sb_run_file file, char out[SB_PATH_BYTES]);

/* SB_EIO: the run has no such file, because its training has not ended. */
sb_status sb_run_unfinished(const char *run, enum sb_run_file file);

/* out = the directory of a member that is trained apart. */
sb_status sb_run_member(const char *run, uint32_t member, char out[SB_PATH_BYTES]);

/* out = the directory of the run that comes before, where a width is to be found. */
sb_status sb_run_width(const char *run, char out[SB_PATH_BYTES]);

#endif
