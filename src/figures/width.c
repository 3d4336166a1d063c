/* width - see width.h. */
#include "figures/width.h"

#include <float.h>
#include <math.h>

#include "base/fmath.h"

enum { ROWS_OF_1 = 2 };

/* log of member k's density at x, but for a constant. */
static double log_density(const struct sb_mixture *m, size_t k, size_t at, double x)
{
    float var = m->var[k][at];
    double far = x - (double)m->mean[k][at];
    return -0.5 * ((double)sb_log(fmaxf(var, FLT_MIN)) + far * far / (double)var);
}

/* The slope of an example's term in log s. */
static double slope_of(const struct sb_mixture *m, size_t at, double y, double s)
{
    double centre = 0, most = -INFINITY, all = 0, sum = 0;
    for (size_t k = 0; k < m->members; k++)
        centre += (double)m->mean[k][at] / (double)m->members;
    double far = (y - centre) / s, x = centre + far;
    for (size_t k = 0; k < m->members; k++)
        most = fmax(most, log_density(m, k, at, x));
    for (size_t k = 0; k < m->members; k++) {
        double weight = (double)sb_exp((float)(log_density(m, k, at, x) - most));
        double off = (x - (double)m->mean[k][at]) / (double)m->var[k][at];
        all += weight;
        sum += weight * off * far;
    }
    return 1 - sum / all;
}

sb_status sb_width_fit(const struct sb_mixture *m, const float *y, size_t target,
                       double *out)
{
    enum { STEPS = 40 };
    double low = SB_WIDTH_LEAST, high = SB_WIDTH_MOST;
    sb_status st = sb_mixture_check(m);
    if (st == SB_OK && target >= m->targets)
        st = sb_fail(SB_EARG, "width: target %zu of %zu", target, m->targets);
    for (size_t i = 0; i < m->n && st == SB_OK; i++)
        if (!isfinite(y[i * m->targets + target]))
            st = sb_fail(SB_ENUMERIC, "width: example %zu, target %zu is %g", i, target,
                         (double)y[i * m->targets + target]);
    for (int step = 0; step < STEPS && st == SB_OK; step++) {
        double s = sqrt(low * high), slope = ROWS_OF_1 * (1 - 1 / (s * s));
        for (size_t i = 0; i < m->n; i++) {
            size_t at = i * m->targets + target;
            slope += slope_of(m, at, (double)y[at], s);
        }
        if (slope < 0)
            low = s;
        else
            high = s;
    }
    *out = sqrt(low * high);
    return st;
}

double sb_width_of_fewer(double width)
{
    return width > 1 ? sqrt(width) : width;
}
