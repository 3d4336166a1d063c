/* ood - see ood.h. */
#include "figures/ood.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

static double doubt(const float *prob, size_t classes)
{
    float top = prob[0];
    for (size_t c = 1; c < classes; c++)
        top = prob[c] > top ? prob[c] : top;
    return 1 - (double)top;
}

sb_status sb_ood_scores(const struct sb_probs *p, double *max_probability,
                        double *member_mean)
{
    sb_status st = sb_metrics_check(p);
    if (st != SB_OK)
        return st;
    for (size_t i = 0; i < p->n; i++) {
        double top, sum = 0;
        sb_metrics_top(p, i, &top);
        for (size_t m = 0; m < p->members; m++)
            sum += doubt(p->member[m] + i * p->classes, p->classes);
        if (max_probability)
            max_probability[i] = 1 - top;
        if (member_mean)
            member_mean[i] = sum / (double)p->members;
    }
    return SB_OK;
}

/* ---- both sides, sorted -------------------------------------------------------------- */

struct scored {
    double score;
    bool positive;
};

static int descending(const void *a, const void *b)
{
    double x = ((const struct scored *)a)->score, y = ((const struct scored *)b)->score;
    return (x < y) - (x > y);
}

static sb_status copy_scores(struct scored *to, const double *score, size_t n,
                             bool positive)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(score[i]))
            return sb_fail(SB_ENUMERIC, "score %zu of the %s examples is %g", i,
                           positive ? "out-of-distribution" : "in-distribution",
                           score[i]);
        to[i] = (struct scored){score[i], positive};
    }
    return SB_OK;
}

/* The caller frees *out, which is NULL after a failure. */
static sb_status sort_sides(const struct sb_ood_sides *s, struct scored **out)
{
    size_t n = s->n_in + s->n_out;
    *out = NULL;
    if (s->n_in == 0 || s->n_out == 0)
        return sb_fail(SB_EARG,
                       "%zu in- and %zu out-of-distribution examples: neither may be 0",
                       s->n_in, s->n_out);
    struct scored *all = sb_malloc(n, sizeof *all);
    if (!all)
        return sb_fail(SB_ENOMEM, "no memory to sort %zu scores", n);
    sb_status st = copy_scores(all, s->in, s->n_in, false);
    if (st == SB_OK)
        st = copy_scores(all + s->n_in, s->out, s->n_out, true);
    if (st != SB_OK) {
        sb_free(all);
        return st;
    }
    qsort(all, n, sizeof *all, descending);
    *out = all;
    return SB_OK;
}

/* A threshold that is lowered over sorted scores, one group of equal ones at a time. */
struct sweep {
    const struct scored *s;
    size_t n, at;
    double hits, alarms;         /* out and in examples at or above the threshold */
    double new_hits, new_alarms; /* of the last group */
};

static bool lower(struct sweep *w)
{
    double score = w->at < w->n ? w->s[w->at].score : 0;
    if (w->at == w->n)
        return false;
    w->new_hits = w->new_alarms = 0;
    for (; w->at < w->n && w->s[w->at].score == score; w->at++) {
        w->new_hits += w->s[w->at].positive;
        w->new_alarms += !w->s[w->at].positive;
    }
    w->hits += w->new_hits;
    w->alarms += w->new_alarms;
    return true;
}

/* ---- figures ------------------------------------------------------------------------- */

sb_status sb_ood_detect(const struct sb_ood_sides *s, struct sb_ood *out)
{
    struct scored *all;
    sb_status st = sort_sides(s, &all);
    if (st != SB_OK)
        return st;
    double n_in = (double)s->n_in, n_out = (double)s->n_out;
    struct sweep w = {.s = all, .n = s->n_in + s->n_out};
    *out = (struct sb_ood){.fpr95 = -1};
    while (lower(&w)) {
        out->auroc += w.new_alarms * (w.hits - w.new_hits / 2);
        out->aupr += w.new_hits * w.hits / (w.hits + w.alarms);
        if (out->fpr95 < 0 && 20 * w.hits >= 19 * n_out)
            out->fpr95 = w.alarms / n_in;
    }
    out->auroc /= n_in * n_out;
    out->aupr /= n_out;
    sb_free(all);
    return SB_OK;
}

sb_status sb_ood_roc(const struct sb_ood_sides *s, struct sb_roc_point *out,
                     size_t *count)
{
    const double step = 2.0 / (SB_ROC_POINTS - 2); /* of the curve's 2 right and up */
    struct scored *all;
    sb_status st = sort_sides(s, &all);
    *count = 0;
    if (st != SB_OK)
        return st;
    struct sweep w = {.s = all, .n = s->n_in + s->n_out};
    struct sb_roc_point last = {0, 0};
    out[(*count)++] = last;
    while (lower(&w)) {
        struct sb_roc_point p = {w.alarms / (double)s->n_in, w.hits / (double)s->n_out};
        bool end = w.at == w.n;
        if (!end && p.fpr - last.fpr + p.tpr - last.tpr < step)
            continue;
        out[(*count)++] = last = p;
    }
    sb_free(all);
    return SB_OK;
}

static sb_status count_scores(const double *score, size_t n, unsigned bins, size_t *out)
{
    for (unsigned b = 0; b < bins; b++)
        out[b] = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(score[i] >= 0 && score[i] <= 1))
            return sb_fail(SB_ENUMERIC, "score %zu is %g, not in 0 .. 1", i, score[i]);
        unsigned b = (unsigned)(score[i] * bins);
        out[b < bins ? b : bins - 1]++;
    }
    return SB_OK;
}

sb_status sb_ood_histogram(const struct sb_ood_sides *s, unsigned bins, size_t *in,
                           size_t *out)
{
    if (bins == 0)
        return sb_fail(SB_EARG, "a histogram of 0 bins");
    sb_status st = count_scores(s->in, s->n_in, bins, in);
    return st == SB_OK ? count_scores(s->out, s->n_out, bins, out) : st;
}
