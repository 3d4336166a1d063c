/* temperature - see temperature.h. */
#include "figures/temperature.h"

#include <float.h>
#include <math.h>

#include "base/mem.h"

static double log_of(double p)
{
    return log(p > (double)FLT_MIN ? p : (double)FLT_MIN);
}

/* The nll at inverse temperature b of logits [n][classes], and its slope in b: the mean of
 * E[logit] - logit(label). */
static double nll_at(const double *logit, const struct sb_probs *p, const int32_t *label,
                     double b, double *slope)
{
    double sum = 0, slopes = 0;
    for (size_t i = 0; i < p->n; i++, logit += p->classes) {
        double top = logit[0], all = 0, expected = 0;
        for (size_t c = 1; c < p->classes; c++)
            top = fmax(top, logit[c]);
        for (size_t c = 0; c < p->classes; c++) {
            double e = exp(b * (logit[c] - top));
            all += e;
            expected += e * logit[c];
        }
        sum += log(all) + b * (top - logit[label[i]]);
        slopes += expected / all - logit[label[i]];
    }
    *slope = slopes / (double)p->n;
    return sum / (double)p->n;
}

sb_status sb_temperature_fit(const struct sb_probs *p, const int32_t *label,
                             struct sb_temperature *out)
{
    enum { STEPS = 60 };
    struct sb_scores check;
    double slope;
    sb_status st = sb_metrics_of(p, label, 1, &check);
    if (st != SB_OK)
        return st;
    double *logit = sb_malloc(p->n, p->classes * sizeof *logit);
    if (!logit)
        return sb_fail(SB_ENOMEM, "no memory for the logits of %zu examples", p->n);
    for (size_t i = 0; i < p->n; i++)
        for (size_t c = 0; c < p->classes; c++)
            logit[i * p->classes + c] = log_of(sb_metrics_mean_of(p, i, c));
    double low = log(1 / SB_TEMPERATURE_MOST), high = log(1 / SB_TEMPERATURE_LEAST);
    for (int k = 0; k < STEPS; k++) {
        double middle = (low + high) / 2;
        (void)nll_at(logit, p, label, exp(middle), &slope);
        if (slope < 0)
            low = middle;
        else
            high = middle;
    }
    double b = exp((low + high) / 2);
    *out = (struct sb_temperature){.t = 1 / b,
                                   .before = nll_at(logit, p, label, 1, &slope),
                                   .after = nll_at(logit, p, label, b, &slope)};
    sb_free(logit);
    return SB_OK;
}

void sb_temperature_apply(const float *prob, size_t n, size_t classes, double t,
                          float *out)
{
    for (size_t i = 0; i < n; i++, prob += classes, out += classes) {
        double top = -INFINITY, all = 0;
        for (size_t c = 0; c < classes; c++)
            top = fmax(top, log_of((double)prob[c]));
        for (size_t c = 0; c < classes; c++)
            all += exp((log_of((double)prob[c]) - top) / t);
        for (size_t c = 0; c < classes; c++)
            out[c] = (float)(exp((log_of((double)prob[c]) - top) / t) / all);
    }
}
