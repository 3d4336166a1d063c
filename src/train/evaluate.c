/* evaluate - validation while training, and members and ensemble on the test set. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "data/columns.h"
#include "figures/conformal.h"
#include "model/model.h"
#include "train/judge.h"
#include "train/state.h"
#include "train/together.h"

/* ---- members ------------------------------------------------------------------------- */

/* What the model says of itself; its texts stay where they are. */
static struct sb_model_info info_of(const struct sb_trainer *t, const char *columns,
                                    const char *data)
{
    const struct sb_dataset *d = &t->source.train;
    return (struct sb_model_info){
        .arch = t->config->model.arch,
        .method = t->method->name,
        .recipe = t->canonical,
        .channels = t->source.normal.channels,
        .height = d->height,
        .width = d->width,
        .classes = d->classes,
        .class_name = (const char *const *)d->class_names,
        .likelihood = sb_source_likelihood(&t->source, t->config),
        .targets = d->target_count,
        .target_name = (const char *const *)d->target_names,
        .target_mean = t->source.scale.mean,
        .target_sd = t->source.scale.sd,
        .target_width = t->width,
        .score = t->score,
        .scores = t->score ? t->source.calibrations : 0,
        .mean = t->source.normal.mean,
        .sd = t->source.normal.sd,
        .gauss = t->method->posterior == SB_POSTERIOR_GAUSS,
        .form = t->form,
        .columns = columns,
        .data = data,
    };
}

sb_status sb_trainer_model(const struct sb_trainer *t, const struct sb_trained *network,
                           uint32_t networks, struct sb_model *out)
{
    const struct sb_columns *table = t->source.train.columns;
    char *columns = NULL, *data = NULL;
    json_t *identity = NULL;
    *out = (struct sb_model){0};
    sb_status st = table ? sb_columns_write(table, &columns) : SB_OK;
    if (st == SB_OK)
        st = sb_trainer_data(t, &identity);
    if (st == SB_OK)
        st = sb_json_write(identity, false, &data);
    struct sb_model_info info = info_of(t, columns, data);
    if (st == SB_OK)
        st = sb_model_init(out, &info);
    for (uint32_t i = 0; i < networks && st == SB_OK; i++) {
        struct sb_trained view;
        st = sb_trained_view(&network[i], &view);
        if (st == SB_OK)
            st = sb_model_add(out, &view);
        sb_trained_fini(&view);
    }
    if (t->far.members == out->members)
        out->far = t->far;
    sb_free(columns);
    sb_free(data);
    json_decref(identity);
    return st;
}

/* The ensemble's figures, and its mean probability to mean [n][classes]; both may be NULL. */
static sb_status judge(const struct sb_trainer *t, const struct sb_model *model,
                       const struct sb_job *job, struct sb_sampling s,
                       struct sb_figures *ensemble, float *mean)
{
    uint32_t members = model->members;
    size_t n = (size_t)job->n * sb_model_prediction_size(&model->info);
    struct sb_judging j;
    sb_status st = sb_judging_init(&j, t, model, job);
    if (st == SB_OK)
        st = sb_judging_run(&j, job, s);
    if (st == SB_OK && ensemble)
        st = sb_judging_figures(&j, 0, members, ensemble);
    for (size_t i = 0; st == SB_OK && mean && i < n; i++) {
        float sum = 0.0f;
        for (uint32_t m = 0; m < members; m++)
            sum += j.list[m][i];
        mean[i] = sum / (float)members;
    }
    sb_judging_fini(&j);
    return st;
}

/* The network as it is now, through its members: posterior means. */
static sb_status judge_now(struct sb_trainer *t, const struct sb_job *job,
                           struct sb_figures *out, float *mean)
{
    struct sb_model model = {0};
    t->now.sample_seed = (uint64_t)t->config->train.seed << 16;
    sb_status st = sb_trained_save(&t->now, &t->net);
    if (st == SB_OK)
        st = sb_trainer_model(t, &t->now, 1, &model);
    if (st == SB_OK)
        st = judge(t, &model, job, (struct sb_sampling){SB_SAMPLE_MEAN, 1}, out, mean);
    sb_model_fini(&model);
    return st;
}

sb_status sb_trainer_validate(struct sb_trainer *t, struct sb_figures *out)
{
    struct sb_batch_source source = t->source.validation;
    source.member = sb_trainer_stage(t)->run;
    source.step = (uint32_t)t->at.step;
    struct sb_job job = {.source = &source,
                         .index = t->source.part.valid,
                         .n = t->source.part.validation_count};
    *out = sb_figures_none(t->net.arch.likelihood);
    return job.n > 0 ? judge_now(t, &job, out, NULL) : SB_OK;
}

sb_status sb_trainer_predict_test(struct sb_trainer *t, uint32_t n, float *out)
{
    struct sb_job job = {
        .source = &t->source.test_clean, .index = t->source.test_index, .n = n};
    return judge_now(t, &job, NULL, out);
}

/* ---- the calibration part ------------------------------------------------------------ */

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Scores of the ensemble's predictions, row by row (model.h), rising and rounded up: an
 * interval is to be no narrower than it was promised. */
static sb_status score(const struct sb_judging *j, float *out)
{
    const struct sb_model_info *info = &j->model->info;
    double *row = sb_malloc(j->n, sizeof *row);
    sb_status st =
        row ? SB_OK : sb_fail(SB_ENOMEM, "no memory for the scores of %u examples", j->n);
    for (uint32_t t = 0; t < sb_model_score_rows(info) && st == SB_OK; t++) {
        if (info->targets > 0) {
            struct sb_mixture m = sb_judging_mixture(j, 0, j->model->members);
            st = sb_conformal_outcomes(&m, j->target, t, row);
        } else {
            struct sb_probs p = sb_judging_probs(j, 0, j->model->members);
            st = sb_conformal_classes(&p, j->label, row);
        }
        if (st == SB_OK)
            qsort(row, j->n, sizeof *row, by_size);
        for (uint32_t i = 0; i < j->n && st == SB_OK; i++, out++) {
            *out = (float)row[i];
            if ((double)*out < row[i])
                *out = nextafterf(*out, INFINITY);
        }
    }
    sb_free(row);
    return st;
}

sb_status sb_trainer_calibrate(struct sb_trainer *t)
{
    struct sb_job job = {.source = &t->source.train_clean,
                         .index = t->source.calibration,
                         .n = t->source.calibrations};
    struct sb_model model = {0};
    struct sb_judging j = {0};
    if (job.n == 0)
        return SB_OK;
    sb_status st = sb_judging_finished(&j, t, &job, &model);
    if (st == SB_OK) {
        t->score = sb_malloc(job.n, sb_model_score_rows(&model.info) * sizeof *t->score);
        st = t->score ? score(&j, t->score)
                      : sb_fail(SB_ENOMEM, "no memory for %u scores", job.n);
    }
    sb_judging_fini(&j);
    sb_model_fini(&model);
    return st;
}

/* ---- the test set -------------------------------------------------------------------- */

/* All members and the ensemble, and what is to be said of it. */
static sb_status judge_test(const struct sb_trainer *t, const struct sb_model *model,
                            const struct sb_job *job, struct sb_run_result *out)
{
    struct sb_judging j;
    sb_status st = sb_judging_init(&j, t, model, job);
    if (st == SB_OK)
        st = sb_judging_run(&j, job, sb_config_sampling(&t->config->eval));
    for (uint32_t m = 0; m < model->members && st == SB_OK; m++)
        st = sb_judging_figures(&j, m, 1, &out->member[m]);
    if (st == SB_OK)
        st = sb_judging_figures(&j, 0, model->members, &out->ensemble);
    if (st == SB_OK)
        st = sb_judging_warn(&j, &out->ensemble);
    sb_judging_fini(&j);
    return st;
}

static sb_status test_members(struct sb_trainer *t, struct sb_run_result *out)
{
    struct sb_job job = {.source = &t->source.test_clean,
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
    const struct sb_figures none = sb_figures_none(t->net.arch.likelihood);
    out->ensemble = none;
    for (uint32_t i = 0; st == SB_OK && i < out->members; i++)
        out->member[i] = none;
    if (st == SB_OK && job.n > 0)
        st = judge_test(t, &model, &job, out);
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

double sb_trainer_flops(const struct sb_net *n, double rows)
{
    return 2.0 * sb_net_macs(n, false) * 3.0 * rows;
}

sb_status sb_trainer_dense_run(const struct sb_trainer *t, double *flops)
{
    struct sb_arch a;
    struct sb_arch_shape shape = sb_source_shape(&t->source, t->config);
    sb_status st = sb_arch_init(&a, &shape);
    double rows = (double)t->schedule.dense_epochs * t->source.part.train_count;
    *flops = st == SB_OK ? 2.0 * sb_arch_macs(&a) * 3.0 * rows : 0.0;
    sb_arch_fini(&a);
    return st;
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
