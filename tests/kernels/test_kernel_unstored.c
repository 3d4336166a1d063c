/* test_kernel_unstored - norms that nobody stores: products and max pooling that read a norm
 * through its input, a scale and a shift give the bits they give on its stored result.
 */
#include "cases.h"
#include "kernels/dense.h"
#include "kernels/pool.h"
#include "trial.h"

/* The same values twice: stored, and as data with a scale and a shift. */
struct pair {
    struct sb_act stored, unstored;
    float *affine; /* [2][channels] */
};

static void pair_init(struct pair *p, const struct sb_env *env, const struct sb_act *x)
{
    struct dice d = {77};
    p->affine = check_floats(2 * (size_t)x->channels);
    dice_fill(&d, dice_mild, p->affine, 2 * (size_t)x->channels);
    p->unstored = *x;
    p->unstored.scale = p->affine;
    p->unstored.shift = p->affine + x->channels;
    check_must(
        sb_act_init(&p->stored, x->lanes, x->batch, x->channels, x->height, x->width),
        "act");
    for (uint32_t b = 0; b < x->blocks; b++)
        for (uint32_t c = 0; c < x->channels; c++)
            env->kernels->normalise(sb_act_plane(x, b, c), NULL,
                                    sb_act_plane(&p->stored, b, c),
                                    (size_t)x->height * x->width, p->unstored.scale[c],
                                    p->unstored.shift[c], 1);
}

static void pair_fini(struct pair *p)
{
    sb_act_fini(&p->stored);
    sb_free(p->affine);
}

/* ---- products ------------------------------------------------------------------------ */

struct products {
    struct trial *t;
    struct layer l;
    bool dense;
    float *mu_t, *s2_t; /* in the order of the dense input gradient */
    void *scratch;
};

static void run_forward(struct products *p, const struct sb_act *x, bool both)
{
    struct layer *l = &p->l;
    struct sb_noise noise = {.eps = &l->eps};
    struct sb_forward w = {.mu = l->mu,
                           .s2 = both ? l->s2 : NULL,
                           .bias = l->bias,
                           .noise = both ? &noise : NULL};
    const struct sb_env *env = &p->t->env;
    check_must(p->dense ? sb_dense_forward(env, &l->conv, &w, x, &l->y,
                                           both ? &l->slope : NULL, p->scratch)
                        : sb_sparse_forward(env, &l->sparse, &w, x, &l->y,
                                            both ? &l->slope : NULL, p->scratch),
               p->t->name);
}

static void run_backward(struct products *p, const struct sb_act *x, int add)
{
    struct layer *l = &p->l;
    const struct sb_env *env = &p->t->env;
    const struct sb_backward b = {.dy = &l->dy, .dv = &l->dv, .x = x};
    struct dice d = {11};
    layer_deal_act(&l->dx, &d, dice_mild, false);
    check_must(p->dense ? sb_dense_input_gradient(env, &l->conv, &b, p->mu_t, p->s2_t,
                                                  &l->dx, add, p->scratch)
                        : sb_sparse_input_gradient(env, &l->sparse, &b, l->mu_t, l->s2_t,
                                                   &l->dx, add, p->scratch),
               p->t->name);
    check_must(
        p->dense
            ? sb_dense_weight_gradient(env, &l->conv, &b, l->dmu, l->ds2, p->scratch)
            : sb_sparse_weight_gradient(env, &l->sparse, &b, l->dmu, l->ds2, p->scratch),
        p->t->name);
}

/* What `got` holds now must be what it held when it was kept. */
static void same(struct products *p, const char *what, float *kept, const float *got,
                 size_t n, bool keep)
{
    if (keep)
        memcpy(kept, got, n * sizeof *got);
    else
        check(memcmp(kept, got, n * sizeof *got) == 0,
              "%s, %d threads: %s, %s: %s differs", p->t->env.kernels->name,
              p->t->env.threads, p->t->name, p->dense ? "dense" : "sparse", what);
}

static size_t whole(const struct sb_act *a)
{
    return sb_act_size(a);
}

static void compare(struct products *p, const struct pair *x)
{
    struct layer *l = &p->l;
    size_t y = whole(&l->y), dx = whole(&l->dx), n = l->nnz;
    float *kept = check_floats(2 * y + dx + 2 * n);
    for (int form = 0; form < 2; form++)
        for (int unstored = 0; unstored < 2; unstored++) {
            run_forward(p, unstored ? &x->unstored : &x->stored, form);
            same(p, "y", kept, l->y.data, y, !unstored);
            if (form)
                same(p, "slope", kept + y, l->slope.data, y, !unstored);
        }
    for (int add = 0; add < 2; add++)
        for (int unstored = 0; unstored < 2; unstored++) {
            run_backward(p, unstored ? &x->unstored : &x->stored, add);
            same(p, "dx", kept + 2 * y, l->dx.data, dx, !unstored);
            same(p, "dmu", kept + 2 * y + dx, l->dmu, n, !unstored);
            same(p, "ds2", kept + 2 * y + dx + n, l->ds2, n, !unstored);
        }
    trial_keep_act(p->t, "y", &l->y);
    trial_keep_act(p->t, "dx", &l->dx);
    trial_keep_floats(p->t, "dmu", l->dmu, n);
    sb_free(kept);
}

static void products(struct trial *t, void *input)
{
    const struct layer_case *shape = input;
    struct products p = {.t = t, .dense = shape->density >= 1.0f && !shape->gaps};
    struct pair x;
    layer_init(&p.l, t->env.kernels->lanes, shape, 5, dice_mild);
    if (!sb_conv_has_planes(&p.l.conv)) {
        layer_fini(&p.l);
        return;
    }
    p.mu_t = check_floats(p.l.nnz);
    p.s2_t = check_floats(p.l.nnz);
    size_t bytes = p.dense ? sb_dense_scratch(&p.l.conv) : sb_sparse_scratch(&p.l.sparse);
    p.scratch = check_alloc(MOST_THREADS, bytes);
    if (p.dense) {
        sb_dense_transpose(&t->env, &p.l.conv, p.l.mu, p.mu_t);
        sb_dense_transpose(&t->env, &p.l.conv, p.l.s2, p.s2_t);
    }
    pair_init(&x, &t->env, &p.l.x);
    compare(&p, &x);
    pair_fini(&x);
    sb_free(p.mu_t);
    sb_free(p.s2_t);
    sb_free(p.scratch);
    layer_fini(&p.l);
}

/* A single pixel has nothing to gain, and is refused. */
static void refuse_pixels(void)
{
    const struct layer_case pixel = {3, 5, 1, 1, 1, 0, 1, 1, 7, 0.5f, 0};
    struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
    struct trial t = {.env = env, .name = "a pixel"};
    struct products p = {.t = &t};
    struct pair x;
    layer_init(&p.l, 8, &pixel, 5, dice_mild);
    pair_init(&x, &env, &p.l.x);
    struct sb_forward w = {.mu = p.l.mu};
    check(sb_sparse_forward(&env, &p.l.sparse, &w, &x.unstored, &p.l.y, NULL,
                            layer_scratch(&p.l, 1)) == SB_EARG,
          "a norm of a pixel that was not stored is read as if it were");
    pair_fini(&x);
    layer_fini(&p.l);
}

/* ---- pooling ------------------------------------------------------------------------- */

static void pools(struct trial *t, void *input)
{
    const uint32_t *shape = input; /* batch, channels, height, width, size */
    struct sb_act x, y[2], dy, dx[2];
    struct pair p;
    struct dice d = {9};
    uint32_t lanes = t->env.kernels->lanes, h = shape[2] / shape[4],
             w = shape[3] / shape[4];
    check_must(sb_act_init(&x, lanes, shape[0], shape[1], shape[2], shape[3]), "act");
    check_must(sb_act_init(&dy, lanes, shape[0], shape[1], h, w), "act");
    layer_deal_act(&x, &d, dice_mild, true);
    layer_deal_act(&dy, &d, dice_mild, false);
    pair_init(&p, &t->env, &x);
    for (int i = 0; i < 2; i++) {
        const struct sb_act *from = i ? &p.unstored : &p.stored;
        check_must(sb_act_init(&y[i], lanes, shape[0], shape[1], h, w), "act");
        check_must(sb_act_init(&dx[i], lanes, shape[0], shape[1], shape[2], shape[3]),
                   "act");
        memset(dx[i].data, 0xff, whole(&dx[i]) * sizeof(float));
        check_must(sb_pool_max(&t->env, from, shape[4], &y[i]), t->name);
        check_must(sb_pool_max_backward(&t->env, from, &y[i], &dy, shape[4], &dx[i]),
                   t->name);
        trial_keep_act(t, "pooled", &y[i]);
        trial_keep_act(t, "gradient of a pool", &dx[i]);
        trial_lanes(t, "gradient of a pool", &dx[i], true);
    }
    check(memcmp(y[0].data, y[1].data, whole(&y[0]) * sizeof(float)) == 0,
          "%s, %s: what is pooled differs", t->env.kernels->name, t->name);
    for (int i = 0; i < 2; i++) {
        sb_act_fini(&y[i]);
        sb_act_fini(&dx[i]);
    }
    pair_fini(&p);
    sb_act_fini(&x);
    sb_act_fini(&dy);
}

int main(void)
{
    static uint32_t pool[][5] = {
        {9, 3, 8, 8, 2}, {7, 5, 5, 7, 2}, {17, 2, 24, 24, 2}, {3, 4, 9, 6, 3}};
    for (int i = 0; i < LAYER_CASES; i++) {
        struct layer_case shape = layer_cases[i];
        if (i % 4 == 1) { /* dense products */
            shape.density = 1.0f;
            shape.gaps = 0;
        }
        trial_run(products, &shape, layer_name(&shape));
    }
    for (size_t i = 0; i < sizeof pool / sizeof *pool; i++)
        trial_run(pools, pool[i], "pool");
    refuse_pixels();
    return trial_close();
}
