/* far - what a model keeps of its training rows, to tell examples that are unlike all of them.
 *
 * An example is looked at in several places: place 0 is the network's input, place 1 + m the
 * input of the last layer of member m. The numbers of a place are taken as they are, or
 * summed into SB_FAR_WIDTH sums under fixed random signs (predict/far.h); of each place the
 * model has a Gaussian that was fitted to training rows, and of their scores (figures/far.h)
 * some quantiles.
 *
 *     number = input mean     [input]
 *              input factor   [input (input + 1) / 2]     lower triangle, row by row
 *              means          [members][feature]
 *              factors        [members][feature (feature + 1) / 2]
 *              quantiles      [quantiles]                 rising
 */
#ifndef SB_MODEL_FAR_H
#define SB_MODEL_FAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "nn/arch.h"

enum { SB_FAR_WIDTH = 64, SB_FAR_QUANTILES = 256 };

struct sb_far {
    uint32_t input, feature; /* widths of places */
    uint32_t members;        /* 0: the model has nothing of this */
    uint32_t quantiles;
    const float *number;
};

/* The node whose value the last layer reads; and numbers of a node's value. */
uint32_t sb_far_node(const struct sb_arch *a);
uint32_t sb_far_elements(const struct sb_arch *a, uint32_t node);

/* Numbers that are kept of a place of so many. */
uint32_t sb_far_width(uint32_t elements);

static inline size_t sb_far_triangle(uint32_t width)
{
    return (size_t)width * (width + 1) / 2;
}

/* All numbers of f. */
size_t sb_far_floats(const struct sb_far *f);

/* The Gaussian of a place, and the quantiles, as offsets into number. */
uint32_t sb_far_place_width(const struct sb_far *f, uint32_t place);
size_t sb_far_mean_at(const struct sb_far *f, uint32_t place);
size_t sb_far_factor_at(const struct sb_far *f, uint32_t place);
size_t sb_far_quantile_at(const struct sb_far *f);

struct sb_st_writer;
struct sb_fields;

/* As tensors of a model file (model.h). Reading, of an ensemble of so many members: f->members
 * is 0 if the file has none; the caller owns *number (sb_free), also after a failure. */
sb_status sb_far_put(struct sb_st_writer *w, const struct sb_far *f);
sb_status sb_far_get(struct sb_fields *fields, const struct sb_arch *a, uint32_t members,
                     struct sb_far *f, float **number);

#endif
