/* dense - see dense.h.
 *
 * A product is described by taps on the side it reads: tap (i, j) of the panel shows, at
 * grid position g, pixel step * g + origin + direction * (i, j). Forward walks the stride
 * and reads taps upwards; the input gradient has one product per phase of the stride, each
 * with the taps that reach that phase, and reads dy downwards.
 */
#include "kernels/dense.h"

#include <assert.h>
#include <cblas.h>
#include <pthread.h>
#include <string.h>

#include "base/threads.h"
#include "kernels/epilogue.h"
#include "kernels/kernels.h"

enum {
    TILE_VECTORS = 64, /* columns of the product, in vectors: 512 floats */
    FLAT_BLOCKS = 16,  /* image blocks of a tile where planes are 1 x 1 */
    PANEL_ROWS = 256,  /* (channel, tap) rows of a panel */
    BAND_ROWS = 160,   /* output rows of a chunk */
};

struct side_taps {
    const struct sb_act *act;
    uint32_t ny, nx; /* taps */
    int32_t step, direction;
    int32_t origin_y, origin_x;
    uint32_t bands; /* see conv.h */
};

struct dense_job {
    const struct sb_env *env;
    struct side_taps from;
    const struct sb_act
        *second;       /* second stream; NULL with w2: the square of the first */
    struct sb_side to; /* phases: 1; origin is this product's */
    uint32_t grid_height, grid_width;
    uint32_t rows, cols; /* of the weights: outputs, channels * taps */
    const float *w1, *w2, *bias;
    const struct sb_noise *noise;
    struct sb_act *y, *slope; /* forward; y is dx of the input gradient */
    const struct sb_act *x;   /* input gradient, with w2 */
    int gradient, add;
    float *dmu, *ds2; /* weight gradient */
    const struct sb_backward *backward;
    void *scratch;
    size_t scratch_floats;
};

struct dense_scratch {
    float *panel, *mean, *var, *eps;
};

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return a / b + (a % b != 0);
}

/* ---- tiles --------------------------------------------------------------------------- */

static struct sb_box tile_size(const struct dense_job *j)
{
    if (j->grid_height * j->grid_width == 1)
        return (struct sb_box){.blocks = FLAT_BLOCKS, .height = 1, .width = 1};
    uint32_t width = smaller(j->grid_width, TILE_VECTORS);
    return (struct sb_box){.blocks = 1, .height = TILE_VECTORS / width, .width = width};
}

static uint32_t tile_count(const struct dense_job *j)
{
    struct sb_box t = tile_size(j);
    return divide_up(j->from.act->blocks, t.blocks) *
           divide_up(j->grid_height, t.height) * divide_up(j->grid_width, t.width);
}

/* Tile t, cut where the grid and the batch end. */
static struct sb_box tile_at(const struct dense_job *j, uint32_t t)
{
    struct sb_box b = tile_size(j);
    uint32_t across = divide_up(j->grid_width, b.width);
    uint32_t down = divide_up(j->grid_height, b.height);
    assert(across > 0 && down > 0);
    b.block = t / (across * down) * b.blocks;
    b.row = t / across % down * b.height;
    b.col = t % across * b.width;
    b.blocks = smaller(b.blocks, j->from.act->blocks - b.block);
    b.height = smaller(b.height, j->grid_height - b.row);
    b.width = smaller(b.width, j->grid_width - b.col);
    return b;
}

/* ---- the panel ----------------------------------------------------------------------- */

/* to[lane] = to[lane + by], 0 from beyond the image. */
static void shift_lanes(float *to, int32_t by, int32_t bands)
{
    float from[SB_LANES];
    memcpy(from, to, sizeof from);
    for (int32_t l = 0; l < SB_LANES; l++)
        to[l] = l + by >= 0 && l + by < bands ? from[l + by] : 0.0f;
}

/* One grid row of one tap: `width` vectors. */
static float *panel_row(const struct side_taps *s, const float *plane, int32_t y,
                        int32_t x, uint32_t width, float *to)
{
    const struct sb_act *a = s->act;
    const size_t bytes = SB_LANES * sizeof(float);
    int32_t height = (int32_t)a->height;
    if (s->bands && (y < 0 || y >= height)) { /* a row of another lane */
        int32_t by = y < 0 ? -((height - 1 - y) / height) : y / height;
        float *end = panel_row(s, plane, y - by * height, x, width, to);
        for (; to < end; to += SB_LANES)
            shift_lanes(to, by, (int32_t)s->bands);
        return end;
    }
    if (y < 0 || y >= height) {
        memset(to, 0, width * bytes);
        return to + (size_t)width * SB_LANES;
    }
    plane += (size_t)y * a->width * SB_LANES;
    for (uint32_t i = 0; i < width; i++, x += s->step, to += SB_LANES)
        if (x < 0 || x >= (int32_t)a->width)
            memset(to, 0, bytes);
        else
            memcpy(to, plane + (size_t)x * SB_LANES, bytes);
    return to;
}

static void fill_panel(const struct side_taps *s, const struct sb_box *b,
                       uint32_t channel, uint32_t channel_end, float *to)
{
    for (uint32_t c = channel; c < channel_end; c++)
        for (uint32_t t = 0; t < s->ny * s->nx; t++) {
            int32_t y0 = s->origin_y + s->direction * (int32_t)(t / s->nx);
            int32_t x0 = s->origin_x + s->direction * (int32_t)(t % s->nx);
            for (uint32_t r = 0; r < b->height; r++)
                for (uint32_t n = 0; n < b->blocks; n++)
                    to = panel_row(s, sb_act_plane(s->act, b->block + n, c),
                                   s->step * (int32_t)(b->row + r) + y0,
                                   s->step * (int32_t)b->col + x0, b->width, to);
        }
}

static uint32_t panel_channels(const struct dense_job *j)
{
    uint32_t taps = j->from.ny * j->from.nx;
    if (taps == 0) /* a phase no tap reaches */
        return PANEL_ROWS;
    return taps < PANEL_ROWS ? PANEL_ROWS / taps : 1;
}

/* ---- forward and input gradient ------------------------------------------------------ */

static struct dense_scratch cut_scratch(const struct dense_job *j, int worker)
{
    float *at = (float *)j->scratch + (size_t)worker * j->scratch_floats;
    size_t columns = (size_t)TILE_VECTORS * SB_LANES;
    struct dense_scratch m = {.mean = at};
    m.var = m.mean + BAND_ROWS * columns;
    m.eps = m.var + BAND_ROWS * columns;
    m.panel = m.eps + SB_QUAD * columns;
    return m;
}

/* sums[rows][n] += weights[rows][channels of the panel] * panel */
static void add_panel(const struct dense_job *j, const float *w, uint32_t row,
                      uint32_t rows, uint32_t channel, uint32_t channel_end,
                      const float *panel, size_t n, float *sums)
{
    size_t taps = (size_t)j->from.ny * j->from.nx;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)n,
                (int)((channel_end - channel) * taps), 1.0f,
                w + (size_t)row * j->cols + channel * taps, (int)j->cols, panel, (int)n,
                1.0f, sums, (int)n);
}

static void start_sums(const struct dense_job *j, uint32_t row, uint32_t row_end,
                       size_t n, const struct dense_scratch *m)
{
    if (j->w2)
        memset(m->var, 0, (row_end - row) * n * sizeof(float));
    for (uint32_t r = row; r < row_end; r++)
        for (size_t i = 0; i < n; i++)
            m->mean[(r - row) * n + i] = j->bias ? j->bias[r] : 0.0f;
}

static void product_chunk(void *context, size_t chunk, int worker)
{
    const struct dense_job *j = context;
    struct dense_scratch m = cut_scratch(j, worker);
    uint32_t bands = divide_up(j->rows, BAND_ROWS), step = panel_channels(j);
    struct sb_box b = tile_at(j, (uint32_t)(chunk / bands));
    size_t n = sb_box_vectors(&b) * SB_LANES;
    uint32_t row = (uint32_t)(chunk % bands) * BAND_ROWS;
    uint32_t row_end = smaller(row + BAND_ROWS, j->rows),
             channels = j->from.act->channels;
    start_sums(j, row, row_end, n, &m);
    for (uint32_t c = 0; c < channels && j->cols > 0; c += step) {
        uint32_t end = smaller(c + step, channels);
        fill_panel(&j->from, &b, c, end, m.panel);
        add_panel(j, j->w1, row, row_end - row, c, end, m.panel, n, m.mean);
        if (!j->w2)
            continue;
        struct side_taps second = j->from;
        second.act = j->second;
        if (j->second)
            fill_panel(&second, &b, c, end, m.panel);
        else
            j->env->kernels->square(m.panel, (size_t)(end - c) * second.ny * second.nx *
                                                 n / SB_LANES);
        add_panel(j, j->w2, row, row_end - row, c, end, m.panel, n, m.var);
    }
    struct sb_sums sums = {row, row_end, m.mean, j->w2 ? m.var : NULL};
    struct sb_outcome o = {
        .noise = j->noise, .y = j->y, .slope = j->slope, .room = m.eps};
    if (j->gradient)
        sb_epilogue_gradient(j->env, &j->to, &b, &sums, j->x, j->y, j->add);
    else
        sb_epilogue_forward(j->env, &j->to, &b, &sums, &o);
}

/* BLAS keeps its number of threads for the whole process. The first of our products to
 * begin borrows it and the last to end gives it back, so that products which several
 * threads run at once do not take it from each other: a product on two BLAS threads may
 * have other bits. The state is shared because what it stands for is. */
static pthread_mutex_t blas_lock = PTHREAD_MUTEX_INITIALIZER;
static int blas_users, blas_threads;

static void borrow_blas(void)
{
    pthread_mutex_lock(&blas_lock);
    if (blas_users++ == 0) {
        blas_threads = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&blas_lock);
}

static void give_back_blas(void)
{
    pthread_mutex_lock(&blas_lock);
    if (--blas_users == 0)
        openblas_set_num_threads(blas_threads);
    pthread_mutex_unlock(&blas_lock);
}

static void run(struct dense_job *j, const struct sb_conv *c, size_t chunks,
                sb_chunk_fn *fn, void *scratch)
{
    j->scratch = scratch;
    j->scratch_floats = sb_dense_scratch(c) / sizeof(float);
    borrow_blas();
    sb_threads_run(j->env->threads, chunks, fn, j);
    give_back_blas();
}

size_t sb_dense_scratch(const struct sb_conv *c)
{
    size_t columns = (size_t)TILE_VECTORS * SB_LANES, taps = (size_t)c->kh * c->kw;
    size_t rows = taps < PANEL_ROWS ? PANEL_ROWS : taps;
    return (2 * BAND_ROWS + SB_QUAD + rows) * columns * sizeof(float);
}

static struct dense_job forward_job(const struct sb_env *env, const struct sb_conv *c,
                                    const struct sb_act *x)
{
    return (struct dense_job){
        .env = env,
        .from = {.act = x,
                 .ny = c->kh,
                 .nx = c->kw,
                 .step = (int32_t)c->stride,
                 .direction = 1,
                 .origin_y = -(int32_t)c->pad,
                 .origin_x = -(int32_t)c->pad,
                 .bands = c->bands},
        .to = {.channels = c->out,
               .height = c->out_height,
               .width = c->out_width,
               .step = 1,
               .phases = 1},
        .grid_height = c->out_height,
        .grid_width = c->out_width,
        .rows = c->out,
        .cols = sb_conv_cols(c),
    };
}

sb_status sb_dense_forward(const struct sb_env *env, const struct sb_conv *c,
                           const struct sb_forward *w, const struct sb_act *x,
                           struct sb_act *y, struct sb_act *slope, void *scratch)
{
    sb_status st = sb_check_forward(c, w, x, y, slope);
    if (st != SB_OK)
        return st;
    struct dense_job j = forward_job(env, c, x);
    j.w1 = w->mu;
    j.w2 = w->s2;
    j.bias = w->bias;
    j.noise = w->noise;
    j.y = y;
    j.slope = slope;
    run(&j, c, (size_t)tile_count(&j) * divide_up(j.rows, BAND_ROWS), product_chunk,
        scratch);
    return SB_OK;
}

/* Taps of a direction that fall on a phase. */
static uint32_t phase_taps(uint32_t taps, uint32_t stride, uint32_t phase)
{
    return phase < taps ? (taps - phase - 1) / stride + 1 : 0;
}

void sb_dense_transpose(const struct sb_conv *c, const float *value, float *out)
{
    for (uint32_t f = 0; f < c->stride * c->stride; f++) {
        uint32_t fy = f / c->stride, fx = f % c->stride;
        for (uint32_t i = 0; i < c->in; i++)
            for (uint32_t o = 0; o < c->out; o++) {
                const float *from = value + ((size_t)o * c->in + i) * c->kh * c->kw;
                for (uint32_t a = fy; a < c->kh; a += c->stride)
                    for (uint32_t b = fx; b < c->kw; b += c->stride)
                        *out++ = from[a * c->kw + b];
            }
    }
}

/* One phase of dx; returns how many weights it took. */
static size_t phase_gradient(const struct sb_env *env, const struct sb_conv *c,
                             const struct sb_backward *b, uint32_t phase,
                             const float *mu_t, const float *s2_t, struct sb_act *dx,
                             int add, void *scratch)
{
    uint32_t fy = phase / c->stride, fx = phase % c->stride;
    uint32_t ny = phase_taps(c->kh, c->stride, fy), nx = phase_taps(c->kw, c->stride, fx);
    uint32_t oy = sb_conv_phase_origin(c->stride, c->pad, fy);
    uint32_t ox = sb_conv_phase_origin(c->stride, c->pad, fx);
    if (oy >= c->height || ox >= c->width)
        return (size_t)c->in * c->out * ny * nx;
    struct dense_job j = {
        .env = env,
        .from = {.act = b->dy,
                 .ny = ny,
                 .nx = nx,
                 .step = 1,
                 .direction = -1,
                 .origin_y = (int32_t)((oy + c->pad) / c->stride),
                 .origin_x = (int32_t)((ox + c->pad) / c->stride)},
        .second = b->dv,
        .to = {.channels = c->in,
               .height = c->height,
               .width = c->width,
               .step = c->stride,
               .phases = 1,
               .origin_y = {(int32_t)oy},
               .origin_x = {(int32_t)ox}},
        .grid_height = divide_up(c->height - oy, c->stride),
        .grid_width = divide_up(c->width - ox, c->stride),
        .rows = c->in,
        .cols = c->out * ny * nx,
        .w1 = mu_t,
        .w2 = b->dv ? s2_t : NULL,
        .y = dx,
        .x = b->x,
        .gradient = 1,
        .add = add,
    };
    run(&j, c, (size_t)tile_count(&j) * divide_up(j.rows, BAND_ROWS), product_chunk,
        scratch);
    return (size_t)c->in * j.cols;
}

sb_status sb_dense_input_gradient(const struct sb_env *env, const struct sb_conv *c,
                                  const struct sb_backward *b, const float *mu_t,
                                  const float *s2_t, struct sb_act *dx, int add,
                                  void *scratch)
{
    sb_status st = sb_check_input_gradient(c, b, dx);
    size_t at = 0;
    for (uint32_t f = 0; f < c->stride * c->stride && st == SB_OK; f++)
        at += phase_gradient(env, c, b, f, mu_t + at, b->dv ? s2_t + at : NULL, dx, add,
                             scratch);
    return st;
}

/* ---- weight gradient ----------------------------------------------------------------- */

/* gradient[rows of the band][channels of the panel] += dy * panel^T over one tile */
static void add_outer(const struct dense_job *j, const struct sb_act *dy,
                      const struct sb_box *b, uint32_t row, uint32_t row_end,
                      uint32_t channel, uint32_t channel_end,
                      const struct dense_scratch *m, float *gradient)
{
    size_t n = sb_box_vectors(b) * SB_LANES, taps = (size_t)j->from.ny * j->from.nx;
    for (uint32_t r = row; r < row_end; r++)
        sb_box_gather(&j->to, b, dy, r, m->mean + (r - row) * n);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)(row_end - row),
                (int)((channel_end - channel) * taps), (int)n, 1.0f, m->mean, (int)n,
                m->panel, (int)n, 1.0f, gradient + (size_t)row * j->cols + channel * taps,
                (int)j->cols);
}

static void weight_chunk(void *context, size_t chunk, int worker)
{
    const struct dense_job *j = context;
    struct dense_scratch m = cut_scratch(j, worker);
    uint32_t bands = divide_up(j->rows, BAND_ROWS), step = panel_channels(j);
    uint32_t row = (uint32_t)(chunk % bands) * BAND_ROWS;
    uint32_t row_end = smaller(row + BAND_ROWS, j->rows);
    uint32_t c = (uint32_t)(chunk / bands) * step,
             end = smaller(c + step, j->from.act->channels);
    size_t taps = (size_t)j->from.ny * j->from.nx;
    for (uint32_t r = row; r < row_end; r++) {
        memset(j->dmu + (size_t)r * j->cols + c * taps, 0,
               (end - c) * taps * sizeof(float));
        if (j->backward->dv)
            memset(j->ds2 + (size_t)r * j->cols + c * taps, 0,
                   (end - c) * taps * sizeof(float));
    }
    uint32_t tiles = tile_count(j);
    for (uint32_t t = 0; t < tiles; t++) {
        struct sb_box b = tile_at(j, t);
        fill_panel(&j->from, &b, c, end, m.panel);
        add_outer(j, j->backward->dy, &b, row, row_end, c, end, &m, j->dmu);
        if (!j->backward->dv)
            continue;
        j->env->kernels->square(m.panel, (end - c) * taps * sb_box_vectors(&b));
        add_outer(j, j->backward->dv, &b, row, row_end, c, end, &m, j->ds2);
    }
}

sb_status sb_dense_weight_gradient(const struct sb_env *env, const struct sb_conv *c,
                                   const struct sb_backward *b, float *dmu, float *ds2,
                                   void *scratch)
{
    sb_status st = sb_check_weight_gradient(c, b);
    if (st != SB_OK)
        return st;
    struct dense_job j = forward_job(env, c, b->x);
    j.backward = b;
    j.dmu = dmu;
    j.ds2 = ds2;
    size_t chunks =
        (size_t)divide_up(c->in, panel_channels(&j)) * divide_up(c->out, BAND_ROWS);
    run(&j, c, chunks, weight_chunk, scratch);
    return SB_OK;
}
