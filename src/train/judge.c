/* judge - see judge.h. */
#include "train/judge.h"

#include <string.h>

#include "base/mem.h"
#include "figures/regression.h"
#include "kernels/kernels.h"
#include "predict/outcomes.h"
#include "train/together.h"

/* What is right for the examples of job. */
static void copy_truth(struct sb_judging *j, const struct sb_predict *job)
{
    const struct sb_dataset *d = job->source->data;
    size_t targets = j->model->info.targets;
    for (uint32_t i = 0; i < job->n; i++) {
        size_t at = job->index ? job->index[i] : i;
        if (targets > 0)
            memcpy(j->target + i * targets, d->targets + at * targets,
                   targets * sizeof *j->target);
        else
            j->label[i] = (int32_t)d->labels[at];
    }
}

sb_status sb_judging_init(struct sb_judging *j, const struct sb_trainer *t,
                          const struct sb_model *model, const struct sb_predict *job)
{
    uint32_t members = model->members, targets = model->info.targets;
    size_t size = (size_t)job->n * sb_model_answers(&model->info);
    *j = (struct sb_judging){.trainer = t, .model = model, .n = job->n};
    j->answer = sb_malloc(size * members, sizeof *j->answer);
    j->draw = sb_malloc(size, sizeof *j->draw);
    j->list = sb_calloc(members, sizeof *j->list);
    j->pointer = sb_calloc(members, 2 * sizeof *j->pointer);
    j->label = targets ? NULL : sb_malloc(job->n, sizeof *j->label);
    j->target = targets ? sb_malloc(job->n, targets * sizeof *j->target) : NULL;
    if (!j->answer || !j->draw || !j->list || !j->pointer || (!j->label && !j->target))
        return sb_fail(SB_ENOMEM, "no memory to judge %u members on %u examples", members,
                       job->n);
    for (uint32_t m = 0; m < members; m++)
        j->list[m] = j->answer + m * size;
    copy_truth(j, job);
    return SB_OK;
}

void sb_judging_fini(struct sb_judging *j)
{
    if (!j)
        return;
    sb_free(j->answer);
    sb_free(j->draw);
    sb_free(j->list);
    sb_free(j->pointer);
    sb_free(j->label);
    sb_free(j->target);
    *j = (struct sb_judging){0};
}

sb_status sb_judging_member(struct sb_judging *j, const struct sb_predict *what,
                            struct sb_sampling s, uint32_t m)
{
    const struct sb_model_info *info = &j->model->info;
    const struct sb_trained *member = &j->model->member[m];
    const struct sb_env *env = j->trainer->env;
    size_t answers = sb_model_answers(info), size = j->n * answers;
    float *out = j->answer + m * size;
    struct sb_model_plan plan = {.lanes = env->kernels->lanes,
                                 .max_batch = j->trainer->config->train.batch,
                                 .threads = env->threads,
                                 .inference = true,
                                 .gauss = s.kind == SB_SAMPLE_NOISE};
    struct sb_predict job = *what;
    struct sb_net net;
    sb_status st = sb_model_net(j->model, m, &plan, &net);
    sb_together_part(j->trainer, j->n, &job.first, &job.n);
    job.net = &net;
    job.noise = plan.gauss;
    job.seed = member->sample_seed;
    job.member = m;
    memset(out, 0, size * sizeof *out);
    for (uint32_t d = 0; d < s.draws && st == SB_OK; d++) {
        st = s.kind == SB_SAMPLE_DRAWS ? sb_trained_draw(member, env, &net, d)
                                       : sb_trained_load(member, env, &net);
        if (st == SB_OK)
            st = sb_predict_run(&job, j->draw, NULL);
        if (st == SB_OK)
            sb_predict_add(&net, out + job.first * answers, j->draw + job.first * answers,
                           job.n - job.first, d, s.draws);
    }
    sb_net_fini(&net);
    if (st == SB_OK)
        st = sb_together_gather(j->trainer, "predictions", j->n, answers * sizeof *out,
                                out);
    if (st == SB_OK && info->targets > 0)
        sb_outcomes_units(info, out, j->n, j->draw);
    return st;
}

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
