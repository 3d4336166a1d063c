/* conformal - see conformal.h. */
#include "figures/conformal.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

sb_status sb_conformal_quantile(double *score, size_t n, double coverage, double *out)
{
    if (n == 0)
        return sb_fail(SB_EARG, "conformal: no examples to calibrate with");
    if (!(coverage > 0 && coverage < 1))
        return sb_fail(SB_EARG, "conformal: a coverage of %g; want one in (0, 1)",
                       coverage);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(score[i]))
            return sb_fail(SB_ENUMERIC, "conformal: the score of example %zu is %g", i,
                           score[i]);
    /* What is a whole number but for rounding is that number: 0.7 * 10 is 7. */
    double rank = ceil((double)(n + 1) * coverage - 1e-9);
    qsort(score, n, sizeof *score, ascending);
    *out = rank > (double)n ? INFINITY : score[rank < 1 ? 0 : (size_t)rank - 1];
    return SB_OK;
}

/* ---- continuous outcomes ---- */

static sb_status check(const struct sb_mixture *m, const float *y, size_t target)
{
    sb_status st = sb_mixture_check(m);
    if (st == SB_OK && target >= m->targets)
        st = sb_fail(SB_EARG, "conformal: target %zu of %zu", target, m->targets);
    for (size_t i = 0; i < m->n && st == SB_OK; i++)
        if (!isfinite(y[i * m->targets + target]))
            st = sb_fail(SB_ENUMERIC, "conformal: example %zu, target %zu is %g", i,
                         target, (double)y[i * m->targets + target]);
    return st;
}

static double wrong_by(const struct sb_mixture *m, const float *y, size_t i,
                       size_t target, double *sd)
{
    struct sb_moments p = sb_mixture_moments(m, i, target);
    *sd = sqrt(p.aleatoric + p.epistemic);
    return fabs((double)y[i * m->targets + target] - p.mean) / *sd;
}

sb_status sb_conformal_outcomes(const struct sb_mixture *m, const float *y, size_t target,
                                double *out)
{
    sb_status st = check(m, y, target);
    double sd;
    for (size_t i = 0; i < m->n && st == SB_OK; i++)
        out[i] = wrong_by(m, y, i, target, &sd);
    return st;
}

sb_status sb_conformal_intervals(const struct sb_mixture *m, const float *y,
                                 size_t target, double quantile, struct sb_conformal *out)
{
    sb_status st = check(m, y, target);
    if (st != SB_OK)
        return st;
    double n = (double)m->n, sd;
    *out = (struct sb_conformal){0};
    for (size_t i = 0; i < m->n; i++) {
        out->coverage += (wrong_by(m, y, i, target, &sd) <= quantile) / n;
        out->size += 2 * quantile * sd / n;
    }
    return SB_OK;
}

/* ---- classes ---- */

static sb_status check_labels(const struct sb_probs *p, const int32_t *label)
{
    sb_status st = sb_metrics_check(p);
    for (size_t i = 0; i < p->n && st == SB_OK; i++)
        if (label[i] < 0 || (size_t)label[i] >= p->classes)
            st = sb_fail(SB_EARG, "conformal: example %zu has label %d of %zu classes", i,
                         label[i], p->classes);
    return st;
}

sb_status sb_conformal_classes(const struct sb_probs *p, const int32_t *label,
                               double *out)
{
    sb_status st = check_labels(p, label);
    for (size_t i = 0; i < p->n && st == SB_OK; i++)
        out[i] = 1 - sb_metrics_mean_of(p, i, (size_t)label[i]);
    return st;
}

sb_status sb_conformal_sets(const struct sb_probs *p, const int32_t *label,
                            double quantile, struct sb_conformal *out)
{
    sb_status st = check_labels(p, label);
    if (st != SB_OK)
        return st;
    double n = (double)p->n;
    *out = (struct sb_conformal){0};
    for (size_t i = 0; i < p->n; i++)
        for (size_t c = 0; c < p->classes; c++) {
            bool within = 1 - sb_metrics_mean_of(p, i, c) <= quantile;
            out->size += within / n;
            out->coverage += (within && c == (size_t)label[i]) / n;
        }
    return SB_OK;
}
