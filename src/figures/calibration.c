/* calibration - see calibration.h. */
#include "figures/calibration.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

/* What is summed over the examples of a class. */
struct tally {
    size_t found, called; /* called so and right; called so */
};

static double mean_of(double sum, size_t n)
{
    return n ? sum / (double)n : NAN;
}

static sb_status check(const struct sb_probs *p, const int32_t *label, unsigned bins)
{
    struct sb_metrics m;
    sb_status st = sb_metrics_init(&m, bins);
    return st == SB_OK ? sb_metrics_add(&m, p, label) : st;
}

sb_status sb_calibration_bins(const struct sb_probs *p, const int32_t *label,
                              unsigned bins, struct sb_bin *out)
{
    sb_status st = check(p, label, bins);
    if (st != SB_OK)
        return st;
    for (unsigned b = 0; b < bins; b++)
        out[b] = (struct sb_bin){.low = (double)b / bins, .high = (double)(b + 1) / bins};
    for (size_t i = 0; i < p->n; i++) {
        double top;
        size_t called = sb_metrics_top(p, i, &top);
        struct sb_bin *b = &out[sb_metrics_bin(top, bins)];
        b->count++;
        b->confidence += top;
        b->accuracy += called == (size_t)label[i];
    }
    for (unsigned b = 0; b < bins; b++) {
        out[b].confidence = mean_of(out[b].confidence, out[b].count);
        out[b].accuracy = mean_of(out[b].accuracy, out[b].count);
    }
    return SB_OK;
}

/* ---- bins of as many examples ---- */

struct confidence {
    double top;
    size_t example;
    bool correct;
};

static int by_confidence(const void *a, const void *b)
{
    const struct confidence *x = a, *y = b;
    if (x->top != y->top)
        return x->top < y->top ? -1 : 1;
    return (x->example > y->example) - (x->example < y->example);
}

sb_status sb_calibration_adaptive(const struct sb_probs *p, const int32_t *label,
                                  unsigned bins, double *ece)
{
    sb_status st = check(p, label, bins);
    if (st != SB_OK)
        return st;
    struct confidence *all = sb_malloc(p->n, sizeof *all);
    if (!all)
        return sb_fail(SB_ENOMEM, "no memory to sort %zu examples", p->n);
    for (size_t i = 0; i < p->n; i++) {
        all[i].example = i;
        all[i].correct = sb_metrics_top(p, i, &all[i].top) == (size_t)label[i];
    }
    qsort(all, p->n, sizeof *all, by_confidence);
    double sum = 0;
    for (size_t b = 0; b < bins; b++) {
        double gap = 0;
        for (size_t i = p->n * b / bins; i < p->n * (b + 1) / bins; i++)
            gap += all[i].correct - all[i].top;
        sum += fabs(gap);
    }
    *ece = sum / (double)p->n;
    sb_free(all);
    return SB_OK;
}

/* ---- the table of classes ---- */

sb_status sb_calibration_classes(const struct sb_probs *p, const int32_t *label,
                                 struct sb_class_row *out)
{
    struct sb_scores check;
    sb_status st = sb_metrics_of(p, label, 1, &check);
    if (st != SB_OK)
        return st;
    struct tally *t = sb_calloc(p->classes, sizeof *t);
    if (!t)
        return sb_fail(SB_ENOMEM, "no memory for a table of %zu classes", p->classes);
    for (size_t c = 0; c < p->classes; c++)
        out[c] = (struct sb_class_row){0};
    for (size_t i = 0; i < p->n; i++) {
        double top;
        size_t called = sb_metrics_top(p, i, &top), truth = (size_t)label[i];
        out[truth].n++;
        out[truth].confidence += top;
        t[called].called++;
        t[called].found += called == truth;
    }
    for (size_t c = 0; c < p->classes; c++) {
        out[c].accuracy = mean_of((double)t[c].found, out[c].n);
        out[c].precision = mean_of((double)t[c].found, t[c].called);
        out[c].confidence = mean_of(out[c].confidence, out[c].n);
    }
    sb_free(t);
    return SB_OK;
}
