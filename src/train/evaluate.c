/* evaluate - validation while training, and members and ensemble on the test set. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/columns.h"
#include "kernels/kernels.h"
#include "model/model.h"
#include "predict/predictor.h"
#include "train/state.h"
#include "train/together.h"

enum { AT_ONCE = 512 }; /* examples that are predicted together */

/* The recipe's way of using a posterior; of points there is one only. */
static struct sb_sampling sampling_of(const struct sb_trainer *t)
{
    const struct sb_config_eval *e = &t->config->eval;
    struct sb_sampling s = {SB_SAMPLE_DRAWS, 1};
    if (e->sampling == SB_CONFIG_MEAN)
        s.kind = SB_SAMPLE_MEAN;
    else if (e->sampling == SB_CONFIG_ACTIVATION_NOISE)
        s.kind = SB_SAMPLE_NOISE;
    else if (e->sampling == SB_CONFIG_DRAWS)
        s.draws = e->draws;
    return s;
}

/* ---- members ------------------------------------------------------------------------- */

sb_status sb_trainer_model(const struct sb_trainer *t, const struct sb_trained *network,
                           uint32_t networks, struct sb_model *out)
{
    const struct sb_dataset *d = &t->source.train;
    struct sb_model_info info = {
        .arch = t->config->model.arch,
        .method = t->method->name,
        .recipe = t->options->canonical ? t->options->canonical : "",
        .channels = t->source.normal.channels,
        .height = d->height,
        .width = d->width,
        .classes = d->classes,
        .class_name = (const char *const *)d->class_names,
        .mean = t->source.normal.mean,
        .sd = t->source.normal.sd,
        .gauss = t->method->posterior == SB_POSTERIOR_GAUSS,
        .form = t->form,
    };
    char *columns = NULL, *data = NULL;
    json_t *identity = NULL;
    *out = (struct sb_model){0};
    sb_status st = d->columns ? sb_columns_write(d->columns, &columns) : SB_OK;
    if (st == SB_OK)
        st = sb_trainer_data(t, &identity);
    if (st == SB_OK)
        st = sb_json_write(identity, false, &data);
    info.columns = columns;
    info.data = data;
    if (st == SB_OK)
        st = sb_model_init(out, &info);
    for (uint32_t i = 0; i < networks && st == SB_OK; i++) {
        struct sb_trained view;
        st = sb_trained_view(&network[i], &view);
        if (st == SB_OK)
            st = sb_model_add(out, &view);
        sb_trained_fini(&view);
    }
    sb_free(columns);
    sb_free(data);
    json_decref(identity);
    return st;
}

/* ---- predictions --------------------------------------------------------------------- */

/* Which examples are predicted. */
struct job {
    const struct sb_batch_source *source;
    const uint32_t *index; /* [n]; NULL: the first n */
    uint32_t n;
};

/* A predictor, and what a batch of examples is in. */
struct judge {
    const struct sb_env *env;
    const struct sb_model *model;
    struct sb_loaded loaded;
    struct sb_predictor predictor;
    struct sb_act x; /* [AT_ONCE] */
    uint32_t index[AT_ONCE], label[AT_ONCE];
    float *part; /* [members][AT_ONCE][classes] owned */
};

static sb_status judge_init(struct judge *j, const struct sb_env *env,
                            const struct sb_model *m, struct sb_sampling s)
{
    const struct sb_arch_node *in = &m->arch.node[0];
    enum sb_load load = sb_load_for(m, &s);
    struct sb_predictor_options o = {.env = env,
                                     .model = m,
                                     .loaded = &j->loaded,
                                     .sampling = s,
                                     .max_batch = AT_ONCE};
    *j = (struct judge){.env = env, .model = m};
    sb_status st =
        sb_loaded_init(&j->loaded, env, m, load, sb_plan_for(env, load, AT_ONCE));
    if (st == SB_OK)
        st = sb_predictor_init(&j->predictor, &o);
    if (st == SB_OK)
        st = sb_act_init(&j->x, env->kernels->lanes, AT_ONCE, in->channels, in->height,
                         in->width);
    j->part = sb_malloc((size_t)AT_ONCE * m->members, m->info.classes * sizeof *j->part);
    if (st == SB_OK && !j->part)
        st = sb_fail(SB_ENOMEM, "no memory to predict %d examples", AT_ONCE);
    return st;
}

static void judge_fini(struct judge *j)
{
    sb_predictor_fini(&j->predictor);
    sb_loaded_fini(&j->loaded);
    sb_act_fini(&j->x);
    sb_free(j->part);
}

/* Examples at .. at + n - 1 of the job's. */
static sb_status predict_part(struct judge *j, const struct job *job, uint32_t at,
                              uint32_t n, float *out, int32_t *label)
{
    size_t classes = j->model->info.classes;
    struct sb_input in = {.data = &j->x, .type = SB_INPUT_ACT};
    struct sb_answers answers = {.members = j->part};
    for (uint32_t i = 0; i < n; i++)
        j->index[i] = job->index ? job->index[at + i] : at + i;
    sb_act_set_batch(&j->x, n);
    sb_status st =
        sb_batch_fill(job->source, j->env->threads, j->index, n, &j->x, j->label);
    if (st == SB_OK)
        st = sb_predictor_run(&j->predictor, &in, n, at, &answers);
    for (uint32_t i = 0; i < n && st == SB_OK; i++)
        label[at + i] = (int32_t)j->label[i];
    for (uint32_t m = 0; m < j->model->members && st == SB_OK; m++)
        memcpy(out + ((size_t)m * job->n + at) * classes,
               j->part + (size_t)m * n * classes, n * classes * sizeof *out);
    return st;
}

/* Every process has predicted its part of n examples; now all have all. */
static sb_status gather(const struct sb_trainer *t, const struct sb_model *model,
                        uint32_t n, float *out, int32_t *label)
{
    size_t classes = model->info.classes;
    sb_status st = sb_together_gather(t, "labels", n, sizeof *label, label);
    for (uint32_t m = 0; m < model->members && st == SB_OK; m++)
        st = sb_together_gather(t, "predictions", n, classes * sizeof *out,
                                out + m * (size_t)n * classes);
    return st;
}

/* All members' probabilities, [members][n][classes], by the path that those who use the
 * model take: so they get the bits that are judged here. */
static sb_status predict(const struct sb_trainer *t, const struct sb_model *model,
                         const struct job *job, struct sb_sampling s, float *out,
                         int32_t *label)
{
    struct judge *j = sb_calloc(1, sizeof *j);
    if (!j)
        return sb_fail(SB_ENOMEM, "no memory to predict %d examples", AT_ONCE);
    uint32_t first, end;
    sb_together_part(t, job->n, &first, &end);
    sb_status st = judge_init(j, t->env, model, s);
    for (uint32_t at = first; at < end && st == SB_OK; at += AT_ONCE)
        st = predict_part(j, job, at, end - at < AT_ONCE ? end - at : AT_ONCE, out,
                          label);
    judge_fini(j);
    sb_free(j);
    return st == SB_OK ? gather(t, model, job->n, out, label) : st;
}

/* All members' figures, and the ensemble's; the latter's mean probability, unless NULL,
 * goes to mean [n][classes]. member may be NULL. */
static sb_status judge(const struct sb_trainer *t, const struct sb_model *model,
                       const struct job *job, struct sb_sampling s,
                       struct sb_scores *member, struct sb_scores *ensemble, float *mean)
{
    uint32_t members = model->members, classes = model->info.classes;
    size_t n = (size_t)job->n * classes;
    float *p = sb_malloc(n * members, sizeof *p);
    int32_t *label = sb_malloc(job->n, sizeof *label);
    const float **list = sb_calloc(members, sizeof *list);
    unsigned bins = t->config->eval.bins;
    sb_status st = p && label && list
                       ? predict(t, model, job, s, p, label)
                       : sb_fail(SB_ENOMEM, "no memory to judge %u members on %u images",
                                 members, job->n);
    for (uint32_t m = 0; m < members && st == SB_OK; m++) {
        list[m] = p + m * n;
        struct sb_probs one = {&list[m], 1, job->n, classes};
        if (member)
            st = sb_metrics_of(&one, label, bins, &member[m]);
    }
    struct sb_probs all = {list, members, job->n, classes};
    if (st == SB_OK && ensemble)
        st = sb_metrics_of(&all, label, bins, ensemble);
    for (size_t i = 0; st == SB_OK && mean && i < n; i++) {
        float sum = 0.0f;
        for (uint32_t m = 0; m < members; m++)
            sum += list[m][i];
        mean[i] = sum / (float)members;
    }
    sb_free(p);
    sb_free(label);
    sb_free(list);
    return st;
}

/* The network as it is now, through its members: posterior means. */
static sb_status judge_now(struct sb_trainer *t, const struct job *job,
                           struct sb_scores *out, float *mean)
{
    struct sb_model model = {0};
    t->now.sample_seed = (uint64_t)t->config->train.seed << 16;
    sb_status st = sb_trained_save(&t->now, &t->net);
    if (st == SB_OK)
        st = sb_trainer_model(t, &t->now, 1, &model);
    if (st == SB_OK)
        st = judge(t, &model, job, (struct sb_sampling){SB_SAMPLE_MEAN, 1}, NULL, out,
                   mean);
    sb_model_fini(&model);
    return st;
}

sb_status sb_trainer_validate(struct sb_trainer *t, struct sb_scores *out)
{
    struct sb_batch_source source = t->source.validation;
    source.member = sb_trainer_stage(t)->run;
    source.step = (uint32_t)t->at.step;
    struct job job = {.source = &source,
                      .index = t->source.part.valid,
                      .n = t->source.part.validation_count};
    *out = (struct sb_scores){NAN, NAN, NAN, NAN};
    return job.n > 0 ? judge_now(t, &job, out, NULL) : SB_OK;
}

sb_status sb_trainer_predict_test(struct sb_trainer *t, uint32_t n, float *out)
{
    struct job job = {
        .source = &t->source.test_clean, .index = t->source.test_index, .n = n};
    return judge_now(t, &job, NULL, out);
}

/* ---- the test set -------------------------------------------------------------------- */

static sb_status test_members(struct sb_trainer *t, struct sb_run_result *out)
{
    struct job job = {.source = &t->source.test_clean,
                      .index = t->source.test_index,
                      .n = t->source.tests};
    struct sb_model model = {0};
    sb_status st = sb_trainer_model(t, t->trained, t->trained_count, &model);
    if (st == SB_OK) {
        out->members = model.members;
        out->member = sb_calloc(model.members, sizeof *out->member);
        if (!out->member)
            st = sb_fail(SB_ENOMEM, "no memory for %u members", model.members);
    }
    if (st == SB_OK)
        st = judge(t, &model, &job, sampling_of(t), out->member, &out->ensemble, NULL);
    sb_model_fini(&model);
    return st;
}

/* Share of the weights that exist, over all members. */
static double density_of(const struct sb_trainer *t)
{
    double exist = 0.0;
    for (uint32_t k = 0; k < t->trained_count; k++) {
        const struct sb_trained *n = &t->trained[k];
        for (uint32_t i = 0; i < n->weights; i++)
            exist += n->params.param[n->mu[i]].count;
    }
    return exist / (t->trained_count * (double)sb_net_weights(&t->net));
}

static sb_status fill_costs(const struct sb_trainer *t, struct sb_run_result *out)
{
    out->density = density_of(t);
    out->train_seconds = t->at.seconds;
    out->images_per_second = (double)t->at.images / t->at.seconds;
    out->training_flops = t->at.flops;
    return sb_trainer_dense_run(t, &out->dense_run_flops);
}

sb_status sb_trainer_test(struct sb_trainer *t, struct sb_run_result *out)
{
    sb_status st = test_members(t, out);
    return st == SB_OK ? fill_costs(t, out) : st;
}
