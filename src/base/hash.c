/* hash - see hash.h. */
#include "base/hash.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

static uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static void mix(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32) + v[3];
    v[2] += v[1];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

uint64_t sb_hash(struct sb_hash_key key, const void *data, size_t size)
{
    const unsigned char *byte = data;
    uint64_t v[4] = {key.k[0] ^ 0x736f6d6570736575u, key.k[1] ^ 0x646f72616e646f6du,
                     key.k[0] ^ 0x6c7967656e657261u, key.k[1] ^ 0x7465646279746573u};
    uint64_t word, last = (uint64_t)size << 56;
    size_t whole = size / 8 * 8;
    for (size_t i = 0; i < whole; i += 8) {
        memcpy(&word, byte + i, 8); /* little-endian machines only, as all our files */
        v[3] ^= word;
        mix(v);
        v[0] ^= word;
    }
    for (size_t i = whole; i < size; i++)
        last |= (uint64_t)byte[i] << 8 * (i - whole);
    v[3] ^= last;
    mix(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct sb_hash_key sb_hash_secret(void)
{
    struct sb_hash_key key;
    struct timespec now;
    if (getrandom(&key, sizeof key, GRND_NONBLOCK) == (ssize_t)sizeof key)
        return key;
    clock_gettime(CLOCK_MONOTONIC, &now);
    key.k[0] = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32;
    key.k[1] = (uint64_t)(uintptr_t)&key; /* where the stack is differs, too */
    return key;
}
