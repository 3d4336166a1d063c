/* sebays_eval - the part of include/sebays.h that evaluates runs. */
#include <stdio.h>
#include <string.h>

#include "api/callbacks.h"
#include "api/need.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/threads.h"
#include "eval/eval.h"
#include "kernels/kernels.h"
#include "model/run_files.h"
#include "recipe/options.h"
#include "sebays.h"

static sb_status set_samples(struct sb_recipe *r, const char *samples)
{
    struct sb_sampling s;
    char draws[16];
    sb_status st = sb_sampling_parse(samples, &s);
    if (st == SB_OK)
        st = sb_recipe_set(r, "eval.sampling", sb_sampling_words[s.kind]);
    if (st != SB_OK || s.kind != SB_SAMPLE_DRAWS)
        return st;
    snprintf(draws, sizeof draws, "%u", s.draws);
    return sb_recipe_set(r, "eval.draws", draws);
}

/* Only how it is evaluated may change: the rest is what was trained. */
static sb_status set_options(struct sb_recipe *r, const struct sebays_eval_options *o)
{
    sb_status st = o->samples ? set_samples(r, o->samples) : SB_OK;
    for (size_t i = 0; i < o->sets && st == SB_OK; i++)
        st = strncmp(o->set[i], "eval.", 5) == 0
                 ? sb_recipe_assign(r, o->set[i])
                 : sb_fail(SB_EARG, "'%s': only eval.* can be set after training",
                           o->set[i]);
    return st == SB_OK ? sb_recipe_resolve(r) : st;
}

static sb_status read_recipe(const char *run, const struct sebays_eval_options *o,
                             struct sb_recipe *r)
{
    char path[SB_PATH_BYTES];
    sb_status st = sb_run_find(run, SB_RUN_RECIPE, path);
    if (st != SB_OK)
        return st;
    sb_recipe_init(r);
    st = sb_recipe_read(r, path);
    return st == SB_OK ? set_options(r, o) : st;
}

static sb_status check_options(const struct sebays_eval_options *o)
{
    if (o->threads > SB_API_THREADS)
        return sb_fail(SB_EARG, "eval: %u threads; at most %d work", o->threads,
                       SB_API_THREADS);
    if ((o->sets > 0 && !o->set) || (o->oods > 0 && !o->ood))
        return sb_fail(SB_EARG, "eval: the list of %s is NULL",
                       o->sets > 0 && !o->set ? "options" : "out-of-distribution sets");
    for (size_t i = 0; i < o->sets; i++)
        if (!o->set[i])
            return sb_fail(SB_EARG, "eval: option %zu is NULL", i);
    for (size_t i = 0; i < o->oods; i++)
        if (!o->ood[i])
            return sb_fail(SB_EARG, "eval: out-of-distribution set %zu is NULL", i);
    return SB_OK;
}

sebays_status sebays_eval(const char *run, const struct sebays_eval_options *options,
                          char **out)
{
    const struct sebays_eval_options none = {0}, *o = options ? options : &none;
    SB_NEED(out);
    *out = NULL;
    SB_NEED(run);
    struct sb_callbacks callbacks = {.progress = o->progress,
                                     .progress_context = o->progress_context,
                                     .log = o->log,
                                     .log_context = o->log_context};
    struct sb_recipe recipe;
    sb_callbacks_begin(&callbacks, o->progress_seconds);
    struct sb_env env = {.threads = o->threads ? (int)o->threads : sb_threads_available(),
                         .log = sb_callbacks_log(&callbacks)};
    sb_status st = check_options(o);
    if (st == SB_OK)
        st = sb_kernels_choose(o->isa, &env.kernels);
    if (st == SB_OK)
        st = read_recipe(run, o, &recipe);
    if (st != SB_OK)
        return (sebays_status)st;
    recipe.config.data.last_dir = o->data_dir;
    struct sb_eval_options a = {.run = run,
                                .config = &recipe.config,
                                .method = recipe.method,
                                .test = o->test,
                                .ood = o->ood,
                                .oods = o->oods,
                                .corrupt = o->corrupt,
                                .attack = o->attack,
                                .all = o->all,
                                .force = o->force,
                                .progress = sb_callbacks_progress(&callbacks)};
    return (sebays_status)sb_eval_run(&env, &a, out);
}
