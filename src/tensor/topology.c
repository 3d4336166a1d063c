/* topology - see topology.h: allocation, SNR, prune-grow. */
#include "tensor/topology.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/select.h"

/* ---- allocation ---- */

/* n_out * n_in * kh * kw, or 0 when that is 0 or does not fit uint32_t. */
static uint32_t weights_of(const struct sb_weight_shape *s)
{
    uint64_t n = 1;
    for (int i = 0; i < s->ndim; i++) {
        n *= s->dim[i];
        if (n > UINT32_MAX)
            return 0;
    }
    return (uint32_t)n;
}

static double sum_of_dims(const struct sb_weight_shape *s)
{
    double sum = 0;
    for (int i = 0; i < s->ndim; i++)
        sum += s->dim[i];
    return sum;
}

static sb_status check_shapes(const struct sb_weight_shape *shape, size_t layers,
                              double density)
{
    if (layers == 0)
        return sb_fail(SB_EARG, "topology: a network without layers");
    if (!(density > 0 && density <= 1))
        return sb_fail(SB_EARG, "topology: density %g is not in (0, 1]", density);
    for (size_t l = 0; l < layers; l++) {
        if (shape[l].ndim != 2 && shape[l].ndim != 4)
            return sb_fail(SB_EARG, "topology: layer %zu has %d dimensions, not 2 or 4",
                           l, shape[l].ndim);
        if (weights_of(&shape[l]) == 0)
            return sb_fail(SB_EARG,
                           "topology: layer %zu has no or more than 2^32 - 1 weights", l);
    }
    return SB_OK;
}

static void set_active(struct sb_allocation *a, const struct sb_weight_shape *shape,
                       double density)
{
    uint32_t n = weights_of(shape);
    a->density = density;
    a->active = n - (uint32_t)((1 - density) * n);
    a->dense = a->active == n;
}

/* eps of the layers not yet dense, and the largest share any of them has per eps. */
static double solve_eps(const struct sb_weight_shape *shape, size_t layers,
                        double density, const struct sb_allocation *a, double *top)
{
    double budget = 0, weight = 0;
    *top = 0;
    for (size_t l = 0; l < layers; l++) {
        double n = weights_of(&shape[l]);
        if (a[l].dense) {
            budget -= n * (1 - density);
        } else {
            double raw = sum_of_dims(&shape[l]) / n;
            budget += n * density;
            weight += raw * n;
            *top = fmax(*top, raw);
        }
    }
    return weight > 0 ? budget / weight : 0;
}

sb_status sb_topology_erk(const struct sb_weight_shape *shape, size_t layers,
                          double density, struct sb_allocation *out)
{
    sb_status st = check_shapes(shape, layers, density);
    if (st != SB_OK)
        return st;
    for (size_t l = 0; l < layers; l++)
        out[l].dense = false;
    double top, eps = solve_eps(shape, layers, density, out, &top);
    while (eps * top > 1) {
        for (size_t l = 0; l < layers; l++)
            if (sum_of_dims(&shape[l]) / weights_of(&shape[l]) == top)
                out[l].dense = true;
        eps = solve_eps(shape, layers, density, out, &top);
    }
    for (size_t l = 0; l < layers; l++) {
        double raw = sum_of_dims(&shape[l]) / weights_of(&shape[l]);
        set_active(&out[l], &shape[l], out[l].dense ? 1.0 : eps * raw);
    }
    return SB_OK;
}

sb_status sb_topology_uniform(const struct sb_weight_shape *shape, size_t layers,
                              double density, struct sb_allocation *out)
{
    sb_status st = check_shapes(shape, layers, density);
    if (st != SB_OK)
        return st;
    for (size_t l = 0; l < layers; l++)
        set_active(&out[l], &shape[l], l == 0 ? 1.0 : density);
    return SB_OK;
}

/* ---- sigma and SNR ---- */

/* In units of sigma, with t = |mu| / sigma: E = t + x where x = sqrt(2 / pi) e^(-t^2 / 2)
 * - t erfc(t / sqrt 2), and Var = 1 + t^2 - E^2 = 1 - x (2 t + x): x goes to 0 as t grows
 * and the large squares never meet. */
double sb_snr_abs(double mu, double sigma)
{
    const double sqrt_half = 0.70710678118654752440, sqrt_2_pi = 0.79788456080286535588;
    double t = mu == 0 ? 0 : fabs(mu) / sigma;
    if (t > 40) /* x is 0 in double */
        return t;
    double x = sqrt_2_pi * exp(-0.5 * t * t) - t * erfc(t * sqrt_half);
    return (t + x) / sqrt(1 - x * (2 * t + x));
}

double sb_sigma_of_rho(double rho)
{
    return fmax(rho, 0) + log1p(exp(-fabs(rho)));
}

double sb_rho_of_sigma(double sigma)
{
    return sigma > 40 ? sigma : log(expm1(fmax(sigma, DBL_MIN)));
}

/* ---- prune-grow ---- */

enum { KEY_BITS_SCORE = 64, KEY_BITS_WANT = 32 };
static const uint32_t ENTERS = UINT32_MAX;

/* What one update works with; all owned. */
struct update {
    uint64_t *score;        /* [nnz] strength of an old weight, as a key */
    uint64_t *want;         /* [rows][cols] |grad| as a key + 1; 0: kept */
    uint32_t *source;       /* [nnz] the old entry a new one comes from, or ENTERS */
    float *gathered;        /* [nnz] one array in its new order */
    struct sb_pattern next; /* the new support */
    double mean_sigma;
};

static sb_status update_init(struct update *u, const struct sb_pattern *p)
{
    *u = (struct update){0};
    u->score = sb_malloc(p->nnz, sizeof *u->score);
    u->want = u->score ? sb_malloc((size_t)p->rows * p->cols, sizeof *u->want) : NULL;
    u->source = u->want ? sb_malloc(p->nnz, sizeof *u->source) : NULL;
    u->gathered = u->source ? sb_malloc(p->nnz, sizeof *u->gathered) : NULL;
    if (!u->gathered)
        return sb_fail(SB_ENOMEM, "prune-grow: no memory for a layer of %u x %u weights",
                       p->rows, p->cols);
    return sb_pattern_init(&u->next, p->rows, p->cols, p->nnz);
}

static void update_fini(struct update *u)
{
    sb_free(u->score);
    sb_free(u->want);
    sb_free(u->source);
    sb_free(u->gathered);
    sb_pattern_fini(&u->next);
}

static sb_status score_weights(struct update *u, const struct sb_topology_layer *layer,
                               enum sb_criterion criterion)
{
    const struct sb_pattern *p = layer->pattern;
    double sum = 0;
    for (uint32_t k = 0; k < p->nnz; k++) {
        double mu = layer->mu[k], rho = layer->rho ? (double)layer->rho[k] : 0;
        if (!isfinite(mu) || !isfinite(rho))
            return sb_fail(SB_ENUMERIC, "prune-grow: weight %u of %u has mu %g, rho %g",
                           k, p->nnz, mu, rho);
        double sigma = sb_sigma_of_rho(rho);
        bool ratio = layer->rho && criterion == SB_PRUNE_SNR && mu != 0;
        u->score[k] = sb_key_of_double(ratio ? mu / sigma : mu);
        sum += sigma;
    }
    u->mean_sigma = p->nnz > 0 ? sum / p->nnz : 0;
    return SB_OK;
}

static sb_status want_positions(struct update *u, const struct sb_pattern *p,
                                const float *grad)
{
    size_t n = (size_t)p->rows * p->cols;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(grad[i]))
            return sb_fail(SB_ENUMERIC,
                           "prune-grow: the gradient of row %zu, column %zu is %g",
                           i / p->cols, i % p->cols, (double)grad[i]);
        u->want[i] = (uint64_t)sb_key_of_float(grad[i]) + 1;
    }
    return SB_OK;
}

static void keep_strongest(struct update *u, const struct sb_pattern *p, uint32_t keep)
{
    struct sb_cut cut = sb_select_largest(u->score, p->nnz, keep, KEY_BITS_SCORE);
    for (uint32_t r = 0; r < p->rows; r++)
        for (uint32_t k = p->row_ptr[r]; k < p->row_ptr[r + 1]; k++)
            if (sb_cut_takes(&cut, u->score[k]))
                u->want[(size_t)r * p->cols + p->col[k]] = 0;
}

/* Fills next and source; returns how many of the grown weights were dropped just before.
 */
static uint32_t grow_wanted(struct update *u, const struct sb_pattern *p, uint32_t grow)
{
    struct sb_cut cut =
        sb_select_largest(u->want, (size_t)p->rows * p->cols, grow, KEY_BITS_WANT);
    const uint64_t *want = u->want;
    uint32_t returned = 0, j = 0;
    for (uint32_t r = 0; r < p->rows; r++) {
        uint32_t k = p->row_ptr[r], end = p->row_ptr[r + 1];
        for (uint32_t c = 0; c < p->cols; c++, want++) {
            uint32_t old = k < end && p->col[k] == c ? k++ : ENTERS;
            bool grown = *want > 0 && sb_cut_takes(&cut, *want);
            if (*want > 0 && !grown)
                continue;
            returned += grown && old != ENTERS;
            u->next.col[j] = c;
            u->source[j++] = old;
        }
        u->next.row_ptr[r + 1] = j;
    }
    return returned;
}

/* array: [nnz], one number a weight, moved to the new order. */
static void gather(struct update *u, float *array, float entering)
{
    if (!array)
        return;
    for (uint32_t j = 0; j < u->next.nnz; j++)
        u->gathered[j] = u->source[j] == ENTERS ? entering : array[u->source[j]];
    memcpy(array, u->gathered, u->next.nnz * sizeof *array);
}

static void commit(struct update *u, const struct sb_topology_layer *layer)
{
    gather(u, layer->mu, 0);
    gather(u, layer->rho, (float)sb_rho_of_sigma(u->mean_sigma));
    for (size_t i = 0; i < layer->states; i++)
        gather(u, layer->state[i], 0);
    /* copied, not swapped: others may hold the pattern's arrays */
    struct sb_pattern *p = layer->pattern;
    memcpy(p->row_ptr, u->next.row_ptr, ((size_t)p->rows + 1) * sizeof *p->row_ptr);
    memcpy(p->col, u->next.col, p->nnz * sizeof *p->col);
}

sb_status sb_topology_prune_grow(const struct sb_topology_layer *layer, const float *grad,
                                 double rate, enum sb_criterion criterion,
                                 struct sb_topology_stats *stats)
{
    const struct sb_pattern *p = layer->pattern;
    if (!(rate >= 0 && rate <= 1))
        return sb_fail(SB_EARG, "prune-grow: rate %g is not in [0, 1]", rate);
    struct update u;
    sb_status st = update_init(&u, p);
    if (st == SB_OK)
        st = score_weights(&u, layer, criterion);
    if (st == SB_OK)
        st = want_positions(&u, p, grad);
    if (st == SB_OK) {
        uint32_t drop = (uint32_t)(p->nnz * rate);
        keep_strongest(&u, p, p->nnz - drop);
        uint32_t returned = grow_wanted(&u, p, drop);
        commit(&u, layer);
        if (stats)
            *stats = (struct sb_topology_stats){drop, drop, returned};
    }
    update_fini(&u);
    return st;
}
