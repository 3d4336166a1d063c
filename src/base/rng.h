/* rng - randomness without state: a number is a function of where it is used.
 *
 * Philox4x32-10 (Random123) turns a 128-bit counter and a 64-bit key into 128 random
 * bits. The key is the run's seed; the counter says what the number is for:
 *
 *     word 0, 1   element   index within the layer or data set, 64 bits
 *     word 2      step      counted over the whole run
 *     word 3      purpose (6 bits) | member (12 bits) | layer (14 bits)
 *
 * Nothing is saved in a checkpoint and nothing is shared between threads: a resumed run,
 * another thread count or another number of ranks see the same numbers.
 */
#ifndef SB_BASE_RNG_H
#define SB_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* At most 64; never renumber: it would change every run. */
enum sb_purpose {
    SB_RNG_SUPPORT = 1, /* the initial random support */
    SB_RNG_INIT,        /* initial weights */
    SB_RNG_NOISE,       /* activation noise of the local reparameterisation */
    SB_RNG_SHUFFLE,     /* order of the training examples */
    SB_RNG_AUGMENT,     /* crops and flips */
    SB_RNG_SAMPLE,      /* weights drawn from the posterior for prediction */
    SB_RNG_CORRUPT,     /* image corruptions */
    SB_RNG_SPLIT,       /* stratified validation split */
    SB_RNG_SUBSET,      /* subsets of an ensemble's members */
    SB_RNG_ATTACK,      /* where an attack starts */
    SB_RNG_EMBED,       /* first vectors of an embedding */
    SB_RNG_SCALE,       /* noise of scales that have a posterior */
    SB_RNG_DROPOUT,     /* which elements are dropped */
    SB_RNG_MIX,         /* which images meet in a row of several */
    SB_RNG_FAR,         /* which sum a number of a place goes to (predict/far.h) */
    SB_RNG_TEST = 63    /* tests and benchmarks */
};

enum { SB_RNG_MEMBERS = 1 << 12, SB_RNG_LAYERS = 1 << 14 };

struct sb_stream {
    uint32_t key[2];
    uint32_t step;
    uint32_t tag; /* purpose | member | layer */
};

/* member < SB_RNG_MEMBERS and layer < SB_RNG_LAYERS are the caller's promise (asserted).
 */
struct sb_stream sb_rng_stream(uint64_t seed, enum sb_purpose purpose, uint32_t member,
                               uint32_t step, uint32_t layer);

/* The 128 bits of one element. */
void sb_rng_bits(const struct sb_stream *s, uint64_t element, uint32_t out[4]);

/* Uniform in [0, 1), 24 bits, from word 0 of the element. */
float sb_rng_uniform(const struct sb_stream *s, uint64_t element);

/* Four standard normals from one element, by Box-Muller on words (0, 1) and (2, 3). The
 * arithmetic is base/fmath.h's, so the bits are the same on every machine; the kernels'
 * vector version gives the same bits too. */
void sb_rng_normal4(const struct sb_stream *s, uint64_t element, float out[4]);

/* Uniform in [0, bound), without modulo bias; bound > 0. */
uint32_t sb_rng_below(const struct sb_stream *s, uint64_t element, uint32_t bound);

/* out = a random order of 0 .. n-1 (Fisher-Yates, one element of s a swap). */
void sb_rng_permutation(const struct sb_stream *s, uint32_t n, uint32_t *out);

/* out = k of the numbers 0 .. n-1, each subset equally likely, in increasing order.
 * O(n) time, no memory (selection sampling). k <= n, else SB_EARG. */
sb_status sb_rng_choose(const struct sb_stream *s, uint32_t n, uint32_t k, uint32_t *out);

#endif
