/* rng - see rng.h for what a number depends on. */
#include "base/rng.h"

#include <Random123/philox.h>
#include <assert.h>

#include "base/fmath.h"

enum { PURPOSES = 1 << 6, MEMBER_SHIFT = 14, PURPOSE_SHIFT = 26 };

struct sb_stream sb_rng_stream(uint64_t seed, enum sb_purpose purpose, uint32_t member,
                               uint32_t step, uint32_t layer)
{
    assert((unsigned)purpose < PURPOSES);
    assert(member < SB_RNG_MEMBERS && layer < SB_RNG_LAYERS);
    return (struct sb_stream){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .step = step,
        .tag = (uint32_t)purpose << PURPOSE_SHIFT | member << MEMBER_SHIFT | layer,
    };
}

static philox4x32_ctr_t bits(const struct sb_stream *s, philox4x32_ctr_t counter)
{
    philox4x32_key_t key = {{s->key[0], s->key[1]}};
    return philox4x32(counter, key);
}

static philox4x32_ctr_t element_bits(const struct sb_stream *s, uint64_t element)
{
    philox4x32_ctr_t counter = {
        {(uint32_t)element, (uint32_t)(element >> 32), s->step, s->tag}};
    return bits(s, counter);
}

void sb_rng_bits(const struct sb_stream *s, uint64_t element, uint32_t out[4])
{
    philox4x32_ctr_t r = element_bits(s, element);
    for (int i = 0; i < 4; i++)
        out[i] = r.v[i];
}

float sb_rng_uniform(const struct sb_stream *s, uint64_t element)
{
    return (float)(element_bits(s, element).v[0] >> 8) * 0x1p-24f;
}

void sb_rng_normal4(const struct sb_stream *s, uint64_t element, float out[4])
{
    philox4x32_ctr_t r = element_bits(s, element);
    sb_box_muller(r.v[0], r.v[1], &out[0], &out[1]);
    sb_box_muller(r.v[2], r.v[3], &out[2], &out[3]);
}

/* Lemire's method: the high half of word * bound is the answer, unless the low half falls
 * below 2^32 mod bound, the share by which some answers would be too likely. Each of the
 * four words is tried; when all are refused (at worst one time in 16) they become the
 * next counter, so that no element's numbers depend on its neighbour's. */
uint32_t sb_rng_below(const struct sb_stream *s, uint64_t element, uint32_t bound)
{
    assert(bound > 0);
    uint32_t excess = (0u - bound) % bound;
    philox4x32_ctr_t r = element_bits(s, element);
    for (;; r = bits(s, r)) {
        for (int i = 0; i < 4; i++) {
            uint64_t product = (uint64_t)r.v[i] * bound;
            if ((uint32_t)product >= excess)
                return (uint32_t)(product >> 32);
        }
    }
}

/* The inside-out form, which needs no first pass to write 0 .. n-1: before step i, out is
 * a random order of 0 .. i-1. */
void sb_rng_permutation(const struct sb_stream *s, uint32_t n, uint32_t *out)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = sb_rng_below(s, i, i + 1);
        if (j != i)
            out[i] = out[j];
        out[j] = i;
    }
}

/* Knuth's Algorithm S: take i with probability (still wanted) / (still left), in
 * integers, so that the last ones are taken for certain when they are all needed. */
sb_status sb_rng_choose(const struct sb_stream *s, uint32_t n, uint32_t k, uint32_t *out)
{
    if (k > n)
        return sb_fail(SB_EARG, "choose: want %u different numbers of %u", k, n);
    for (uint32_t i = 0, taken = 0; taken < k; i++)
        if (sb_rng_below(s, i, n - i) < k - taken)
            out[taken++] = i;
    return SB_OK;
}
