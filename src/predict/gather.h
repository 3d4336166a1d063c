/* gather - examples of a data set, wherever it has them, together in memory. */
#ifndef SB_PREDICT_GATHER_H
#define SB_PREDICT_GATHER_H

#include "data/dataset.h"
#include "predict/input.h"

/* Bytes of an example. */
size_t sb_gather_bytes(const struct sb_dataset *d);

/* buffer[n] = the examples index[n]; NULL: at, at + 1, ... Only what is fetched can fail. */
sb_status sb_gather_run(const struct sb_dataset *d, const uint32_t *index, uint32_t at,
                        uint32_t n, int threads, unsigned char *buffer);

/* Examples that lie one after the other at data, in d's form. */
struct sb_input sb_gather_input(const struct sb_dataset *d, const void *data);

#endif
