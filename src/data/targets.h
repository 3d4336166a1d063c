/* targets - continuous outcomes of a data set, in place of labels.
 *
 * An example has one number a target, as it is in the file. Networks learn (y - mean) / sd,
 * whose two numbers come from the examples that are trained on and from no others.
 */
#ifndef SB_DATA_TARGETS_H
#define SB_DATA_TARGETS_H

#include "base/status.h"
#include "data/dataset.h"

enum { SB_TARGETS_MOST = 4096 };

/* Memory for so many targets of d's n examples, and their names (NULL: y, or y1, y2, ...). */
sb_status sb_targets_init(struct sb_dataset *d, uint32_t count, const char *const *names);

/* Whether so many different whole numbers in so many rows are outcomes rather than classes:
 * more than SB_TARGETS_MANY, in fewer than SB_TARGETS_EACH rows each on average; a count or a
 * price, not a class. */
enum { SB_TARGETS_MANY = 100, SB_TARGETS_EACH = 20 };
static inline bool sb_targets_many(uint64_t values, uint64_t rows)
{
    return values > SB_TARGETS_MANY && values * SB_TARGETS_EACH > rows;
}

/* SB_EFORMAT unless there are two examples or more and every target has two values: of a set
 * that is trained on. */
sb_status sb_targets_check(const struct sb_dataset *d);

/* How far the next 32-bit float is from x: what differs by less is the same. */
double sb_targets_gap(float x);

struct sb_target_scale {
    uint32_t count;
    float *mean, *sd; /* [count] owned, one block */
};

/* Of examples index[n] of d; sd is the population's. SB_EARG names a target that is the same
 * in all of them. The caller calls sb_target_scale_fini, also after a failure. */
sb_status sb_target_scale_init(struct sb_target_scale *s, const struct sb_dataset *d,
                               const uint32_t *index, uint32_t n);
void sb_target_scale_fini(struct sb_target_scale *s);

/* out[n][count] = the targets of examples index[n], standardised. */
void sb_target_scale_fill(const struct sb_target_scale *s, const struct sb_dataset *d,
                          const uint32_t *index, uint32_t n, float *out);

#endif
