/* test_kernel_dense - the products with all weights: the bits that dense.h defines, the same
 * from every kernel table and number of threads, on layers of odd shapes.
 *
 * The definition is written out here once more, on plain arrays [batch][channel][row][column].
 * Scratch and results begin as NaN; x has arbitrary numbers in its padding lanes, dy and dv
 * have zeros, as act.h promises.
 */
#include "cases.h"
#include "kernels/dense.h"
#include "trial.h"

/* A layer with all weights, and what its products take. */
struct full {
    struct layer l; /* with a pattern that has everything */
    float *mu_t, *s2_t, *dmu, *ds2;
    unsigned char *scratch; /* for MOST_THREADS */
};

/* For kernels with so many lanes. */
static void full_init(struct full *f, uint32_t lanes, const struct layer_case *shape,
                      uint64_t seed, dice_fn *fn)
{
    struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
    layer_init(&f->l, lanes, shape, seed, fn);
    size_t n = f->l.nnz;
    f->mu_t = check_floats(n);
    f->s2_t = check_floats(n);
    f->dmu = check_floats(n);
    f->ds2 = check_floats(n);
    f->scratch = check_alloc(MOST_THREADS, sb_dense_scratch(&f->l.conv));
    sb_dense_transpose(&env, &f->l.conv, f->l.mu, f->mu_t);
    sb_dense_transpose(&env, &f->l.conv, f->l.s2, f->s2_t);
}

static void full_fini(struct full *f)
{
    void *block[] = {f->mu_t, f->s2_t, f->dmu, f->ds2, f->scratch};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        sb_free(block[i]);
    layer_fini(&f->l);
}

static void spoil(void *block, size_t bytes)
{
    memset(block, 0xff, bytes);
}

static void spoil_act(struct sb_act *a)
{
    spoil(a->data, sb_act_size(a) * sizeof(float));
}

/* Ends where the block ends, and holds NaN. */
static void *spoiled_scratch(const struct full *f, int threads)
{
    size_t bytes = sb_dense_scratch(&f->l.conv);
    unsigned char *at = f->scratch + (size_t)(MOST_THREADS - threads) * bytes;
    spoil(at, (size_t)threads * bytes);
    return at;
}

/* ---- the definition ------------------------------------------------------------------ */

struct plain {
    const struct sb_conv *c;
    uint32_t batch;
    float *x, *dy, *y, *dx, *dmu;
};

static void plain_init(struct plain *p, const struct full *f)
{
    const struct sb_conv *c = &f->l.conv;
    uint32_t n = f->l.shape->batch;
    size_t in = (size_t)n * c->in * c->height * c->width;
    size_t out = (size_t)n * c->out * c->out_height * c->out_width;
    *p = (struct plain){c,
                        n,
                        check_floats(in),
                        check_floats(out),
                        check_floats(out),
                        check_floats(in),
                        check_floats(sb_conv_weights(c))};
    sb_act_store(&f->l.x, p->x);
    sb_act_store(&f->l.dy, p->dy);
}

static void plain_fini(struct plain *p)
{
    float *all[] = {p->x, p->dy, p->y, p->dx, p->dmu};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sb_free(all[i]);
}

/* What tap (a, b) of output pixel (i, j) sees of a plane. */
static float seen(const struct sb_conv *c, const float *plane, uint32_t i, uint32_t j,
                  uint32_t a, uint32_t b)
{
    uint32_t row = c->stride * i + a, col = c->stride * j + b; /* of the padded plane */
    if (row < c->pad || row - c->pad >= c->height || col < c->pad ||
        col - c->pad >= c->width)
        return 0.0f;
    return plane[(size_t)(row - c->pad) * c->width + col - c->pad];
}

static float define_output(const struct plain *p, const struct full *f, uint32_t n,
                           uint32_t o, uint32_t i, uint32_t j)
{
    const struct sb_conv *c = p->c;
    const float *w = f->l.mu + (size_t)o * sb_conv_cols(c);
    float sum = f->l.bias[o];
    for (uint32_t k = 0; k < c->in; k++) {
        const float *plane = p->x + ((size_t)n * c->in + k) * c->height * c->width;
        for (uint32_t a = 0; a < c->kh; a++)
            for (uint32_t b = 0; b < c->kw; b++)
                sum = fmaf(*w++, seen(c, plane, i, j, a, b), sum);
    }
    return sum;
}

/* Of input channel k's pixel (h, v). */
static float define_input(const struct plain *p, const struct full *f, uint32_t n,
                          uint32_t k, uint32_t h, uint32_t v)
{
    const struct sb_conv *c = p->c;
    size_t pixels = (size_t)c->out_height * c->out_width;
    float sum = 0.0f;
    for (uint32_t o = 0; o < c->out; o++) {
        const float *plane = p->dy + ((size_t)n * c->out + o) * pixels;
        const float *w = f->l.mu + ((size_t)o * c->in + k) * c->kh * c->kw;
        for (uint32_t a = (h + c->pad) % c->stride; a < c->kh; a += c->stride)
            for (uint32_t b = (v + c->pad) % c->stride; b < c->kw; b += c->stride) {
                bool outside = h + c->pad < a || v + c->pad < b ||
                               (h + c->pad - a) / c->stride >= c->out_height ||
                               (v + c->pad - b) / c->stride >= c->out_width;
                size_t at = outside
                                ? 0
                                : (size_t)(h + c->pad - a) / c->stride * c->out_width +
                                      (v + c->pad - b) / c->stride;
                sum = fmaf(w[a * c->kw + b], outside ? 0.0f : plane[at], sum);
            }
    }
    return sum;
}

static float define_weight(const struct plain *p, uint32_t o, uint32_t k, uint32_t a,
                           uint32_t b)
{
    const struct sb_conv *c = p->c;
    size_t pixels = (size_t)c->out_height * c->out_width;
    float s[16] = {0};
    for (uint32_t n = 0; n < p->batch; n++)
        for (uint32_t i = 0; i < pixels; i++) {
            const float *plane = p->x + ((size_t)n * c->in + k) * c->height * c->width;
            float dy = p->dy[((size_t)n * c->out + o) * pixels + i];
            float x = seen(c, plane, i / c->out_width, i % c->out_width, a, b);
            s[n % 16] = fmaf(dy, x, s[n % 16]);
        }
    for (int j = 0; j < 8; j++)
        s[j] += s[j + 8];
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

static void define(struct plain *p, const struct full *f)
{
    const struct sb_conv *c = p->c;
    float *y = p->y, *dx = p->dx, *dmu = p->dmu;
    for (uint32_t n = 0; n < p->batch; n++) {
        for (uint32_t o = 0; o < c->out; o++)
            for (uint32_t i = 0; i < c->out_height * c->out_width; i++)
                *y++ = define_output(p, f, n, o, i / c->out_width, i % c->out_width);
        for (uint32_t k = 0; k < c->in; k++)
            for (uint32_t i = 0; i < c->height * c->width; i++)
                *dx++ = define_input(p, f, n, k, i / c->width, i % c->width);
    }
    for (uint32_t w = 0; w < sb_conv_weights(c); w++)
        *dmu++ =
            define_weight(p, w / sb_conv_cols(c), w % sb_conv_cols(c) / (c->kh * c->kw),
                          w % (c->kh * c->kw) / c->kw, w % c->kw);
}

static void same_as_defined(const struct sb_act *a, const float *want, const char *op,
                            const char *what)
{
    size_t n = (size_t)a->batch * a->channels * a->height * a->width;
    float *have = check_floats(n);
    sb_act_store(a, have);
    check_same(have, want, n, "dense", op, what);
    sb_free(have);
}

static void meets_definition(struct full *f)
{
    struct layer *l = &f->l;
    struct sb_env env = {.threads = 2};
    struct sb_forward w = {.mu = l->mu, .bias = l->bias};
    struct sb_backward b = {.dy = &l->dy, .x = &l->x};
    struct plain p;
    const char *name = layer_name(l->shape);
    check_must(sb_kernels_choose("auto", &env.kernels), name);
    env.kernels = env.kernels->narrow ? env.kernels->narrow : env.kernels;
    plain_init(&p, f);
    define(&p, f);
    void *scratch = spoiled_scratch(f, 2);
    check_must(sb_dense_forward(&env, &l->conv, &w, &l->x, &l->y, NULL, scratch), name);
    same_as_defined(&l->y, p.y, "forward", name);
    check_must(
        sb_dense_input_gradient(&env, &l->conv, &b, f->mu_t, NULL, &l->dx, 0, scratch),
        name);
    same_as_defined(&l->dx, p.dx, "input gradient", name);
    check_must(sb_dense_weight_gradient(&env, &l->conv, &b, f->dmu, NULL, scratch), name);
    check_same(f->dmu, p.dmu, l->nnz, "dense", "weight gradient", name);
    plain_fini(&p);
}

/* ---- every table and number of threads ----------------------------------------------- */

static void forward(struct trial *t, struct full *f, const struct sb_forward *w)
{
    struct layer *l = &f->l;
    void *scratch = spoiled_scratch(f, t->env.threads);
    struct sb_act *slope = w->s2 ? &l->slope : NULL;
    spoil_act(&l->y);
    spoil_act(&l->slope);
    check_must(sb_dense_forward(&t->env, &l->conv, w, &l->x, &l->y, slope, scratch),
               t->name);
    trial_quiet(t, "dense forward");
    trial_lanes(t, "y", &l->y, false);
    trial_keep_act(t, "y", &l->y);
    if (slope)
        trial_keep_act(t, "slope", slope);
}

/* The same layer on the sparse kernels has the same bits. */
static void same_as_sparse(struct trial *t, struct full *f, const struct sb_forward *w)
{
    struct layer *l = &f->l;
    size_t n = (size_t)l->y.batch * l->y.channels * l->y.height * l->y.width;
    float *want = check_floats(n);
    sb_act_store(&l->y, want);
    check_must(sb_sparse_forward(&t->env, &l->sparse, w, &l->x, &l->y, &l->slope,
                                 layer_scratch(l, t->env.threads)),
               t->name);
    same_as_defined(&l->y, want, "forward on sparse kernels", t->name);
    sb_free(want);
    t->allocations = sb_mem_count();
}

static void forwards(struct trial *t, struct full *f)
{
    struct layer *l = &f->l;
    struct sb_noise noise = {.stream = sb_rng_stream(7, SB_RNG_NOISE, 1, 2, 3),
                             .image = 16};
    struct sb_noise given = {.eps = &l->eps};
    struct sb_epilogue tail = {
        .add = &l->eps, .scale = l->bias, .shift = l->bias, .after = &l->eps, .relu = 1};
    struct sb_forward form[] = {
        {.mu = l->mu},
        {.mu = l->mu, .bias = l->bias},
        {.mu = l->mu, .bias = l->bias, .epilogue = &tail},
        {.mu = l->mu, .s2 = l->s2},
        {.mu = l->mu, .s2 = l->s2, .noise = &given},
        {.mu = l->mu, .s2 = l->s2, .bias = l->bias, .noise = &noise},
    };
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        forward(t, f, &form[i]);
        same_as_sparse(t, f, &form[i]);
    }
}

static void input_gradient(struct trial *t, struct full *f, const struct sb_backward *b,
                           int add)
{
    struct layer *l = &f->l;
    void *scratch = spoiled_scratch(f, t->env.threads);
    struct dice d = {5};
    if (add)
        layer_deal_act(&l->dx, &d, dice_mild, false);
    else
        spoil_act(&l->dx);
    check_must(sb_dense_input_gradient(&t->env, &l->conv, b, f->mu_t, f->s2_t, &l->dx,
                                       add, scratch),
               t->name);
    trial_quiet(t, "dense input gradient");
    trial_lanes(t, "dx", &l->dx, true);
    trial_keep_act(t, "dx", &l->dx);
}

static void weight_gradient(struct trial *t, struct full *f, const struct sb_backward *b)
{
    struct layer *l = &f->l;
    void *scratch = spoiled_scratch(f, t->env.threads);
    spoil(f->dmu, l->nnz * sizeof(float));
    spoil(f->ds2, l->nnz * sizeof(float));
    check_must(sb_dense_weight_gradient(&t->env, &l->conv, b, f->dmu,
                                        b->dv ? f->ds2 : NULL, scratch),
               t->name);
    trial_quiet(t, "dense weight gradient");
    trial_keep_floats(t, "dmu", f->dmu, l->nnz);
    if (b->dv)
        trial_keep_floats(t, "ds2", f->ds2, l->nnz);
}

/* A layer to be dealt anew for every table: their lanes differ. */
struct dealt {
    const struct layer_case *shape;
    uint64_t seed;
};

static void all_products(struct trial *t, void *input)
{
    const struct dealt *from = input;
    struct full full, *f = &full;
    full_init(f, t->env.kernels->lanes, from->shape, from->seed, dice_wild);
    t->allocations = sb_mem_count();
    struct layer *l = &f->l;
    const struct sb_backward mean = {.dy = &l->dy, .x = &l->x},
                             both = {.dy = &l->dy, .dv = &l->dv, .x = &l->x};
    forwards(t, f);
    for (int add = 0; add < 2; add++) {
        input_gradient(t, f, &mean, add);
        input_gradient(t, f, &both, add);
    }
    weight_gradient(t, f, &mean);
    weight_gradient(t, f, &both);
    full_fini(f);
}

static void run_case(const struct layer_case *shape, uint64_t seed)
{
    struct layer_case all = *shape;
    struct full f;
    all.density = 1.0f;
    all.gaps = 0;
    full_init(&f, 8, &all, seed, dice_mild);
    meets_definition(&f);
    full_fini(&f);
    struct dealt dealt = {&all, seed};
    trial_run(all_products, &dealt, layer_name(&all));
}

/* Whole tiles, several channel blocks, pieces of several rows and of several blocks, batches
 * that end within the first and the second half of 16 images. */
static const struct layer_case more_cases[] = {
    {19, 14, 3, 3, 1, 1, 8, 8, 21, 1.0f, 0},  {31, 9, 1, 1, 1, 0, 4, 4, 30, 1.0f, 0},
    {3, 10, 3, 3, 1, 1, 12, 16, 5, 1.0f, 0},  {1, 6, 5, 5, 1, 0, 12, 12, 18, 1.0f, 0},
    {6, 5, 5, 5, 1, 0, 6, 6, 41, 1.0f, 0},    {9, 21, 3, 3, 2, 1, 8, 8, 12, 1.0f, 0},
    {70, 37, 1, 1, 1, 0, 1, 1, 150, 1.0f, 0}, {5, 3, 4, 4, 1, 0, 4, 4, 67, 1.0f, 0},
};

int main(void)
{
    struct dice d = {17};
    for (int i = 0; i < LAYER_CASES; i++) {
        struct layer_case c = layer_cases[i];
        c.in = c.in > 40 ? 40 : c.in; /* a definition that takes its time */
        c.out = c.out > 40 ? 40 : c.out;
        run_case(&c, 1000 + (uint64_t)i);
    }
    for (size_t i = 0; i < sizeof more_cases / sizeof *more_cases; i++)
        run_case(&more_cases[i], i);
    for (uint64_t i = 0; i < 40; i++) {
        struct layer_case shape = layer_random(&d);
        shape.in = shape.in > 9 ? 9 : shape.in;
        run_case(&shape, i);
    }
    return trial_close();
}
