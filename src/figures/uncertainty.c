/* uncertainty - see uncertainty.h. */
#include "figures/uncertainty.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static double surprise(double p)
{
    return p > 0 ? -p * log(p) : 0.0; /* 0 log 0 = 0 */
}

static double mean_entropy(const struct sb_probs *p, size_t i)
{
    double sum = 0;
    for (size_t m = 0; m < p->members; m++)
        for (size_t c = 0; c < p->classes; c++)
            sum += surprise((double)p->member[m][i * p->classes + c]);
    return sum / (double)p->members;
}

static double entropy_of_mean(const struct sb_probs *p, size_t i)
{
    double sum = 0;
    for (size_t c = 0; c < p->classes; c++)
        sum += surprise(sb_metrics_mean_of(p, i, c));
    return sum;
}

static void count_votes(const struct sb_probs *p, size_t i, uint32_t *votes)
{
    memset(votes, 0, p->classes * sizeof *votes);
    for (size_t m = 0; m < p->members; m++) {
        const float *prob = p->member[m] + i * p->classes;
        size_t top = 0;
        for (size_t c = 1; c < p->classes; c++)
            if (prob[c] > prob[top])
                top = c;
        votes[top]++;
    }
}

sb_status sb_uncertainty_of(const struct sb_probs *p, size_t at,
                            const struct sb_uncertainty *out)
{
    sb_status st = sb_metrics_check(p);
    if (st != SB_OK)
        return st;
    bool entropies = out->total || out->aleatoric || out->epistemic;
    for (size_t i = 0; i < p->n; i++) {
        size_t to = at + i;
        for (size_t c = 0; out->mean && c < p->classes; c++)
            out->mean[to * p->classes + c] = (float)sb_metrics_mean_of(p, i, c);
        if (out->votes)
            count_votes(p, i, out->votes + to * p->classes);
        if (!entropies)
            continue;
        double total = entropy_of_mean(p, i), within = mean_entropy(p, i);
        if (out->total)
            out->total[to] = (float)total;
        if (out->aleatoric)
            out->aleatoric[to] = (float)within;
        if (out->epistemic)
            out->epistemic[to] = total > within ? (float)(total - within) : 0.0f;
    }
    return SB_OK;
}
