/* split - which examples are trained on and which are held out for validation.
 *
 *     file order   | 0 ........................ limit | unused ... n |
 *     tail         | train ............... | validation |
 *     stratified   | each class gives the same share, drawn at random, to validation |
 *     random       | any example may go to validation |
 *
 * If the data set has groups, whole groups are held out, whatever the kind, about as many
 * rows as were wanted, with classes shared out as evenly as a few tries can do.
 *
 * Both sides are index arrays in increasing order; the tail is the paper's way. The same
 * seed gives the same split, whatever else the run does.
 */
#ifndef SB_DATA_SPLIT_H
#define SB_DATA_SPLIT_H

#include "base/status.h"
#include "data/dataset.h"

enum sb_holdout { SB_HOLDOUT_TAIL, SB_HOLDOUT_STRATIFIED, SB_HOLDOUT_RANDOM };

struct sb_indices {
    uint32_t *train; /* [train_count] owned */
    uint32_t *valid; /* [validation_count] owned */
    uint32_t train_count, validation_count;
};

struct sb_holdout_options {
    enum sb_holdout kind;
    uint32_t limit;  /* use only the first so many examples; 0: all */
    uint32_t count;  /* validation examples; 0: by fraction */
    double fraction; /* of the used ones, in [0, 1), rounded to whole examples */
    uint64_t seed;   /* stratified and random */
};

/* SB_EARG if nothing would be left to train on. s needs no fini after a failure. */
sb_status sb_indices_init(struct sb_indices *s, const struct sb_dataset *d,
                          const struct sb_holdout_options *o);

/* What a set is split by when nobody says: the tail of IDX and CIFAR files, which are shuffled
 * as they are published; a share of each class elsewhere; at random without classes. */
enum sb_holdout sb_indices_usual(const struct sb_dataset *d);

/* SB_EARG if the validation part is what a file sorted by class gives: a class that is not
 * trained on, or one class only, where chance alone would not do that once in 1000 times.
 * d has labels, else all is well. */
sb_status sb_indices_check_order(const struct sb_indices *s, const struct sb_dataset *d);
/* Of sb_indices_init: s has both counts as they are wanted, and gets them as they are. */
sb_status sb_split_groups(struct sb_indices *s, const struct sb_dataset *d,
                          uint64_t seed);

/* Accepts NULL, zeroed and closed ones. */
void sb_indices_fini(struct sb_indices *s);

#endif
