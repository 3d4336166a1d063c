/* mixture - see mixture.h. */
#include "figures/mixture.h"

#include <math.h>
#include <stdint.h>

static const double log_2pi = 1.83787706640934548356;
static const double sqrt_2 = 1.41421356237309504880;
static const double sqrt_2pi = 2.50662827463100050242;

sb_status sb_mixture_check(const struct sb_mixture *m)
{
    if (m->n == 0 || m->members == 0 || m->targets == 0)
        return sb_fail(
            SB_EARG, "mixture: %zu members, %zu examples and %zu targets: none may be 0",
            m->members, m->n, m->targets);
    for (size_t k = 0; k < m->members; k++)
        for (size_t i = 0; i < m->n * m->targets; i++) {
            double mean = (double)m->mean[k][i], var = (double)m->var[k][i];
            if (!isfinite(mean) || !isfinite(var) || !(var > 0))
                return sb_fail(SB_ENUMERIC,
                               "mixture: member %zu gives example %zu, target %zu the "
                               "mean %g and the variance %g",
                               k, i / m->targets, i % m->targets, mean, var);
        }
    for (size_t t = 0; m->width && t < m->targets; t++)
        if (!isfinite(m->width[t]) || !(m->width[t] > 0))
            return sb_fail(SB_ENUMERIC, "mixture: target %zu has the width %g", t,
                           (double)m->width[t]);
    return SB_OK;
}

/* A target of an example. */
struct place {
    const struct sb_mixture *m;
    size_t at;
    double centre, width; /* where it has a width */
};

static double mean_of(const struct sb_mixture *m, size_t at)
{
    double mean = 0, members = (double)m->members;
    for (size_t k = 0; k < m->members; k++)
        mean += (double)m->mean[k][at] / members;
    return mean;
}

static struct place place_of(const struct sb_mixture *m, size_t example, size_t target)
{
    struct place p = {m, example * m->targets + target, 0, 1};
    if (m->width) {
        p.centre = mean_of(m, p.at);
        p.width = (double)m->width[target];
    }
    return p;
}

/* Member k's Gaussian. */
static void gaussian(const struct place *p, size_t k, double *mean, double *var)
{
    *mean = (double)p->m->mean[k][p->at];
    *var = (double)p->m->var[k][p->at];
    if (p->m->width) {
        *mean = p->centre + p->width * (*mean - p->centre);
        *var *= p->width * p->width;
    }
}

/* A width changes no bit of the mean. */
struct sb_moments sb_mixture_moments(const struct sb_mixture *m, size_t example,
                                     size_t target)
{
    size_t at = example * m->targets + target;
    struct sb_moments out = {.mean = mean_of(m, at)};
    double members = (double)m->members;
    for (size_t k = 0; k < m->members; k++) {
        double far = (double)m->mean[k][at] - out.mean;
        out.aleatoric += (double)m->var[k][at] / members;
        out.epistemic += far * far / members;
    }
    if (m->width) {
        double wider = (double)m->width[target] * (double)m->width[target];
        out.aleatoric *= wider;
        out.epistemic *= wider;
    }
    return out;
}

/* ---- densities ---- */

/* log of the sum of e^a and e^b. */
static double add_logs(double a, double b)
{
    double most = fmax(a, b), least = fmin(a, b);
    return isinf(most) ? most : most + log1p(exp(least - most));
}

static double log_gaussian(const struct place *p, size_t k, double y)
{
    double mean, var;
    gaussian(p, k, &mean, &var);
    return -0.5 * (log_2pi + log(var) + (y - mean) * (y - mean) / var);
}

double sb_mixture_log_density(const struct sb_mixture *m, size_t example, const float *y)
{
    double sum = -INFINITY;
    if (m->targets == 1)
        return sb_mixture_log_density_of(m, example, 0, (double)y[0]);
    for (size_t k = 0; k < m->members; k++) {
        double joint = 0;
        for (size_t t = 0; t < m->targets; t++) {
            struct place p = place_of(m, example, t);
            joint += log_gaussian(&p, k, (double)y[t]);
        }
        sum = add_logs(sum, joint);
    }
    return sum - log((double)m->members);
}

double sb_mixture_log_density_of(const struct sb_mixture *m, size_t example,
                                 size_t target, double y)
{
    struct place p = place_of(m, example, target);
    double sum = -INFINITY;
    for (size_t k = 0; k < m->members; k++)
        sum = add_logs(sum, log_gaussian(&p, k, y));
    return sum - log((double)m->members);
}

/* ---- quantiles ---- */

double sb_mixture_cdf(const struct sb_mixture *m, size_t example, size_t target, double x)
{
    struct place p = place_of(m, example, target);
    double sum = 0, mean, var;
    for (size_t k = 0; k < m->members; k++) {
        gaussian(&p, k, &mean, &var);
        sum += 0.5 * erfc((mean - x) / (sqrt_2 * sqrt(var)));
    }
    return sum / (double)m->members;
}

static double density(const struct place *p, double x)
{
    double sum = 0;
    for (size_t k = 0; k < p->m->members; k++)
        sum += exp(log_gaussian(p, k, x));
    return sum / (double)p->m->members;
}

/* Newton's steps, halved where they leave the bracket: far in a tail, or between two
 * members that are far apart, the density says nothing. */
double sb_mixture_quantile(const struct sb_mixture *m, size_t example, size_t target,
                           double p)
{
    enum { STEPS = 200, WIDE = 40 }; /* Phi(-40) is 0 in a double */
    struct place at = place_of(m, example, target);
    double low = INFINITY, high = -INFINITY, mean, var;
    for (size_t k = 0; k < m->members; k++) {
        gaussian(&at, k, &mean, &var);
        low = fmin(low, mean - WIDE * sqrt(var));
        high = fmax(high, mean + WIDE * sqrt(var));
    }
    double x = sb_mixture_moments(m, example, target).mean;
    for (int i = 0; i < STEPS; i++) {
        double over = sb_mixture_cdf(m, example, target, x) - p;
        if (over < 0)
            low = x;
        else
            high = x;
        double next = x - over / density(&at, x);
        if (!(next > low && next < high))
            next = low + (high - low) / 2;
        if (next == x || fabs(next - x) <= 4e-16 * fabs(x))
            return next;
        x = next;
    }
    return x;
}

/* ---- crps ---- */

/* E|Z| of Z ~ N(d, s2). */
static double mean_absolute(double d, double s2)
{
    double s = sqrt(s2), z = d / s;
    return 2 * s * exp(-z * z / 2) / sqrt_2pi + d * erf(z / sqrt_2);
}

double sb_mixture_crps(const struct sb_mixture *m, size_t example, size_t target,
                       double y)
{
    struct place at = place_of(m, example, target);
    double members = (double)m->members, near = 0, apart = 0;
    for (size_t a = 0; a < m->members; a++) {
        double mean, var, other, other_var;
        gaussian(&at, a, &mean, &var);
        near += mean_absolute(y - mean, var);
        for (size_t b = 0; b < m->members; b++) {
            gaussian(&at, b, &other, &other_var);
            apart += mean_absolute(mean - other, var + other_var);
        }
    }
    return near / members - apart / (2 * members * members);
}
