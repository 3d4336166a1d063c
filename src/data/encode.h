/* encode - rows of a table as the features that a network reads; columns.h says which.
 *
 * What that needs is learned from the rows that are trained on, and from no others:
 *
 *     texts of categories     those that occur in them; another one has no feature, so all
 *                             its category's features are 0
 *     fill                    the mean of the numbers that are there
 *     indicator               if one is missing in them
 *     cuts                    their quantiles at even distances, equal ones once
 *
 * A feature's mean and deviation come later (normalise.h), also from those rows.
 */
#ifndef SB_DATA_ENCODE_H
#define SB_DATA_ENCODE_H

#include "base/env.h"
#include "data/columns.h"
#include "data/dataset.h"

enum { SB_QUANTILE_CUTS = 65 }; /* of SB_SCALE_QUANTILE */

struct sb_encode_options {
    enum sb_scale scale; /* of columns of numbers */
    uint32_t pieces;     /* of SB_SCALE_PIECES, from 2 to SB_CUTS_MOST - 1 */
    bool impute;         /* missing values may come later, too */
};

/* Learns from rows index[n] of d, a table whose rows are inputs; d gets columns if it has
 * none and needs some: not where all numbers are there and plain. Codes of categories change
 * in d and in other, which was read like d (NULL: there is none). */
sb_status sb_encode_fit(struct sb_dataset *d, struct sb_dataset *other,
                        const uint32_t *index, uint32_t n,
                        const struct sb_encode_options *o);

enum sb_row_state {
    SB_ROW_GOOD,
    SB_ROW_NEW, /* a number is missing where none was in training */
    SB_ROW_BAD  /* a number is infinite, or missing although that is refused */
};

/* out[k * step] = feature k of a row, (value - mean[k]) / sd[k], or the value itself if mean
 * is NULL. row: floats at distances of row_step bytes, perhaps not aligned. */
enum sb_row_state sb_encode_row(const struct sb_columns *c, const void *row,
                                ptrdiff_t row_step, const float *mean, const float *sd,
                                float *out, size_t step);

/* How many of the rows index[n] (NULL: the first n) have a text that their category does
 * not know; *column: the first such column. */
uint32_t sb_encode_unknown(const struct sb_dataset *d, const struct sb_columns *c,
                           const uint32_t *index, uint32_t n, uint32_t *column);

#endif
