/* fields - a safetensors file read with expectations, for models and checkpoints.
 *
 * The safetensors reader promises a well-formed file; this one adds what a format of ours
 * promises: a tensor of this name, type and shape, all numbers finite, and no tensor that
 * nobody asked for. It also has the metadata texts that hold JSON or numbers.
 *
 * Sentences name the file and the tensor or key; all are SB_EFORMAT.
 */
#ifndef SB_MODEL_FIELDS_H
#define SB_MODEL_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/safetensors.h"

/* "<prefix>.<layer>." with room for one more part. */
struct sb_field {
    char name[160];
    size_t stem; /* where the part begins */
};

void sb_field_begin(struct sb_field *f, const char *prefix, const char *layer);

/* The name with this part; valid until the next call. */
const char *sb_field_part(struct sb_field *f, const char *part);

struct sb_shape {
    size_t ndim, dim[4];
};

static inline size_t sb_shape_count(const struct sb_shape *s)
{
    size_t count = 1;
    for (size_t i = 0; i < s->ndim; i++)
        count *= s->dim[i];
    return count;
}

struct sb_fields {
    const struct sb_st *st; /* borrowed */
    bool in_place;          /* the sb_fields_take_ functions point into the file */
    unsigned char *seen;    /* [st->tensors] owned: which were asked for */
    size_t next;            /* where the next one probably is */
};

/* The caller calls sb_fields_fini, also after a failure. */
sb_status sb_fields_init(struct sb_fields *f, const struct sb_st *st);
void sb_fields_fini(struct sb_fields *f);

/* The tensor of that name, or NULL. */
const struct sb_st_tensor *sb_fields_lookup(struct sb_fields *f, const char *name);

/* Copies a tensor that must be there with exactly this type and shape: [product of
 * shape]. Floats must be finite. */
sb_status sb_fields_f32(struct sb_fields *f, const char *name, const struct sb_shape *s,
                        float *out);
sb_status sb_fields_i32(struct sb_fields *f, const char *name, const struct sb_shape *s,
                        int32_t *out);

/* Whether every tensor lies where its numbers can be used: in_place may be set. */
bool sb_fields_aligned(const struct sb_st *st);

/* The same, but in_place *out becomes the tensor itself, read only, for as long as the
 * file is open. */
sb_status sb_fields_take_f32(struct sb_fields *f, const char *name,
                             const struct sb_shape *s, float **out);
sb_status sb_fields_take_i32(struct sb_fields *f, const char *name,
                             const struct sb_shape *s, int32_t **out);

/* Every tensor was asked for. what: "model", for the sentence. */
sb_status sb_fields_finish(const struct sb_fields *f, const char *what);

/* ---- metadata ---------------------------------------------------------------------- */

/* Text that must be exactly an integer from 0 to max, in decimal. */
sb_status sb_fields_integer(const struct sb_st *st, const char *key, uint64_t max,
                            uint64_t *out);

/* A number in decimal, without sign or space; anything else is false. */
int sb_parse_decimal(const char *text, uint64_t max, uint64_t *out);

/* Text that is a JSON object or array; the caller owns *out, NULL after a failure. */
sb_status sb_fields_json(const struct sb_st *st, const char *key, json_t **out);

/* Writes value as text, and takes it over; NULL: no memory. */
sb_status sb_fields_put_json(struct sb_st_writer *w, const char *key, json_t *value);
sb_status sb_fields_put_integer(struct sb_st_writer *w, const char *key, uint64_t value);

/* Checks format and version, the first two keys of all our files. */
sb_status sb_fields_check_format(const struct sb_st *st, const char *format,
                                 uint64_t version);

/* ---- a checksum -------------------------------------------------------------------- */

/* FNV-1a, 64 bits: notices every change within one byte, because each step is a bijection
 * of the state, and any other with probability 1 - 2^-64. Not against somebody who means
 * it. */
#define SB_CHECKSUM_START 0xcbf29ce484222325u

/* Goes on from sum over size bytes. */
uint64_t sb_checksum(uint64_t sum, const void *data, size_t size);

/* Of a JSON value, written without spaces: the same after it was written and parsed. */
sb_status sb_checksum_header(const json_t *header, uint64_t *out);

#endif
