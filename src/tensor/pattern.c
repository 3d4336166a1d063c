/* pattern - see pattern.h. */
#include "tensor/pattern.h"

#include <string.h>

#include "base/mem.h"

sb_status sb_pattern_init(struct sb_pattern *p, uint32_t rows, uint32_t cols,
                          uint32_t nnz)
{
    *p = (struct sb_pattern){.rows = rows, .cols = cols, .nnz = nnz};
    uint64_t size = (uint64_t)rows * cols;
    if (size > UINT32_MAX)
        return sb_fail(SB_EARG, "pattern: %u x %u weights are more than 2^32 - 1", rows,
                       cols);
    if (nnz > size)
        return sb_fail(SB_EARG, "pattern: %u of %u x %u weights cannot exist", nnz, rows,
                       cols);
    p->row_ptr = sb_calloc((size_t)rows + 1, sizeof *p->row_ptr);
    p->col = p->row_ptr ? sb_calloc(nnz, sizeof *p->col) : NULL;
    if (!p->col)
        return sb_fail(SB_ENOMEM, "pattern: no memory for %u rows and %u weights", rows,
                       nnz);
    return SB_OK;
}

void sb_pattern_fini(struct sb_pattern *p)
{
    if (!p)
        return;
    sb_free(p->row_ptr);
    sb_free(p->col);
    *p = (struct sb_pattern){0};
}

static sb_status check_row(const struct sb_pattern *p, uint32_t r)
{
    uint32_t begin = p->row_ptr[r], end = p->row_ptr[r + 1];
    if (begin > end || end > p->nnz)
        return sb_fail(SB_EARG, "pattern: row %u runs from %u to %u of %u weights", r,
                       begin, end, p->nnz);
    for (uint32_t k = begin; k < end; k++) {
        if (p->col[k] >= p->cols)
            return sb_fail(SB_EARG, "pattern: row %u has column %u of %u", r, p->col[k],
                           p->cols);
        if (k > begin && p->col[k] <= p->col[k - 1])
            return sb_fail(SB_EARG, "pattern: row %u has column %u after column %u", r,
                           p->col[k], p->col[k - 1]);
    }
    return SB_OK;
}

sb_status sb_pattern_check(const struct sb_pattern *p)
{
    if (!p->row_ptr || !p->col)
        return sb_fail(SB_EARG, "pattern: not initialised");
    if ((uint64_t)p->rows * p->cols > UINT32_MAX)
        return sb_fail(SB_EARG, "pattern: %u x %u weights are more than 2^32 - 1",
                       p->rows, p->cols);
    if (p->row_ptr[0] != 0)
        return sb_fail(SB_EARG, "pattern: row 0 begins at %u", p->row_ptr[0]);
    for (uint32_t r = 0; r < p->rows; r++) {
        sb_status st = check_row(p, r);
        if (st != SB_OK)
            return st;
    }
    if (p->row_ptr[p->rows] != p->nnz)
        return sb_fail(SB_EARG, "pattern: rows hold %u of %u weights",
                       p->row_ptr[p->rows], p->nnz);
    return SB_OK;
}

sb_status sb_pattern_copy(const struct sb_pattern *p, struct sb_pattern *copy)
{
    sb_status st = sb_pattern_init(copy, p->rows, p->cols, p->nnz);
    if (st != SB_OK)
        return st;
    memcpy(copy->row_ptr, p->row_ptr, ((size_t)p->rows + 1) * sizeof *p->row_ptr);
    memcpy(copy->col, p->col, p->nnz * sizeof *p->col);
    return SB_OK;
}

/* Turns the counts in row_ptr[1 ..] into where each row ends. */
static void accumulate(uint32_t *row_ptr, uint32_t rows)
{
    for (uint32_t r = 0; r < rows; r++)
        row_ptr[r + 1] += row_ptr[r];
}

sb_status sb_pattern_dense(struct sb_pattern *p, uint32_t rows, uint32_t cols)
{
    uint64_t size = (uint64_t)rows * cols;
    sb_status st = sb_pattern_init(p, rows, cols, size > UINT32_MAX ? 0 : (uint32_t)size);
    if (st != SB_OK)
        return st;
    for (uint32_t r = 0, k = 0; r < rows; r++) {
        for (uint32_t c = 0; c < cols; c++)
            p->col[k++] = c;
        p->row_ptr[r + 1] = k;
    }
    return SB_OK;
}

/* col holds increasing positions: replaces them by columns and sets row_ptr. */
static void split_positions(struct sb_pattern *p)
{
    for (uint32_t k = 0; k < p->nnz; k++) {
        p->row_ptr[p->col[k] / p->cols + 1]++;
        p->col[k] %= p->cols;
    }
    accumulate(p->row_ptr, p->rows);
}

sb_status sb_pattern_random(struct sb_pattern *p, uint32_t rows, uint32_t cols,
                            uint32_t nnz, const struct sb_stream *s)
{
    sb_status st = sb_pattern_init(p, rows, cols, nnz);
    if (st == SB_OK)
        st = sb_rng_choose(s, rows * cols, nnz, p->col);
    if (st == SB_OK)
        split_positions(p);
    return st;
}

sb_status sb_pattern_from_positions(struct sb_pattern *p, uint32_t rows, uint32_t cols,
                                    const int32_t *position, uint32_t nnz)
{
    sb_status st = sb_pattern_init(p, rows, cols, nnz);
    if (st != SB_OK)
        return st;
    for (uint32_t k = 0; k < nnz; k++) {
        if (position[k] < 0 || (uint32_t)position[k] >= rows * cols)
            return sb_fail(SB_EARG, "pattern: position %d is outside %u x %u weights",
                           position[k], rows, cols);
        if (k > 0 && position[k] <= position[k - 1])
            return sb_fail(SB_EARG, "pattern: position %d comes after position %d",
                           position[k], position[k - 1]);
        p->col[k] = (uint32_t)position[k];
    }
    split_positions(p);
    return SB_OK;
}

sb_status sb_pattern_positions(const struct sb_pattern *p, int32_t *position)
{
    if ((uint64_t)p->rows * p->cols > (uint64_t)INT32_MAX + 1)
        return sb_fail(SB_EARG,
                       "pattern: %u x %u weights are too many for 32-bit positions",
                       p->rows, p->cols);
    for (uint32_t r = 0; r < p->rows; r++)
        for (uint32_t k = p->row_ptr[r]; k < p->row_ptr[r + 1]; k++)
            position[k] = (int32_t)(r * p->cols + p->col[k]);
    return SB_OK;
}
