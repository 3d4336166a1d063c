/* input - a caller's array of examples, in whatever order and type it has, as normalised
 * activations.
 *
 * Bytes are pixels and become ((byte / 255) - mean) / sd, the bits of data/normalise;
 * floats are pixels in [0, 1] or features and become (x - mean) / sd. Activations, as a
 * batch of data/batch.h has them, are what they are to become.
 */
#ifndef SB_PREDICT_INPUT_H
#define SB_PREDICT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/encode.h"
#include "data/normalise.h"
#include "kernels/act.h"

enum sb_input_type { SB_INPUT_F32, SB_INPUT_U8, SB_INPUT_ACT };

struct sb_input {
    const void *data; /* of activations: a struct sb_act, and no strides */
    enum sb_input_type type;
    ptrdiff_t stride[4]; /* bytes to the next example, channel, row and column */
    bool
        missing; /* of rows: numbers may lack where none did in training, see missing.h */
};

/* Fills x, whose shape and number of examples say what to read, with examples at, at + 1,
 * ...; padding lanes are 0. s is one for bytes, which serves floats too. bad: [x->batch]
 * of enum sb_row_state: SB_ROW_BAD where a float is not finite, unless it may be missing. */
void sb_input_fill(const struct sb_input *in, size_t at, const struct sb_normalise *s,
                   int threads, struct sb_act *x, unsigned char *bad);

#endif
