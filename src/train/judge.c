/* judge - see judge.h. */
#include "train/judge.h"

#include <string.h>

#include "base/mem.h"
#include "figures/regression.h"
#include "kernels/kernels.h"
#include "predict/outcomes.h"
#include "predict/predictor.h"
#include "train/together.h"

/* What is right for the examples of job. */
static void copy_truth(struct sb_judging *j, const struct sb_job *job)
{
    const struct sb_dataset *d = job->source->data;
    size_t targets = j->model->info.targets;
    for (uint32_t i = 0; i < job->n; i++) {
        size_t at = job->index ? job->index[i] : i;
        if (j->target)
            memcpy(j->target + i * targets, d->targets + at * targets,
                   targets * sizeof *j->target);
        else if (j->label)
            j->label[i] = (int32_t)d->labels[at];
    }
}

sb_status sb_judging_init(struct sb_judging *j, const struct sb_trainer *t,
                          const struct sb_model *model, const struct sb_job *job)
{
    uint32_t members = model->members, targets = model->info.targets;
    size_t size = (size_t)job->n * sb_model_prediction_size(&model->info);
    *j = (struct sb_judging){.trainer = t, .model = model, .n = job->n};
    j->prediction = sb_malloc(size * members, sizeof *j->prediction);
    j->list = sb_calloc(members, sizeof *j->list);
    j->pointer = sb_calloc(members, 2 * sizeof *j->pointer);
    j->label = targets ? NULL : sb_malloc(job->n, sizeof *j->label);
    j->target = targets ? sb_malloc(job->n, targets * sizeof *j->target) : NULL;
    if (!j->prediction || !j->list || !j->pointer || (!j->label && !j->target))
        return sb_fail(SB_ENOMEM, "no memory to judge %u members on %u examples", members,
                       job->n);
    for (uint32_t m = 0; m < members; m++)
        j->list[m] = j->prediction + m * size;
    copy_truth(j, job);
    return SB_OK;
}

void sb_judging_fini(struct sb_judging *j)
{
    if (!j)
        return;
    sb_free(j->prediction);
    sb_free(j->list);
    sb_free(j->pointer);
    sb_free(j->label);
    sb_free(j->target);
    *j = (struct sb_judging){0};
}

/* ---- predictions --------------------------------------------------------------------- */

enum { AT_ONCE = 512 }; /* examples that are predicted together */

/* A predictor, and what a batch of examples is in. */
struct desk {
    struct sb_judging *j;
    const struct sb_job *job;
    struct sb_loaded loaded;
    struct sb_predictor predictor;
    struct sb_act x; /* [AT_ONCE] */
    uint32_t index[AT_ONCE], label[AT_ONCE];
    float *part;   /* [members][AT_ONCE][size] owned */
    float *places; /* [1 + members][AT_ONCE][SB_FAR_WIDTH] owned; NULL: not wanted */
};

static sb_status desk_init(struct desk *d, struct sb_sampling s)
{
    const struct sb_model *m = d->j->model;
    const struct sb_env *env = d->j->trainer->env;
    const struct sb_arch_node *in = &m->arch.node[0];
    enum sb_load load = sb_load_for(m, &s);
    struct sb_predictor_options o = {.env = env,
                                     .model = m,
                                     .loaded = &d->loaded,
                                     .sampling = s,
                                     .max_batch = AT_ONCE};
    sb_status st =
        sb_loaded_init(&d->loaded, env, m, load, sb_plan_for(env, load, AT_ONCE));
    if (st == SB_OK)
        st = sb_predictor_init(&d->predictor, &o);
    if (st == SB_OK)
        st = sb_act_init(&d->x, env->kernels->lanes, AT_ONCE, in->channels, in->height,
                         in->width);
    d->part = sb_malloc((size_t)AT_ONCE * m->members,
                        sb_model_prediction_size(&m->info) * sizeof *d->part);
    if (d->j->places)
        d->places = sb_malloc((size_t)AT_ONCE * (1 + m->members),
                              SB_FAR_WIDTH * sizeof *d->places);
    if (st == SB_OK && (!d->part || (d->j->places && !d->places)))
        st = sb_fail(SB_ENOMEM, "no memory to predict %d examples", AT_ONCE);
    return st;
}

static void desk_fini(struct desk *d)
{
    sb_predictor_fini(&d->predictor);
    sb_loaded_fini(&d->loaded);
    sb_act_fini(&d->x);
    sb_free(d->part);
    sb_free(d->places);
}

/* Predictions come as one array a member, or as two: means and variances. */
static uint32_t arrays_of(const struct sb_judging *j)
{
    return j->model->info.targets > 0 ? 2 : 1;
}

/* Array k of member m. */
static float *array_of(const struct sb_judging *j, uint32_t m, uint32_t k)
{
    size_t size = sb_model_prediction_size(&j->model->info);
    return j->prediction + ((size_t)m * size + k * size / arrays_of(j)) * j->n;
}

static float *place_of(const struct sb_judging *j, uint32_t place)
{
    return j->places + (size_t)place * j->n * SB_FAR_WIDTH;
}

/* Examples at .. at + n - 1 of the job's. */
static sb_status predict_part(struct desk *d, uint32_t at, uint32_t n)
{
    const struct sb_judging *j = d->j;
    uint32_t members = j->model->members, arrays = arrays_of(j);
    size_t numbers = sb_model_prediction_size(&j->model->info) / arrays;
    float *second = d->part + (size_t)members * n * numbers;
    struct sb_input in = {.data = &d->x, .type = SB_INPUT_ACT};
    struct sb_predictions classes = {.members = d->part, .places = d->places};
    struct sb_predictions outcomes = {
        .places = d->places, .outcome = {.member_mean = d->part, .member_var = second}};
    for (uint32_t i = 0; i < n; i++)
        d->index[i] = d->job->index ? d->job->index[at + i] : at + i;
    sb_act_set_batch(&d->x, n);
    sb_status st = sb_batch_fill(d->job->source, j->trainer->env->threads, d->index, n,
                                 &d->x, d->label);
    if (st == SB_OK)
        st = sb_predictor_run(&d->predictor, &in, n, at,
                              arrays > 1 ? &outcomes : &classes);
    for (uint32_t m = 0; m < members && st == SB_OK; m++)
        for (uint32_t k = 0; k < arrays; k++)
            memcpy(array_of(j, m, k) + at * numbers,
                   d->part + ((size_t)k * members + m) * n * numbers,
                   n * numbers * sizeof *d->part);
    for (uint32_t p = 0; p <= members && st == SB_OK && d->places; p++)
        memcpy(place_of(j, p) + (size_t)at * SB_FAR_WIDTH,
               d->places + (size_t)p * n * SB_FAR_WIDTH,
               (size_t)n * SB_FAR_WIDTH * sizeof *d->places);
    return st;
}

/* Every process has predicted its part of the examples; now all have all. */
static sb_status gather(const struct sb_judging *j)
{
    uint32_t arrays = arrays_of(j);
    size_t numbers = sb_model_prediction_size(&j->model->info) / arrays;
    sb_status st = SB_OK;
    for (uint32_t m = 0; m < j->model->members; m++)
        for (uint32_t k = 0; k < arrays && st == SB_OK; k++)
            st = sb_together_gather(j->trainer, "predictions", j->n,
                                    numbers * sizeof(float), array_of(j, m, k));
    for (uint32_t p = 0; p <= j->model->members && st == SB_OK && j->places; p++)
        st = sb_together_gather(j->trainer, "places", j->n, SB_FAR_WIDTH * sizeof(float),
                                place_of(j, p));
    return st;
}

sb_status sb_judging_run(struct sb_judging *j, const struct sb_job *job,
                         struct sb_sampling s)
{
    struct desk *d = sb_calloc(1, sizeof *d);
    uint32_t first, end;
    if (!d)
        return sb_fail(SB_ENOMEM, "no memory to predict %d examples", AT_ONCE);
    d->j = j;
    d->job = job;
    sb_together_part(j->trainer, job->n, &first, &end);
    sb_status st = desk_init(d, s);
    for (uint32_t at = first; at < end && st == SB_OK; at += AT_ONCE)
        st = predict_part(d, at, end - at < AT_ONCE ? end - at : AT_ONCE);
    desk_fini(d);
    sb_free(d);
    return st == SB_OK ? gather(j) : st;
}

sb_status sb_judging_finished(struct sb_judging *j, const struct sb_trainer *t,
                              const struct sb_job *job, struct sb_model *model)
{
    sb_status st = sb_trainer_model(t, t->trained, t->trained_count, model);
    if (st == SB_OK)
        st = sb_judging_init(j, t, model, job);
    return st == SB_OK ? sb_judging_run(j, job, sb_config_sampling(&t->config->eval))
                       : st;
}

/* ---- figures ------------------------------------------------------------------------- */

struct sb_probs sb_judging_probs(const struct sb_judging *j, uint32_t first,
                                 uint32_t count)
{
    return (struct sb_probs){&j->list[first], count, j->n, j->model->info.classes};
}

struct sb_mixture sb_judging_mixture(const struct sb_judging *j, uint32_t first,
                                     uint32_t count)
{
    struct sb_mixture m;
    sb_outcomes_mixture(&j->model->info, &j->list[first], count, j->n, j->pointer, &m);
    return m;
}

sb_status sb_judging_figures(const struct sb_judging *j, uint32_t first, uint32_t count,
                             struct sb_figures *out)
{
    *out = sb_figures_none(j->model->info.likelihood);
    if (j->label) {
        struct sb_probs p = sb_judging_probs(j, first, count);
        struct sb_scores s;
        sb_status st = sb_metrics_of(&p, j->label, j->trainer->config->eval.bins, &s);
        if (st == SB_OK)
            *out = sb_figures_of_classes(s.accuracy, s.nll, s.ece, s.brier);
        return st;
    }
    struct sb_mixture m = sb_judging_mixture(j, first, count);
    struct sb_outcome_scores s;
    sb_status st = sb_regression_scores(&m, j->target, &s);
    if (st == SB_OK) {
        out->value[SB_OUTCOMES_NLL] = s.nll;
        out->value[SB_OUTCOMES_RMSE] = s.rmse;
        out->value[SB_OUTCOMES_MAE] = s.mae;
        out->value[SB_OUTCOMES_CRPS] = s.crps;
    }
    return st;
}
