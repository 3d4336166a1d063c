/* outcomes - the test set of a model of continuous targets: scores, intervals, calibration,
 * conformal intervals, and examples for a chart. All in the units of the targets. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "eval/parts.h"
#include "figures/conformal.h"
#include "figures/regression.h"
#include "predict/kept.h"

enum { LEVELS = 19, SHOWN_MOST = 1000 };

static struct sb_mixture one_member(const struct sb_eval *a, size_t m)
{
    struct sb_mixture one = a->mixture;
    one.mean = &one.mean[m];
    one.var = &one.var[m];
    one.members = 1;
    return one;
}

/* ---- scores -------------------------------------------------------------------------- */

static sb_status put_score(struct sb_eval *a, const struct sb_mixture *m,
                           const char *name, json_t **out)
{
    struct sb_outcome_scores s;
    sb_status st = sb_regression_scores(m, a->target, &s);
    if (st != SB_OK)
        return st;
    *out = json_pack("{s:o, s:o, s:o, s:o}", "nll", sb_json_real(s.nll), "rmse",
                     sb_json_real(s.rmse), "mae", sb_json_real(s.mae), "crps",
                     sb_json_real(s.crps));
    sb_text_add(&a->table, "  %-16s %10.4f %10.4g %10.4g %10.4g\n", name, s.nll, s.rmse,
                s.mae, s.crps);
    return SB_OK;
}

static sb_status put_scores(struct sb_eval *a, json_t *test)
{
    json_t *members = json_array(), *one = NULL;
    sb_status st = SB_OK;
    sb_eval_put(a, test, "members", members);
    sb_text_add(&a->table, "%-18s %10s %10s %10s %10s\n", "test", "nll", "rmse", "mae",
                "crps");
    for (size_t m = 0; m < a->mixture.members && st == SB_OK; m++) {
        struct sb_mixture member = one_member(a, m);
        char name[32];
        snprintf(name, sizeof name, "member %zu", m + 1);
        st = put_score(a, &member, name, &one);
        if (st == SB_OK)
            sb_eval_push(a, members, one);
    }
    if (st == SB_OK)
        st = put_score(a, &a->mixture, "ensemble", &one);
    if (st == SB_OK)
        sb_eval_put(a, test, "ensemble", one);
    return st;
}

/* ---- a target ------------------------------------------------------------------------ */

static json_t *intervals_json(struct sb_eval *a, const struct sb_regression *r)
{
    json_t *list = json_array();
    for (size_t k = 0; k < SB_INTERVALS; k++) {
        sb_eval_push(a, list,
                     json_pack("{s:o, s:o, s:o}", "level",
                               sb_json_real(sb_interval_levels[k]), "coverage",
                               sb_json_real(r->coverage[k]), "width",
                               sb_json_real(r->width[k])));
        sb_text_add(&a->table,
                    "  %2.0f %% interval    covers %5.1f %%, mean width %.4g\n",
                    100 * sb_interval_levels[k], 100 * r->coverage[k], r->width[k]);
    }
    return list;
}

static sb_status put_calibration(struct sb_eval *a, json_t *target, size_t t)
{
    double level[LEVELS], share[LEVELS], error;
    for (int k = 0; k < LEVELS; k++)
        level[k] = (k + 1) / (LEVELS + 1.0);
    sb_status st = sb_regression_calibration(&a->mixture, a->target, t, level, LEVELS,
                                             share, &error);
    if (st != SB_OK)
        return st;
    sb_eval_put(a, target, "calibration",
                json_pack("{s:o, s:o, s:o}", "level", sb_eval_numbers(a, level, LEVELS),
                          "share", sb_eval_numbers(a, share, LEVELS), "error",
                          sb_json_real(error)));
    sb_text_add(&a->table, "  calibration      mean |share - level| of quantiles %.4f\n",
                error);
    return SB_OK;
}

static sb_status put_conformal(struct sb_eval *a, json_t *target, size_t t)
{
    json_t *list = json_array();
    sb_status st = SB_OK;
    sb_eval_put(a, target, "conformal", list);
    for (size_t k = 0; k < SB_INTERVALS && st == SB_OK; k++) {
        struct sb_conformal c;
        double q, level = sb_interval_levels[k];
        st = sb_predict_conformal(&a->model.info, (uint32_t)t, level, &q);
        if (st == SB_OK)
            st = sb_conformal_intervals(&a->mixture, a->target, t, q, &c);
        if (st != SB_OK)
            return st;
        sb_eval_push(a, list,
                     json_pack("{s:o, s:o, s:o, s:o}", "level", sb_json_real(level),
                               "factor", sb_json_real(q), "coverage",
                               sb_json_real(c.coverage), "width", sb_json_real(c.size)));
        sb_text_add(&a->table,
                    "  %2.0f %% conformal   covers %5.1f %%, mean width %.4g\n",
                    100 * level, 100 * c.coverage, c.size);
    }
    return st;
}

/* Means over the test set, as deviations. */
static void put_uncertainty(struct sb_eval *a, json_t *target, size_t t)
{
    double aleatoric = 0, epistemic = 0, n = (double)a->mixture.n;
    for (size_t i = 0; i < a->mixture.n; i++) {
        struct sb_moments x = sb_mixture_moments(&a->mixture, i, t);
        aleatoric += x.aleatoric / n;
        epistemic += x.epistemic / n;
    }
    sb_eval_put(a, target, "uncertainty",
                json_pack("{s:o, s:o, s:o}", "sd",
                          sb_json_real(sqrt(aleatoric + epistemic)), "aleatoric",
                          sb_json_real(sqrt(aleatoric)), "epistemic",
                          sb_json_real(sqrt(epistemic))));
    sb_text_add(&a->table, "  uncertainty      sd %.4g: aleatoric %.4g, epistemic %.4g\n",
                sqrt(aleatoric + epistemic), sqrt(aleatoric), sqrt(epistemic));
}

/* Truth, mean and deviation of the first examples. */
static void put_examples(struct sb_eval *a, json_t *target, size_t t)
{
    json_t *truth = json_array(), *mean = json_array(), *sd = json_array();
    size_t n = a->mixture.n < SHOWN_MOST ? a->mixture.n : SHOWN_MOST;
    for (size_t i = 0; i < n; i++) {
        struct sb_moments x = sb_mixture_moments(&a->mixture, i, t);
        sb_eval_push(a, truth,
                     sb_json_real((double)a->target[i * a->mixture.targets + t]));
        sb_eval_push(a, mean, sb_json_real(x.mean));
        sb_eval_push(a, sd, sb_json_real(sqrt(x.aleatoric + x.epistemic)));
    }
    sb_eval_put(a, target, "examples",
                json_pack("{s:o, s:o, s:o}", "truth", truth, "mean", mean, "sd", sd));
}

static sb_status put_target(struct sb_eval *a, json_t *list, size_t t)
{
    struct sb_regression r;
    sb_status st = sb_regression_of(&a->mixture, a->target, t, &r);
    if (st != SB_OK)
        return st;
    json_t *target = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o}", "name", a->model.info.target_name[t], "rmse",
        sb_json_real(r.rmse), "mae", sb_json_real(r.mae), "nll", sb_json_real(r.nll),
        "nll_gauss", sb_json_real(r.nll_matched), "crps", sb_json_real(r.crps));
    sb_eval_push(a, list, target);
    sb_text_add(&a->table,
                "\n%s\n  scores           nll %.4f (Gaussian %.4f), rmse %.4g, mae %.4g, "
                "crps %.4g\n",
                a->model.info.target_name[t], r.nll, r.nll_matched, r.rmse, r.mae,
                r.crps);
    sb_eval_put(a, target, "intervals", intervals_json(a, &r));
    st = put_calibration(a, target, t);
    if (st == SB_OK && a->model.info.scores > 0)
        st = put_conformal(a, target, t);
    if (st != SB_OK)
        return st;
    put_uncertainty(a, target, t);
    put_examples(a, target, t);
    return SB_OK;
}

sb_status sb_eval_outcomes(struct sb_eval *a)
{
    json_t *test = json_pack("{s:s, s:I}", "path", a->test.data->path, "n",
                             (json_int_t)a->test.n),
           *targets = json_array();
    sb_eval_put(a, a->sections, "test", test);
    sb_status st = put_scores(a, test);
    sb_eval_put(a, test, "targets", targets);
    for (size_t t = 0; t < a->mixture.targets && st == SB_OK; t++)
        st = put_target(a, targets, t);
    return st;
}
