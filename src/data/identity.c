/* identity - see identity.h. Making it; identity_compare.c compares. */
#include "data/identity.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "data/columns.h"

enum {
    PIECES = 1024,
    PIECE_BYTES = 1 << 16,
    NAME_BYTES = 4096,
};

/* ---- fingerprints -------------------------------------------------------------------- */

/* All of it, or pieces of it evenly spread, each after a look at the file it may be in. */
static sb_status of_bytes(const struct sb_bytes *file, const void *data, size_t size,
                          uint64_t *sum)
{
    const unsigned char *byte = data;
    sb_status st = sb_bytes_check(file);
    if (st == SB_OK && size <= (size_t)PIECES * PIECE_BYTES) {
        *sum = sb_hash_on(*sum, byte, size);
        return SB_OK;
    }
    *sum = sb_hash_on(*sum, &size, sizeof size);
    for (size_t i = 0; i < PIECES && st == SB_OK; i++) {
        size_t most = size - PIECE_BYTES;
        size_t at = i + 1 < PIECES ? most / (PIECES - 1) * i : most;
        st = sb_bytes_check(file);
        if (st == SB_OK)
            *sum = sb_hash_on(*sum, byte + at, PIECE_BYTES);
    }
    return st;
}

static uint64_t of_names(uint64_t sum, const struct sb_dataset *d)
{
    char name[NAME_BYTES];
    for (uint32_t i = 0; d->name_of && i < d->n; i++) {
        d->name_of(d, i, name, sizeof name);
        sum = sb_hash_on(sum, name, strlen(name));
    }
    return sum;
}

static sb_status of_set(const struct sb_dataset *d, uint64_t *out)
{
    size_t elements = sb_dataset_elements(d) * d->n;
    uint64_t sum = sb_hash_on(0, &d->n, sizeof d->n);
    if (d->labels)
        sum = sb_hash_on(sum, d->labels, d->n * sizeof *d->labels);
    if (d->targets)
        sum = sb_hash_on(sum, d->targets,
                         (size_t)d->n * d->target_count * sizeof *d->targets);
    if (d->weights)
        sum = sb_hash_on(sum, d->weights, d->n * sizeof *d->weights);
    *out = d->fetch ? of_names(sum, d) : sum;
    if (d->fetch)
        return SB_OK;
    return d->element == SB_FLOATS
               ? of_bytes(&d->file, d->values, elements * sizeof(float), out)
               : of_bytes(&d->file, d->images, elements, out);
}

static uint64_t of_split(const struct sb_identity_of *of)
{
    const struct sb_indices *p = of->part;
    uint64_t sum = sb_hash_on(0, p->train, p->train_count * sizeof *p->train);
    sum = sb_hash_on(sum, p->valid, p->validation_count * sizeof *p->valid);
    if (of->calibrations > 0)
        sum =
            sb_hash_on(sum, of->calibration, of->calibrations * sizeof *of->calibration);
    return of->test_index
               ? sb_hash_on(sum, of->test_index, of->tests * sizeof *of->test_index)
               : sb_hash_on(sum, &of->tests, sizeof of->tests);
}

/* ---- the whole ----------------------------------------------------------------------- */

/* Jansson has no unsigned integers. NULL: no memory. */
static json_t *hexadecimal(uint64_t x)
{
    char text[17];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)x);
    return json_string(text);
}

static sb_status put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0
               ? SB_OK
               : sb_fail(SB_ENOMEM, "no memory to say what the data is");
}

static sb_status put_names(json_t *object, const char *key, char *const *name, uint32_t n)
{
    return name ? put(object, key, sb_json_texts((const char *const *)name, n)) : SB_OK;
}

static sb_status put_columns(json_t *object, const struct sb_dataset *d)
{
    char *text = NULL;
    json_t *columns = NULL;
    if (!d->columns)
        return SB_OK;
    sb_status st = sb_columns_write(d->columns, &text);
    if (st == SB_OK)
        st = sb_json_parse(d->path, text, strlen(text), &columns);
    if (st == SB_OK)
        st = put(object, "columns", columns);
    sb_free(text);
    return st;
}

sb_status sb_identity_make(const struct sb_identity_of *of, json_t **out)
{
    const struct sb_dataset *d = of->train;
    uint64_t train, test;
    *out = NULL;
    sb_status st = of_set(d, &train);
    test = train;
    if (st == SB_OK && of->test)
        st = of_set(of->test, &test);
    if (st != SB_OK)
        return st;
    json_t *j =
        json_pack("{s:[I, I, I], s:I, s:I, s:I, s:o, s:o, s:o}", "shape",
                  (json_int_t)d->channels, (json_int_t)d->height, (json_int_t)d->width,
                  "classes", (json_int_t)d->classes, "rows", (json_int_t)d->n, "tests",
                  (json_int_t)of->tests, "split", hexadecimal(of_split(of)), "train",
                  hexadecimal(train), "test", hexadecimal(test));
    st = j ? SB_OK : sb_fail(SB_ENOMEM, "no memory to say what the data is");
    if (st == SB_OK)
        st = put_names(j, "class_names", d->class_names, d->classes);
    if (st == SB_OK)
        st = put_names(j, "target_names", d->target_names, d->target_count);
    if (st == SB_OK)
        st = put_columns(j, d);
    if (st == SB_OK)
        *out = j;
    else
        json_decref(j);
    return st;
}
