/* sebays_train - the part of include/sebays.h that runs things. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/callbacks.h"
#include "api/need.h"
#include "api/recipe.h"
#include "base/mem.h"
#include "base/threads.h"
#include "kernels/kernels.h"
#include "recipe/options.h"
#include "sebays.h"
#include "train/results.h"
#include "train/trainer.h"

struct sebays_result {
    struct sb_run_result run;
};

/* What a call shares with the library. */
struct call {
    struct sb_callbacks callbacks;
    struct sb_recipe recipe; /* the caller's, with one more place to look for data */
    struct sb_env env;
};

static sb_status begin(struct call *c, const struct sebays_recipe *recipe,
                       const struct sebays_run_options *options)
{
    uint32_t threads = recipe->recipe.config.train.threads;
    *c = (struct call){
        .callbacks = {.progress = options->progress,
                      .progress_context = options->progress_context,
                      .log = options->log,
                      .log_context = options->log_context},
        .recipe = recipe->recipe,
    };
    sb_callbacks_begin(&c->callbacks, options->progress_seconds);
    c->recipe.config.data.last_dir = options->data_dir;
    c->recipe.config.data.set_path = options->data_path;
    c->env.threads = threads ? (int)threads : sb_threads_available();
    c->env.log = sb_callbacks_log(&c->callbacks);
    if (!recipe->recipe.method)
        return sb_fail(SB_EARG,
                       "the recipe was not checked: call sebays_recipe_check first");
    return sb_kernels_choose(options->isa, &c->env.kernels);
}

/* ---- training ------------------------------------------------------------------------ */

sebays_status sebays_train(const struct sebays_recipe *recipe,
                           const struct sebays_run_options *options,
                           struct sebays_result **out)
{
    struct call c;
    struct sebays_result *result = NULL;
    struct sebays_run_options none = {0};
    SB_NEED(out);
    *out = NULL;
    SB_NEED(recipe);
    options = options ? options : &none;
    sb_status st = begin(&c, recipe, options);
    if (st == SB_OK && !options->out)
        st = sb_fail(SB_EARG, "training needs a run directory");
    if (st != SB_OK)
        goto done;
    result = sb_calloc(1, sizeof *result);
    if (!result) {
        st = sb_fail(SB_ENOMEM, "no memory for a result");
        goto done;
    }
    struct sb_run_options o = {
        .out = options->out,
        .resume = options->resume,
        .force = options->force,
        .progress = sb_callbacks_progress(&c.callbacks),
    };
    st = sb_run_train(&c.env, &c.recipe, &o, &result->run);
    if (st == SB_OK) {
        *out = result;
        result = NULL;
    }
done:
    sebays_result_free(result);
    return (sebays_status)st;
}

sebays_status sebays_result_load(const char *run, struct sebays_result **out)
{
    char path[4096];
    SB_NEED(out);
    *out = NULL;
    SB_NEED(run);
    int n = snprintf(path, sizeof path, "%s/results.json", run);
    if (n < 0 || (size_t)n >= sizeof path)
        return (sebays_status)sb_fail(SB_EARG, "a path of more than %zu bytes",
                                      sizeof path);
    struct sebays_result *result = sb_calloc(1, sizeof *result);
    if (!result)
        return (sebays_status)sb_fail(SB_ENOMEM, "no memory for a result");
    sb_status st = sb_results_read(path, &result->run);
    if (st == SB_OK)
        *out = result;
    else
        sebays_result_free(result);
    return (sebays_status)st;
}

void sebays_result_free(struct sebays_result *result)
{
    if (!result)
        return;
    sb_run_result_fini(&result->run);
    sb_free(result);
}

static struct sebays_scores scores(const struct sb_scores *s)
{
    return (struct sebays_scores){s->accuracy, s->nll, s->ece, s->brier};
}

uint32_t sebays_result_members(const struct sebays_result *result)
{
    return result ? result->run.members : 0;
}

struct sebays_scores sebays_result_member(const struct sebays_result *result, uint32_t i)
{
    struct sebays_scores none = {0};
    return result && i < result->run.members ? scores(&result->run.member[i]) : none;
}

struct sebays_scores sebays_result_ensemble(const struct sebays_result *result)
{
    struct sebays_scores none = {0};
    return result ? scores(&result->run.ensemble) : none;
}

double sebays_result_seconds(const struct sebays_result *result)
{
    return result ? result->run.train_seconds : NAN;
}

double sebays_result_images_per_second(const struct sebays_result *result)
{
    return result ? result->run.images_per_second : NAN;
}

double sebays_result_density(const struct sebays_result *result)
{
    return result ? result->run.density : NAN;
}

sebays_status sebays_plan(const struct sebays_recipe *recipe,
                          const struct sebays_run_options *options, char **out)
{
    struct call c;
    struct sebays_run_options none = {0};
    SB_NEED(out);
    *out = NULL;
    SB_NEED(recipe);
    sb_status st = begin(&c, recipe, options ? options : &none);
    if (st == SB_OK)
        st = sb_run_plan(&c.env, &c.recipe, out);
    return (sebays_status)st;
}

sebays_status sebays_recipe_fit(struct sebays_recipe *recipe,
                                const struct sebays_run_options *options)
{
    struct call c;
    struct sebays_run_options none = {0};
    SB_NEED(recipe);
    sb_status st = begin(&c, recipe, options ? options : &none);
    if (st == SB_OK)
        st = sb_run_fit(&c.env, &c.recipe);
    if (st != SB_OK)
        return (sebays_status)st;
    c.recipe.config.data.last_dir = c.recipe.config.data.set_path = NULL; /* borrowed */
    recipe->recipe = c.recipe;
    return SEBAYS_OK;
}
