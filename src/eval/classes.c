/* classes - the test set by class: figures of each, their means, which is taken for which;
 * and what one temperature, fitted on the validation part, would change. */
#include <math.h>

#include "base/mem.h"
#include "eval/parts.h"
#include "figures/calibration.h"
#include "figures/classes.h"
#include "figures/conformal.h"
#include "figures/regression.h"
#include "figures/temperature.h"
#include "predict/kept.h"

enum { CONFUSED_MOST = 100 }; /* classes: a matrix of more is not for reading */

/* ---- figures ------------------------------------------------------------------------- */

static json_t *row_json(const char *name, const struct sb_class_figures *f,
                        const struct sb_class_row *r)
{
    return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "name", name, "n",
                     (json_int_t)r->n, "acc", sb_json_real(r->accuracy), "precision",
                     sb_json_real(r->precision), "confidence",
                     sb_json_real(r->confidence), "f1", sb_json_real(f->f1), "auc",
                     sb_json_real(f->auc), "nll", sb_json_real(f->nll));
}

static sb_status put_means(struct sb_eval *a, json_t *test,
                           const struct sb_class_means *m)
{
    double adaptive;
    sb_status st =
        sb_calibration_adaptive(&a->probs, a->label, a->o->config->eval.bins, &adaptive);
    if (st != SB_OK)
        return st;
    sb_eval_put(a, test, "balanced_acc", sb_json_real(m->balanced_accuracy));
    sb_eval_put(a, test, "f1", sb_json_real(m->f1));
    sb_eval_put(a, test, "auc", sb_json_real(m->auc));
    sb_eval_put(a, test, "adaptive_ece", sb_json_real(adaptive));
    sb_eval_put(a, test, "most_frequent", sb_json_real(m->most_frequent_of));
    sb_text_add(&a->table,
                "  by class         balanced acc %.4f, f1 %.4f, auc %.4f; adaptive ece "
                "%.4f; always the most frequent class: acc %.4f\n",
                m->balanced_accuracy, m->f1, m->auc, adaptive, m->most_frequent_of);
    return SB_OK;
}

static sb_status put_confusion(struct sb_eval *a, json_t *test)
{
    size_t classes = a->probs.classes;
    if (classes > CONFUSED_MOST)
        return SB_OK;
    size_t *count = sb_malloc(classes * classes, sizeof *count);
    if (!count)
        return sb_fail(SB_ENOMEM, "no memory for a matrix of %zu classes", classes);
    json_t *rows = json_array();
    sb_eval_put(a, test, "confusion", rows);
    sb_status st = sb_classes_confusion(&a->probs, a->label, count);
    for (size_t i = 0; i < classes && st == SB_OK; i++) {
        json_t *one = json_array();
        for (size_t k = 0; k < classes; k++)
            sb_eval_push(a, one, json_integer((json_int_t)count[i * classes + k]));
        sb_eval_push(a, rows, one);
    }
    sb_free(count);
    return st;
}

sb_status sb_eval_classes(struct sb_eval *a, json_t *test)
{
    const struct sb_model_info *info = &a->model.info;
    struct sb_class_row *row = sb_malloc(info->classes, sizeof *row);
    struct sb_class_figures *figures = sb_malloc(info->classes, sizeof *figures);
    struct sb_class_means means;
    json_t *list = json_array();
    sb_eval_put(a, test, "per_class", list);
    sb_status st = row && figures
                       ? sb_calibration_classes(&a->probs, a->label, row)
                       : sb_fail(SB_ENOMEM, "no memory for %u classes", info->classes);
    if (st == SB_OK)
        st = sb_classes_of(&a->probs, a->label, figures, &means);
    for (uint32_t c = 0; c < info->classes && st == SB_OK; c++) {
        char number[16];
        snprintf(number, sizeof number, "%u", c);
        sb_eval_push(a, list,
                     row_json(info->class_name ? info->class_name[c] : number,
                              &figures[c], &row[c]));
    }
    if (st == SB_OK)
        st = put_means(a, test, &means);
    if (st == SB_OK)
        st = put_confusion(a, test);
    sb_free(row);
    sb_free(figures);
    return st;
}

/* ---- temperature --------------------------------------------------------------------- */

/* The ensemble on the validation part; *probs and *label are the caller's. */
static sb_status predict_validation(struct sb_eval *a, float **probs, int32_t **label)
{
    const struct sb_indices *part = &a->source.part;
    size_t n = part->validation_count, classes = a->probs.classes;
    struct sb_chosen c = {
        .data = &a->source.train, .index = part->valid, .n = part->validation_count};
    if (n == 0)
        return sb_fail(SB_EARG,
                       "eval.temperature = yes: %s has no validation part to fit "
                       "one on (data.validation = 0)",
                       a->o->run);
    *probs = sb_malloc(n * classes, a->probs.members * sizeof **probs);
    *label = sb_malloc(n, sizeof **label);
    if (!*probs || !*label)
        return sb_fail(SB_ENOMEM, "no memory for predictions of %zu examples", n);
    for (size_t i = 0; i < n; i++)
        (*label)[i] = (int32_t)a->source.train.labels[part->valid[i]];
    return sb_ensemble_predict(&a->ensemble, &c, *probs);
}

static sb_status fit(struct sb_eval *a, float *probs, const int32_t *label,
                     const float **member, struct sb_temperature *t)
{
    size_t n = a->source.part.validation_count, classes = a->probs.classes;
    for (size_t m = 0; m < a->probs.members; m++)
        member[m] = probs + m * n * classes;
    struct sb_probs p = {member, a->probs.members, n, classes};
    return sb_temperature_fit(&p, label, t);
}

/* The test set's figures at that temperature. */
static sb_status tell(struct sb_eval *a, json_t *test, const struct sb_temperature *t)
{
    size_t n = a->probs.n, classes = a->probs.classes;
    unsigned bins = a->o->config->eval.bins;
    float *mean = sb_malloc(n * classes, sizeof *mean);
    const float *const one[] = {mean};
    const struct sb_probs scaled = {one, 1, n, classes};
    struct sb_scores before, s;
    sb_status st = mean ? sb_metrics_mean(&a->probs, mean)
                        : sb_fail(SB_ENOMEM, "no memory for %zu examples", n);
    if (st == SB_OK)
        sb_temperature_apply(mean, n, classes, t->t, mean);
    if (st == SB_OK)
        st = sb_metrics_of(&scaled, a->label, bins, &s);
    if (st == SB_OK)
        st = sb_metrics_of(&a->probs, a->label, bins, &before);
    if (st == SB_OK) {
        sb_eval_put(a, test, "temperature",
                    json_pack("{s:o, s:o, s:o}", "t", sb_json_real(t->t), "ensemble",
                              sb_eval_scores(&s, true), "validation_nll",
                              json_pack("[o, o]", sb_json_real(t->before),
                                        sb_json_real(t->after))));
        sb_text_add(&a->table,
                    "  temperature      %.3f by the validation part (nll %.4f -> %.4f "
                    "there): nll %.4f -> %.4f, ece %.4f -> %.4f here; classes stay\n",
                    t->t, t->before, t->after, before.nll, s.nll, before.ece, s.ece);
    }
    sb_free(mean);
    return st;
}

sb_status sb_eval_conformal(struct sb_eval *a, json_t *test)
{
    json_t *list = json_array();
    sb_status st = SB_OK;
    sb_eval_put(a, test, "conformal", list);
    for (size_t k = 0; k < SB_INTERVALS && st == SB_OK; k++) {
        struct sb_conformal c;
        double q, level = sb_interval_levels[k];
        st = sb_predict_conformal(&a->model.info, 0, level, &q);
        if (st == SB_OK)
            st = sb_conformal_sets(&a->probs, a->label, q, &c);
        if (st != SB_OK)
            return st;
        sb_eval_push(a, list,
                     json_pack("{s:o, s:o, s:o, s:o}", "level", sb_json_real(level),
                               "factor", sb_json_real(q), "coverage",
                               sb_json_real(c.coverage), "size", sb_json_real(c.size)));
        sb_text_add(&a->table,
                    "  conformal        %2.0f %% sets have the label of %5.1f %%, mean "
                    "size %.2f\n",
                    100 * level, 100 * c.coverage, c.size);
    }
    return st;
}

sb_status sb_eval_temperature(struct sb_eval *a, json_t *test)
{
    float *probs = NULL;
    int32_t *label = NULL;
    const float **member = sb_malloc(a->probs.members, sizeof *member);
    struct sb_temperature t;
    sb_status st = member ? SB_OK : sb_fail(SB_ENOMEM, "no memory for the members");
    if (st == SB_OK && a->source.part.validation_count == 0)
        st = sb_fail(SB_EARG, "eval.temperature = yes: the run kept no validation part "
                              "to fit it on (data.validation = 0)");
    if (st == SB_OK)
        st = predict_validation(a, &probs, &label);
    if (st == SB_OK)
        st = fit(a, probs, label, member, &t);
    if (st == SB_OK)
        st = tell(a, test, &t);
    sb_free(probs);
    sb_free(label);
    sb_free(member);
    return st;
}
