/* sampling - how a member's posterior is used to predict (method.md 6). A point member
 * has only its weights: whatever is asked for, they are what is used. Of rank-1 the scales
 * are what is drawn; activation noise is then a draw.
 *
 * Several draws of a member are averaged. Members count alike, so the ensemble predicts as
 * one of so many times as many members would. */
#ifndef SB_PREDICT_SAMPLING_H
#define SB_PREDICT_SAMPLING_H

#include <stdint.h>

enum sb_sample_kind {
    SB_SAMPLE_DRAWS, /* weights drawn: draw 0, kept with the member, then 1, 2, ... */
    SB_SAMPLE_MEAN,  /* the posterior mean */
    SB_SAMPLE_NOISE  /* activation noise, new for every example */
};

struct sb_sampling {
    enum sb_sample_kind kind;
    uint32_t draws; /* at least 1, whose probabilities are averaged; of a mean: 1 */
};

#endif
