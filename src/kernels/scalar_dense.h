/* scalar_dense - the definition of the dense loops, one float at a time. Part of scalar.c. */
#ifndef SB_KERNELS_SCALAR_DENSE_H
#define SB_KERNELS_SCALAR_DENSE_H

#include "kernels/act.h"
#include "kernels/kernels.h"

static void dense(const struct sb_dense_rows *r)
{
    for (uint32_t row = r->row; row < r->row + r->rows; row++)
        for (size_t i = 0; i < (size_t)r->groups * SB_GROUP * 8; i++) {
            size_t group = i / (SB_GROUP * 8), at = i % (SB_GROUP * 8);
            const float *x = r->strip + group * r->pitch + at;
            const float *w = r->weight + row * r->weight_row;
            float *acc = r->acc + (row - r->row) * r->acc_row + i;
            float sum = !r->first ? *acc : r->start ? r->start[row] : 0.0f;
            for (uint32_t k = 0; k < r->cols; k++)
                sum = fmaf(w[k], x[r->off[k]], sum);
            if (r->epilogue)
                land(r->epilogue, row, group, at, sum);
            else
                *acc = sum;
        }
}

static void outer(const struct sb_dense_outer *o)
{
    for (uint32_t out = 0; out < o->outs; out++)
        for (uint32_t col = 0; col < o->cols; col++)
            for (size_t lane = 0; lane < 8; lane++) {
                float *acc = o->acc + ((size_t)out * o->cols + col) * SB_PARTIALS + lane;
                const float *x = o->strip + o->off[col] + lane;
                const float *dy = o->dy + out * o->dy_out + lane;
                float sum = o->first ? 0.0f : *acc;
                for (size_t i = 0; i < (size_t)o->rows * o->width; i++) {
                    size_t row = i / o->width, at = i % o->width * 8;
                    sum = fmaf(dy[o->dy_row[row] + at], x[o->x_row[row] + at], sum);
                }
                *acc = sum;
            }
}

static void fold(const float *partial, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++, partial += SB_PARTIALS) {
        float s[SB_PARTIALS / 2];
        for (size_t j = 0; j < SB_PARTIALS / 2; j++)
            s[j] = partial[j] + partial[j + SB_PARTIALS / 2];
        for (size_t left = SB_PARTIALS / 4; left > 0; left /= 2)
            for (size_t j = 0; j < left; j++)
                s[j] = s[2 * j] + s[2 * j + 1];
        out[i] = s[0];
    }
}

static void linear(const struct sb_dense_linear *l)
{
    for (uint32_t out = 0; out < l->outs; out++)
        for (uint32_t col = 0; col < l->cols; col++) {
            float s[SB_PARTIALS] = {0};
            for (uint32_t n = 0; n < l->images; n++)
                s[n % SB_PARTIALS] = fmaf(l->dy[out * l->dy_out + n],
                                          l->x[n * l->x_image + col], s[n % SB_PARTIALS]);
            fold(s, 1, l->out + out * l->out_row + col);
        }
}

#endif
