/* epilogue - see epilogue.h. */
#include "kernels/epilogue.h"

#include <string.h>

#include "kernels/kernels.h"

enum { VECTOR_BYTES = SB_LANES * sizeof(float) };

/* Offset in `a` of a row's vector v; SIZE_MAX where the box hangs over. */
static size_t place(const struct sb_side *side, const struct sb_box *box,
                    const struct sb_act *a, uint32_t row, uint32_t v)
{
    uint32_t b = v % box->blocks, j = v / box->blocks % box->width;
    uint32_t i = v / box->blocks / box->width, phase = row % side->phases;
    uint32_t y = side->step * (box->row + i) + (uint32_t)side->origin_y[phase];
    uint32_t x = side->step * (box->col + j) + (uint32_t)side->origin_x[phase];
    if (box->block + b >= a->blocks || y >= side->height || x >= side->width)
        return SIZE_MAX;
    return (box->block + b) * a->block + row / side->phases * a->plane +
           ((size_t)y * side->width + x) * SB_LANES;
}

/* Vectors v, v + 1, ... that lie side by side in memory: a whole row of the box where
 * planes are walked with step 1, else one. */
static uint32_t together(const struct sb_side *side, const struct sb_box *box, uint32_t v)
{
    if (box->blocks > 1 || side->step > 1)
        return 1;
    uint32_t left = side->width - box->col, rest = box->width - v % box->width;
    return left < rest ? left : rest;
}

static void store_row(const struct sb_side *side, const struct sb_box *box,
                      const float *sums, uint32_t row, struct sb_act *to)
{
    uint32_t vectors = (uint32_t)sb_box_vectors(box);
    for (uint32_t v = 0, n; v < vectors; v += n) {
        size_t at = place(side, box, to, row, v);
        n = at == SIZE_MAX ? 1 : together(side, box, v);
        if (at != SIZE_MAX)
            memcpy(to->data + at, sums + (size_t)v * SB_LANES, n * VECTOR_BYTES);
    }
}

void sb_box_gather(const struct sb_side *side, const struct sb_box *box,
                   const struct sb_act *a, uint32_t row, float *out)
{
    uint32_t vectors = (uint32_t)sb_box_vectors(box);
    for (uint32_t v = 0, n; v < vectors; v += n) {
        size_t at = place(side, box, a, row, v);
        n = at == SIZE_MAX ? 1 : together(side, box, v);
        if (at == SIZE_MAX)
            memset(out + (size_t)v * SB_LANES, 0, VECTOR_BYTES);
        else
            memcpy(out + (size_t)v * SB_LANES, a->data + at, n * VECTOR_BYTES);
    }
}

/* ---- forward ------------------------------------------------------------------------- */

/* Draws for one column quad of a box and puts them where the box's vectors are. */
static void draw_quad(const struct sb_env *env, const struct sb_box *box,
                      const struct sb_noise *noise, const struct sb_act *y,
                      uint32_t channel, uint32_t block, uint32_t row, uint32_t col,
                      float *eps)
{
    int flat = sb_noise_flat(y);
    size_t vectors = sb_box_vectors(box);
    uint32_t left = flat ? SB_QUAD : box->width - col;
    _Alignas(32) float z[SB_QUAD * SB_LANES];
    sb_noise_draw(env->kernels, noise, y, box->block + block, channel, box->row + row, 1,
                  box->col + col, z);
    for (uint32_t word = 0; word < SB_QUAD && word < left; word++) {
        size_t v =
            ((size_t)row * box->width + col + (flat ? 0 : word)) * box->blocks + block;
        size_t to_row = flat ? word : channel % SB_QUAD;
        memcpy(eps + (to_row * vectors + v) * SB_LANES, z + word * SB_LANES,
               VECTOR_BYTES);
    }
}

/* eps[channel % 4][vectors][8] for one output channel, drawn; where planes are 1 x 1, for
 * the four channels of a draw at once. */
static void draw_noise(const struct sb_env *env, const struct sb_box *box,
                       const struct sb_noise *noise, const struct sb_act *y,
                       uint32_t channel, int first, float *eps)
{
    uint32_t rows =
        y->height - box->row < box->height ? y->height - box->row : box->height;
    if (box->blocks == 1 && box->width == SB_QUAD) { /* a draw is a row of the box */
        float *to = eps + channel % SB_QUAD * sb_box_vectors(box) * SB_LANES;
        sb_noise_draw(env->kernels, noise, y, box->block, channel, box->row, rows,
                      box->col, to);
        return;
    }
    if (sb_noise_flat(y) && channel % SB_QUAD != 0 && !first)
        return; /* drawn with an earlier channel */
    for (uint32_t b = 0; b < box->blocks && box->block + b < y->blocks; b++)
        for (uint32_t i = 0; i < rows; i++)
            for (uint32_t j = 0; j < box->width && box->col + j < y->width; j += SB_QUAD)
                draw_quad(env, box, noise, y, channel, b, i, j, eps);
}

void sb_epilogue_forward(const struct sb_env *env, const struct sb_side *to,
                         const struct sb_box *box, const struct sb_sums *s,
                         const struct sb_noise *noise, struct sb_act *y,
                         struct sb_act *slope, float *eps)
{
    size_t vectors = sb_box_vectors(box), n = vectors * SB_LANES;
    if (s->var) /* vectors that hang over are mixed too: keep them finite */
        memset(eps, 0, SB_QUAD * n * sizeof(float));
    for (uint32_t row = s->row; row < s->row_end; row++) {
        float *mean = s->mean + (row - s->row) * n;
        if (s->var) {
            float *var = s->var + (row - s->row) * n, *e = eps + row % SB_QUAD * n;
            if (noise->eps)
                sb_box_gather(to, box, noise->eps, row, e);
            else
                draw_noise(env, box, noise, y, row, row == s->row, eps);
            env->kernels->mix(mean, var, e, vectors);
            store_row(to, box, var, row, slope);
        }
        store_row(to, box, mean, row, y);
    }
}

/* ---- input gradient ------------------------------------------------------------------ */

void sb_epilogue_gradient(const struct sb_env *env, const struct sb_side *to,
                          const struct sb_box *box, const struct sb_sums *s,
                          const struct sb_act *x, struct sb_act *dx, int add)
{
    const struct sb_kernels *k = env->kernels;
    uint32_t vectors = (uint32_t)sb_box_vectors(box);
    for (uint32_t row = s->row; row < s->row_end; row++)
        for (uint32_t v = 0, n; v < vectors; v += n) {
            size_t at = place(to, box, dx, row, v);
            size_t from = ((size_t)(row - s->row) * vectors + v) * SB_LANES;
            n = at == SIZE_MAX ? 1 : together(to, box, v);
            if (at == SIZE_MAX)
                continue;
            if (s->var)
                k->axpy2(s->mean + from, x->data + at, s->var + from, n);
            if (add)
                k->add(dx->data + at, s->mean + from, n);
            else
                memcpy(dx->data + at, s->mean + from, n * VECTOR_BYTES);
        }
}
