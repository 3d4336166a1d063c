/* dense_linear - the weight gradient of linear layers.
 *
 * dmu[out][in] = sum over images of dy[out] x[in]: a product of two matrices whose common side
 * is short, the batch. Folding sums that have an image in each lane would cost as much as
 * the sums, so here lanes are inputs: a chunk turns some of them around, images outermost,
 * and takes all outputs, some at a time. The sums are still those of dense.h.
 */
#include <assert.h>
#include <string.h>

#include "base/threads.h"
#include "kernels/dense_parts.h"

enum {
    MOST_IMAGES = 512, /* beyond, a batch is taken in pieces as planes are */
    CHANNELS = 64,     /* inputs of a chunk: whole groups of vectors of any width */
    OUTS = 96,         /* outputs at a time, of whole register tiles */
    ROW = CHANNELS +
          16, /* floats of an image: 16 of them are no multiple of a cache's way */
};

struct linear {
    const struct sb_env *env;
    const struct sb_conv *c;
    const struct sb_backward *b;
    float *dmu, *ds2;
    float *scratch;
};

/* Floats of a worker's scratch: x turned around, then dy. */
enum { X_FLOATS = ROW * MOST_IMAGES, DY_FLOATS = OUTS * (MOST_IMAGES + 16) };

static bool is_linear(const struct sb_conv *c)
{
    return c->height * c->width * c->kh * c->kw == 1;
}

bool sb_dense_is_linear(const struct sb_conv *c, const struct sb_act *dy)
{
    return is_linear(c) && dy->batch <= MOST_IMAGES;
}

size_t sb_dense_linear_scratch(const struct sb_conv *c)
{
    return is_linear(c) ? (X_FLOATS + DY_FLOATS) * sizeof(float) : 0;
}

/* to[image][ROW], zero behind the last channel */
static void turn_around(const struct sb_act *a, uint32_t channel, uint32_t n, float *to)
{
    if (n < CHANNELS) /* and squared, too */
        memset(to, 0, (size_t)a->batch * ROW * sizeof(float));
    for (uint32_t b = 0; b < a->blocks; b++, to += (size_t)a->lanes * ROW) {
        uint32_t lanes = sb_act_lanes(a, b);
        const float *from = sb_act_plane(a, b, channel);
        for (uint32_t l = 0; l < lanes; l++)
            for (uint32_t i = 0; i < n; i++)
                to[l * ROW + i] = from[i * a->plane + l];
    }
}

/* Floats of an output's row of images: rows are no power of two apart, either. */
static size_t row_floats(const struct sb_act *dy)
{
    return (size_t)dy->blocks * dy->lanes + 16;
}

/* to[channel][image], row_floats apart */
static void put_in_rows(const struct sb_act *a, uint32_t channel, uint32_t n, float *to)
{
    size_t row = row_floats(a);
    for (uint32_t b = 0; b < a->blocks; b++, to += a->lanes)
        for (uint32_t i = 0; i < n; i++)
            memcpy(to + i * row, sb_act_plane(a, b, channel + i),
                   a->lanes * sizeof(float));
}

/* One stream of the inputs [channel, channel + n). */
static void add_stream(const struct linear *g, const struct sb_act *dy, uint32_t channel,
                       uint32_t n, const float *x, float *rows, float *gradient)
{
    const struct sb_conv *c = g->c;
    for (uint32_t out = 0; out < c->out; out += OUTS) {
        struct sb_dense_linear l = {
            .dy = rows,
            .dy_out = row_floats(dy),
            .x = x,
            .x_image = ROW,
            .images = dy->batch,
            .outs = sb_smaller(OUTS, c->out - out),
            .cols = n,
            .out = gradient + (size_t)out * c->in + channel,
            .out_row = c->in,
        };
        put_in_rows(dy, out, l.outs, rows);
        g->env->kernels->linear(&l);
    }
}

static void linear_chunk(void *context, size_t chunk, int worker)
{
    const struct linear *g = context;
    const struct sb_act *x = g->b->x;
    float *turned = g->scratch + (size_t)worker * (X_FLOATS + DY_FLOATS);
    float *rows = turned + X_FLOATS;
    uint32_t channel = (uint32_t)chunk * CHANNELS;
    uint32_t n = sb_smaller(CHANNELS, g->c->in - channel);
    turn_around(x, channel, n, turned);
    add_stream(g, g->b->dy, channel, n, turned, rows, g->dmu);
    if (!g->b->dv)
        return;
    assert(x->lanes > 0);
    g->env->kernels->square(turned, (size_t)x->batch * ROW / x->lanes);
    add_stream(g, g->b->dv, channel, n, turned, rows, g->ds2);
}

void sb_dense_linear_gradient(const struct sb_env *env, const struct sb_conv *c,
                              const struct sb_backward *b, float *dmu, float *ds2,
                              void *scratch)
{
    struct linear g = {env, c, b, dmu, ds2, scratch};
    sb_threads_run(env->threads, sb_divide_up(c->in, CHANNELS), linear_chunk, &g);
}
