/* measure - a few real steps of a real network, timed. Internal to train/. */
#ifndef SB_TRAIN_MEASURE_H
#define SB_TRAIN_MEASURE_H

#include <stdio.h>

#include "train/state.h"

enum { SB_MEASURE_STEPS = 4 }; /* of one measurement, the first of which is not timed */

struct sb_measured {
    double image; /* seconds a training image took, in the fastest step: what others do on
                   * the machine only adds to it; NAN: unknown */
    double busy;  /* share of the time that this thread waited for a processor because
                   * others had it; 0 where the system does not tell */
};

/* The network becomes a fresh one of that support. What a cut by magnitude will leave is not
 * known before: the cut through fresh weights stands for it, which has the right total and
 * about the right share of each layer. */
sb_status sb_measure_network(struct sb_trainer *t, enum sb_stage_support support);

/* Examples of a measured step, of a batch whose step has so many FLOP: all of them, unless
 * that would take long; then fewer, in whole blocks of images. What a step has that does not
 * grow with its rows is little where a row has much arithmetic. */
uint32_t sb_measure_examples(double flops, uint32_t batch);
uint32_t sb_measure_batch(const struct sb_trainer *t); /* the same, of t's network */

/* Its steps; their images count in progress, from *done on. */
sb_status sb_measure_steps(struct sb_trainer *t, uint64_t *done, struct sb_measured *out);

/* Seconds as people say them, up to days, and a line's end. */
void sb_measure_print_time(FILE *f, double seconds);

/* A line about a machine that others used meanwhile; nothing if it was quiet. */
void sb_measure_print_busy(FILE *f, double busy);

#endif
