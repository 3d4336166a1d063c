/* sebays_train - the part of include/sebays.h that runs things. */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/threads.h"
#include "kernels/kernels.h"
#include "options.h"
#include "sebays.h"
#include "sebays_recipe.h"
#include "train/trainer.h"

struct sebays_result {
    struct sb_run_result run;
};

/* ---- callbacks, translated ----------------------------------------------------------- */

static bool report(void *context, const struct sb_progress_report *r)
{
    const struct sebays_run_options *o = context;
    struct sebays_progress p = {
        .phase = r->phase,
        .done = r->done,
        .total = r->total,
        .member = r->member,
        .members = r->members,
        .epoch = r->epoch,
        .epochs = r->epochs,
        .rate = r->rate,
        .seconds = r->seconds,
        .seconds_left = r->seconds_left,
        .loss = r->loss,
        .accuracy = r->accuracy,
        .ended = r->ended,
    };
    return o->progress(o->progress_context, &p);
}

static void write_log(void *context, enum sb_log_level level, const char *line)
{
    const struct sebays_run_options *o = context;
    o->log(o->log_context, (enum sebays_level)level, line);
}

/* What a call shares with the library. */
struct call {
    struct sebays_run_options options; /* a copy: callbacks get its address */
    struct sb_log log;
    struct sb_progress progress;
    struct sb_env env;
};

static sb_status begin(struct call *c, const struct sebays_recipe *recipe,
                       const struct sebays_run_options *options)
{
    uint32_t threads = recipe->recipe.config.train.threads;
    *c = (struct call){.options = *options};
    c->log =
        (struct sb_log){.level = SB_LOG_INFO, .write = write_log, .context = &c->options};
    c->progress = (struct sb_progress){
        .report = report, .context = &c->options, .interval = options->progress_seconds};
    c->env.threads = threads ? (int)threads : sb_threads_available();
    c->env.log = options->log ? &c->log : NULL;
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
    char *text = NULL, *essence = NULL;
    struct sebays_result *result = NULL;
    *out = NULL;
    sb_status st = begin(&c, recipe, options);
    if (st == SB_OK && !options->out)
        st = sb_fail(SB_EARG, "training needs a run directory");
    if (st == SB_OK)
        st = sb_recipe_write(&recipe->recipe, false, &text);
    if (st == SB_OK)
        st = sb_recipe_essence(&recipe->recipe, &essence);
    if (st != SB_OK)
        goto done;
    result = sb_calloc(1, sizeof *result);
    if (!result) {
        st = sb_fail(SB_ENOMEM, "no memory for a result");
        goto done;
    }
    struct sb_run_options o = {
        .out = options->out,
        .recipe = text,
        .essence = essence,
        .resume = options->resume,
        .progress = options->progress ? &c.progress : NULL,
    };
    st = sb_run_train(&c.env, &recipe->recipe.config, recipe->recipe.method, &o,
                      &result->run);
    if (st == SB_OK) {
        *out = result;
        result = NULL;
    }
done:
    sebays_result_free(result);
    sb_free(text);
    sb_free(essence);
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
    return result->run.members;
}

struct sebays_scores sebays_result_member(const struct sebays_result *result, uint32_t i)
{
    struct sebays_scores none = {0};
    return i < result->run.members ? scores(&result->run.member[i]) : none;
}

struct sebays_scores sebays_result_ensemble(const struct sebays_result *result)
{
    return scores(&result->run.ensemble);
}

double sebays_result_seconds(const struct sebays_result *result)
{
    return result->run.train_seconds;
}

double sebays_result_images_per_second(const struct sebays_result *result)
{
    return result->run.images_per_second;
}

double sebays_result_density(const struct sebays_result *result)
{
    return result->run.density;
}

sebays_status sebays_plan(const struct sebays_recipe *recipe,
                          const struct sebays_run_options *options, char **out)
{
    struct call c;
    *out = NULL;
    sb_status st = begin(&c, recipe, options);
    if (st == SB_OK)
        st = sb_run_plan(&c.env, &recipe->recipe.config, recipe->recipe.method, out);
    return (sebays_status)st;
}
