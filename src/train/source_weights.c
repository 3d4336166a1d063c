/* source_weights - how much each row of the training part counts.
 *
 * A row's loss is multiplied with its weight; weights are 1 in the mean, so that they say
 * nothing about the learning rate or the strength of the prior. Figures are not weighted.
 */
#include "base/mem.h"
#include "train/source.h"

/* Sums of the rows' own weights: of each class, [classes], and of all. */
static double add_up(const struct sb_source *s, double *of_class)
{
    double all = 0;
    for (uint32_t i = 0; i < s->part.train_count; i++) {
        uint32_t row = s->part.train[i];
        double w = s->train.weights ? (double)s->train.weights[row] : 1.0;
        of_class[s->train.targets ? 0 : s->train.labels[row]] += w;
        all += w;
    }
    return all;
}

sb_status sb_source_weigh(struct sb_source *s, bool balanced)
{
    const struct sb_dataset *d = &s->train;
    uint32_t n = s->part.train_count, present = 0;
    if (!balanced && !d->weights)
        return SB_OK;
    /* [classes]; of outcomes all rows are one */
    double *of_class = sb_calloc(d->targets ? 1 : d->classes, sizeof *of_class);
    s->weight = sb_calloc(d->n, sizeof *s->weight);
    if (!of_class || !s->weight) {
        sb_free(of_class);
        return sb_fail(SB_ENOMEM, "no memory for the weights of %u rows", d->n);
    }
    double all = add_up(s, of_class);
    for (uint32_t k = 0; k < (d->targets ? 1 : d->classes); k++)
        present += of_class[k] > 0;
    for (uint32_t i = 0; i < n && all > 0; i++) {
        uint32_t row = s->part.train[i];
        double w = d->weights ? (double)d->weights[row] : 1.0;
        double class_sum = of_class[d->targets ? 0 : d->labels[row]];
        double share = balanced ? class_sum * present : all; /* sums to n either way */
        s->weight[row] = w > 0 ? (float)(w * n / share) : 0.0f;
    }
    sb_free(of_class);
    return all > 0
               ? SB_OK
               : sb_fail(SB_EARG, "%s: all weights of the training part are 0", d->path);
}
