/* epilogue - see epilogue.h. */
#include "kernels/epilogue.h"

#include <string.h>

#include "kernels/kernels.h"

enum {
    LINE = 16, /* floats of a cache line */
    AHEAD = 4  /* rows that are asked for before they are read */
};

/* Where a row of outputs lies: its channel's plane, and the phase's first pixel. */
struct place {
    size_t plane;  /* floats from the block's start */
    uint32_t y, x; /* of the box's first pixel */
};

static struct place place(const struct sb_side *side, const struct sb_box *box,
                          const struct sb_act *a, uint32_t row)
{
    uint32_t channel = row, phase = 0;
    if (side->phases > 1) {
        channel = row / side->phases;
        phase = row % side->phases;
    }
    return (struct place){
        .plane = channel * a->plane,
        .y = side->step * box->row + (uint32_t)side->origin_y[phase],
        .x = side->step * box->col + (uint32_t)side->origin_x[phase],
    };
}

/* Columns, image blocks and rows of a box that lie inside the plane and the batch. */
struct extent {
    uint32_t height, width, blocks;
};

static uint32_t inside(uint32_t first, uint32_t step, uint32_t n, uint32_t size)
{
    uint32_t fit = first >= size ? 0
                   : step == 1   ? size - first
                                 : (size - first - 1) / step + 1;
    return fit < n ? fit : n;
}

static struct extent extent(const struct sb_side *side, const struct sb_box *box,
                            const struct sb_act *a, const struct place *p)
{
    uint32_t left = a->blocks - box->block;
    return (struct extent){
        .height = inside(p->y, side->step, box->height, side->height),
        .width = inside(p->x, side->step, box->width, side->width),
        .blocks = left < box->blocks ? left : box->blocks,
    };
}

/* Where pixel (i, j) of the box is in image block b of `a`. */
static size_t pixel(const struct sb_side *side, const struct sb_box *box,
                    const struct sb_act *a, const struct place *p, uint32_t i, uint32_t j,
                    uint32_t b)
{
    size_t y = p->y + side->step * i, x = p->x + side->step * j;
    return (box->block + b) * a->block + p->plane + (y * side->width + x) * a->lanes;
}

/* What happens to n vectors side by side: at `at` in the act, `v` in the box. */
typedef void piece_fn(void *context, size_t at, size_t v, size_t n);

/* Calls fn for the box's pieces of one row: whole rows of pixels where they are side by
 * side in memory, else single vectors. */
static inline __attribute__((always_inline)) void
for_pieces(const struct sb_side *side, const struct sb_box *box, const struct sb_act *a,
           uint32_t row, piece_fn *fn, void *context)
{
    struct place p = place(side, box, a, row);
    struct extent e = extent(side, box, a, &p);
    for (uint32_t i = 0; i < e.height; i++) {
        if (box->blocks == 1 && side->step == 1) {
            fn(context, pixel(side, box, a, &p, i, 0, 0), (size_t)i * box->width,
               e.width);
            continue;
        }
        for (uint32_t j = 0; j < e.width; j++)
            for (uint32_t b = 0; b < e.blocks; b++)
                fn(context, pixel(side, box, a, &p, i, j, b),
                   ((size_t)i * box->width + j) * box->blocks + b, 1);
    }
}

/* A tile's row has 4 vectors of 8 or 16: a copy of known size is a few instructions. */
static inline void copy(float *to, const float *from, size_t floats)
{
    if (floats == (size_t)SB_GROUP * 8)
        memcpy(to, from, (size_t)SB_GROUP * 8 * sizeof *to);
    else if (floats == (size_t)SB_GROUP * 16)
        memcpy(to, from, (size_t)SB_GROUP * 16 * sizeof *to);
    else
        memcpy(to, from, floats * sizeof *to);
}

struct transfer {
    float *to;
    const float *from;
    size_t lanes;
};

static inline void store_piece(void *context, size_t at, size_t v, size_t n)
{
    const struct transfer *t = context;
    copy(t->to + at, t->from + v * t->lanes, n * t->lanes);
}

static inline void gather_piece(void *context, size_t at, size_t v, size_t n)
{
    const struct transfer *t = context;
    copy(t->to + v * t->lanes, t->from + at, n * t->lanes);
}

static inline void ask_piece(void *context, size_t at, size_t v, size_t n)
{
    (void)v;
    const struct sb_act *a = context;
    for (size_t i = 0; i < n * a->lanes; i += LINE)
        __builtin_prefetch(a->data + at + i, 1);
}

static void store_row(const struct sb_side *side, const struct sb_box *box,
                      const float *sums, uint32_t row, struct sb_act *to)
{
    struct transfer t = {to->data, sums, to->lanes};
    for_pieces(side, box, to, row, store_piece, &t);
}

void sb_box_gather(const struct sb_side *side, const struct sb_box *box,
                   const struct sb_act *a, uint32_t row, float *out)
{
    struct transfer t = {out, a->data, a->lanes};
    struct place p = place(side, box, a, row);
    struct extent e = extent(side, box, a, &p);
    if (e.height < box->height || e.width < box->width || e.blocks < box->blocks)
        memset(out, 0, sb_box_vectors(box) * a->lanes * sizeof *out);
    for_pieces(side, box, a, row, gather_piece, &t);
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
    _Alignas(64) float z[SB_QUAD * SB_MAX_LANES];
    sb_noise_draw(env->kernels, noise, y, box->block + block, channel, box->row + row, 1,
                  box->col + col, z);
    for (uint32_t word = 0; word < SB_QUAD && word < left; word++) {
        size_t v =
            ((size_t)row * box->width + col + (flat ? 0 : word)) * box->blocks + block;
        size_t to_row = flat ? word : channel % SB_QUAD;
        memcpy(eps + (to_row * vectors + v) * y->lanes, z + word * y->lanes,
               y->lanes * sizeof *z);
    }
}

/* eps[channel % 4][vectors][lanes] for one output channel, drawn; where planes are 1 x 1, for
 * the four channels of a draw at once. */
static void draw_noise(const struct sb_env *env, const struct sb_box *box,
                       const struct sb_noise *noise, const struct sb_act *y,
                       uint32_t channel, int first, float *eps)
{
    uint32_t rows =
        y->height - box->row < box->height ? y->height - box->row : box->height;
    if (box->blocks == 1 && box->width == SB_QUAD) { /* a draw is a row of the box */
        float *to = eps + channel % SB_QUAD * sb_box_vectors(box) * y->lanes;
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

/* mean, one row over the box, takes its epilogue. */
static void add_tail(const struct sb_env *env, const struct sb_side *to,
                     const struct sb_box *box, const struct sb_epilogue *t, uint32_t row,
                     float *mean, float *other)
{
    const struct sb_kernels *k = env->kernels;
    size_t vectors = sb_box_vectors(box);
    if (t->add) {
        sb_box_gather(to, box, t->add, row, other);
        k->add(mean, other, vectors);
    }
    if (t->sum)
        store_row(to, box, mean, row, t->sum);
    if (t->after)
        sb_box_gather(to, box, t->after, row, other);
    if (t->scale)
        k->normalise(mean, t->after ? other : NULL, mean, vectors, t->scale[row],
                     t->shift[row], t->relu);
    else if (t->after)
        k->add(mean, other, vectors);
    if (!t->scale && t->relu)
        k->relu(mean, mean, vectors);
}

struct mixture {
    const struct sb_kernels *k;
    const float *mean, *var, *eps;
    float *y, *slope;
    size_t lanes;
};

static inline void mix_piece(void *context, size_t at, size_t v, size_t n)
{
    const struct mixture *m = context;
    size_t from = v * m->lanes;
    m->k->mix(m->mean + from, m->var + from, m->eps + from, m->y + at, m->slope + at, n);
}

void sb_epilogue_forward(const struct sb_env *env, const struct sb_side *to,
                         const struct sb_box *box, const struct sb_sums *s,
                         const struct sb_outcome *o)
{
    struct sb_act *y = o->y;
    size_t vectors = sb_box_vectors(box), n = vectors * y->lanes;
    const struct sb_noise *noise = o->noise;
    float *eps = o->scratch;
    if (noise) /* vectors that hang over are mixed too: keep them finite */
        memset(eps, 0, SB_QUAD * n * sizeof(float));
    for (uint32_t row = s->row; row < s->row_end; row++) {
        if (row + AHEAD < s->row_end) {
            for_pieces(to, box, y, row + AHEAD, ask_piece, y);
            if (s->var)
                for_pieces(to, box, o->slope, row + AHEAD, ask_piece, o->slope);
        }
        float *mean = s->mean + (row - s->row) * n;
        float *var = s->var ? s->var + (row - s->row) * n : NULL,
              *e = eps + row % SB_QUAD * n;
        if (var && noise) {
            if (noise->eps)
                sb_box_gather(to, box, noise->eps, row, e);
            else
                draw_noise(env, box, noise, y, row, row == s->row, eps);
        }
        if (var && noise && !o->epilogue) {
            struct mixture m = {env->kernels, mean,           var,     e,
                                y->data,      o->slope->data, y->lanes};
            for_pieces(to, box, y, row, mix_piece, &m);
            continue;
        }
        if (var && noise)
            env->kernels->mix(mean, var, e, mean, var, vectors);
        if (var)
            store_row(to, box, var, row, o->slope);
        if (o->epilogue)
            add_tail(env, to, box, o->epilogue, row, mean, eps + SB_QUAD * n);
        store_row(to, box, mean, row, y);
    }
}

/* ---- input gradient ------------------------------------------------------------------ */

struct gradient {
    const struct sb_kernels *k;
    float *mean, *var, *dx;
    const float *x;
    const float *affine; /* that makes a norm of x, or NULL */
    size_t lanes;
    int add;
};

static inline void gradient_piece(void *context, size_t at, size_t v, size_t n)
{
    const struct gradient *g = context;
    size_t from = v * g->lanes;
    g->k->input_gradient(g->dx + at, g->mean + from, g->x ? g->x + at : NULL, g->affine,
                         g->var ? g->var + from : NULL, n, g->add);
}

void sb_epilogue_gradient(const struct sb_env *env, const struct sb_side *to,
                          const struct sb_box *box, const struct sb_sums *s,
                          const struct sb_act *x, struct sb_act *dx, int add)
{
    size_t n = sb_box_vectors(box) * dx->lanes;
    struct gradient g = {.k = env->kernels,
                         .dx = dx->data,
                         .x = s->var ? x->data : NULL,
                         .lanes = dx->lanes,
                         .add = add};
    struct sb_act asked = s->var ? *x : (struct sb_act){0};
    for (uint32_t row = s->row; row < s->row_end; row++) {
        if (s->var && row + AHEAD < s->row_end) /* rows are planes apart in x */
            for_pieces(to, box, x, row + AHEAD, ask_piece, &asked);
        g.mean = s->mean + (row - s->row) * n;
        g.var = s->var ? s->var + (row - s->row) * n : NULL;
        uint32_t channel = row / to->phases;
        float affine[2];
        g.affine = s->var ? sb_act_affine(x, channel, affine) : NULL;
        for_pieces(to, box, dx, row, gradient_piece, &g);
    }
}
