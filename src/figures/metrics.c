/* metrics - see metrics.h. */
#include "figures/metrics.h"

#include <math.h>
#include <stdbool.h>

sb_status sb_metrics_check(const struct sb_probs *p)
{
    if (p->n == 0 || p->members == 0 || p->classes == 0)
        return sb_fail(
            SB_EARG, "metrics: %zu members, %zu examples and %zu classes: none may be 0",
            p->members, p->n, p->classes);
    for (size_t m = 0; m < p->members; m++)
        for (size_t i = 0; i < p->n * p->classes; i++)
            if (!(p->member[m][i] >= 0 && isfinite(p->member[m][i])))
                return sb_fail(SB_ENUMERIC,
                               "metrics: member %zu gives example %zu, class %zu the "
                               "probability %g",
                               m, i / p->classes, i % p->classes,
                               (double)p->member[m][i]);
    return SB_OK;
}

double sb_metrics_mean_of(const struct sb_probs *p, size_t example, size_t class)
{
    double sum = 0;
    for (size_t m = 0; m < p->members; m++)
        sum += (double)p->member[m][example * p->classes + class];
    return sum / (double)p->members;
}

sb_status sb_metrics_mean(const struct sb_probs *p, float *mean)
{
    sb_status st = sb_metrics_check(p);
    if (st != SB_OK)
        return st;
    for (size_t i = 0; i < p->n; i++)
        for (size_t c = 0; c < p->classes; c++)
            mean[i * p->classes + c] = (float)sb_metrics_mean_of(p, i, c);
    return SB_OK;
}

/* ---- of the ensemble ---- */

sb_status sb_metrics_init(struct sb_metrics *m, unsigned bins)
{
    *m = (struct sb_metrics){.bins = bins};
    if (bins < 1 || bins > SB_METRICS_BINS)
        return sb_fail(SB_EARG, "metrics: %u bins; 1 to %d are possible", bins,
                       SB_METRICS_BINS);
    return SB_OK;
}

unsigned sb_metrics_bin(double probability, unsigned bins)
{
    double b = ceil(probability * bins) - 1; /* (b / bins, (b + 1) / bins] */
    return b < 0 ? 0 : b >= bins ? bins - 1 : (unsigned)b;
}

size_t sb_metrics_top(const struct sb_probs *p, size_t i, double *probability)
{
    size_t best = 0;
    *probability = -1;
    for (size_t c = 0; c < p->classes; c++) {
        double prob = sb_metrics_mean_of(p, i, c);
        if (prob > *probability) {
            *probability = prob;
            best = c;
        }
    }
    return best;
}

static void add_example(struct sb_metrics *m, const struct sb_probs *p, size_t i,
                        size_t label)
{
    double top, squares = 0;
    bool correct = sb_metrics_top(p, i, &top) == label;
    for (size_t c = 0; c < p->classes; c++) {
        double miss = sb_metrics_mean_of(p, i, c) - (c == label);
        squares += miss * miss;
    }
    m->n++;
    m->correct += correct;
    m->nll -= log(sb_metrics_mean_of(p, i, label));
    m->brier += squares;
    m->gap[sb_metrics_bin(top, m->bins)] += correct - top;
}

sb_status sb_metrics_add(struct sb_metrics *m, const struct sb_probs *p,
                         const int32_t *label)
{
    sb_status st = sb_metrics_check(p);
    if (st != SB_OK)
        return st;
    for (size_t i = 0; i < p->n; i++) {
        if (label[i] < 0 || (size_t)label[i] >= p->classes)
            return sb_fail(SB_EARG, "metrics: example %zu has label %d of %zu classes", i,
                           label[i], p->classes);
        add_example(m, p, i, (size_t)label[i]);
    }
    return SB_OK;
}

sb_status sb_metrics_scores(const struct sb_metrics *m, struct sb_scores *out)
{
    if (m->n == 0)
        return sb_fail(SB_EARG, "metrics: no examples");
    double n = (double)m->n, gaps = 0;
    for (unsigned b = 0; b < m->bins; b++)
        gaps += fabs(m->gap[b]);
    *out = (struct sb_scores){.accuracy = (double)m->correct / n,
                              .nll = m->nll / n,
                              .ece = gaps / n,
                              .brier = m->brier / n};
    return SB_OK;
}

sb_status sb_metrics_of(const struct sb_probs *p, const int32_t *label, unsigned bins,
                        struct sb_scores *out)
{
    struct sb_metrics m;
    sb_status st = sb_metrics_init(&m, bins);
    if (st == SB_OK)
        st = sb_metrics_add(&m, p, label);
    return st == SB_OK ? sb_metrics_scores(&m, out) : st;
}

/* ---- between members ---- */

static sb_status check_pair(const struct sb_probs *p, size_t a, size_t b)
{
    if (a >= p->members || b >= p->members)
        return sb_fail(SB_EARG, "metrics: members %zu and %zu of %zu", a, b, p->members);
    return sb_metrics_check(p);
}

static size_t arg_max(const float *prob, size_t classes)
{
    size_t best = 0;
    for (size_t c = 1; c < classes; c++)
        if (prob[c] > prob[best])
            best = c;
    return best;
}

static double disagreement(const struct sb_probs *p, size_t a, size_t b)
{
    const float *x = p->member[a], *y = p->member[b];
    size_t differ = 0;
    for (size_t i = 0; i < p->n; i++, x += p->classes, y += p->classes)
        differ += arg_max(x, p->classes) != arg_max(y, p->classes);
    return (double)differ / (double)p->n;
}

static double kl(const struct sb_probs *p, size_t a, size_t b)
{
    const float *x = p->member[a], *y = p->member[b];
    double sum = 0;
    for (size_t i = 0; i < p->n * p->classes; i++)
        if (x[i] > 0) /* 0 log 0 = 0 */
            sum += (double)x[i] * (log((double)x[i]) - log((double)y[i]));
    return sum / (double)p->n;
}

sb_status sb_metrics_disagreement(const struct sb_probs *p, size_t a, size_t b,
                                  double *out)
{
    sb_status st = check_pair(p, a, b);
    if (st == SB_OK)
        *out = disagreement(p, a, b);
    return st;
}

sb_status sb_metrics_kl(const struct sb_probs *p, size_t a, size_t b, double *out)
{
    sb_status st = check_pair(p, a, b);
    if (st == SB_OK)
        *out = kl(p, a, b);
    return st;
}

sb_status sb_metrics_diversity(const struct sb_probs *p, struct sb_diversity *out)
{
    if (p->members < 2)
        return sb_fail(SB_EARG, "metrics: diversity needs two members, there is %zu",
                       p->members);
    sb_status st = sb_metrics_check(p);
    if (st != SB_OK)
        return st;
    double pairs = (double)p->members * (double)(p->members - 1) / 2;
    *out = (struct sb_diversity){0};
    for (size_t a = 0; a < p->members; a++) {
        for (size_t b = a + 1; b < p->members; b++) {
            out->disagreement += disagreement(p, a, b) / pairs;
            out->kl += (kl(p, a, b) + kl(p, b, a)) / (2 * pairs);
        }
    }
    return SB_OK;
}
