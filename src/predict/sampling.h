/* sampling - how a member's posterior is used to predict (method.md 6). A point member
 * has only its weights: whatever is asked for, they are what is used. Of rank-1 the scales
 * are what is drawn; activation noise is then a draw.
 *
 * Several draws of a member are averaged. Members count alike, so the ensemble predicts as
 * one of so many times as many members would. */
#ifndef SB_PREDICT_SAMPLING_H
#define SB_PREDICT_SAMPLING_H

#include <stdint.h>

#include "base/status.h"

enum sb_sample_kind { /* in the order of sb_sampling_words, and of sebays.h */
                      SB_SAMPLE_DRAW, /* weights drawn once, kept with the member: draw 0 */
                      SB_SAMPLE_DRAWS, /* draws 0, 1, 2, ... */
                      SB_SAMPLE_MEAN,  /* the posterior mean */
                      SB_SAMPLE_NOISE  /* activation noise, new for every example */
};

struct sb_sampling {
    enum sb_sample_kind kind;
    uint32_t draws; /* whose probabilities are averaged; 1 of a draw or a mean */
};

/* The words of eval.sampling by kind, NULL-terminated; all others are made of them. */
extern const char *const sb_sampling_words[];

/* As results.json says it: draw, draws:N, mean, activation-noise. */
void sb_sampling_name(const struct sb_sampling *s, char out[32]);

/* What --samples says: such a name, N alone, or noise for short. One draw is draw. */
sb_status sb_sampling_parse(const char *text, struct sb_sampling *out);

#endif
