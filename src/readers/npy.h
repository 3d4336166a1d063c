/* npy - a NumPy array file (versions 1 to 3) in memory, and as examples of a data set.
 *
 *     93 "NUMPY" major minor | size of the text, 2 bytes (version 1) or 4 | text | elements
 *
 * The text is a Python dictionary of 'descr' (type and byte order), 'fortran_order' and
 * 'shape'. Elements are u1 to u8, i1 to i8, f4, f8 or b1, in either byte order, in C or
 * Fortran order. Nothing executable is in it: objects and structures are refused.
 *
 * What the dimensions of examples mean:
 *
 *     [n][d]            a table of d features; always floats, values as they are
 *     [n][h][w]         grey images
 *     [n][a][b][c]      images; channels are the last dimension if that is 1, 3 or 4, else
 *                       the second; if both could be, what makes the images square, and
 *                       if that does not tell, the last
 *
 * u1 images are bytes, and stay in the file if they are [n][h][w] or [n][c][h][w] in C
 * order; everything else becomes floats, and f4 of this machine's byte order stays in the
 * file likewise.
 */
#ifndef SB_READERS_NPY_H
#define SB_READERS_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "data/dataset.h"
#include "files/npy_write.h"

/* An array in memory; name is for messages. */
struct sb_npy {
    const char *name;
    char kind;     /* 'u', 'i', 'f', 'b' */
    uint32_t size; /* bytes of an element: 1, 2, 4, 8 */
    bool swap;     /* not this machine's byte order */
    bool fortran;  /* the first index runs fastest */
    uint32_t dims;
    uint64_t shape[SB_NPY_DIMS]; /* [dims] */
    uint64_t count;              /* elements */
    const unsigned char *data;   /* [count * size] borrowed */
};

/* How large the file at path is, unpacked if need be, by its header. */
sb_status sb_npy_file_size(const char *path, size_t *out);

/* SB_EFORMAT unless bytes[size] are exactly one array of a type above. */
sb_status sb_npy_parse(struct sb_npy *a, const char *name, const unsigned char *bytes,
                       size_t size);

/* Shape and examples of d from rows [first, first + count) of a; in place where the layout
 * allows (then a->data must outlive d), else in d->copy. impute: numbers of a table may be
 * NAN. */
sb_status sb_npy_examples(struct sb_dataset *d, const struct sb_npy *a, uint64_t first,
                          uint64_t count, bool impute);

/* Labels from rows [first, first + d->n): whole numbers from 0, one a row; d->classes is
 * one more than the largest, at least 2. */
/* d->weights from a, one number from 0 an example. */
sb_status sb_npy_weights(struct sb_dataset *d, const struct sb_npy *a);

sb_status sb_npy_labels(struct sb_dataset *d, const struct sb_npy *a, uint64_t first);

/* The same, or continuous targets [n] or [n][targets], as the task says; AUTO: targets if
 * there are several a row, if they have fractions or, for rows of a table, if they are very
 * many different whole numbers. */
sb_status sb_npy_responses(struct sb_dataset *d, const struct sb_npy *a,
                           enum sb_task task);

#endif
