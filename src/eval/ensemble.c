/* ensemble - see ensemble.h. */
#include "eval/ensemble.h"

#include <string.h>

#include "base/mem.h"
#include "predict/gather.h"

/* ---- life ---------------------------------------------------------------------------- */

/* How this model is predicted with, and called in results: points have one way only, and
 * what has drawn scales alone has no noise of activations. */
static struct sb_sampling sampling_of(const struct sb_model *m,
                                      const struct sb_config_eval *how)
{
    struct sb_sampling s = sb_config_sampling(how);
    if (!sb_model_draws(m))
        return (struct sb_sampling){SB_SAMPLE_MEAN, 1};
    if (s.kind == SB_SAMPLE_NOISE && !m->info.gauss)
        s.kind = SB_SAMPLE_DRAW;
    return s;
}

sb_status sb_ensemble_init(struct sb_ensemble *e, const struct sb_env *env,
                           const struct sb_model *m, const struct sb_config_eval *how,
                           uint32_t batch)
{
    *e = (struct sb_ensemble){.env = env, .model = m, .sampling = sampling_of(m, how)};
    enum sb_load load = sb_load_for(m, &e->sampling);
    e->part = sb_malloc((size_t)SB_ENSEMBLE_CHUNK * m->members,
                        sb_model_prediction_size(&m->info) * sizeof *e->part);
    if (!e->part)
        return sb_fail(SB_ENOMEM, "no memory to predict %d examples", SB_ENSEMBLE_CHUNK);
    sb_status st =
        sb_loaded_init(&e->loaded, env, m, load, sb_plan_for(env, load, batch));
    struct sb_predictor_options o = {.env = env,
                                     .model = m,
                                     .loaded = &e->loaded,
                                     .sampling = e->sampling,
                                     .max_batch = batch};
    if (st == SB_OK)
        st = sb_predictor_init(&e->predictor, &o);
    if (st != SB_OK)
        return st;
    e->buffer =
        sb_malloc(SB_ENSEMBLE_CHUNK, (size_t)sb_ensemble_inputs(e) * m->info.height *
                                         m->info.width * sizeof(float));
    return e->buffer ? SB_OK
                     : sb_fail(SB_ENOMEM, "no memory to predict %d examples",
                               SB_ENSEMBLE_CHUNK);
}

void sb_ensemble_fini(struct sb_ensemble *e)
{
    if (!e)
        return;
    sb_predictor_fini(&e->predictor);
    sb_loaded_fini(&e->loaded);
    sb_free(e->buffer);
    sb_free(e->part);
    *e = (struct sb_ensemble){0};
}

sb_status sb_ensemble_check(const struct sb_ensemble *e, const struct sb_dataset *d)
{
    const struct sb_model_info *i = &e->model->info;
    uint32_t channels = sb_ensemble_inputs(e);
    if (d->channels != channels || d->height != i->height || d->width != i->width)
        return sb_fail(
            SB_EARG, "%s: examples are %u x %u x %u, the model takes %u x %u x %u",
            d->path, d->channels, d->height, d->width, channels, i->height, i->width);
    if (d->n == 0)
        return sb_fail(SB_EARG, "%s: there are no examples in it", d->path);
    return SB_OK;
}

/* ---- examples ------------------------------------------------------------------------ */

/* Of each member, a chunk's numbers go to their place: [n][numbers] at `at` of [all]. */
static void put_chunk(const struct sb_ensemble *e, const float *part, size_t numbers,
                      size_t n, float *out, size_t each)
{
    for (size_t m = 0; m < e->model->members; m++)
        memcpy(out + m * each, part + m * n * numbers, n * numbers * sizeof *out);
}

/* Examples at .. at + n - 1 of the chosen ones. */
static sb_status predict_chunk(struct sb_ensemble *e, const struct sb_chosen *c,
                               uint32_t at, uint32_t n, float *out)
{
    const struct sb_model_info *info = &e->model->info;
    size_t classes = info->classes, targets = info->targets;
    struct sb_input in = sb_gather_input(c->data, e->buffer);
    float *variance = e->part + (size_t)e->model->members * n * targets;
    struct sb_predictions predictions = {
        .members = targets ? NULL : e->part,
        .outcome = {.member_mean = targets ? e->part : NULL,
                    .member_var = targets ? variance : NULL}};
    sb_status st = sb_gather_run(c->data, c->index ? c->index + at : NULL, at, n,
                                 e->env->threads, e->buffer);
    if (st == SB_OK)
        st = sb_predictor_run(&e->predictor, &in, n, (uint64_t)c->first + at,
                              &predictions);
    if (st != SB_OK)
        return st;
    if (targets == 0) {
        put_chunk(e, e->part, classes, n, out + at * classes, c->n * classes);
        return SB_OK;
    }
    size_t each = 2 * targets * c->n;
    put_chunk(e, e->part, targets, n, out + at * targets, each);
    put_chunk(e, variance, targets, n, out + (c->n + at) * targets, each);
    return SB_OK;
}

sb_status sb_ensemble_predict(struct sb_ensemble *e, const struct sb_chosen *c,
                              float *out)
{
    sb_status st = SB_OK;
    for (uint32_t at = 0; at < c->n && st == SB_OK; at += SB_ENSEMBLE_CHUNK) {
        uint32_t n = c->n - at < SB_ENSEMBLE_CHUNK ? c->n - at : SB_ENSEMBLE_CHUNK;
        st = predict_chunk(e, c, at, n, out);
    }
    return st;
}

sb_status sb_ensemble_far(struct sb_ensemble *e, const struct sb_chosen *c, float *out)
{
    struct sb_input in = sb_gather_input(c->data, e->buffer);
    sb_status st = SB_OK;
    for (uint32_t at = 0; at < c->n && st == SB_OK; at += SB_ENSEMBLE_CHUNK) {
        uint32_t n = c->n - at < SB_ENSEMBLE_CHUNK ? c->n - at : SB_ENSEMBLE_CHUNK;
        struct sb_predictions predictions = {.far = out + at};
        st = sb_gather_run(c->data, c->index ? c->index + at : NULL, at, n,
                           e->env->threads, e->buffer);
        if (st == SB_OK)
            st = sb_predictor_run(&e->predictor, &in, n, (uint64_t)c->first + at,
                                  &predictions);
    }
    return st;
}
