/* evaluate - validation while training, and members and ensemble on the test set. */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "data/columns.h"
#include "kernels/kernels.h"
#include "model/model.h"
#include "predict/sampling.h"
#include "predict/source.h"
#include "train/state.h"

/* The recipe's way of using a posterior. */
static struct sb_sampling sampling_of(const struct sb_trainer *t)
{
    const struct sb_config_eval *e = &t->config->eval;
    struct sb_sampling s = {SB_SAMPLE_DRAWS, 1};
    if (t->method->posterior != SB_POSTERIOR_GAUSS || e->sampling == SB_CONFIG_MEAN)
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
        .recipe = t->canonical,
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

/* Member m's probabilities of what job says, in out; draw: scratch of the same size. The
 * network is what those who use the model have: so they get the bits that are judged here. */
static sb_status predict_member(const struct sb_trainer *t, const struct sb_model *model,
                                uint32_t m, struct sb_predict job, struct sb_sampling s,
                                float *out, float *draw, int32_t *label)
{
    const struct sb_trained *member = &model->member[m];
    size_t n = (size_t)job.n * model->info.classes;
    struct sb_model_plan plan = {.lanes = t->env->kernels->lanes,
                                 .max_batch = t->config->train.batch,
                                 .threads = t->env->threads,
                                 .inference = true,
                                 .gauss = s.kind == SB_SAMPLE_NOISE};
    struct sb_net net;
    sb_status st = sb_model_net(model, m, &plan, &net);
    job.net = &net;
    job.noise = plan.gauss;
    job.seed = member->sample_seed;
    job.member = m;
    memset(out, 0, n * sizeof *out);
    for (uint32_t d = 0; d < s.draws && st == SB_OK; d++) {
        st = s.kind == SB_SAMPLE_DRAWS ? sb_trained_draw(member, t->env, &net, d)
                                       : sb_trained_load(member, t->env, &net);
        if (st == SB_OK)
            st = sb_predict_run(&job, draw, label);
        if (st == SB_OK)
            sb_predict_add(out, draw, n, s.draws);
    }
    sb_net_fini(&net);
    return st;
}

/* All members' figures, and the ensemble's; the latter's mean probability, unless NULL,
 * goes to mean [n][classes]. member may be NULL. */
static sb_status judge(const struct sb_trainer *t, const struct sb_model *model,
                       const struct sb_predict *job, struct sb_sampling s,
                       struct sb_scores *member, struct sb_scores *ensemble, float *mean)
{
    uint32_t members = model->members, classes = model->info.classes;
    size_t n = (size_t)job->n * classes;
    float *p = sb_malloc(n * members, sizeof *p), *draw = sb_malloc(n, sizeof *draw);
    int32_t *label = sb_malloc(job->n, sizeof *label);
    const float **list = sb_calloc(members, sizeof *list);
    unsigned bins = t->config->eval.bins;
    sb_status st = p && draw && label && list
                       ? SB_OK
                       : sb_fail(SB_ENOMEM, "no memory to judge %u members on %u images",
                                 members, job->n);
    for (uint32_t m = 0; m < members && st == SB_OK; m++) {
        list[m] = p + m * n;
        struct sb_probs one = {&list[m], 1, job->n, classes};
        st = predict_member(t, model, m, *job, s, p + m * n, draw, label);
        if (st == SB_OK && member)
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
    sb_free(draw);
    sb_free(label);
    sb_free(list);
    return st;
}

/* The network as it is now, through its members: posterior means. */
static sb_status judge_now(struct sb_trainer *t, const struct sb_predict *job,
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
    struct sb_predict job = {.env = t->env,
                             .source = &source,
                             .index = t->source.part.valid,
                             .n = t->source.part.validation_count};
    *out = (struct sb_scores){NAN, NAN, NAN, NAN};
    return job.n > 0 ? judge_now(t, &job, out, NULL) : SB_OK;
}

sb_status sb_trainer_predict_test(struct sb_trainer *t, uint32_t n, float *out)
{
    struct sb_predict job = {.env = t->env,
                             .source = &t->source.test_clean,
                             .index = t->source.test_index,
                             .n = n};
    return judge_now(t, &job, NULL, out);
}

/* ---- the test set -------------------------------------------------------------------- */

static sb_status test_members(struct sb_trainer *t, struct sb_run_result *out)
{
    struct sb_predict job = {.env = t->env,
                             .source = &t->source.test_clean,
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
    const struct sb_scores none = {NAN, NAN, NAN, NAN};
    out->ensemble = none;
    for (uint32_t i = 0; st == SB_OK && i < out->members; i++)
        out->member[i] = none;
    if (st == SB_OK && job.n > 0)
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

/* The class that most training examples have: what its share of the test part is. */
static double usual_share(const struct sb_trainer *t)
{
    const struct sb_source *s = &t->source;
    const struct sb_dataset *d = s->test_clean.data;
    uint64_t hits = 0, *count = sb_calloc(s->train.classes, sizeof *count);
    uint32_t usual = 0;
    for (uint32_t i = 0; count && i < s->part.train_count; i++) {
        uint32_t k = s->train.labels[s->part.train[i]];
        count[k]++;
        usual = count[k] > count[usual] ? k : usual;
    }
    for (uint32_t i = 0; i < s->tests; i++)
        hits += d->labels[s->test_index ? s->test_index[i] : i] == usual;
    sb_free(count);
    return (double)hits / s->tests;
}

/* A model that has learned nothing looks like one that has: 0.9 of a class is 0.9. */
static void warn_if_useless(const struct sb_trainer *t, const struct sb_run_result *r)
{
    double usual = t->source.tests > 0 ? usual_share(t) : 0.0;
    if (r->ensemble.accuracy <= usual)
        sb_log_write(t->env->log, SB_LOG_WARN,
                     "the ensemble is right in %.4f of the test part; always saying the "
                     "most frequent class of the training part is right in %.4f: it has "
                     "learned nothing of use%s",
                     r->ensemble.accuracy, usual,
                     t->config->train.class_weights == SB_CONFIG_UNWEIGHTED
                         ? " by that measure (for rare classes see train.class_weights)"
                         : "");
}

sb_status sb_trainer_test(struct sb_trainer *t, struct sb_run_result *out)
{
    sb_status st = test_members(t, out);
    if (st == SB_OK)
        warn_if_useless(t, out);
    return st == SB_OK ? fill_costs(t, out) : st;
}
