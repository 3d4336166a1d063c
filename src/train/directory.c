/* directory - whose run directory it is, and whether a run may begin or go on in it.
 *
 * One process trains in a directory: it holds train.lock meanwhile. What is there is never
 * replaced by less: a directory in use takes no new run, and a run whose checkpoints are
 * gone is not begun anew over its own results.
 */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "model/checkpoint.h"
#include "recipe/options.h"
#include "train/state.h"

static sb_status lock(struct sb_trainer *t)
{
    char path[SB_PATH_BYTES];
    long owner = 0;
    sb_status st = sb_file_make_directory(t->options->out);
    if (st == SB_OK)
        st = sb_run_path(t->options->out, SB_RUN_LOCK, path);
    if (st == SB_OK)
        st = sb_lock_take(&t->lock, path, &owner);
    if (st != SB_OK || owner == 0)
        return st;
    return owner > 0
               ? sb_fail(SB_EARG,
                         "process %ld is training in %s; wait for it, or choose another "
                         "--out",
                         owner, t->options->out)
               : sb_fail(SB_EARG,
                         "another process is training in %s; wait for it, or choose "
                         "another --out",
                         t->options->out);
}

/* SB_EARG if one of a run's files from the first on is there: "<out> <what> (<name>)<rest>". */
static sb_status refuse_files(const struct sb_trainer *t, enum sb_run_file first,
                              const char *what, const char *rest)
{
    for (enum sb_run_file file = first; file < SB_RUN_KEPT; file++)
        if (sb_run_has(t->options->out, file))
            return sb_fail(SB_EARG, "%s %s (%s)%s", t->options->out, what,
                           sb_run_file_name(file), rest);
    return SB_OK;
}

/* Of the recipe a run was begun by: only what changes results. */
static sb_status read_recipe(const char *path, char **out)
{
    struct sb_recipe r;
    sb_recipe_init(&r);
    sb_status st = sb_recipe_read(&r, path);
    if (st == SB_OK)
        st = sb_recipe_resolve(&r);
    return st == SB_OK ? sb_recipe_canonical(&r, out) : st;
}

/* A run that was stopped before its first checkpoint: the same recipe begins again. */
static sb_status check_recipe(const struct sb_trainer *t)
{
    char path[SB_PATH_BYTES], *then = NULL;
    sb_status st = sb_run_path(t->options->out, SB_RUN_RECIPE, path);
    if (st != SB_OK || !sb_file_exists(path))
        return st;
    st = read_recipe(path, &then);
    if (st == SB_OK)
        st = sb_recipe_diff(path, then, t->canonical);
    sb_free(then);
    return st;
}

sb_status sb_trainer_enter_directory(struct sb_trainer *t, bool *go_on)
{
    sb_status st = lock(t);
    *go_on = st == SB_OK && t->options->resume && sb_checkpoint_exists(t->options->out);
    if (st != SB_OK || *go_on)
        return st;
    if (!t->options->resume)
        return refuse_files(t, SB_RUN_RECIPE, "already holds a run",
                            "; go on with --resume, or choose another --out");
    if (t->options->apart) /* made of its tasks, which are there: as often as need be */
        return check_recipe(t);
    st = refuse_files(t, SB_RUN_MODEL, "holds a finished run",
                      ", but no checkpoint to go on from; choose another --out, or "
                      "remove it to train it anew");
    return st == SB_OK ? check_recipe(t) : st;
}
