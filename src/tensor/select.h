/* select - the k largest of n keys, without sorting them.
 *
 * Numbers that are not negative order like their bits, so a key is an unsigned integer
 * and the k-th largest is found digit by digit, eight bits a pass: exact, O(n) whatever
 * the data, and without memory. The answer is a cut rather than a list: walking the keys
 * in order and asking sb_cut_takes() of each takes exactly k, the first ones among
 * equals.
 */
#ifndef SB_TENSOR_SELECT_H
#define SB_TENSOR_SELECT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sb_cut {
    uint64_t key; /* every key above is taken ... */
    size_t ties;  /* ... and so many of those equal to it */
};

/* The cut that takes k of key[0 .. n); k <= n. Only the low `bits` bits of a key are set;
 * bits is a multiple of 8. */
struct sb_cut sb_select_largest(const uint64_t *key, size_t n, size_t k, int bits);

static inline bool sb_cut_takes(struct sb_cut *cut, uint64_t key)
{
    if (key != cut->key)
        return key > cut->key;
    if (cut->ties == 0)
        return false;
    cut->ties--;
    return true;
}

/* |x| as a key; x is not NaN. */
static inline uint64_t sb_key_of_double(double x)
{
    double magnitude = fabs(x);
    uint64_t key;
    memcpy(&key, &magnitude, sizeof key);
    return key;
}

static inline uint32_t sb_key_of_float(float x)
{
    float magnitude = fabsf(x);
    uint32_t key;
    memcpy(&key, &magnitude, sizeof key);
    return key;
}

#endif
