/* sebays_train - the part of include/sebays.h that runs things. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/callbacks.h"
#include "api/handles.h"
#include "api/need.h"
#include "base/mem.h"
#include "base/threads.h"
#include "kernels/kernels.h"
#include "model/run_files.h"
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
    c->env.comm = sb_api_comm(options->ranks);
    if (!recipe->recipe.method)
        return sb_fail(SB_EARG,
                       "the recipe was not checked: call sebays_recipe_check first");
    return sb_kernels_choose(options->isa, &c->env.kernels);
}

/* ---- training ------------------------------------------------------------------------ */

/* runs NULL: trains; else makes a run of these. */
static sb_status carry_out(struct call *c, const struct sebays_run_options *options,
                           const char *const *runs, size_t count,
                           struct sb_run_result *out)
{
    struct sb_run_options o = {
        .out = options->out,
        .resume = options->resume,
        .force = options->force,
        .progress = sb_callbacks_progress(&c->callbacks),
        .one_member = options->one_member,
        .member = options->member,
        .dense_from = options->dense_from,
        .version = sebays_version(),
    };
    return runs ? sb_run_merge(&c->env, &c->recipe, &o, runs, (uint32_t)count, out)
                : sb_run_train(&c->env, &c->recipe, &o, out);
}

static sb_status make_run(const struct sebays_recipe *recipe,
                          const struct sebays_run_options *options,
                          const char *const *runs, size_t count,
                          struct sebays_result **out)
{
    struct call c;
    struct sebays_run_options none = {0};
    options = options ? options : &none;
    sb_status st = begin(&c, recipe, options);
    if (st == SB_OK && !options->out)
        st = sb_fail(SB_EARG, "training needs a run directory");
    if (st != SB_OK)
        return st;
    struct sebays_result *result = sb_calloc(1, sizeof *result);
    if (!result)
        return sb_fail(SB_ENOMEM, "no memory for a result");
    st = carry_out(&c, options, runs, count, &result->run);
    if (st == SB_OK)
        *out = result;
    else
        sebays_result_free(result);
    return st;
}

sebays_status sebays_train(const struct sebays_recipe *recipe,
                           const struct sebays_run_options *options,
                           struct sebays_result **out)
{
    SB_NEED(out);
    *out = NULL;
    SB_NEED(recipe);
    return (sebays_status)make_run(recipe, options, NULL, 0, out);
}

const char *sebays_run_file(size_t i)
{
    return i < SB_RUN_KEPT ? sb_run_file_name((enum sb_run_file)i) : NULL;
}

sebays_status sebays_merge(const struct sebays_recipe *recipe,
                           const struct sebays_run_options *options,
                           const char *const *runs, size_t count,
                           struct sebays_result **out)
{
    SB_NEED(out);
    *out = NULL;
    SB_NEED(recipe);
    SB_NEED(runs);
    if (count > UINT32_MAX)
        return (sebays_status)sb_fail(SB_EARG, "%zu runs are too many", count);
    for (size_t i = 0; i < count; i++)
        SB_NEED(runs[i]);
    return (sebays_status)make_run(recipe, options, runs, count, out);
}

sebays_status sebays_result_load(const char *run, struct sebays_result **out)
{
    char path[SB_PATH_BYTES];
    SB_NEED(out);
    *out = NULL;
    SB_NEED(run);
    sb_status st = sb_run_path(run, SB_RUN_RESULTS, path);
    if (st != SB_OK)
        return (sebays_status)st;
    struct sebays_result *result = sb_calloc(1, sizeof *result);
    if (!result)
        return (sebays_status)sb_fail(SB_ENOMEM, "no memory for a result");
    st = sb_results_read(path, &result->run);
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

static struct sebays_scores scores(const struct sb_figures *f)
{
    bool classes = f->list == sb_figures_none(SB_LIKELIHOOD_CATEGORICAL).list;
    const double *v = f->value;
    return classes ? (struct sebays_scores){v[SB_CLASSES_ACC], v[SB_CLASSES_NLL],
                                            v[SB_CLASSES_ECE], v[SB_CLASSES_BRIER]}
                   : (struct sebays_scores){NAN, v[SB_OUTCOMES_NLL], NAN, NAN};
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

uint32_t sebays_result_figures(const struct sebays_result *result)
{
    return result ? result->run.ensemble.list->count : 0;
}

const char *sebays_result_figure_name(const struct sebays_result *result, uint32_t i)
{
    return i < sebays_result_figures(result) ? result->run.ensemble.list->kind[i].name
                                             : NULL;
}

bool sebays_result_figure_rises(const struct sebays_result *result, uint32_t i)
{
    return i < sebays_result_figures(result) && result->run.ensemble.list->kind[i].rises;
}

double sebays_result_figure(const struct sebays_result *result, uint32_t member,
                            uint32_t i)
{
    if (i >= sebays_result_figures(result) || member > result->run.members)
        return NAN;
    const struct sb_figures *f = member < result->run.members
                                     ? &result->run.member[member]
                                     : &result->run.ensemble;
    return f->value[i];
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
        st = sb_run_plan(&c.env, &c.recipe, sb_callbacks_progress(&c.callbacks), out);
    return (sebays_status)st;
}

sebays_status sebays_sizes(const struct sebays_recipe *recipe,
                           const struct sebays_run_options *options,
                           const uint32_t *members, size_t count, double *sparsity,
                           double *cost)
{
    struct call c;
    struct sebays_run_options none = {0};
    SB_NEED(recipe);
    SB_NEED(members);
    SB_NEED(sparsity);
    SB_NEED(cost);
    sb_status st = begin(&c, recipe, options ? options : &none);
    if (st == SB_OK)
        st = sb_run_sizes(&c.env, &c.recipe, members, count, sparsity, cost);
    return (sebays_status)st;
}

sebays_status sebays_forecast(const struct sebays_recipe *recipe,
                              const struct sebays_run_options *options,
                              const uint32_t *ranks, size_t count, double bits,
                              double latency, char **out)
{
    struct call c;
    struct sebays_run_options none = {0};
    struct sb_network network = {bits, latency};
    SB_NEED(out);
    *out = NULL;
    SB_NEED(recipe);
    SB_NEED(ranks);
    if (count > SB_API_THREADS)
        return (sebays_status)sb_fail(SB_EARG, "a forecast has at most %d rows",
                                      SB_API_THREADS);
    sb_status st = begin(&c, recipe, options ? options : &none);
    if (st == SB_OK)
        st = sb_run_forecast(&c.env, &c.recipe, sb_callbacks_progress(&c.callbacks),
                             ranks, count, &network, out);
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
