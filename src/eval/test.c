/* test - the test set: scores, reliability, classes, uncertainty, members, size. */
#include <math.h>

#include "base/mem.h"
#include "eval/parts.h"
#include "figures/calibration.h"
#include "figures/members.h"
#include "figures/uncertainty.h"

static void tell_scores(struct sb_eval *a, const char *name, const struct sb_scores *s)
{
    sb_text_add(&a->table, "  %-16s %8.4f %8.4f %8.4f %8.4f\n", name, s->accuracy, s->nll,
                s->ece, s->brier);
}

static struct sb_probs one_member(const struct sb_eval *a, size_t m)
{
    return (struct sb_probs){&a->member[m], 1, a->probs.n, a->probs.classes};
}

/* ---- reliability --------------------------------------------------------------------- */

static sb_status bins_json(struct sb_eval *a, const struct sb_probs *p, json_t **out)
{
    struct sb_bin bin[SB_METRICS_BINS];
    unsigned bins = a->o->config->eval.bins;
    sb_status st = sb_calibration_bins(p, a->label, bins, bin);
    *out = json_array();
    for (unsigned b = 0; st == SB_OK && b < bins; b++)
        sb_eval_push(a, *out,
                     json_pack("{s:o, s:o, s:I, s:o, s:o}", "lo",
                               sb_json_real(bin[b].low), "hi", sb_json_real(bin[b].high),
                               "count", (json_int_t)bin[b].count, "confidence",
                               sb_json_real(bin[b].confidence), "accuracy",
                               sb_json_real(bin[b].accuracy)));
    return st;
}

static sb_status put_bins(struct sb_eval *a, json_t *test)
{
    json_t *members = json_array(), *bins = json_object(), *one = NULL;
    sb_eval_put(a, test, "bins", bins);
    sb_eval_put(a, bins, "members", members);
    sb_status st = bins_json(a, &a->probs, &one);
    sb_eval_put(a, bins, "ensemble", one);
    for (size_t m = 0; m < a->probs.members && st == SB_OK; m++) {
        struct sb_probs p = one_member(a, m);
        st = bins_json(a, &p, &one);
        sb_eval_push(a, members, one);
    }
    return st;
}

/* ---- uncertainty --------------------------------------------------------------------- */

static double mean(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i];
    return sum / (double)n;
}

static sb_status put_uncertainty(struct sb_eval *a, json_t *test)
{
    size_t n = a->probs.n;
    float *x = sb_malloc(n, 3 * sizeof *x);
    if (!x)
        return sb_fail(SB_ENOMEM, "no memory for the uncertainty of %zu examples", n);
    struct sb_uncertainty u = {.total = x, .aleatoric = x + n, .epistemic = x + 2 * n};
    sb_status st = sb_uncertainty_of(&a->probs, 0, &u);
    if (st == SB_OK) {
        double total = mean(u.total, n), data = mean(u.aleatoric, n),
               model = mean(u.epistemic, n);
        sb_eval_put(a, test, "uncertainty",
                    json_pack("{s:o, s:o, s:o}", "total", sb_json_real(total),
                              "aleatoric", sb_json_real(data), "epistemic",
                              sb_json_real(model)));
        sb_text_add(&a->table,
                    "  uncertainty      total %.4f = aleatoric %.4f + epistemic %.4f\n",
                    total, data, model);
    }
    sb_free(x);
    return st;
}

/* ---- members ------------------------------------------------------------------------- */

static json_t *matrix_json(struct sb_eval *a, const double *x)
{
    json_t *rows = json_array();
    size_t m = a->probs.members;
    for (size_t i = 0; i < m; i++)
        sb_eval_push(a, rows, sb_eval_numbers(a, x + i * m, m));
    return rows;
}

static sb_status put_diversity(struct sb_eval *a)
{
    size_t m = a->probs.members;
    struct sb_diversity d;
    double *pairs = sb_malloc(m * m, 2 * sizeof *pairs);
    if (!pairs)
        return sb_fail(SB_ENOMEM, "no memory for pairs of %zu members", m);
    sb_status st = sb_members_matrices(&a->probs, pairs, pairs + m * m);
    if (st == SB_OK)
        st = sb_metrics_diversity(&a->probs, &d);
    if (st == SB_OK) {
        sb_eval_put(a, a->sections, "diversity",
                    json_pack("{s:o, s:o, s:o, s:o}", "disagreement",
                              sb_json_real(d.disagreement), "kl", sb_json_real(d.kl),
                              "disagreement_matrix", matrix_json(a, pairs), "kl_matrix",
                              matrix_json(a, pairs + m * m)));
        sb_text_add(&a->table, "  diversity        disagreement %.4f, kl %.4f\n",
                    d.disagreement, d.kl);
    }
    sb_free(pairs);
    return st;
}

static json_t *spread_json(struct sb_spread s)
{
    return json_pack("{s:o, s:o}", "mean", sb_json_real(s.mean), "sd",
                     sb_json_real(s.sd));
}

static sb_status put_sizes(struct sb_eval *a)
{
    size_t m = a->probs.members;
    struct sb_size_row *row = sb_malloc(m, sizeof *row);
    if (!row)
        return sb_fail(SB_ENOMEM, "no memory for ensembles of %zu sizes", m);
    json_t *list = json_array();
    sb_eval_put(a, a->sections, "size", list);
    sb_status st = sb_members_sizes(&a->probs, a->label, a->o->config->eval.bins, 0, row);
    sb_text_add(&a->table, "\n%-18s %8s %8s %8s\n", "members", "acc", "nll", "ece");
    for (size_t k = 0; k < m && st == SB_OK; k++) {
        sb_eval_push(a, list,
                     json_pack("{s:I, s:I, s:o, s:o, s:o}", "k", (json_int_t)row[k].k,
                               "subsets", (json_int_t)row[k].subsets, "acc",
                               spread_json(row[k].accuracy), "nll",
                               spread_json(row[k].nll), "ece", spread_json(row[k].ece)));
        sb_text_add(&a->table, "  %-16u %8.4f %8.4f %8.4f   sd %.4f %.4f %.4f\n",
                    row[k].k, row[k].accuracy.mean, row[k].nll.mean, row[k].ece.mean,
                    row[k].accuracy.sd, row[k].nll.sd, row[k].ece.sd);
    }
    sb_free(row);
    return st;
}

/* ---- the section --------------------------------------------------------------------- */

static sb_status put_scores(struct sb_eval *a, json_t *test)
{
    unsigned bins = a->o->config->eval.bins;
    struct sb_scores s;
    json_t *members = json_array();
    sb_eval_put(a, test, "members", members);
    sb_text_add(&a->table, "%-18s %8s %8s %8s %8s\n", "test", "acc", "nll", "ece",
                "brier");
    for (size_t m = 0; m < a->probs.members; m++) {
        struct sb_probs p = one_member(a, m);
        char name[32];
        sb_status st = sb_metrics_of(&p, a->label, bins, &s);
        if (st != SB_OK)
            return st;
        sb_eval_push(a, members, sb_eval_scores(&s, true));
        snprintf(name, sizeof name, "member %zu", m + 1);
        tell_scores(a, name, &s);
    }
    sb_status st = sb_metrics_of(&a->probs, a->label, bins, &s);
    if (st == SB_OK) {
        sb_eval_put(a, test, "ensemble", sb_eval_scores(&s, true));
        tell_scores(a, "ensemble", &s);
    }
    return st;
}

sb_status sb_eval_test(struct sb_eval *a)
{
    json_t *test =
        json_pack("{s:s, s:I}", "path", a->test.data->path, "n", (json_int_t)a->test.n);
    sb_eval_put(a, a->sections, "test", test);
    sb_status st = put_scores(a, test);
    if (st == SB_OK)
        st = put_bins(a, test);
    if (st == SB_OK)
        st = sb_eval_classes(a, test);
    if (st == SB_OK && a->model.info.scores > 0)
        st = sb_eval_conformal(a, test);
    if (st == SB_OK && a->o->config->eval.temperature)
        st = sb_eval_temperature(a, test);
    if (st == SB_OK)
        st = put_uncertainty(a, test);
    if (st == SB_OK && a->probs.members > 1)
        st = put_diversity(a);
    return st == SB_OK ? put_sizes(a) : st;
}
