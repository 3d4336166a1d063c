/* tsne - see tsne.h. A chunk is a row of the n x n matrices. */
#include "figures/tsne.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/threads.h"

enum { POWER_STEPS = 100, BISECTIONS = 60, STEPS = 1000 };

static const double exaggeration = 12.0, least_affinity = 1e-12;

struct job {
    const struct sb_env *env;
    const float *x; /* [n][dimensions] */
    size_t n, dimensions;
    double entropy; /* log of the perplexity */
    double *d;      /* [n][n] squared distances; later centred, for the start */
    double *p, *q;  /* [n][n] affinities; 1 / (1 + distance^2) of the embedding */
    double *row;    /* [n] sums of rows */
    double *y, *dy; /* [n][2] */
    double *velocity, *gain; /* [n][2] */
    double scale;            /* of p: the exaggeration of this step ... */
    double q_sum;            /* ... and the sum of q */
};

static void run(const struct job *j, sb_chunk_fn *fn)
{
    sb_threads_run(j->env->threads, j->n, fn, (void *)j);
}

/* ---- affinities ---------------------------------------------------------------------- */

static void distances(void *context, size_t i, int worker)
{
    (void)worker;
    const struct job *j = context;
    const float *a = j->x + i * j->dimensions;
    for (size_t k = 0; k < j->n; k++) {
        const float *b = j->x + k * j->dimensions;
        double sum = 0;
        for (size_t c = 0; c < j->dimensions; c++) {
            double diff = (double)a[c] - (double)b[c];
            sum += diff * diff;
        }
        j->d[i * j->n + k] = sum;
    }
}

/* p = exp(-beta (d - nearest)) of row i, which sums to 1; returns its entropy. */
static double weigh(const struct job *j, size_t i, double beta, double nearest)
{
    const double *d = j->d + i * j->n;
    double *p = j->p + i * j->n, sum = 0, mean = 0;
    for (size_t k = 0; k < j->n; k++) {
        p[k] = k == i ? 0 : exp(-beta * (d[k] - nearest));
        sum += p[k];
        mean += p[k] * (d[k] - nearest);
    }
    for (size_t k = 0; k < j->n; k++)
        p[k] /= sum;
    return log(sum) + beta * mean / sum;
}

/* The width at which row i has the entropy asked for. */
static void neighbours(void *context, size_t i, int worker)
{
    (void)worker;
    const struct job *j = context;
    double nearest = INFINITY, mean = 0, low = 0, high = INFINITY;
    for (size_t k = 0; k < j->n; k++) {
        double d = j->d[i * j->n + k];
        nearest = k != i && d < nearest ? d : nearest;
        mean += d / (double)j->n;
    }
    double beta = mean > 0 ? 1 / mean : 1;
    for (int step = 0; step < BISECTIONS; step++) {
        if (weigh(j, i, beta, nearest) > j->entropy)
            low = beta;
        else
            high = beta;
        beta = isinf(high) ? beta * 2 : (low + high) / 2;
    }
}

/* p_ij = p_ji, all of them sum to 1. */
static void symmetrise(const struct job *j)
{
    for (size_t i = 0; i < j->n; i++)
        for (size_t k = 0; k <= i; k++) {
            double *a = &j->p[i * j->n + k], *b = &j->p[k * j->n + i];
            double mean = (*a + *b) / (2 * (double)j->n);
            *a = *b = i == k ? 0 : fmax(mean, least_affinity);
        }
}

/* ---- the start: principal components ------------------------------------------------- */

/* d becomes the points' inner products about their centre, whose eigenvectors are the
 * principal components (classical scaling). */
static void centre(const struct job *j)
{
    double all = 0, n = (double)j->n;
    for (size_t i = 0; i < j->n; i++) {
        j->row[i] = 0;
        for (size_t k = 0; k < j->n; k++)
            j->row[i] += j->d[i * j->n + k] / n;
        all += j->row[i] / n;
    }
    for (size_t i = 0; i < j->n; i++)
        for (size_t k = 0; k < j->n; k++)
            j->d[i * j->n + k] = -(j->d[i * j->n + k] - j->row[i] - j->row[k] + all) / 2;
}

static void multiply(void *context, size_t i, int worker)
{
    (void)worker;
    const struct job *j = context;
    j->row[i] = 0;
    for (size_t k = 0; k < j->n; k++)
        j->row[i] += j->d[i * j->n + k] * j->dy[k];
}

/* The unit vector of v[n], orthogonal to first (NULL: to nothing). False: it is 0. */
static bool make_unit(double *v, size_t n, const double *first)
{
    double dot = 0, norm = 0;
    for (size_t i = 0; first && i < n; i++)
        dot += v[i] * first[2 * i];
    for (size_t i = 0; i < n; i++) {
        v[i] -= first ? dot * first[2 * i] : 0;
        norm += v[i] * v[i];
    }
    norm = sqrt(norm);
    for (size_t i = 0; i < n && norm > 0; i++)
        v[i] /= norm;
    return norm > 0 && isfinite(norm);
}

/* Axis a of the embedding, by power iteration; dy is the vector. */
static void component(const struct job *j, size_t a)
{
    struct sb_stream s = sb_rng_stream(0, SB_RNG_EMBED, 0, 0, (uint32_t)a);
    const double *first = a ? j->y : NULL;
    double value = 0;
    for (size_t i = 0; i < j->n; i++)
        j->dy[i] = (double)sb_rng_uniform(&s, i) - 0.5;
    make_unit(j->dy, j->n, first);
    for (int step = 0; step < POWER_STEPS; step++) {
        run(j, multiply);
        memcpy(j->dy, j->row, j->n * sizeof *j->dy);
        if (!make_unit(j->dy, j->n, first)) { /* all points are on a line */
            memset(j->dy, 0, j->n * sizeof *j->dy);
            break;
        }
    }
    for (size_t i = 0; i < j->n; i++)
        value += j->dy[i] * j->row[i];
    for (size_t i = 0; i < j->n; i++)
        j->y[2 * i + a] = j->dy[i];
    j->gain[a] = sqrt(fmax(value, 0)); /* kept for start() */
}

/* Components of standard deviation 1e-4 on the first axis, the second in proportion. */
static void start(const struct job *j)
{
    centre(j);
    component(j, 0);
    component(j, 1);
    double ratio = j->gain[0] > 0 ? j->gain[1] / j->gain[0] : 0;
    double size = 1e-4 * sqrt((double)j->n);
    for (size_t i = 0; i < j->n; i++) {
        j->y[2 * i] *= size;
        j->y[2 * i + 1] *= size * ratio;
    }
    for (size_t i = 0; i < 2 * j->n; i++) {
        j->velocity[i] = 0;
        j->gain[i] = 1;
    }
}

/* ---- descent ------------------------------------------------------------------------- */

static void nearness(void *context, size_t i, int worker)
{
    (void)worker;
    const struct job *j = context;
    const double *y = j->y;
    j->row[i] = 0;
    for (size_t k = 0; k < j->n; k++) {
        double a = y[2 * i] - y[2 * k], b = y[2 * i + 1] - y[2 * k + 1];
        double q = k == i ? 0 : 1 / (1 + a * a + b * b);
        j->q[i * j->n + k] = q;
        j->row[i] += q;
    }
}

static void slope(void *context, size_t i, int worker)
{
    (void)worker;
    const struct job *j = context;
    const double *y = j->y, *p = j->p + i * j->n, *q = j->q + i * j->n;
    double a = 0, b = 0;
    for (size_t k = 0; k < j->n; k++) {
        double pull = 4 * (j->scale * p[k] - q[k] / j->q_sum) * q[k];
        a += pull * (y[2 * i] - y[2 * k]);
        b += pull * (y[2 * i + 1] - y[2 * k + 1]);
    }
    j->dy[2 * i] = a;
    j->dy[2 * i + 1] = b;
}

/* A parameter's gain grows while its gradient points against its velocity. */
static void move(const struct job *j, double rate, double momentum)
{
    for (size_t i = 0; i < 2 * j->n; i++) {
        bool turns = j->dy[i] * j->velocity[i] >= 0;
        j->gain[i] = fmax(turns ? j->gain[i] * 0.8 : j->gain[i] + 0.2, 0.01);
        j->velocity[i] = momentum * j->velocity[i] - rate * j->gain[i] * j->dy[i];
        j->y[i] += j->velocity[i];
    }
}

static void descend(struct job *j, uint32_t steps)
{
    double rate = fmax((double)j->n / exaggeration / 4, 50);
    for (uint32_t step = 0; step < steps; step++) {
        bool early = step < steps / 4;
        j->scale = early ? exaggeration : 1;
        run(j, nearness);
        j->q_sum = 0;
        for (size_t i = 0; i < j->n; i++)
            j->q_sum += j->row[i];
        run(j, slope);
        move(j, rate, early ? 0.5 : 0.8);
    }
}

/* ---- the whole ----------------------------------------------------------------------- */

static sb_status check(const struct job *j, double perplexity)
{
    if (j->n < SB_TSNE_LEAST || j->n > SB_TSNE_MOST || j->dimensions == 0)
        return sb_fail(SB_EARG, "t-SNE of %zu points in %zu dimensions: want %d to %d",
                       j->n, j->dimensions, SB_TSNE_LEAST, SB_TSNE_MOST);
    if (!(perplexity >= 1 && perplexity < (double)j->n - 1))
        return sb_fail(SB_EARG,
                       "t-SNE of %zu points: a perplexity of %g is not in 1 .. %zu", j->n,
                       perplexity, j->n - 2);
    for (size_t i = 0; i < j->n * j->dimensions; i++)
        if (!isfinite(j->x[i]))
            return sb_fail(SB_ENUMERIC, "t-SNE: number %zu of point %zu is %g",
                           i % j->dimensions, i / j->dimensions, (double)j->x[i]);
    return SB_OK;
}

sb_status sb_tsne(const struct sb_env *env, const float *x, size_t n, size_t dimensions,
                  const struct sb_tsne_options *o, double *y)
{
    struct job j = {.env = env, .x = x, .n = n, .dimensions = dimensions, .y = y};
    double third = ((double)n - 1) / 3;
    double perplexity = o->perplexity > 0 ? o->perplexity : third < 30 ? third : 30;
    sb_status st = check(&j, perplexity);
    if (st != SB_OK)
        return st;
    double *memory = sb_malloc(n * (3 * n + 7), sizeof *memory);
    if (!memory)
        return sb_fail(SB_ENOMEM, "no memory for t-SNE of %zu points", n);
    j.entropy = log(perplexity);
    j.d = memory;
    j.p = j.d + n * n;
    j.q = j.p + n * n;
    j.row = j.q + n * n;
    j.dy = j.row + n;
    j.velocity = j.dy + 2 * n;
    j.gain = j.velocity + 2 * n;
    run(&j, distances);
    run(&j, neighbours);
    symmetrise(&j);
    start(&j);
    descend(&j, o->steps ? o->steps : STEPS);
    sb_free(memory);
    return SB_OK;
}
