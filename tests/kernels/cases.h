/* cases - layers of odd shapes, with everything a product of theirs takes.
 *
 * One table serves the exactness, invariance, and gradient tests. Channel counts divide by
 * nothing, batches straddle blocks of 8 and of 16 images, planes straddle tiles, and patterns have
 * empty rows and columns. Together the rows reach every way corr.h cuts its work: planes,
 * narrow planes and 1 x 1, one and several channel blocks, parts and bands, all phases of
 * strides 2 to 4.
 */
#ifndef SB_TESTS_CASES_H
#define SB_TESTS_CASES_H

#include "check.h"
#include "kernels/act.h"
#include "kernels/conv.h"
#include "kernels/sparse.h"

struct layer_case {
    uint32_t in, out, kh, kw, stride, pad, height, width, batch;
    float density;
    int gaps; /* leave every third row and every fifth column without weights */
};

/* clang-format off */
static const struct layer_case layer_cases[] = {
    /* in out kh kw  s  p   h   w batch density gaps */
    {   1,  1, 1, 1, 1, 0,  1,  1,   1, 1.0f,  0 }, /* linear layers: 1 x 1 planes */
    {   3,  5, 1, 1, 1, 0,  1,  1,   7, 0.5f,  0 },
    {  97, 33, 1, 1, 1, 0,  1,  1,   9, 0.2f,  1 },
    {  97, 97, 1, 1, 1, 0,  1,  1, 130, 0.05f, 1 },
    { 300,  7, 1, 1, 1, 0,  1,  1,  33, 0.1f,  0 },
    {   7, 97, 1, 1, 1, 0,  1,  1,   8, 1.0f,  0 },
    {   5,171, 1, 1, 1, 0,  1,  1,   9, 0.3f,  1 },
    {   5,  7, 1, 1, 1, 0,  1,  5,   2, 0.5f,  0 }, /* kernel 1 x 1 */
    {  33, 33, 1, 1, 2, 0,  5,  7,   9, 0.1f,  1 },
    {   7,  3, 1, 1, 3, 0,  9,  6,   7, 0.7f,  0 },
    {   3,  7, 3, 3, 1, 1,  1,  1,   9, 0.6f,  0 }, /* only the middle tap sees a pixel */
    {   5,  5, 3, 3, 2, 1,  1,  1,   2, 0.5f,  1 },
    {   7,  5, 1, 3, 1, 0,  1,  5,   8, 0.5f,  1 },
    {   3,  3, 2, 2, 1, 0,  2,  2,  33, 1.0f,  0 },
    {  33,  5, 2, 2, 2, 0,  2,  2, 130, 0.1f,  0 },
    {   5, 33, 2, 2, 1, 1,  2,  2,   9, 0.3f,  1 }, /* narrow in, 3 x 3 out */
    {   1,  3, 3, 3, 1, 0,  3,  3,   7, 1.0f,  0 },
    {  97,  3, 3, 3, 1, 1,  2,  2,   7, 0.1f,  1 },
    {   3, 97, 3, 3, 1, 1,  3,  3,   9, 0.1f,  0 },
    {   5,  7, 3, 3, 2, 1,  3,  3,  33, 0.4f,  0 },
    {   7,  7, 3, 3, 1, 1,  4,  4,   8, 0.5f,  0 },
    {  33,  7, 3, 3, 2, 1,  4,  4,   9, 0.1f,  1 },
    {   5,  3, 3, 3, 1, 2,  4,  4,   1, 0.8f,  0 },
    {  33, 33, 3, 3, 1, 1,  5,  7,   9, 0.05f, 1 },
    {   3,  5, 3, 3, 3, 2,  5,  7,   7, 0.9f,  0 },
    {   2,163, 3, 3, 2, 1,  5,  7,   3, 0.1f,  0 }, /* more rows than a dense band */
    {   7, 33, 5, 5, 1, 2,  5,  7,   2, 0.1f,  1 },
    {   5,  5, 5, 5, 3, 1,  5,  7,   8, 0.2f,  0 },
    {   3,  7, 5, 5, 2, 2,  8,  8,   9, 0.1f,  0 },
    {  97, 97, 3, 3, 1, 1,  8,  8,   1, 0.02f, 1 },
    {   7,  5, 7, 7, 1, 2,  8,  8,   7, 0.05f, 0 },
    {   1,  5, 7, 7, 2, 2,  9,  6,   8, 0.3f,  0 },
    {  33,  3, 1, 3, 1, 0,  9,  6,   9, 0.2f,  1 },
    {   5,  7, 1, 3, 2, 0,  9,  6,   2, 0.5f,  0 },
    {   3,  3, 2, 2, 3, 1, 13,  5,   9, 1.0f,  0 }, /* pixels that no tap reaches */
    {   7, 33, 3, 3, 2, 1, 13,  5,   7, 0.2f,  0 },
    {   5,  1, 5, 5, 1, 0, 13,  5,  33, 0.5f,  0 }, /* one column out */
    {   3,  5, 3, 3, 4, 1, 13,  5,   2, 0.6f,  0 },
    {   3, 97, 3, 3, 1, 1, 32,  3,  33, 0.05f, 1 }, /* many tiles: several parts a band */
    {  97,  5, 3, 3, 2, 1, 32,  3,   9, 0.05f, 0 },
    {   5,  3, 3, 3, 3, 0, 32,  3,   2, 1.0f,  0 },
    {   3,  1, 1, 3, 1, 0, 32,  3,   8, 1.0f,  0 },
    {   7,  5, 3, 3, 1, 1, 10, 13,   9, 0.4f,  0 }, /* tiles that touch no side */
    {   3,  5, 3, 3, 1, 1,  2, 70,   2, 0.5f,  0 }, /* a row longer than a dense tile */
    {  33, 17, 3, 3, 1, 1,  8, 12,   9, 0.1f,  1 }, /* whole tiles: sums land in y */
    {  33,  7, 3, 3, 2, 1, 16,  8,   9, 0.1f,  0 },
    {   5, 11, 3, 3, 1, 1,  4,  8,   9, 1.0f,  0 },
    {  35, 10, 1, 1, 2, 0,  8, 16,   9, 1.0f,  0 },
};
/* clang-format on */

enum { LAYER_CASES = sizeof layer_cases / sizeof *layer_cases, MOST_THREADS = 4 };

/* A shape put together from the same numbers: small enough for a slow machine, and with
 * weights enough that not all gradients of one array cancel to nearly nothing. */
static inline struct layer_case layer_random(struct dice *d)
{
    static const uint32_t channels[] = {1, 2, 3, 5, 7, 9, 33}, taps[] = {1, 2, 3, 5, 7};
    static const uint32_t extent[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 17};
    static const uint32_t batch[] = {1, 2, 7, 8, 9, 17, 33};
    static const float density[] = {0.02f, 0.1f, 0.3f, 1.0f};
    for (;;) {
        struct sb_conv c;
        struct layer_case l = {
            .in = channels[dice_below(d, 7)],
            .out = channels[dice_below(d, 7)],
            .kh = taps[dice_below(d, 5)],
            .kw = taps[dice_below(d, 5)],
            .stride = 1 + dice_below(d, SB_MAX_STRIDE),
            .pad = dice_below(d, 4),
            .height = extent[dice_below(d, 11)],
            .width = extent[dice_below(d, 11)],
            .batch = batch[dice_below(d, 7)],
            .density = density[dice_below(d, 4)],
            .gaps = (int)dice_below(d, 2),
        };
        if (sb_conv_init(&c, l.in, l.out, l.kh, l.kw, l.stride, l.pad, l.height,
                         l.width) != SB_OK)
            continue;
        double weights = (double)sb_conv_weights(&c) * (double)l.density;
        double pixels = (double)c.out_height * c.out_width * l.batch;
        if (weights >= 8 && weights * pixels < 3e5)
            return l;
    }
}

struct layer {
    const struct layer_case *shape;
    struct sb_conv conv;
    struct sb_sparse sparse;
    uint32_t *row_ptr, *col; /* [out + 1], [nnz] */
    uint32_t nnz;
    float *mu, *rho, *s2;                /* [nnz] */
    float *mu_t, *s2_t;                  /* [nnz] for the input gradient */
    float *dmu, *ds2;                    /* [nnz] */
    float *bias;                         /* [out] */
    struct sb_act x, dx;                 /* like the input */
    struct sb_act y, slope, eps, dy, dv; /* like the output */
    unsigned char *scratch;              /* for MOST_THREADS */
};

static inline const char *layer_name(const struct layer_case *c)
{
    static char name[96];
    snprintf(name, sizeof name, "%u->%u %ux%u s%u p%u on %ux%u batch %u at %g", c->in,
             c->out, c->kh, c->kw, c->stride, c->pad, c->height, c->width, c->batch,
             (double)c->density);
    return name;
}

static inline bool layer_keeps(const struct layer_case *c, struct dice *d, uint32_t row,
                               uint32_t col)
{
    bool kept = dice_unit(d) < (double)c->density;
    return kept && !(c->gaps && (row % 3 == 1 || col % 5 == 2));
}

/* A pattern of the case's density with at least one weight. */
static inline void layer_pattern(struct layer *l, struct dice *d)
{
    uint32_t cols = sb_conv_cols(&l->conv), weights = sb_conv_weights(&l->conv);
    l->row_ptr = check_alloc((size_t)l->conv.out + 1, sizeof *l->row_ptr);
    l->col = check_alloc(weights, sizeof *l->col);
    for (uint32_t r = 0; r < l->conv.out; r++) {
        for (uint32_t c = 0; c < cols; c++)
            if (layer_keeps(l->shape, d, r, c))
                l->col[l->nnz++] = c;
        if (r == 0 && l->nnz == 0)
            l->col[l->nnz++] = 0;
        l->row_ptr[r + 1] = l->nnz;
    }
}

/* Images as dealt, the same for any number of lanes; padding lanes zero, or some finite
 * number if asked. */
static inline void layer_deal_act(struct sb_act *a, struct dice *d, dice_fn *fn,
                                  bool padded)
{
    struct dice padding = {d->state + 1};
    for (uint32_t n = 0; n < a->blocks * a->lanes; n++)
        for (uint32_t c = 0; c < a->channels; c++) {
            float *image = sb_act_image(a, n, c);
            for (size_t i = 0; i < (size_t)a->height * a->width; i++)
                image[i * a->lanes] = n < a->batch ? fn(d)
                                      : padded     ? 1e3f * dice_mild(&padding)
                                                   : 0.0f;
        }
}

static inline void layer_values(struct layer *l, struct dice *d, dice_fn *fn)
{
    uint32_t n = l->nnz;
    float **array[] = {&l->mu, &l->rho, &l->s2, &l->mu_t, &l->s2_t, &l->dmu, &l->ds2};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++)
        *array[i] = check_floats(n);
    l->bias = check_floats(l->conv.out);
    dice_fill(d, dice_mild, l->bias, l->conv.out);
    dice_fill(d, fn, l->mu, n);
    for (uint32_t k = 0; k < n; k++) {
        l->rho[k] = 1.5f * dice_mild(d) - 1.0f;
        float s = log1pf(expf(l->rho[k]));
        l->s2[k] = s * s;
    }
    sb_sparse_arrange(&l->sparse, l->mu, l->mu_t);
    sb_sparse_arrange(&l->sparse, l->s2, l->s2_t);
}

static inline void layer_init_acts(struct layer *l, uint32_t lanes)
{
    const struct sb_conv *c = &l->conv;
    uint32_t n = l->shape->batch;
    struct sb_act *in[] = {&l->x, &l->dx};
    struct sb_act *out[] = {&l->y, &l->slope, &l->eps, &l->dy, &l->dv};
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        check_must(sb_act_init(in[i], lanes, n, c->in, c->height, c->width), "input");
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        check_must(sb_act_init(out[i], lanes, n, c->out, c->out_height, c->out_width),
                   "output");
}

/* For kernels with so many lanes. fn deals x, mu and dy; eps is ordinary, dv = dy *
 * something of the slope's kind. */
static inline void layer_init(struct layer *l, uint32_t lanes,
                              const struct layer_case *shape, uint64_t seed, dice_fn *fn)
{
    struct dice d = {seed};
    *l = (struct layer){.shape = shape};
    check_must(sb_conv_init(&l->conv, shape->in, shape->out, shape->kh, shape->kw,
                            shape->stride, shape->pad, shape->height, shape->width),
               layer_name(shape));
    layer_pattern(l, &d);
    check_must(sb_sparse_init(&l->sparse, &l->conv, lanes, shape->batch, l->nnz),
               layer_name(shape));
    check_must(sb_sparse_set_pattern(&l->sparse, l->row_ptr, l->col), layer_name(shape));
    layer_values(l, &d, fn);
    layer_init_acts(l, lanes);
    layer_deal_act(&l->x, &d, fn, true);
    layer_deal_act(&l->eps, &d, dice_mild, true);
    layer_deal_act(&l->dy, &d, fn, false);
    layer_deal_act(&l->dv, &d, dice_mild, false);
    l->scratch = check_alloc(MOST_THREADS, sb_sparse_scratch(&l->sparse));
}

static inline void layer_fini(struct layer *l)
{
    void *block[] = {l->row_ptr, l->col, l->mu,  l->rho,  l->s2,     l->mu_t,
                     l->s2_t,    l->dmu, l->ds2, l->bias, l->scratch};
    struct sb_act *act[] = {&l->x, &l->dx, &l->y, &l->slope, &l->eps, &l->dy, &l->dv};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        sb_free(block[i]);
    for (size_t i = 0; i < sizeof act / sizeof *act; i++)
        sb_act_fini(act[i]);
    sb_sparse_fini(&l->sparse);
}

/* The scratch of `threads` threads, ending where the block ends. */
static inline void *layer_scratch(const struct layer *l, int threads)
{
    size_t bytes = sb_sparse_scratch(&l->sparse);
    return l->scratch + (size_t)(MOST_THREADS - threads) * bytes;
}

#endif
