/* regression - see regression.h. */
#include "figures/regression.h"

#include <math.h>

static const double log_2pi = 1.83787706640934548356;

const double sb_interval_levels[SB_INTERVALS] = {0.5, 0.8, 0.9, 0.95};

static sb_status check(const struct sb_mixture *m, const float *y, size_t target)
{
    sb_status st = sb_mixture_check(m);
    if (st != SB_OK)
        return st;
    if (target >= m->targets)
        return sb_fail(SB_EARG, "regression: target %zu of %zu", target, m->targets);
    for (size_t i = 0; i < m->n * m->targets; i++)
        if (!isfinite(y[i]))
            return sb_fail(SB_ENUMERIC, "regression: example %zu, target %zu is %g",
                           i / m->targets, i % m->targets, (double)y[i]);
    return SB_OK;
}

static void add_intervals(const struct sb_mixture *m, size_t i, size_t target, double y,
                          struct sb_regression *sum)
{
    for (size_t k = 0; k < SB_INTERVALS; k++) {
        double tail = (1 - sb_interval_levels[k]) / 2;
        double low = sb_mixture_quantile(m, i, target, tail);
        double high = sb_mixture_quantile(m, i, target, 1 - tail);
        sum->coverage[k] += low <= y && y <= high;
        sum->width[k] += high - low;
    }
}

static void add_example(const struct sb_mixture *m, size_t i, size_t target, double y,
                        struct sb_regression *sum)
{
    struct sb_moments p = sb_mixture_moments(m, i, target);
    double miss = y - p.mean, var = p.aleatoric + p.epistemic;
    sum->rmse += miss * miss;
    sum->mae += fabs(miss);
    sum->nll -= sb_mixture_log_density_of(m, i, target, y);
    sum->nll_matched += 0.5 * (log_2pi + log(var) + miss * miss / var);
    sum->crps += sb_mixture_crps(m, i, target, y);
    add_intervals(m, i, target, y, sum);
}

sb_status sb_regression_of(const struct sb_mixture *m, const float *y, size_t target,
                           struct sb_regression *out)
{
    sb_status st = check(m, y, target);
    if (st != SB_OK)
        return st;
    struct sb_regression sum = {0};
    double n = (double)m->n;
    for (size_t i = 0; i < m->n; i++)
        add_example(m, i, target, (double)y[i * m->targets + target], &sum);
    *out = (struct sb_regression){.rmse = sqrt(sum.rmse / n),
                                  .mae = sum.mae / n,
                                  .nll = sum.nll / n,
                                  .nll_matched = sum.nll_matched / n,
                                  .crps = sum.crps / n};
    for (size_t k = 0; k < SB_INTERVALS; k++) {
        out->coverage[k] = sum.coverage[k] / n;
        out->width[k] = sum.width[k] / n;
    }
    return SB_OK;
}

sb_status sb_regression_nll(const struct sb_mixture *m, const float *y, double *out)
{
    sb_status st = check(m, y, 0);
    if (st != SB_OK)
        return st;
    double sum = 0;
    for (size_t i = 0; i < m->n; i++)
        sum -= sb_mixture_log_density(m, i, y + i * m->targets);
    *out = sum / (double)m->n;
    return SB_OK;
}

sb_status sb_regression_scores(const struct sb_mixture *m, const float *y,
                               struct sb_outcome_scores *out)
{
    *out = (struct sb_outcome_scores){0};
    sb_status st = sb_regression_nll(m, y, &out->nll);
    double n = (double)m->n, targets = (double)m->targets;
    for (size_t t = 0; t < m->targets && st == SB_OK; t++) {
        double squares = 0, sum = 0, crps = 0;
        for (size_t i = 0; i < m->n; i++) {
            double truth = (double)y[i * m->targets + t];
            double miss = truth - sb_mixture_moments(m, i, t).mean;
            squares += miss * miss;
            sum += fabs(miss);
            crps += sb_mixture_crps(m, i, t, truth);
        }
        out->rmse += sqrt(squares / n) / targets;
        out->mae += sum / n / targets;
        out->crps += crps / n / targets;
    }
    return st;
}

sb_status sb_regression_calibration(const struct sb_mixture *m, const float *y,
                                    size_t target, const double *level, size_t count,
                                    double *share, double *error)
{
    sb_status st = check(m, y, target);
    if (st != SB_OK)
        return st;
    for (size_t k = 0; k < count; k++) {
        share[k] = 0;
        if (!(level[k] > 0 && level[k] < 1) || (k > 0 && !(level[k] > level[k - 1])))
            return sb_fail(SB_EARG,
                           "regression: level %zu is %g; want rising ones in "
                           "(0, 1)",
                           k, level[k]);
    }
    for (size_t i = 0; i < m->n; i++) {
        double below = sb_mixture_cdf(m, i, target, (double)y[i * m->targets + target]);
        for (size_t k = count; k > 0 && below <= level[k - 1]; k--)
            share[k - 1] += 1;
    }
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        share[k] /= (double)m->n;
        sum += fabs(share[k] - level[k]);
    }
    if (error)
        *error = count ? sum / (double)count : 0;
    return SB_OK;
}
