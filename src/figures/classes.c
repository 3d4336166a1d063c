/* classes - see classes.h. */
#include "figures/classes.h"

#include <math.h>

#include "base/mem.h"
#include "figures/ood.h"

sb_status sb_classes_confusion(const struct sb_probs *p, const int32_t *label,
                               size_t *out)
{
    struct sb_scores check;
    sb_status st = sb_metrics_of(p, label, 1, &check);
    if (st != SB_OK)
        return st;
    for (size_t k = 0; k < p->classes * p->classes; k++)
        out[k] = 0;
    for (size_t i = 0; i < p->n; i++) {
        double top;
        out[(size_t)label[i] * p->classes + sb_metrics_top(p, i, &top)]++;
    }
    return SB_OK;
}

static double share(double part, size_t n)
{
    return n ? part / (double)n : NAN;
}

static void from_confusion(const size_t *table, size_t classes,
                           struct sb_class_figures *row)
{
    for (size_t c = 0; c < classes; c++) {
        size_t found = table[c * classes + c], called = 0;
        row[c] = (struct sb_class_figures){.auc = NAN};
        for (size_t k = 0; k < classes; k++) {
            row[c].n += table[c * classes + k];
            called += table[k * classes + c];
        }
        row[c].recall = share((double)found, row[c].n);
        row[c].precision = share((double)found, called);
        row[c].f1 = share(2.0 * (double)found, row[c].n + called);
    }
}

/* score: room for [n]. */
static sb_status one_against_rest(const struct sb_probs *p, const int32_t *label,
                                  size_t class, double *score, double *out)
{
    size_t others = 0, own = p->n;
    struct sb_ood figures;
    for (size_t i = 0; i < p->n; i++) { /* the others from the front, its own behind */
        double x = sb_metrics_mean_of(p, i, class);
        score[(size_t)label[i] == class ? --own : others++] = x;
    }
    if (others == 0 || own == p->n)
        return SB_OK;
    struct sb_ood_sides sides = {score, score + own, others, p->n - own};
    sb_status st = sb_ood_detect(&sides, &figures);
    if (st == SB_OK)
        *out = figures.auroc;
    return st;
}

static void add_nll(const struct sb_probs *p, const int32_t *label,
                    struct sb_class_figures *row)
{
    for (size_t i = 0; i < p->n; i++)
        row[label[i]].nll -= log(sb_metrics_mean_of(p, i, (size_t)label[i]));
    for (size_t c = 0; c < p->classes; c++)
        row[c].nll = share(row[c].nll, row[c].n);
}

static void average(const struct sb_class_figures *row, size_t classes, size_t n,
                    struct sb_class_means *out)
{
    double recall = 0, f1 = 0, auc = 0;
    size_t recalls = 0, f1s = 0, aucs = 0;
    *out = (struct sb_class_means){0};
    for (size_t c = 0; c < classes; c++) {
        recall += row[c].n ? row[c].recall : 0;
        recalls += (size_t)(row[c].n > 0);
        f1 += isnan(row[c].f1) ? 0 : row[c].f1;
        f1s += (size_t)!isnan(row[c].f1);
        auc += isnan(row[c].auc) ? 0 : row[c].auc;
        aucs += (size_t)!isnan(row[c].auc);
        if (row[c].n > row[out->most_frequent].n)
            out->most_frequent = c;
    }
    out->balanced_accuracy = share(recall, recalls);
    out->f1 = share(f1, f1s);
    out->auc = share(auc, aucs);
    out->most_frequent_of = (double)row[out->most_frequent].n / (double)n;
}

sb_status sb_classes_of(const struct sb_probs *p, const int32_t *label,
                        struct sb_class_figures *row, struct sb_class_means *means)
{
    size_t *table = sb_malloc(p->classes, p->classes * sizeof *table);
    double *score = sb_malloc(p->n, sizeof *score);
    sb_status st = table && score ? sb_classes_confusion(p, label, table)
                                  : sb_fail(SB_ENOMEM,
                                            "no memory for a table of %zu "
                                            "classes",
                                            p->classes);
    if (st == SB_OK)
        from_confusion(table, p->classes, row);
    for (size_t c = 0; c < p->classes && st == SB_OK; c++)
        st = one_against_rest(p, label, c, score, &row[c].auc);
    if (st == SB_OK) {
        add_nll(p, label, row);
        average(row, p->classes, p->n, means);
    }
    sb_free(table);
    sb_free(score);
    return st;
}
