/* dense - drivers of forward and input gradient: cutting, packing, and what follows a
 * product. The weight gradient is in dense_weight.c.
 *
 * Planes are cut as for the sparse products (corr.h): a tile of output pixels, the strip
 * that it sees of some input channels, bands of output rows whose sums stay in the second-level
 * cache until all channels have been added. All rows of a phase have the same places in
 * the strip; they are found once a call and kept in the scratch memory, before the
 * workers' pieces of it.
 */
#include "kernels/dense.h"

#include <assert.h>
#include <stdbool.h>

#include "base/threads.h"
#include "kernels/dense_parts.h"
#include "kernels/kernels.h"
#include "kernels/sparse_parts.h"

enum {
    BAND_ROWS = 256, /* output rows whose sums fit the second-level cache, both streams */
    BAND_STEP = 12,  /* bands are multiples of all register tiles */
    CHUNKS_EACH = 4, /* pieces of work a thread should find */
    MANY_IMAGES = 256, /* tiles of linear layers are as large as they get */
};

/* ---- scratch ------------------------------------------------------------------------- */

/* Floats of a call's scratch: the places, then for each worker a strip, sums of both
 * streams, and noise. */
struct layout {
    size_t places, strip, acc, eps, worker;
};

static struct layout layout_of(const struct sb_corr *r, const struct sb_conv *c)
{
    struct layout l = {
        .places = sb_whole_lines((size_t)r->block_channels * c->kh * c->kw),
        .strip = sb_whole_lines(r->block_channels * r->tile.strip_plane),
        .acc = (size_t)BAND_ROWS * sb_tile_vectors(&r->tile) * r->lanes,
        .eps = (SB_QUAD + 1) * (size_t)sb_tile_vectors(&r->tile) * r->lanes,
    };
    l.worker = l.strip + 2 * l.acc + l.eps;
    return l;
}

static sb_status shape(struct sb_corr *r, const struct sb_conv *c, uint32_t lanes,
                       uint32_t batch, bool backward)
{
    const struct sb_corr_use use = {.lanes = lanes, .max_batch = batch, .gradient = true};
    return backward ? sb_corr_shape_backward(r, c, &use)
                    : sb_corr_shape_forward(r, c, &use);
}

size_t sb_dense_scratch(const struct sb_conv *c)
{
    size_t most = sb_dense_weight_scratch(c);
    for (int form = 0; form < 8; form++) { /* of either width */
        struct sb_corr r;
        if (shape(&r, c, form / 4 ? SB_MAX_LANES : SB_MAX_LANES / 2,
                  form % 2 ? 1 : MANY_IMAGES, form / 2 % 2) != SB_OK)
            continue; /* the product says so */
        struct layout l = layout_of(&r, c);
        size_t bytes = (l.places + l.worker) * sizeof(float);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* ---- the product --------------------------------------------------------------------- */

/* What the rows of a phase share. */
struct phase {
    const float *w1, *w2; /* [rows][channels][taps]; w2 NULL: one stream */
    const uint32_t *off;  /* [channels of a block][taps] floats */
    uint32_t taps;
};

struct product {
    const struct sb_env *env;
    struct sb_corr corr;
    struct phase phase[SB_MAX_PHASES];
    const struct sb_act *in; /* first stream */
    const struct sb_act
        *second;        /* second stream; NULL with w2: the square of the first */
    const float *start; /* [rows] what sums of the first stream begin with, or NULL */
    struct sb_forward forward;   /* of forward; else empty but for the epilogue */
    struct sb_epilogue epilogue; /* of the input gradient: adds dx */
    struct sb_act *y, *slope;    /* y is dx of the input gradient */
    const struct sb_act *x;      /* of the input gradient, with w2 */
    bool gradient, lands;
    int add;
    struct sb_groups groups;
    uint32_t band, bands; /* channels of a band; bands */
    struct layout layout;
    float *scratch;
};

static float *worker_memory(const struct product *p, int worker)
{
    return p->scratch + p->layout.places + (size_t)worker * p->layout.worker;
}

/* A piece of work: the channels of a band over one tile. */
struct piece {
    struct sb_box at;
    uint32_t channel, channel_end;
    size_t weights; /* floats to those of its group */
    float *strip, *acc, *var, *eps;
    const struct sb_epilogue_at *epilogue; /* or NULL */
};

/* The strip times the weights of its channel block, one stream of all phases. */
static void add_stream(const struct product *p, const struct piece *c,
                       const struct sb_window *w, bool second)
{
    const struct sb_corr *r = &p->corr;
    size_t floats = (size_t)sb_tile_vectors(&r->tile) * r->lanes;
    bool last = w->channel_end == r->from.channels;
    for (uint32_t f = 0; f < r->to.phases; f++) {
        const struct phase *h = &p->phase[f];
        struct sb_dense_rows rows = {
            .row = c->channel,
            .rows = c->channel_end - c->channel,
            .weight =
                (second ? h->w2 : h->w1) + c->weights + (size_t)w->channel * h->taps,
            .weight_row = (size_t)r->from.channels * h->taps,
            .off = h->off,
            .cols = (w->channel_end - w->channel) * h->taps,
            .strip = c->strip,
            .groups = r->tile.groups,
            .pitch = r->tile.pitch,
            .acc = (second ? c->var : c->acc) + f * floats,
            .acc_row = r->to.phases * floats,
            .first = w->channel == 0,
            .start = second ? NULL : p->start,
            .epilogue = last ? c->epilogue : NULL,
        };
        p->env->kernels->dense(&rows);
    }
}

static void add_block(const struct product *p, const struct piece *c, uint32_t block)
{
    const struct sb_corr *r = &p->corr;
    struct sb_window w = sb_sparse_window(r, p->in, &c->at, block);
    p->env->kernels->pack(&w, c->strip);
    add_stream(p, c, &w, false);
    if (!p->phase[0].w2)
        return;
    if (p->second) {
        struct sb_window v = sb_sparse_window(r, p->second, &c->at, block);
        p->env->kernels->pack(&v, c->strip);
    } else {
        p->env->kernels->square(c->strip, sb_sparse_strip_vectors(r, &w));
    }
    add_stream(p, c, &w, true);
}

static void finish(const struct product *p, const struct piece *c)
{
    const struct sb_side *to = &p->corr.to;
    struct sb_sums sums = {c->channel * to->phases, c->channel_end * to->phases, c->acc,
                           p->phase[0].w2 ? c->var : NULL};
    if (p->gradient) {
        sb_epilogue_gradient(p->env, to, &c->at, &sums, p->x, p->y, p->add);
        return;
    }
    struct sb_outcome o = {.noise = p->forward.noise,
                           .epilogue = p->forward.epilogue,
                           .y = p->y,
                           .slope = p->slope,
                           .scratch = c->eps};
    sb_epilogue_forward(p->env, to, &c->at, &sums, &o);
}

static void run_piece(const struct product *p, struct piece c)
{
    struct sb_epilogue_at land;
    if (p->lands) {
        land = sb_sparse_epilogue(&p->corr, p->forward.epilogue, p->y, &c.at);
        c.epilogue = &land;
    }
    for (uint32_t block = 0; block < p->corr.blocks; block++)
        add_block(p, &c, block);
    if (!p->lands)
        finish(p, &c);
}

/* A tile that may reach beyond the end of its group. */
static void run_group_end(const struct product *p, const struct piece *c, uint32_t group)
{
    struct product q = *p;
    struct sb_act in, y;
    q.in = sb_group_end(&p->groups, p->in, group, &in);
    q.y = sb_group_end(&p->groups, p->y, group, &y);
    run_piece(&q, *c);
}

static void product_chunk(void *context, size_t chunk, int worker)
{
    const struct product *p = context;
    const struct sb_corr *r = &p->corr;
    float *m = worker_memory(p, worker);
    uint32_t channel = (uint32_t)(chunk % p->bands) * p->band;
    struct piece c = {
        .at = sb_corr_tile(r, (uint32_t)(chunk / p->bands),
                           sb_group_blocks(&p->groups, r->lanes)),
        .channel = channel,
        .channel_end = sb_smaller(channel + p->band, r->to.channels),
        .strip = m,
        .acc = m + p->layout.strip,
        .var = m + p->layout.strip + p->layout.acc,
        .eps = m + p->layout.strip + 2 * p->layout.acc,
    };
    uint32_t group = sb_group_of(&p->groups, c.at.block, r->lanes);
    c.weights = group * p->groups.apart;
    if (p->groups.rows && r->tile.blocks > 1)
        run_group_end(p, &c, group);
    else
        run_piece(p, c);
}

/* Channels of a band: as many as sums fit, and fewer where there are few tiles, so that
 * threads find work. */
static uint32_t band_channels(const struct sb_corr *r, uint32_t tiles, int threads)
{
    uint32_t most = BAND_ROWS / r->to.phases;
    uint32_t want =
        threads > 1 ? sb_divide_up(CHUNKS_EACH * (uint32_t)threads, tiles) : 1;
    uint32_t band = sb_divide_up(r->to.channels, want);
    band = sb_divide_up(band, BAND_STEP) * BAND_STEP;
    return sb_smaller(band, most);
}

static void run(struct product *p)
{
    const struct sb_corr *r = &p->corr;
    uint32_t tiles =
        sb_corr_tiles(r, p->in->blocks, sb_group_blocks(&p->groups, r->lanes));
    p->lands = r->to.phases == 1 && !p->phase[0].w2 &&
               sb_sparse_stores_directly(r, p->forward.epilogue);
    p->band = band_channels(r, tiles, p->env->threads);
    p->bands = sb_divide_up(r->to.channels, p->band);
    sb_threads_run(p->env->threads, (size_t)tiles * p->bands, product_chunk, p);
}

/* ---- forward ------------------------------------------------------------------------- */

sb_status sb_dense_forward(const struct sb_env *env, const struct sb_conv *c,
                           const struct sb_forward *w, const struct sb_act *x,
                           struct sb_act *y, struct sb_act *slope, void *scratch)
{
    struct product p = {.env = env,
                        .in = x,
                        .start = w->bias,
                        .forward = *w,
                        .y = y,
                        .slope = slope,
                        .groups = w->groups,
                        .scratch = scratch};
    sb_status st = sb_check_forward(c, w, x, y, slope);
    if (st == SB_OK)
        st = shape(&p.corr, c, x->lanes, x->batch, false);
    if (st != SB_OK)
        return st;
    p.layout = layout_of(&p.corr, c);
    uint32_t *off = scratch, n = 0;
    for (uint32_t i = 0; i < p.corr.block_channels; i++)
        for (uint32_t t = 0; t < c->kh * c->kw; t++)
            off[n++] =
                (uint32_t)(sb_corr_place_forward(&p.corr, c, i, t / c->kw, t % c->kw) *
                           p.corr.lanes);
    p.phase[0] = (struct phase){w->mu, w->s2, off, c->kh * c->kw};
    run(&p);
    return SB_OK;
}

/* ---- input gradient ------------------------------------------------------------------ */

/* The places of a phase's taps; returns how many. */
static uint32_t place_phase(const struct sb_corr *r, const struct sb_conv *c, uint32_t fy,
                            uint32_t fx, uint32_t *off)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->block_channels; i++)
        for (uint32_t a = fy; a < c->kh; a += c->stride)
            for (uint32_t b = fx; b < c->kw; b += c->stride)
                off[n++] = (uint32_t)(sb_corr_place_backward(r, c, i, a, b) * r->lanes);
    return n;
}

static void plan_phases(struct product *p, const struct sb_conv *c, const float *mu_t,
                        const float *s2_t)
{
    uint32_t *off = (uint32_t *)(void *)p->scratch;
    size_t at = 0;
    for (uint32_t f = 0; f < c->stride * c->stride; f++) {
        uint32_t fy = f / c->stride, fx = f % c->stride;
        uint32_t taps =
            sb_phase_taps(c->kh, c->stride, fy) * sb_phase_taps(c->kw, c->stride, fx);
        p->phase[f] = (struct phase){mu_t + at, s2_t ? s2_t + at : NULL, off, taps};
        off += place_phase(&p->corr, c, fy, fx, off);
        at += (size_t)c->in * c->out * taps;
    }
}

sb_status sb_dense_input_gradient(const struct sb_env *env, const struct sb_conv *c,
                                  const struct sb_backward *b, const float *mu_t,
                                  const float *s2_t, struct sb_act *dx, int add,
                                  void *scratch)
{
    struct product p = {.env = env,
                        .in = b->dy,
                        .second = b->dv,
                        .y = dx,
                        .x = b->x,
                        .gradient = true,
                        .add = add,
                        .groups = b->groups,
                        .scratch = scratch};
    sb_status st = sb_check_input_gradient(c, b, dx);
    if (st == SB_OK)
        st = shape(&p.corr, c, b->dy->lanes, b->dy->batch, true);
    if (st != SB_OK)
        return st;
    p.layout = layout_of(&p.corr, c);
    p.epilogue.add = add ? dx : NULL;
    p.forward.epilogue = &p.epilogue;
    plan_phases(&p, c, mu_t, b->dv ? s2_t : NULL);
    run(&p);
    return SB_OK;
}
