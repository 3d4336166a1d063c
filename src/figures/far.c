/* far - see far.h. Sums are taken in a fixed order, in double: the same bits everywhere. */
#include "figures/far.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static const double sphere = 1e-3; /* of the mean variance, added to each */

static void fit_mean(const float *z, uint32_t n, uint32_t width, double *mean)
{
    for (uint32_t k = 0; k < width; k++)
        mean[k] = 0.0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < width; k++)
            mean[k] += (double)z[(size_t)i * SB_FAR_WIDTH + k];
    for (uint32_t k = 0; k < width; k++)
        mean[k] /= n;
}

/* The lower triangle of the covariance, with the sphere. */
static void fit_covariance(const float *z, uint32_t n, uint32_t width, const double *mean,
                           double *c)
{
    double x[SB_FAR_WIDTH], trace = 0.0;
    for (size_t k = 0; k < sb_far_triangle(width); k++)
        c[k] = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < width; k++)
            x[k] = (double)z[(size_t)i * SB_FAR_WIDTH + k] - mean[k];
        double *to = c;
        for (uint32_t r = 0; r < width; r++)
            for (uint32_t k = 0; k <= r; k++)
                *to++ += x[r] * x[k];
    }
    for (size_t k = 0; k < sb_far_triangle(width); k++)
        c[k] /= n;
    for (uint32_t r = 0; r < width; r++)
        trace += c[sb_far_triangle(r) + r];
    double more = sphere * trace / width + 1e-12;
    for (uint32_t r = 0; r < width; r++)
        c[sb_far_triangle(r) + r] += more;
}

/* c = L L' becomes L, in place. */
static void cholesky(double *c, uint32_t width)
{
    for (uint32_t r = 0; r < width; r++) {
        double *row = c + sb_far_triangle(r);
        for (uint32_t k = 0; k <= r; k++) {
            const double *other = c + sb_far_triangle(k);
            double sum = row[k];
            for (uint32_t i = 0; i < k; i++)
                sum -= row[i] * other[i];
            row[k] = k < r ? sum / other[k] : sqrt(sum > 1e-30 ? sum : 1e-30);
        }
    }
}

sb_status sb_far_fit(const float *z, uint32_t n, uint32_t width, float *mean,
                     float *factor)
{
    double centre[SB_FAR_WIDTH], *c = sb_malloc(sb_far_triangle(width), sizeof *c);
    if (!c)
        return sb_fail(SB_ENOMEM, "no memory for a covariance of %u numbers", width);
    fit_mean(z, n, width, centre);
    fit_covariance(z, n, width, centre, c);
    cholesky(c, width);
    for (uint32_t k = 0; k < width; k++)
        mean[k] = (float)centre[k];
    for (size_t k = 0; k < sb_far_triangle(width); k++)
        factor[k] = (float)c[k];
    sb_free(c);
    return SB_OK;
}

double sb_far_distance(const float *z, uint32_t width, const float *mean,
                       const float *factor)
{
    double u[SB_FAR_WIDTH], sum = 0.0;
    for (uint32_t r = 0; r < width; r++) {
        const float *row = factor + sb_far_triangle(r);
        double x = (double)z[r] - (double)mean[r];
        for (uint32_t k = 0; k < r; k++)
            x -= (double)row[k] * u[k];
        u[r] = x / (double)row[r];
        sum += u[r] * u[r];
    }
    return sum / width;
}

double sb_far_away(const struct sb_far *f, uint32_t place, const float *z)
{
    return sb_far_distance(z, sb_far_place_width(f, place),
                           f->number + sb_far_mean_at(f, place),
                           f->number + sb_far_factor_at(f, place));
}

double sb_far_left_out(double d, uint32_t width, uint32_t n)
{
    double q = d * width, part = q / (n - 1.0);
    double most = (n - 1.0) / n; /* which rounding may pass */
    return n / (n - 1.0) * q / (1.0 - (part < most ? part : most)) / width;
}

double sb_far_score(double input, double features)
{
    return 0.5 * input + 0.5 * features;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

uint32_t sb_far_quantiles(double *score, uint32_t n, float out[SB_FAR_QUANTILES])
{
    uint32_t count = n < SB_FAR_QUANTILES ? n : SB_FAR_QUANTILES;
    qsort(score, n, sizeof *score, by_size);
    for (uint32_t i = 0; i < count; i++)
        out[i] = (float)score[count > 1 ? (uint64_t)i * (n - 1) / (count - 1) : 0];
    return count;
}

double sb_far_share(const float *quantile, uint32_t count, double score)
{
    const double step = 1.0 / (count + 1.0);
    double last = (double)quantile[count - 1], first = (double)quantile[0];
    if (!isfinite(score))
        return 1.0;
    if (score >= last)
        return 1.0 - step * (score > 0 ? last / score : 1.0);
    if (score < first)
        return step * score / first;
    uint32_t low = 0, high = count - 1; /* quantile[low] <= score < quantile[high] */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if ((double)quantile[middle] <= score)
            low = middle;
        else
            high = middle;
    }
    double a = (double)quantile[low], b = (double)quantile[high];
    return step * (low + 1.0 + (score - a) / (b - a));
}

void sb_far_conclude(const struct sb_far *f, const float *away, size_t stride, uint32_t n,
                     float *far)
{
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (uint32_t m = 1; m <= f->members; m++)
            sum += (double)away[m * stride + i];
        far[i] = (float)sb_far_share(f->number + sb_far_quantile_at(f), f->quantiles,
                                     sb_far_score((double)away[i], sum / f->members));
    }
}
