/* width - how wide the mixture of the members is: model.width = fitted (figures/width.h).
 *
 * Rows that members were not trained on tell it. The calibration part, if there is one:
 * conformal intervals stay as they are, since their scores are divided by what deviations are
 * multiplied with. Else the validation part. Where all rows are trained on, a preliminary run
 * holds some of them out as its calibration part, so that it ends with a width; it has the
 * same recipe but for half of the members, if these are trained one out of the other. It is a
 * whole run, in a directory of the run directory, so that it is resumed like any other, and a
 * function of recipe and data like any other.
 */
#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "figures/width.h"
#include "train/judge.h"
#include "train/state.h"

static const double SHARE = 0.15; /* of the rows, held out by the preliminary run */
enum { ROWS_LEAST = 20 };

static bool is_fitted(const struct sb_trainer *t)
{
    return t->config->model.width == SB_CONFIG_WIDTH_FITTED;
}

/* Whether a run must come before. */
static bool wants_run(const struct sb_trainer *t)
{
    return is_fitted(t) && t->source.calibrations == 0 &&
           t->source.part.validation_count == 0;
}

sb_status sb_trainer_check_width(const struct sb_trainer *t)
{
    if (is_fitted(t) && !t->source.train.targets)
        return sb_fail(SB_EARG, "model.width = fitted is for regression: it makes the "
                                "intervals of continuous targets wider or narrower; "
                                "leave it out");
    if (!wants_run(t))
        return SB_OK;
    if (t->method->schedule == SB_SCHEDULE_PARALLEL)
        return sb_fail(SB_EARG,
                       "model.width = fitted: %s trains its members apart, and on all "
                       "rows; hold some out with data.validation or data.calibration, or "
                       "leave it out",
                       t->method->name);
    if (t->source.part.train_count < ROWS_LEAST)
        return sb_fail(SB_EARG,
                       "model.width = fitted: there are %u rows to train on, of which "
                       "%g %% are too few to tell; want at least %d, or leave it out",
                       t->source.part.train_count, 100 * SHARE, ROWS_LEAST);
    return SB_OK;
}

static struct sb_recipe recipe_of(const struct sb_trainer *t)
{
    struct sb_recipe r = t->recipe;
    uint32_t *members = &r.config.method.members;
    r.config.data.calibration = SHARE;
    if (t->method->schedule == SB_SCHEDULE_SEQUENTIAL && *members > 1)
        *members = (*members + 1) / 2;
    if (*members < t->method->least_members)
        *members = t->method->least_members;
    return r;
}

sb_status sb_trainer_width_schedule(const struct sb_trainer *t, struct sb_schedule *s,
                                    uint32_t *rows)
{
    struct sb_recipe r = recipe_of(t);
    *s = (struct sb_schedule){0};
    *rows = t->source.part.train_count;
    if (!wants_run(t))
        return SB_OK;
    *rows -= (uint32_t)(SHARE * *rows + 0.5);
    sb_status st = sb_schedule_init(s, &r.config, t->method, *rows);
    s->config = NULL; /* r goes */
    return st;
}

/* ---- the preliminary run --------------------------------------------------------------- */

static void say_width(const struct sb_trainer *t)
{
    for (uint32_t k = 0; k < t->source.train.target_count; k++)
        sb_log_write(t->env->log, SB_LOG_INFO,
                     "width of %s: deviations are %.4g times what the members say",
                     t->source.train.target_names[k], (double)t->width[k]);
}

/* Its data, which is this run's, may not be cut once more: all rows of one group. */
static sb_status cannot(struct sb_trainer *t)
{
    sb_log_write(t->env->log, SB_LOG_WARN,
                 "model.width = fitted: no rows can be held out to tell, and intervals "
                 "stay as the members say: %s",
                 sb_message());
    return SB_OK;
}

static void take(struct sb_trainer *t, struct sb_run_result *r)
{
    t->width = r->target_width;
    r->target_width = NULL;
    for (uint32_t k = 0; t->width && k < t->source.train.target_count; k++)
        t->width[k] = (float)sb_width_of_fewer((double)t->width[k]);
    t->before = (struct sb_width_cost){
        .flops = r->training_flops,
        .seconds = r->train_seconds,
        .images = (uint64_t)(r->images_per_second * r->train_seconds + 0.5),
    };
}

sb_status sb_trainer_find_width(struct sb_trainer *t)
{
    struct sb_env quiet = *t->env;
    struct sb_run_options o = *t->options;
    struct sb_run_result result = {0};
    struct sb_trainer first;
    char directory[SB_PATH_BYTES];
    if (!wants_run(t))
        return SB_OK;
    sb_status st = sb_run_width(t->options->out, directory);
    if (st != SB_OK)
        return st;
    quiet.log = NULL; /* what is odd has been said */
    o.out = directory;
    o.preliminary = true;
    struct sb_recipe recipe = recipe_of(t);
    st = sb_trainer_open(&first, &quiet, &recipe, &o);
    if (st == SB_EARG) {
        sb_trainer_close(&first);
        return cannot(t);
    }
    if (st == SB_OK && !o.resume)
        sb_log_write(t->env->log, SB_LOG_INFO,
                     "first a run that holds %u rows out tells how wide intervals are",
                     first.source.calibrations);
    if (st == SB_OK)
        st = sb_trainer_train_open(&first, &result);
    sb_trainer_close(&first);
    if (st == SB_OK)
        take(t, &result);
    sb_run_result_fini(&result);
    t->began = t->saved = sb_trainer_clock(); /* its time is in its result */
    return st;
}

void sb_trainer_add_width_cost(struct sb_trainer *t)
{
    t->at.flops += t->before.flops;
    t->at.seconds += t->before.seconds;
    t->at.images += t->before.images;
}

/* ---- the end of a run ------------------------------------------------------------------ */

static sb_status fit(struct sb_trainer *t, const struct sb_judging *j)
{
    uint32_t targets = j->model->info.targets;
    struct sb_mixture m = sb_judging_mixture(j, 0, j->model->members);
    float *width = sb_malloc(targets, sizeof *width);
    sb_status st = width ? SB_OK : sb_fail(SB_ENOMEM, "no memory for %u widths", targets);
    for (uint32_t k = 0; k < targets && st == SB_OK; k++) {
        double s;
        st = sb_width_fit(&m, j->target, k, &s);
        width[k] = (float)s;
    }
    if (st == SB_OK)
        t->width = width;
    else
        sb_free(width);
    return st;
}

sb_status sb_trainer_fit_width(struct sb_trainer *t)
{
    const struct sb_source *s = &t->source;
    bool calibrates = s->calibrations > 0;
    struct sb_job job = {.source = &s->train_clean,
                         .index = calibrates ? s->calibration : s->part.valid,
                         .n = calibrates ? s->calibrations : s->part.validation_count};
    struct sb_model model = {0};
    struct sb_judging j = {0};
    sb_status st = SB_OK;
    if (is_fitted(t) && !t->width && job.n > 0) {
        st = sb_judging_finished(&j, t, &job, &model);
        if (st == SB_OK)
            st = fit(t, &j);
    }
    if (st == SB_OK && t->width)
        say_width(t);
    sb_judging_fini(&j);
    sb_model_fini(&model);
    return st;
}
