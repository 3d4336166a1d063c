/* info - what a data set holds: shape, classes and how many of each, mean and deviation.
 *
 * Mean and deviation are those of each channel over all images, bytes counted as 0 .. 1:
 * the numbers a recipe's data.mean and data.sd take. A table has a row a column instead:
 * kind, range, share that is missing (info_columns.h).
 */
#ifndef SB_DATA_INFO_H
#define SB_DATA_INFO_H

#include "data/dataset.h"

struct sb_data_info {
    const struct sb_dataset *data; /* borrowed */
    enum sb_split split;
    uint32_t *counts;  /* [data->classes] examples of each class; owned */
    double *mean, *sd; /* [data->channels] owned; sd is the population's */
};

/* Looks at every example; one that cannot be read is a failure. i needs no fini after
 * one, but may have it. */
sb_status sb_data_info_init(struct sb_data_info *i, const struct sb_dataset *d,
                            enum sb_split split);
void sb_data_info_fini(struct sb_data_info *i);

/* For people, or as one JSON object. The caller owns *out (sb_free). */
sb_status sb_data_info_text(const struct sb_data_info *i, char **out);
sb_status sb_data_info_json(const struct sb_data_info *i, char **out);

#endif
