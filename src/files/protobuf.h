/* protobuf - messages of Protocol Buffers, written; the part of the format that ONNX needs.
 *
 * A message is a row of fields, each with a key (number << 3 | kind) before it:
 *
 *     kind 0   a whole number of 7 bits a byte, low ones first, the top bit: more follows
 *     kind 2   a length as such a number, then so many bytes: text, or a message
 *     kind 5   four bytes, here a float
 *
 * Lengths stand before what they measure. A small message is begun, filled and ended in
 * memory, where its length is put in front of it; large arrays are not put here: their
 * fields are announced (sb_pb_announce) and the caller writes their bytes to the file.
 *
 *     struct sb_pb p = {0};
 *     size_t node = sb_pb_begin(&p, 1);
 *     sb_pb_text(&p, 4, "Relu");
 *     sb_pb_end(&p, node);
 *     ...
 *     sb_status st = sb_pb_status(&p);        SB_ENOMEM if any of them had no memory
 *
 * A failure is remembered until the end, so that nothing in between need be checked.
 */
#ifndef SB_FILES_PROTOBUF_H
#define SB_FILES_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Readers refuse messages that are larger. */
#define SB_PB_MOST ((uint64_t)INT32_MAX)

struct sb_pb {
    unsigned char *data; /* [used of capacity] owned; NULL: empty */
    size_t used, capacity;
    bool failed;
};

void sb_pb_integer(struct sb_pb *p, uint32_t field, uint64_t value);
void sb_pb_float(struct sb_pb *p, uint32_t field, float value);
void sb_pb_bytes(struct sb_pb *p, uint32_t field, const void *data, size_t size);
void sb_pb_text(struct sb_pb *p, uint32_t field, const char *text);

/* A message within: what is written between belongs to it. Gives what end wants. */
size_t sb_pb_begin(struct sb_pb *p, uint32_t field);
void sb_pb_end(struct sb_pb *p, size_t begun);

/* Key and length of a field of bytes that follow elsewhere. */
void sb_pb_announce(struct sb_pb *p, uint32_t field, uint64_t size);

sb_status sb_pb_status(const struct sb_pb *p);

/* Accepts NULL, zeroed and half-built ones; p is empty again. */
void sb_pb_fini(struct sb_pb *p);

#endif
