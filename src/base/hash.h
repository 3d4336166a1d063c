/* hash - SipHash-1-3 (Aumasson and Bernstein 2012): 64 bits of any bytes, under a key.
 *
 * With a key that nobody knows nobody can find texts that collide, so a table of untrusted
 * texts stays fast. With a fixed key it is a fingerprint: any change goes unnoticed with
 * probability 2^-64, unless somebody means it. About a byte a cycle.
 */
#ifndef SB_BASE_HASH_H
#define SB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct sb_hash_key {
    uint64_t k[2];
};

uint64_t sb_hash(struct sb_hash_key key, const void *data, size_t size);

/* A fingerprint goes on: of what `sum` is of, and data behind it. Begin with 0. */
static inline uint64_t sb_hash_on(uint64_t sum, const void *data, size_t size)
{
    return sb_hash((struct sb_hash_key){{sum, size}}, data, size);
}

/* A key that nobody can guess; where the system has no random numbers, that is hard to. */
struct sb_hash_key sb_hash_secret(void);

#endif
