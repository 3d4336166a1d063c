/* pattern - which weights of a layer exist.
 *
 * A row is an output, a column an (input, kernel row, kernel column) triple, flattened in
 * that order; a linear layer has a kernel of one. Weights are numbered by entry: row
 * after row, columns increasing.
 *
 *     row_ptr  | 0 | 2 | 2 | 5 |      entries of row r: row_ptr[r] .. row_ptr[r + 1]
 *     col      | 1   4 | 0   2   3 |  their columns
 *
 * Kept apart from the numbers: mu, rho, their gradients and momenta are float arrays of
 * length nnz that share one pattern, so pruning is one edit here plus one gather per
 * array.
 *
 * Invariants, checked by sb_pattern_check(): rows * cols fits uint32_t; row_ptr starts at
 * 0, never decreases and ends at nnz; within a row, col strictly increases and stays
 * below cols.
 */
#ifndef SB_TENSOR_PATTERN_H
#define SB_TENSOR_PATTERN_H

#include <stdint.h>

#include "base/rng.h"
#include "base/status.h"

struct sb_pattern {
    uint32_t rows, cols, nnz;
    uint32_t *row_ptr; /* [rows + 1] owned */
    uint32_t *col;     /* [nnz]      owned */
};

/* Memory for nnz entries, all zero; the caller fills row_ptr and col. SB_EARG when
 * rows * cols does not fit uint32_t or nnz exceeds it. The caller owns p, also after a
 * failure; what p held before is not freed. */
sb_status sb_pattern_init(struct sb_pattern *p, uint32_t rows, uint32_t cols,
                          uint32_t nnz);
void sb_pattern_fini(struct sb_pattern *p);

/* SB_OK when every invariant holds, else SB_EARG and a sentence with the first row that
 * breaks one. */
sb_status sb_pattern_check(const struct sb_pattern *p);

/* The functions below make a new pattern as sb_pattern_init does. */

sb_status sb_pattern_copy(const struct sb_pattern *p, struct sb_pattern *copy);

/* Every weight exists. */
sb_status sb_pattern_dense(struct sb_pattern *p, uint32_t rows, uint32_t cols);

/* nnz weights, every support of that size equally likely. */
sb_status sb_pattern_random(struct sb_pattern *p, uint32_t rows, uint32_t cols,
                            uint32_t nnz, const struct sb_stream *s);

/* position: [nnz] of row * cols + col, the form in files. They must increase strictly and
 * stay within the layer, else SB_EARG. */
sb_status sb_pattern_from_positions(struct sb_pattern *p, uint32_t rows, uint32_t cols,
                                    const int32_t *position, uint32_t nnz);

/* The inverse; SB_EARG when the layer is too large for int32_t positions. */
sb_status sb_pattern_positions(const struct sb_pattern *p, int32_t *position);

#endif
