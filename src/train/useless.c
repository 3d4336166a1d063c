/* useless - a model that has learned nothing looks like one that has: 0.9 of a class is 0.9.
 *
 * What the training part says without a model is compared with the ensemble on the test part:
 * its most frequent class, or the mean of a target, and what is as sure of its answers as it
 * should be, the shares of its classes, or a Gaussian of mean and deviation. Classes that
 * were made to count the same are judged as they count. Targets are judged one by one, since
 * they have units of their own.
 */
#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "figures/classes.h"
#include "train/judge.h"

enum {
    TELLING = 20, /* fewer rows are better or worse than a guess by chance */
    SHOWN = 64,   /* bytes of a name */
    REMEDY = 64
};

/* What makes a model less sure of what it has seen in a few rows. */
static const char *remedy(const struct sb_judging *j, char out[REMEDY])
{
    const struct sb_trainer *t = j->trainer;
    if (t->method->posterior != SB_POSTERIOR_GAUSS)
        return "fewer epochs or a smaller network (model.arch)";
    snprintf(out, REMEDY, "a stronger prior (method.prior_variance = %.3g)",
             t->config->method.prior_variance / 10);
    return out;
}

/* ---- classes ------------------------------------------------------------------------- */

/* count[classes] = rows of the training part. */
static void count_classes(const struct sb_source *s, uint32_t *count)
{
    for (uint32_t i = 0; i < s->part.train_count; i++)
        count[s->train.labels[s->part.train[i]]]++;
}

/* The class that most training examples have: what its share of the test part is. */
static double usual_share(const struct sb_judging *j, const uint32_t *count)
{
    uint32_t usual = 0, hits = 0;
    for (uint32_t k = 0; k < j->model->info.classes; k++)
        usual = count[k] > count[usual] ? k : usual;
    for (uint32_t i = 0; i < j->n; i++)
        hits += (uint32_t)j->label[i] == usual;
    return (double)hits / j->n;
}

/* The nll of always saying the classes' shares of the training part, as if each class had
 * one row more: one without any may be there in the test part. */
static double share_nll(const struct sb_judging *j, const uint32_t *count)
{
    double rows = j->trainer->source.part.train_count, nll = 0;
    for (uint32_t i = 0; i < j->n; i++)
        nll -= log((count[j->label[i]] + 1) / (rows + j->model->info.classes));
    return nll / j->n;
}

/* Of the mean over the classes that the test part has. */
static sb_status judge_balanced(const struct sb_judging *j)
{
    uint32_t classes = j->model->info.classes, there = 0;
    struct sb_class_figures *row = sb_malloc(classes, sizeof *row);
    struct sb_class_means means;
    struct sb_probs p = sb_judging_probs(j, 0, j->model->members);
    if (!row)
        return sb_fail(SB_ENOMEM, "no memory for figures of %u classes", classes);
    sb_status st = sb_classes_of(&p, j->label, row, &means);
    for (uint32_t k = 0; k < classes && st == SB_OK; k++)
        there += row[k].n > 0;
    if (st == SB_OK && there > 1 && means.balanced_accuracy <= 1.0 / there)
        sb_log_write(j->trainer->env->log, SB_LOG_WARN,
                     "the ensemble's balanced accuracy on the test part is %.4f; always "
                     "saying one class has %.4f: it has learned nothing of use by that "
                     "measure",
                     means.balanced_accuracy, 1.0 / there);
    sb_free(row);
    return st;
}

static void judge_usual(const struct sb_judging *j, const struct sb_figures *ensemble,
                        const uint32_t *count)
{
    const struct sb_log *log = j->trainer->env->log;
    double accuracy = ensemble->value[SB_CLASSES_ACC], usual = usual_share(j, count);
    double nll = ensemble->value[SB_CLASSES_NLL], shares = share_nll(j, count);
    char text[REMEDY];
    if (accuracy <= usual && accuracy < 1)
        sb_log_write(log, SB_LOG_WARN,
                     "the ensemble is right in %.4f of the test part; always saying the "
                     "most frequent class of the training part is right in %.4f: it has "
                     "learned nothing of use by that measure (for rare classes see "
                     "train.class_weights)",
                     accuracy, usual);
    else if (nll > shares && !j->trainer->source.weight)
        sb_log_write(log, SB_LOG_WARN,
                     "the ensemble's nll on the test part is %.4f; always saying how "
                     "frequent the classes of the training part are has %.4f: it is too "
                     "sure of its classes; %s may help",
                     nll, shares, remedy(j, text));
}

static sb_status judge_classes(const struct sb_judging *j,
                               const struct sb_figures *ensemble)
{
    uint32_t *count = sb_calloc(j->model->info.classes, sizeof *count);
    if (!count)
        return sb_fail(SB_ENOMEM, "no memory to count %u classes",
                       j->model->info.classes);
    count_classes(&j->trainer->source, count);
    judge_usual(j, ensemble, count);
    sb_free(count);
    return SB_OK;
}

/* ---- continuous targets -------------------------------------------------------------- */

/* Of a target, by the model and without it. */
struct measure {
    double rmse, nll;
};

static void measure_target(const struct sb_judging *j, const struct sb_mixture *m,
                           uint32_t target, struct measure *model, struct measure *usual)
{
    const struct sb_target_scale *s = &j->trainer->source.scale;
    double mean = (double)s->mean[target], sd = (double)s->sd[target];
    *model = *usual = (struct measure){0};
    for (size_t i = 0; i < j->n; i++) {
        double y = (double)j->target[i * m->targets + target];
        double miss = y - sb_mixture_moments(m, i, target).mean, z = (y - mean) / sd;
        model->rmse += miss * miss / j->n;
        model->nll -= sb_mixture_log_density_of(m, i, target, y) / j->n;
        usual->rmse += (y - mean) * (y - mean) / j->n;
        usual->nll += (0.5 * (log(2 * acos(-1.0)) + z * z) + log(sd)) / j->n;
    }
    model->rmse = sqrt(model->rmse);
    usual->rmse = sqrt(usual->rmse);
}

/* The first of targets that something is wrong with, and how many they are. */
struct finding {
    uint32_t first, count;
    struct measure model, usual;
};

static void find(struct finding *f, uint32_t target, const struct measure *model,
                 const struct measure *usual)
{
    if (f->count++ == 0) {
        f->first = target;
        f->model = *model;
        f->usual = *usual;
    }
}

/* out = " of NAME" where there are several targets. */
static void name_target(const struct sb_judging *j, const struct finding *f,
                        char out[SHOWN + 8])
{
    const char *name = j->trainer->source.train.target_names[f->first];
    out[0] = '\0';
    if (j->model->info.targets > 1)
        snprintf(out, SHOWN + 8, " of %.*s", sb_text_cut(name, SHOWN), name);
}

static void tell_outcomes(const struct sb_judging *j, const struct finding *useless,
                          const struct finding *sure)
{
    const struct sb_log *log = j->trainer->env->log;
    char name[SHOWN + 8], more[64] = "", text[REMEDY];
    name_target(j, useless, name);
    if (useless->count > 1)
        snprintf(more, sizeof more, "; %u of %u targets are like that", useless->count,
                 j->model->info.targets);
    if (useless->count > 0)
        sb_log_write(log, SB_LOG_WARN,
                     "the ensemble's rmse%s on the test part is %.4g; always saying the "
                     "mean of the training part has %.4g: it has learned nothing of "
                     "use%s%s",
                     name, useless->model.rmse, useless->usual.rmse,
                     *name ? " about that target" : "", more);
    name_target(j, sure, name);
    if (sure->count > 0)
        sb_log_write(log, SB_LOG_WARN,
                     "the ensemble's nll%s on the test part is %.4g; always saying the "
                     "mean and deviation of the training part has %.4g: it is too sure; "
                     "%s may help, and with data.calibration = 0.2 predict --conformal "
                     "gives intervals that hold what they promise",
                     name, sure->model.nll, sure->usual.nll, remedy(j, text));
}

static void judge_outcomes(const struct sb_judging *j)
{
    struct sb_mixture m = sb_judging_mixture(j, 0, j->model->members);
    struct finding useless = {0}, sure = {0};
    for (uint32_t t = 0; t < j->model->info.targets; t++) {
        struct measure model, usual;
        measure_target(j, &m, t, &model, &usual);
        if (model.rmse >= usual.rmse)
            find(&useless, t, &model, &usual);
        else if (model.nll > usual.nll && !j->trainer->source.weight)
            find(&sure, t, &model, &usual);
    }
    tell_outcomes(j, &useless, &sure);
}

/* ---- the whole ----------------------------------------------------------------------- */

sb_status sb_judging_warn(const struct sb_judging *j, const struct sb_figures *ensemble)
{
    if (j->n < TELLING)
        return SB_OK;
    if (j->target) {
        judge_outcomes(j);
        return SB_OK;
    }
    return j->trainer->config->train.class_weights == SB_CONFIG_BALANCED
               ? judge_balanced(j)
               : judge_classes(j, ensemble);
}
