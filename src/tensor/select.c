/* select - see select.h. */
#include "tensor/select.h"

#include <assert.h>

struct sb_cut sb_select_largest(const uint64_t *key, size_t n, size_t k, int bits)
{
    assert(k <= n && bits % 8 == 0 && bits <= 64);
    if (k == 0)
        return (struct sb_cut){.key = UINT64_MAX, .ties = 0};
    uint64_t prefix = 0, known = 0; /* the digits found so far, and where they are */
    for (int shift = bits - 8; shift >= 0; shift -= 8) {
        size_t count[256] = {0};
        for (size_t i = 0; i < n; i++)
            if ((key[i] & known) == prefix)
                count[key[i] >> shift & 255]++;
        unsigned digit = 255;
        while (count[digit] < k)
            k -= count[digit--];
        prefix |= (uint64_t)digit << shift;
        known |= (uint64_t)255 << shift;
    }
    return (struct sb_cut){.key = prefix, .ties = k};
}
