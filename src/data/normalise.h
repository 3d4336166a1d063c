/* normalise - (value - mean) / sd per channel, where a byte's value is pixel / 255.
 *
 * The arithmetic is float's, in this order, which gives torchvision's bits; for bytes it
 * is a table of 256 floats a channel. Mean and sd are given, or computed from the training
 * examples. Sums of bytes and of their squares are integers; floats are added up in chunks
 * that depend on the data's shape alone: every thread count gives the same numbers.
 *
 * Rows of a table with columns become features first (encode.h); those are what is
 * normalised then. Of features between 0 and 1 that stand for a text, a piece or what is
 * missing, sd is at least SB_SD_LEAST: a rare one is not to drown the others.
 */
#ifndef SB_DATA_NORMALISE_H
#define SB_DATA_NORMALISE_H

#include "base/env.h"
#include "base/status.h"
#include "data/columns.h"
#include "data/dataset.h"

enum { SB_BYTE_VALUES = 256 };
#define SB_SD_LEAST    0.2f
#define SB_SD_CONSTANT 1e30f /* by which everything is as good as 0 */

struct sb_normalise {
    uint32_t channels; /* that are normalised: of a table with columns its features */
    enum sb_element element;
    float *mean, *sd; /* [channels] owned, in one block with table */
    float *table;     /* [channels][256] of bytes; NULL for floats */
    /* rows are encoded by; borrowed; NULL: they are not */
    const struct sb_columns *columns;
};

/* How many values of an example it takes. */
static inline uint32_t sb_normalise_inputs(const struct sb_normalise *m)
{
    return m->columns ? m->columns->inputs : m->channels;
}

/* SB_EARG unless there are channels, every mean is finite and every sd finite and
 * positive. m needs no fini after a failure, but may have it. */
sb_status sb_normalise_given(struct sb_normalise *m, enum sb_element element,
                             uint32_t channels, const float *mean, const float *sd);

/* Over the examples index[n] of d, encoded by d's columns if it has any, which m borrows
 * then; sd is the population's. Of a constant channel it is 1 for bytes and
 * SB_SD_CONSTANT for floats. Of a streamed set with more than 65536 of them, so many are
 * taken at even distances: each has to be decoded for it. */
sb_status sb_normalise_computed(struct sb_normalise *m, const struct sb_env *env,
                                const struct sb_dataset *d, const uint32_t *index,
                                uint32_t n);

/* Accepts NULL, zeroed and half-built ones. */
void sb_normalise_fini(struct sb_normalise *m);

#endif
