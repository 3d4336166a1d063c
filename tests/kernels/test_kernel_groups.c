/* test_kernel_groups - weights drawn for groups of rows, and the products on them.
 *
 * What is drawn is compared with sb_rng_normal4 at the element draw.h documents. A product
 * on groups must have the bits of plain ones: an image's outputs and input gradients are
 * those with its group's weights, and the weight gradient is that of each group alone, taken
 * up in order. All of it on every table and number of threads, without allocation; scratch and
 * results begin as NaN.
 */
#include "cases.h"
#include "kernels/dense.h"
#include "kernels/draw.h"
#include "trial.h"

enum { FIRST = 32 }; /* row of the batch's first image: groups are counted from it */

struct grouped {
    struct layer l;
    struct sb_noise noise;
    struct sb_draw draw;
    bool dense;
    float *sigma, *sigma_t, *mu_t;                           /* [nnz] */
    float *eps, *theta, *theta_t;                            /* [groups][apart] */
    float *want_theta, *dmu, *dsigma, *want_mu, *want_sigma; /* [apart] */
    struct sb_act want_y, want_dx;
    void *scratch; /* for MOST_THREADS */
    size_t scratch_bytes;
};

static float **arrays(struct grouped *g, size_t i)
{
    float **all[] = {&g->sigma, &g->sigma_t, &g->mu_t,    &g->want_theta,
                     &g->dmu,   &g->dsigma,  &g->want_mu, &g->want_sigma,
                     &g->eps,   &g->theta,   &g->theta_t};
    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

enum { SINGLE = 8 }; /* arrays of one group */

static void *spoiled(struct grouped *g, int threads)
{
    memset(g->scratch, 0xff, MOST_THREADS * g->scratch_bytes);
    return (char *)g->scratch + (size_t)(MOST_THREADS - threads) * g->scratch_bytes;
}

static void spoil_act(struct sb_act *a)
{
    memset(a->data, 0xff, sb_act_size(a) * sizeof(float));
}

static void transpose(const struct trial *t, const struct grouped *g, const float *from,
                      float *to)
{
    if (g->dense)
        sb_dense_transpose(&t->env, &g->l.conv, from, to);
    else
        sb_sparse_arrange(&g->l.sparse, from, to);
}

static void init(struct trial *t, struct grouped *g, const struct layer_case *shape,
                 uint32_t rows, bool dense)
{
    *g = (struct grouped){.dense = dense};
    layer_init(&g->l, t->env.kernels->lanes, shape, 5, dice_mild);
    struct layer *l = &g->l;
    g->noise = (struct sb_noise){.stream = sb_rng_stream(3, SB_RNG_NOISE, 1, 7, 2),
                                 .image = FIRST};
    g->draw = (struct sb_draw){.noise = &g->noise,
                               .rows = rows,
                               .groups = (shape->batch + rows - 1) / rows,
                               .n = l->nnz,
                               .apart = l->nnz + 3};
    for (size_t i = 0; arrays(g, i); i++)
        *arrays(g, i) = check_floats((i < SINGLE ? 1 : g->draw.groups) * g->draw.apart);
    for (uint32_t k = 0; k < l->nnz; k++)
        g->sigma[k] = sqrtf(l->s2[k]);
    transpose(t, g, g->sigma, g->sigma_t);
    transpose(t, g, l->mu, g->mu_t);
    const struct sb_act *y = &l->y, *dx = &l->dx;
    check_must(
        sb_act_init(&g->want_y, y->lanes, y->batch, y->channels, y->height, y->width),
        t->name);
    check_must(sb_act_init(&g->want_dx, dx->lanes, dx->batch, dx->channels, dx->height,
                           dx->width),
               t->name);
    g->scratch_bytes = dense ? sb_dense_scratch(&l->conv) : sb_sparse_scratch(&l->sparse);
    g->scratch = check_alloc(MOST_THREADS, g->scratch_bytes);
    t->allocations = sb_mem_count();
}

static void fini(struct grouped *g)
{
    for (size_t i = 0; arrays(g, i); i++)
        sb_free(*arrays(g, i));
    sb_act_fini(&g->want_y);
    sb_act_fini(&g->want_dx);
    sb_free(g->scratch);
    layer_fini(&g->l);
}

/* ---- drawing ------------------------------------------------------------------------- */

static float documented(const struct grouped *g, uint32_t group, size_t k)
{
    float z[4];
    uint64_t element = k / 64 * 16 + k % 16;
    sb_rng_normal4(&g->noise.stream,
                   (uint64_t)(FIRST / g->draw.rows + group) << 32 | element, z);
    return z[k % 64 / 16];
}

static void draws(struct trial *t, struct grouped *g)
{
    const struct sb_draw *d = &g->draw;
    const struct layer *l = &g->l;
    bool same = true;
    sb_draw_noise(&t->env, d, g->eps);
    sb_draw_weights(&t->env, d, l->mu, g->sigma, g->theta);
    for (uint32_t i = 0; i < d->groups && g->dense; i++)
        transpose(t, g, g->eps + i * d->apart, g->theta_t + i * d->apart);
    sb_draw_ordered(&t->env, d, g->mu_t, g->sigma_t, g->dense ? g->theta_t : g->eps,
                    g->dense ? NULL : l->sparse.perm, g->theta_t);
    trial_quiet(t, "drawing");
    for (uint32_t i = 0; i < d->groups; i++) {
        const float *eps = g->eps + i * d->apart, *theta = g->theta + i * d->apart;
        for (size_t k = 0; k < d->n; k++)
            same = same && eps[k] == documented(g, i, k) &&
                   theta[k] == l->mu[k] + g->sigma[k] * eps[k];
        transpose(t, g, theta, g->want_theta);
        check_same(g->theta_t + i * d->apart, g->want_theta, d->n, t->env.kernels->name,
                   "drawn weights in order", t->name);
    }
    check(same, "%s: %s: not the noise of its place", t->env.kernels->name, t->name);
}

/* Given noise takes the place of what is drawn. */
static void takes_what_is_given(struct trial *t, struct grouped *g)
{
    struct sb_noise given = {.weights = g->theta_t};
    struct sb_draw d = g->draw;
    d.noise = &given;
    d.apart = d.n; /* as it is given */
    sb_draw_noise(&t->env, &d, g->theta);
    check_same(g->theta, g->theta_t, d.groups * d.n, t->env.kernels->name, "given noise",
               t->name);
}

/* ---- products ------------------------------------------------------------------------ */

static struct sb_groups groups_of(const struct grouped *g)
{
    return (struct sb_groups){g->draw.rows, g->draw.apart, g->eps};
}

static void forward(struct trial *t, struct grouped *g, const float *weights,
                    struct sb_groups by, struct sb_act *y)
{
    struct layer *l = &g->l;
    struct sb_forward w = {.mu = weights, .bias = l->bias, .groups = by};
    void *scratch = spoiled(g, t->env.threads);
    spoil_act(y);
    check_must(g->dense
                   ? sb_dense_forward(&t->env, &l->conv, &w, &l->x, y, NULL, scratch)
                   : sb_sparse_forward(&t->env, &l->sparse, &w, &l->x, y, NULL, scratch),
               t->name);
}

static void input_gradient(struct trial *t, struct grouped *g, const float *weights,
                           struct sb_groups by, struct sb_act *dx, int add)
{
    struct layer *l = &g->l;
    struct sb_backward b = {.dy = &l->dy, .groups = by};
    void *scratch = spoiled(g, t->env.threads);
    struct dice d = {11};
    spoil_act(dx);
    if (add)
        layer_deal_act(dx, &d, dice_mild, false);
    check_must(g->dense ? sb_dense_input_gradient(&t->env, &l->conv, &b, weights, NULL,
                                                  dx, add, scratch)
                        : sb_sparse_input_gradient(&t->env, &l->sparse, &b, weights, NULL,
                                                   dx, add, scratch),
               t->name);
}

static void weight_gradient(struct trial *t, struct grouped *g, const struct sb_act *x,
                            const struct sb_act *dy, struct sb_groups by, float *dmu,
                            float *dsigma)
{
    struct sb_backward b = {.dy = dy, .x = x, .groups = by};
    void *scratch = spoiled(g, t->env.threads);
    check_must(
        g->dense
            ? sb_dense_weight_gradient(&t->env, &g->l.conv, &b, dmu, dsigma, scratch)
            : sb_sparse_weight_gradient(&t->env, &g->l.sparse, &b, dmu, dsigma, scratch),
        t->name);
}

/* The rows of one group, of two acts. */
static void same_rows(const struct trial *t, const struct grouped *g, uint32_t group,
                      const struct sb_act *have, const struct sb_act *want,
                      const char *what)
{
    uint32_t first = group * g->draw.rows, end = first + g->draw.rows;
    bool same = true;
    for (uint32_t n = first; n < end && n < have->batch; n++)
        for (uint32_t c = 0; c < have->channels; c++) {
            const float *a = sb_act_image(have, n, c), *b = sb_act_image(want, n, c);
            for (size_t i = 0; i < (size_t)have->height * have->width; i++)
                same = same && memcmp(&a[i * have->lanes], &b[i * want->lanes], 4) == 0;
        }
    check(same, "%s, %d threads: %s: %s of group %u", t->env.kernels->name,
          t->env.threads, t->name, what, group);
}

static void images_have_their_groups_weights(struct trial *t, struct grouped *g, int add)
{
    struct layer *l = &g->l;
    const struct sb_groups none = {0};
    forward(t, g, g->theta, groups_of(g), &l->y);
    trial_lanes(t, "y", &l->y, false);
    trial_keep_act(t, "y", &l->y);
    input_gradient(t, g, g->theta_t, groups_of(g), &l->dx, add);
    trial_lanes(t, "dx", &l->dx, true);
    trial_keep_act(t, "dx", &l->dx);
    for (uint32_t i = 0; i < g->draw.groups; i++) {
        forward(t, g, g->theta + i * g->draw.apart, none, &g->want_y);
        same_rows(t, g, i, &l->y, &g->want_y, "y");
        input_gradient(t, g, g->theta_t + i * g->draw.apart, none, &g->want_dx, add);
        same_rows(t, g, i, &l->dx, &g->want_dx, "dx");
    }
}

/* A view of one group's rows. */
static struct sb_act only(const struct grouped *g, const struct sb_act *a, uint32_t group)
{
    struct sb_act view = *a;
    uint32_t first = group * g->draw.rows, left = a->batch - first;
    view.data = sb_act_plane(a, first / a->lanes, 0);
    sb_act_set_batch(&view, left < g->draw.rows ? left : g->draw.rows);
    return view;
}

static void groups_add_up(struct trial *t, struct grouped *g)
{
    struct layer *l = &g->l;
    size_t n = l->nnz;
    memset(g->dmu, 0xff, n * sizeof(float));
    memset(g->dsigma, 0xff, n * sizeof(float));
    weight_gradient(t, g, &l->x, &l->dy, groups_of(g), g->dmu, g->dsigma);
    trial_keep_floats(t, "dmu", g->dmu, n);
    trial_keep_floats(t, "dsigma", g->dsigma, n);
    for (uint32_t i = 0; i < g->draw.groups; i++) {
        struct sb_act x = only(g, &l->x, i), dy = only(g, &l->dy, i);
        const float *eps = g->eps + i * g->draw.apart;
        weight_gradient(t, g, &x, &dy, (struct sb_groups){0}, l->dmu, NULL);
        for (size_t k = 0; k < n; k++) {
            float d = l->dmu[k];
            g->want_mu[k] = i == 0 ? d : g->want_mu[k] + d;
            g->want_sigma[k] = i == 0 ? d * eps[k] : g->want_sigma[k] + d * eps[k];
        }
    }
    check_same(g->dmu, g->want_mu, n, t->env.kernels->name, "dmu", t->name);
    check_same(g->dsigma, g->want_sigma, n, t->env.kernels->name, "dsigma", t->name);
}

struct input {
    struct layer_case shape;
    uint32_t rows;
    bool dense;
};

static void run(struct trial *t, void *context)
{
    const struct input *in = context;
    struct grouped g;
    init(t, &g, &in->shape, in->rows, in->dense);
    draws(t, &g);
    images_have_their_groups_weights(t, &g, in->rows == 32);
    groups_add_up(t, &g);
    trial_quiet(t, "products on groups");
    takes_what_is_given(t, &g);
    fini(&g);
}

/* Batches that end within a group, at its end, and within the first. */
static void run_case(const struct layer_case *shape, uint32_t more)
{
    bool full = shape->density == 1.0f && !shape->gaps;
    for (int form = 0; form < (full ? 4 : 2); form++) {
        struct input in = {*shape, form % 2 ? 32 : 16, form / 2};
        in.shape.batch += more;
        trial_run(run, &in, layer_name(&in.shape));
    }
}

int main(void)
{
    static const uint32_t more[] = {0, 24, 40, 7};
    struct dice d = {77};
    for (int i = 0; i < LAYER_CASES; i++)
        run_case(&layer_cases[i], more[i % 4]);
    for (uint32_t i = 0; i < 30; i++) {
        struct layer_case shape = layer_random(&d);
        run_case(&shape, more[i % 4]);
    }
    return trial_close();
}
