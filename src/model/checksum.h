/* checksum - FNV-1a, 64 bits: notices every change within one byte, because each step is
 * a bijection of the state, and any other with probability 1 - 2^-64. Not against
 * somebody who means it. */
#ifndef SB_MODEL_CHECKSUM_H
#define SB_MODEL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/status.h"

#define SB_CHECKSUM_START 0xcbf29ce484222325u

/* Goes on from sum over size bytes. */
uint64_t sb_checksum(uint64_t sum, const void *data, size_t size);

/* Of a JSON value, written without spaces: the same after it was written and parsed. */
sb_status sb_checksum_header(const json_t *header, uint64_t *out);

#endif
