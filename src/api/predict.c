/* sebays_predict - the part of include/sebays.h about prediction. */
#include "api/model.h"
#include "api/need.h"
#include "base/mem.h"
#include "base/threads.h"
#include "kernels/kernels.h"
#include "predict/predictor.h"

enum { BATCH = 64, MOST_BATCH = 1 << 20, MOST_LEVELS = 1 << 16 };

_Static_assert((int)SEBAYS_DRAW == (int)SB_SAMPLE_DRAW &&
                   (int)SEBAYS_DRAWS == (int)SB_SAMPLE_DRAWS &&
                   (int)SEBAYS_MEAN == (int)SB_SAMPLE_MEAN &&
                   (int)SEBAYS_NOISE == (int)SB_SAMPLE_NOISE,
               "the library's ways of sampling are those of the header");

sebays_status sebays_sampling_read(const char *samples,
                                   struct sebays_predictor_options *options)
{
    struct sb_sampling s;
    SB_NEED(samples);
    SB_NEED(options);
    sb_status st = sb_sampling_parse(samples, &s);
    if (st != SB_OK)
        return (sebays_status)st;
    options->sampling = (enum sebays_sampling)s.kind;
    options->draws = s.draws;
    return SEBAYS_OK;
}

static sb_status sampling_of(const struct sebays_predictor_options *o,
                             struct sb_sampling *out)
{
    if ((unsigned)o->sampling > SEBAYS_NOISE)
        return sb_fail(SB_EARG, "predictor: there is no way of sampling number %u",
                       (unsigned)o->sampling);
    bool several = o->sampling == SEBAYS_DRAWS || o->sampling == SEBAYS_NOISE;
    *out = (struct sb_sampling){(enum sb_sample_kind)o->sampling,
                                several && o->draws ? o->draws : 1};
    return SB_OK;
}

static sb_status check(const struct sebays_predictor_options *o)
{
    if (o->max_batch > MOST_BATCH)
        return sb_fail(SB_EARG, "predictor: max_batch %u; at most %d work", o->max_batch,
                       MOST_BATCH);
    if (o->threads > SB_API_THREADS)
        return sb_fail(SB_EARG, "predictor: %u threads; at most %d work", o->threads,
                       SB_API_THREADS);
    return SB_OK;
}

/* What is loaded for env and, where its kernels are wide, for few examples at once, too. */
static sb_status share(const struct sebays_model *model, struct sb_env *env,
                       struct sb_predictor_options *p)
{
    enum sb_load load = sb_load_for(&model->model, &p->sampling);
    struct sb_env few = *env;
    if (env->kernels->narrow && p->max_batch <= SB_FEW_IMAGES)
        env->kernels = env->kernels->narrow;
    sb_status st =
        sb_share_get(model, env, load, sb_plan_for(env, load, p->max_batch), &p->loaded);
    if (st != SB_OK || !env->kernels->narrow)
        return st;
    few.kernels = env->kernels->narrow;
    return sb_share_get(model, &few, load, sb_plan_for(&few, load, SB_FEW_IMAGES),
                        &p->few);
}

sebays_status sebays_predictor_new(const struct sebays_model *model,
                                   const struct sebays_predictor_options *options,
                                   struct sebays_predictor **out)
{
    struct sebays_predictor_options o = {0};
    struct sb_env env = {0};
    SB_NEED(out);
    *out = NULL;
    SB_NEED(model);
    struct sb_predictor_options p = {.env = &env, .model = &model->model};
    if (options)
        o = *options;
    env.threads = o.threads ? (int)o.threads : sb_threads_available();
    p.max_batch = o.max_batch ? o.max_batch : BATCH;
    sb_status st = check(&o);
    if (st == SB_OK)
        st = sampling_of(&o, &p.sampling);
    if (st == SB_OK)
        st = sb_kernels_choose(o.isa, &env.kernels);
    if (st == SB_OK)
        st = share(model, &env, &p);
    if (st != SB_OK)
        return (sebays_status)st;
    struct sebays_predictor *made = sb_calloc(1, sizeof *made);
    if (!made)
        return (sebays_status)sb_fail(SB_ENOMEM, "no memory for a predictor");
    st = sb_predictor_init(&made->predictor, &p);
    if (st == SB_OK)
        *out = made;
    else
        sebays_predictor_free(made);
    return (sebays_status)st;
}

void sebays_predictor_free(struct sebays_predictor *predictor)
{
    if (!predictor)
        return;
    sb_predictor_fini(&predictor->predictor);
    sb_free(predictor);
}

/* ---- examples ------------------------------------------------------------------------ */

/* Bytes to the next example, channel, row and column. */
static sb_status input_of(const struct sb_predictor *p, const struct sebays_examples *e,
                          struct sb_input *in)
{
    const struct sb_model_info *m = &p->model->info;
    bool bytes = e->type == SEBAYS_U8;
    ptrdiff_t size = bytes ? 1 : (ptrdiff_t)sizeof(float);
    ptrdiff_t c = (ptrdiff_t)sb_normalise_inputs(&p->normal), h = (ptrdiff_t)m->height,
              w = (ptrdiff_t)m->width;
    if (e->type != SEBAYS_F32 && !bytes)
        return sb_fail(SB_EARG, "examples: there is no type number %u",
                       (unsigned)e->type);
    if ((unsigned)e->layout > SEBAYS_STRIDED)
        return sb_fail(SB_EARG, "examples: there is no layout number %u",
                       (unsigned)e->layout);
    if (!e->data && e->count > 0)
        return sb_fail(SB_EARG, "examples: data is NULL; want %zu examples", e->count);
    *in = (struct sb_input){.data = e->data, .type = bytes ? SB_INPUT_U8 : SB_INPUT_F32};
    for (int i = 0; i < 4; i++) {
        const ptrdiff_t nchw[] = {c * h * w, h * w, w, 1},
                        nhwc[] = {h * w * c, 1, w * c, c};
        in->stride[i] = e->layout == SEBAYS_STRIDED ? e->stride[i]
                        : e->layout == SEBAYS_NHWC  ? nhwc[i] * size
                                                    : nchw[i] * size;
    }
    return SB_OK;
}

sb_status sb_predictions_of(const struct sb_model *m, const struct sebays_prediction *out,
                            struct sb_predictions *predictions)
{
    if (m->info.targets > 0)
        return sb_fail(SB_EARG, "the model predicts continuous targets, which have no "
                                "probabilities; ask for outcomes");
    *predictions = (struct sb_predictions){
        .members = out->members,
        .sum = {out->probabilities, out->total, out->aleatoric, out->epistemic,
                out->votes},
        .far = out->far,
    };
    return SB_OK;
}

sb_status sb_predictions_of_outcomes(const struct sb_model *m,
                                     const struct sebays_outcomes *out,
                                     struct sb_predictions *predictions)
{
    if (m->info.targets == 0)
        return sb_fail(SB_EARG,
                       "the model tells %u classes apart, and has no continuous "
                       "targets; ask for probabilities",
                       m->info.classes);
    if (out->quantiles && !out->levels)
        return sb_fail(SB_EARG, "outcomes: quantiles are wanted, but levels is NULL");
    if (out->level_count > MOST_LEVELS)
        return sb_fail(SB_EARG, "outcomes: %zu levels; at most %d work", out->level_count,
                       MOST_LEVELS);
    for (size_t i = 0; out->quantiles && i < out->level_count; i++)
        if (!(out->levels[i] > 0 && out->levels[i] < 1))
            return sb_fail(SB_EARG, "outcomes: level %zu is %g; want one in (0, 1)", i,
                           out->levels[i]);
    *predictions =
        (struct sb_predictions){.far = out->far,
                                .outcome = {.mean = out->mean,
                                            .sd = out->sd,
                                            .aleatoric = out->aleatoric,
                                            .epistemic = out->epistemic,
                                            .quantile = out->quantiles,
                                            .level = out->levels,
                                            .levels = (uint32_t)out->level_count,
                                            .member_mean = out->member_means,
                                            .member_var = out->member_variances}};
    return SB_OK;
}

static sb_status run(struct sb_predictor *p, const struct sebays_examples *examples,
                     const struct sb_predictions *predictions)
{
    struct sb_input in;
    sb_status st = input_of(p, examples, &in);
    return st == SB_OK
               ? sb_predictor_run(p, &in, examples->count, examples->first, predictions)
               : st;
}

sebays_status sebays_predict(struct sebays_predictor *predictor,
                             const struct sebays_examples *examples,
                             const struct sebays_prediction *out)
{
    SB_NEED(predictor);
    SB_NEED(examples);
    SB_NEED(out);
    struct sb_predictions predictions;
    sb_status st = sb_predictions_of(predictor->predictor.model, out, &predictions);
    return (sebays_status)(st == SB_OK
                               ? run(&predictor->predictor, examples, &predictions)
                               : st);
}

sebays_status sebays_predict_outcomes(struct sebays_predictor *predictor,
                                      const struct sebays_examples *examples,
                                      const struct sebays_outcomes *out)
{
    SB_NEED(predictor);
    SB_NEED(examples);
    SB_NEED(out);
    struct sb_predictions predictions;
    sb_status st =
        sb_predictions_of_outcomes(predictor->predictor.model, out, &predictions);
    return (sebays_status)(st == SB_OK
                               ? run(&predictor->predictor, examples, &predictions)
                               : st);
}

const char *sebays_predictor_note(struct sebays_predictor *predictor)
{
    const struct sb_predictor *p = predictor ? &predictor->predictor : NULL;
    return p && sb_missing_note(&p->missing, p->columns, predictor->note)
               ? predictor->note
               : NULL;
}
