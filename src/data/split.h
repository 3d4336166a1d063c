/* split - which examples are trained on and which are held out for validation.
 *
 *     file order   | 0 ........................ limit | unused ... n |
 *     tail         | train ............... | validation |
 *     stratified   | each class gives the same share, drawn at random, to validation |
 *
 * Both sides are index arrays in increasing order; the tail is the paper's way. The same
 * seed gives the same split, whatever else the run does.
 */
#ifndef SB_DATA_SPLIT_H
#define SB_DATA_SPLIT_H

#include "base/status.h"
#include "data/dataset.h"

enum sb_holdout { SB_HOLDOUT_TAIL, SB_HOLDOUT_STRATIFIED };

struct sb_indices {
    uint32_t *train; /* [trains] owned */
    uint32_t *valid; /* [valids] owned */
    uint32_t trains, valids;
};

struct sb_holdout_options {
    enum sb_holdout kind;
    uint32_t limit;  /* use only the first so many examples; 0: all */
    uint32_t count;  /* validation examples; 0: by fraction */
    double fraction; /* of the used ones, in [0, 1), rounded to whole examples */
    uint64_t seed;   /* stratified only */
};

/* SB_EARG if nothing would be left to train on. s needs no fini after a failure. */
sb_status sb_indices_init(struct sb_indices *s, const struct sb_dataset *d,
                          const struct sb_holdout_options *o);

/* Accepts NULL, zeroed and closed ones. */
void sb_indices_fini(struct sb_indices *s);

#endif
