/* dense_transpose - the weights of a layer in the order its input gradient takes them. */
#include <string.h>

#include "base/threads.h"
#include "kernels/dense_parts.h"

enum { SIDE = 16 }; /* channels of a chunk: whole cache lines where there is one tap */

struct transpose {
    const struct sb_conv *c;
    const float *value;
    float *out;
};

/* One phase's taps of some input channels; returns how many weights the phase has. */
static size_t transpose_phase(const struct transpose *t, uint32_t first, uint32_t end,
                              uint32_t phase, float *out)
{
    const struct sb_conv *c = t->c;
    uint32_t fy = phase / c->stride, fx = phase % c->stride;
    size_t n =
        (size_t)sb_phase_taps(c->kh, c->stride, fy) * sb_phase_taps(c->kw, c->stride, fx);
    for (uint32_t o = 0; o < c->out && n > 0; o++)
        for (uint32_t i = first; i < end; i++) {
            const float *from = t->value + ((size_t)o * c->in + i) * c->kh * c->kw;
            float *to = out + ((size_t)i * c->out + o) * n;
            for (uint32_t a = fy; a < c->kh; a += c->stride)
                for (uint32_t b = fx; b < c->kw; b += c->stride)
                    *to++ = from[a * c->kw + b];
        }
    return (size_t)c->in * c->out * n;
}

/* Some input channels of a layer with one tap, by squares of SIDE: rows and columns of a
 * matrix may be a power of two apart, and then all fall into one cache set. */
static void transpose_squares(const struct transpose *t, uint32_t first, uint32_t end)
{
    const struct sb_conv *c = t->c;
    float square[SIDE][SIDE];
    for (uint32_t o = 0; o < c->out; o += SIDE) {
        uint32_t rows = sb_smaller(SIDE, c->out - o);
        for (uint32_t r = o + SIDE; r < sb_smaller(o + 2 * SIDE, c->out); r++)
            __builtin_prefetch(t->value + (size_t)r * c->in + first);
        for (uint32_t r = 0; r < rows; r++)
            for (uint32_t i = first; i < end; i++)
                square[i - first][r] = t->value[(size_t)(o + r) * c->in + i];
        for (uint32_t i = first; i < end; i++)
            memcpy(t->out + (size_t)i * c->out + o, square[i - first],
                   rows * sizeof(float));
    }
}

static void transpose_chunk(void *context, size_t chunk, int worker)
{
    (void)worker;
    const struct transpose *t = context;
    const struct sb_conv *c = t->c;
    uint32_t first = (uint32_t)chunk * SIDE, end = sb_smaller(first + SIDE, c->in);
    float *out = t->out;
    if (c->kh * c->kw == 1) {
        transpose_squares(t, first, end);
        return;
    }
    for (uint32_t f = 0; f < c->stride * c->stride; f++)
        out += transpose_phase(t, first, end, f, out);
}

void sb_dense_transpose(const struct sb_env *env, const struct sb_conv *c,
                        const float *value, float *out)
{
    struct transpose t = {c, value, out};
    sb_threads_run(env->threads, sb_divide_up(c->in, SIDE), transpose_chunk, &t);
}
