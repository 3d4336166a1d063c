/* ops_regression - golden cases of figures/regression: a mixture of Gaussians. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "figures/regression.h"

enum { MOST_MEMBERS = 100, MOST_LEVELS = 20, NAME_BYTES = 64 };

static void check_number(struct golden_case *c, const char *name, double have)
{
    golden_check_f64(c, name, &have, 1, GOLDEN_TOL_METRIC);
}

/* in.mean0, in.var0, in.mean1, ... as far as they go. */
static bool read_members(struct golden_case *c, struct sb_mixture *m,
                         const float *mean[MOST_MEMBERS], const float *var[MOST_MEMBERS])
{
    const struct sb_st_tensor *first = golden_input(c, "mean0");
    if (!first)
        return false;
    *m = (struct sb_mixture){.mean = mean, .var = var, .n = first->count, .targets = 1};
    for (int k = 0; k < MOST_MEMBERS; k++) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "mean%d", k);
        if (!golden_input_optional(c, name))
            break;
        mean[k] = golden_f32(c, name, m->n);
        snprintf(name, sizeof name, "var%d", k);
        var[k] = golden_f32(c, name, m->n);
        m->members++;
    }
    return !c->failed;
}

static void check_uncertainty(struct golden_case *c, const struct sb_mixture *m)
{
    double *aleatoric = golden_alloc(c, m->n, sizeof *aleatoric);
    double *epistemic = golden_alloc(c, m->n, sizeof *epistemic);
    if (!aleatoric || !epistemic)
        return;
    for (size_t i = 0; i < m->n; i++) {
        struct sb_moments p = sb_mixture_moments(m, i, 0);
        aleatoric[i] = p.aleatoric;
        epistemic[i] = p.epistemic;
    }
    golden_check_f64(c, "aleatoric", aleatoric, m->n, GOLDEN_TOL_METRIC);
    golden_check_f64(c, "epistemic", epistemic, m->n, GOLDEN_TOL_METRIC);
}

/* Numbers in (0, 1), separated by blanks; 0: that is not what it is. */
static size_t read_levels(const char *text, double level[MOST_LEVELS])
{
    size_t n = 0;
    char *end;
    for (; *text && n < MOST_LEVELS; text = end) {
        level[n] = strtod(text, &end);
        if (end == text || !(level[n] > 0 && level[n] < 1))
            return 0;
        n++;
    }
    return *text ? 0 : n;
}

/* Intervals of other levels than those that evaluations have. */
static void check_intervals(struct golden_case *c, const struct sb_mixture *m,
                            const float *y, const double *level, size_t count)
{
    double coverage[MOST_LEVELS] = {0}, width[MOST_LEVELS] = {0}, n = (double)m->n;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < m->n; i++) {
            double low = sb_mixture_quantile(m, i, 0, (1 - level[k]) / 2);
            double high = sb_mixture_quantile(m, i, 0, (1 + level[k]) / 2);
            coverage[k] += (low <= (double)y[i] && (double)y[i] <= high) / n;
            width[k] += (high - low) / n;
        }
    golden_check_f64(c, "coverage", coverage, count, GOLDEN_TOL_METRIC);
    golden_check_f64(c, "width", width, count, GOLDEN_TOL_METRIC);
}

static void run_regression_metrics(struct golden_case *c)
{
    const float *mean[MOST_MEMBERS], *var[MOST_MEMBERS];
    struct sb_mixture m;
    struct sb_regression r;
    double joint, level[MOST_LEVELS];
    if (!read_members(c, &m, mean, var))
        return;
    const char *levels = golden_text(c, "levels");
    const float *y = golden_f32(c, "y", m.n);
    if (!levels || !y)
        return;
    size_t count = read_levels(levels, level);
    if (count == 0)
        golden_fail(c, "levels are \"%s\"; want numbers in (0, 1)", levels);
    if (!golden_ok(c, sb_regression_of(&m, y, 0, &r)) ||
        !golden_ok(c, sb_regression_nll(&m, y, &joint)))
        return;
    check_number(c, "rmse", r.rmse);
    check_number(c, "mae", r.mae);
    check_number(c, "nll", r.nll);
    check_number(c, "nll", joint); /* of one target it is the same */
    check_number(c, "nll_matched", r.nll_matched);
    check_number(c, "crps", r.crps);
    check_intervals(c, &m, y, level, count);
    if (strcmp(levels, "0.5 0.8 0.9 0.95") == 0) { /* what evaluations have */
        golden_check_f64(c, "coverage", r.coverage, SB_INTERVALS, GOLDEN_TOL_METRIC);
        golden_check_f64(c, "width", r.width, SB_INTERVALS, GOLDEN_TOL_METRIC);
    }
    check_uncertainty(c, &m);
}

const struct golden_op golden_regression_ops[] = {
    {"regression_metrics", run_regression_metrics}, {NULL, NULL}};
