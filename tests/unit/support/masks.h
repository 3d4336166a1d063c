/* masks - supports as bytes, [rows][cols] of 0 and 1: what golden cases have, and what tests
 * look at. */
#ifndef SUPPORT_MASKS_H
#define SUPPORT_MASKS_H

#include <string.h>

#include "tensor/pattern.h"

/* mask: of 0 and 1, as golden_mask gives it. A new pattern, as sb_pattern_init makes one. */
static inline sb_status pattern_of_mask(struct sb_pattern *p, uint32_t rows,
                                        uint32_t cols, const uint8_t *mask)
{
    uint32_t nnz = 0;
    for (size_t i = 0; i < (size_t)rows * cols; i++)
        nnz += mask[i];
    sb_status st = sb_pattern_init(p, rows, cols, nnz);
    for (uint32_t r = 0, k = 0; r < rows && st == SB_OK; r++) {
        for (uint32_t c = 0; c < cols; c++)
            if (mask[(size_t)r * cols + c])
                p->col[k++] = c;
        p->row_ptr[r + 1] = k;
    }
    return st;
}

/* mask [rows][cols]: 1 where a weight exists, else 0. */
static inline void mask_of_pattern(const struct sb_pattern *p, uint8_t *mask)
{
    memset(mask, 0, (size_t)p->rows * p->cols);
    for (uint32_t r = 0; r < p->rows; r++)
        for (uint32_t k = p->row_ptr[r]; k < p->row_ptr[r + 1]; k++)
            mask[(size_t)r * p->cols + p->col[k]] = 1;
}

#endif
