/* run_files - see run_files.h. */
#include "model/run_files.h"

#include <stdio.h>

#include "base/file.h"

static const char *const names[SB_RUN_FILES] = {
    [SB_RUN_RECIPE] = "recipe.ini",       [SB_RUN_METRICS] = "metrics.jsonl",
    [SB_RUN_UPDATES] = "updates.jsonl",   [SB_RUN_TRAJECTORY] = "trajectory.npy",
    [SB_RUN_MODEL] = "model.safetensors", [SB_RUN_RESULTS] = "results.json",
    [SB_RUN_EPOCH] = "epoch.safetensors", [SB_RUN_LOCK] = "train.lock",
};

const char *sb_run_file_name(enum sb_run_file file)
{
    return names[file];
}

sb_status sb_run_path(const char *run, enum sb_run_file file, char out[SB_PATH_BYTES])
{
    return sb_path_join(out, run, names[file]);
}

bool sb_run_has(const char *run, enum sb_run_file file)
{
    char path[SB_PATH_BYTES];
    return sb_run_path(run, file, path) == SB_OK && sb_file_exists(path);
}

sb_status sb_run_unfinished(const char *run, enum sb_run_file file)
{
    return sb_fail(SB_EIO,
                   "%s has no %s: its training has not ended; go on with: sebays train "
                   "%s/%s --out %s --resume",
                   run, names[file], run, names[SB_RUN_RECIPE], run);
}

sb_status sb_run_find(const char *run, enum sb_run_file file, char out[SB_PATH_BYTES])
{
    sb_status st = sb_run_path(run, file, out);
    if (st != SB_OK || sb_file_exists(out))
        return st;
    if (file != SB_RUN_RECIPE && sb_run_has(run, SB_RUN_RECIPE))
        return sb_run_unfinished(run, file);
    return sb_fail(SB_EIO,
                   "%s is no run directory, it has no %s; want one that 'sebays train' "
                   "made",
                   run, names[SB_RUN_RECIPE]);
}

sb_status sb_run_member(const char *run, uint32_t member, char out[SB_PATH_BYTES])
{
    char name[32];
    snprintf(name, sizeof name, "member-%u", member);
    return sb_path_join(out, run, name);
}

sb_status sb_run_width(const char *run, char out[SB_PATH_BYTES])
{
    return sb_path_join(out, run, "width");
}
