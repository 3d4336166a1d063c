/* outcomes - see outcomes.h. */
#include "predict/outcomes.h"

#include <math.h>
#include <string.h>

void sb_outcomes_units(const struct sb_model_info *i, float *prediction, size_t n,
                       float *scratch)
{
    size_t targets = i->targets;
    memcpy(scratch, prediction, 2 * n * targets * sizeof *scratch);
    for (size_t e = 0; e < n; e++)
        for (size_t t = 0; t < targets; t++) {
            double sd = (double)i->target_sd[t], mean = (double)i->target_mean[t];
            const float *from = scratch + 2 * e * targets + t;
            prediction[e * targets + t] = (float)(mean + sd * (double)from[0]);
            prediction[(n + e) * targets + t] = (float)(sd * sd * (double)from[targets]);
        }
}

void sb_outcomes_mixture(const struct sb_model_info *i, const float *const *prediction,
                         size_t members, size_t n, const float **pointer,
                         struct sb_mixture *out)
{
    for (size_t m = 0; m < members; m++) {
        pointer[m] = prediction[m];
        pointer[members + m] = prediction[m] + n * i->targets;
    }
    *out = (struct sb_mixture){.mean = pointer,
                               .var = pointer + members,
                               .members = members,
                               .n = n,
                               .targets = i->targets,
                               .width = i->target_width};
}

static void put(float *to, size_t at, double x)
{
    if (to)
        to[at] = (float)x;
}

sb_status sb_outcomes_of(const struct sb_mixture *m, size_t at,
                         const struct sb_outcomes *out)
{
    sb_status st = sb_mixture_check(m);
    for (size_t e = 0; e < m->n && st == SB_OK; e++)
        for (size_t t = 0; t < m->targets; t++) {
            struct sb_moments x = sb_mixture_moments(m, e, t);
            size_t to = (at + e) * m->targets + t;
            put(out->mean, to, x.mean);
            put(out->sd, to, sqrt(x.aleatoric + x.epistemic));
            put(out->aleatoric, to, sqrt(x.aleatoric));
            put(out->epistemic, to, sqrt(x.epistemic));
            for (uint32_t k = 0; out->quantile && k < out->levels; k++)
                put(out->quantile, to * out->levels + k,
                    sb_mixture_quantile(m, e, t, out->level[k]));
        }
    return st;
}
