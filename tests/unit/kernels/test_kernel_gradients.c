/* kernels/sparse and kernels/dense against a statement of their products in double: direct
 * comparison on layers of odd shapes, and finite differences.
 *
 * Tolerance: DESIGN's for a layer, max |a - b| <= 1e-5 max |b|. Sums of a few hundred
 * floats, each rounded to 6e-8, stay well below it; a wrong tap or image does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../kernels/naive.h"
#include "kernels/dense.h"
#include "kernels/kernels.h"
#include "kernels/params.h"

#define LAYER_TOLERANCE 1e-5

static struct sb_env best_env(void)
{
    struct sb_env env = {.threads = 2};
    assert_int_equal(sb_kernels_choose("auto", &env.kernels), SB_OK);
    return env;
}

static void assert_close(double error, const struct layer *l, const char *what)
{
    if (!(error <= LAYER_TOLERANCE))
        fail_msg("%s: %s: relative error %g", layer_name(l->shape), what, error);
}

/* ---- one interface for sparse and dense ---------------------------------------------- */

struct side {
    struct sb_env env;
    struct layer *l;
    struct naive *n;
    bool dense;
    size_t count;                             /* weights */
    float *mu, *s2, *mu_t, *s2_t, *dmu, *ds2; /* [count] owned if dense */
    double *want;                             /* [count] owned */
    void *scratch;                            /* owned if dense */
};

static void init_dense(struct side *s)
{
    const struct sb_conv *c = &s->l->conv;
    float **array[] = {&s->mu, &s->s2, &s->mu_t, &s->s2_t, &s->dmu, &s->ds2};
    s->count = s->n->weights;
    for (size_t i = 0; i < sizeof array / sizeof *array; i++)
        *array[i] = check_floats(s->count);
    for (size_t w = 0; w < s->count; w++) {
        s->mu[w] = (float)s->n->mu[w];
        s->s2[w] = (float)s->n->s2[w];
    }
    sb_dense_transpose(&s->env, c, s->mu, s->mu_t);
    sb_dense_transpose(&s->env, c, s->s2, s->s2_t);
    s->scratch = check_alloc((size_t)s->env.threads, sb_dense_scratch(c));
}

/* n has run forward. */
static struct side side_init(struct layer *l, struct naive *n, bool dense)
{
    struct side s = {.env = best_env(), .l = l, .n = n, .dense = dense};
    if (dense) {
        init_dense(&s);
    } else {
        s.count = l->nnz;
        s.mu = l->mu;
        s.s2 = l->s2;
        s.mu_t = l->mu_t;
        s.s2_t = l->s2_t;
        s.dmu = l->dmu;
        s.ds2 = l->ds2;
        s.scratch = layer_scratch(l, s.env.threads);
    }
    s.want = naive_doubles(s.count);
    return s;
}

static void side_fini(struct side *s)
{
    void *block[] = {s->mu, s->s2, s->mu_t, s->s2_t, s->dmu, s->ds2, s->scratch};
    for (size_t i = 0; s->dense && i < sizeof block / sizeof *block; i++)
        sb_free(block[i]);
    sb_free(s->want);
}

static void forward(struct side *s, bool variance)
{
    struct sb_noise given = {.eps = &s->l->eps};
    struct sb_forward w = {.mu = s->mu,
                           .s2 = variance ? s->s2 : NULL,
                           .bias = s->l->bias,
                           .noise = variance ? &given : NULL};
    struct sb_act *slope = variance ? &s->l->slope : NULL;
    sb_status st = s->dense ? sb_dense_forward(&s->env, &s->l->conv, &w, &s->l->x,
                                               &s->l->y, slope, s->scratch)
                            : sb_sparse_forward(&s->env, &s->l->sparse, &w, &s->l->x,
                                                &s->l->y, slope, s->scratch);
    assert_int_equal(st, SB_OK);
}

static void input_gradient(struct side *s, bool variance, int add)
{
    struct layer *l = s->l;
    struct sb_backward b = {
        .dy = &l->dy, .dv = variance ? &l->dv : NULL, .x = variance ? &l->x : NULL};
    sb_status st = s->dense ? sb_dense_input_gradient(&s->env, &l->conv, &b, s->mu_t,
                                                      s->s2_t, &l->dx, add, s->scratch)
                            : sb_sparse_input_gradient(&s->env, &l->sparse, &b, s->mu_t,
                                                       s->s2_t, &l->dx, add, s->scratch);
    assert_int_equal(st, SB_OK);
}

static void weight_gradient(struct side *s, bool variance)
{
    struct layer *l = s->l;
    struct sb_backward b = {.dy = &l->dy, .dv = variance ? &l->dv : NULL, .x = &l->x};
    sb_status st = s->dense ? sb_dense_weight_gradient(&s->env, &l->conv, &b, s->dmu,
                                                       s->ds2, s->scratch)
                            : sb_sparse_weight_gradient(&s->env, &l->sparse, &b, s->dmu,
                                                        s->ds2, s->scratch);
    assert_int_equal(st, SB_OK);
}

/* s->want = the naive gradient at the weights this side has. */
static const double *at_weights(struct side *s, const double *full)
{
    size_t n = 0;
    for (size_t w = 0; w < s->n->weights; w++)
        if (s->dense || s->n->exists[w])
            s->want[n++] = full[w];
    assert_int_equal(n, s->count);
    return s->want;
}

/* ---- against the naive statement ----------------------------------------------------- */

static void compare_forward(struct side *s)
{
    forward(s, false);
    assert_close(naive_error_act(&s->l->y, s->n->m), s->l, "mean");
    forward(s, true);
    assert_close(naive_error_act(&s->l->y, s->n->y), s->l, "y");
    assert_close(naive_error_act(&s->l->slope, s->n->slope), s->l, "slope");
}

/* dv as a training step makes it; padding lanes of dy are zero, so dv's are. */
static void make_dv(struct side *s)
{
    memcpy(s->l->dv.data, s->l->dy.data, sb_act_size(&s->l->dy) * sizeof(float));
    sb_act_multiply(&s->env, &s->l->dv, &s->l->slope);
}

static void compare_backward(struct side *s, bool variance)
{
    struct layer *l = s->l;
    naive_backward(s->n, variance, s->dense);
    memset(l->dx.data, 0xff, sb_act_size(&l->dx) * sizeof(float));
    memset(s->dmu, 0xff, s->count * sizeof(float));
    memset(s->ds2, 0xff, s->count * sizeof(float));
    input_gradient(s, variance, 0);
    assert_close(naive_error_act(&l->dx, s->n->dx), l, variance ? "dx" : "dx, mean only");
    weight_gradient(s, variance);
    assert_close(naive_error(s->dmu, at_weights(s, s->n->dmu), s->count), l, "dmu");
    if (variance)
        assert_close(naive_error(s->ds2, at_weights(s, s->n->ds2), s->count), l, "ds2");
    for (size_t i = 0; i < s->n->inputs; i++)
        s->n->dx[i] *= 2.0;
    input_gradient(s, variance, 1);
    assert_close(naive_error_act(&l->dx, s->n->dx), l, "dx, added to itself");
}

static void compare_layer(const struct layer_case *shape, uint64_t seed)
{
    struct layer l;
    struct naive n;
    layer_init(&l, best_env().kernels->lanes, shape, seed, dice_mild);
    naive_init(&n, &l);
    naive_forward(&n);
    for (int dense = 0; dense < 2; dense++) {
        struct side s = side_init(&l, &n, dense);
        compare_forward(&s);
        make_dv(&s);
        compare_backward(&s, false);
        compare_backward(&s, true);
        side_fini(&s);
    }
    naive_fini(&n);
    layer_fini(&l);
}

static void products_agree_with_the_naive_statement(void **state)
{
    (void)state;
    for (int i = 0; i < LAYER_CASES; i++)
        compare_layer(&layer_cases[i], 1000 + (uint64_t)i);
}

static void products_agree_on_random_shapes(void **state)
{
    (void)state;
    struct dice d = {31};
    for (uint64_t i = 0; i < 100; i++) {
        struct layer_case shape = layer_random(&d);
        compare_layer(&shape, i);
    }
}

/* ---- finite differences -------------------------------------------------------------- */

/* The objective sum dy . y + FACTOR KL, in double. */
#define FACTOR   0.05
#define PRIOR_SD 0.5

static double objective(void *context)
{
    struct naive *n = context;
    double sum = 0.0;
    naive_forward(n);
    for (size_t i = 0; i < n->outputs; i++)
        sum += n->dy[i] * n->y[i];
    for (size_t w = 0; w < n->weights; w++)
        if (n->exists[w]) {
            double s = log1p(exp(n->rho[w])), m = n->mu[w];
            sum += FACTOR * (log(PRIOR_SD / s) +
                             (s * s + m * m) / (2.0 * PRIOR_SD * PRIOR_SD) - 0.5);
        }
    return sum;
}

/* sqrt(v) bends sharply where v is nearly 0: inputs stay away from it. */
static float away_from_zero(struct dice *d)
{
    float x = 0.25f + 0.75f * (float)dice_unit(d);
    return dice_below(d, 2) ? x : -x;
}

static void difference_inputs(struct side *s)
{
    struct naive *n = s->n;
    for (size_t i = 0; i < n->inputs; i++)
        n->dx[i] = naive_slope(objective, n, &n->x[i]);
    input_gradient(s, true, 0);
    assert_close(naive_error_act(&s->l->dx, n->dx), s->l, "dx by differences");
}

static void difference_weights(struct side *s)
{
    struct naive *n = s->n;
    struct layer *l = s->l;
    for (size_t w = 0; w < n->weights; w++)
        if (n->exists[w]) {
            n->dmu[w] = naive_slope(objective, n, &n->mu[w]);
            n->ds2[w] = naive_slope(objective, n, &n->rho[w]);
        }
    weight_gradient(s, true);
    sb_params_gradient(&s->env, l->mu, l->rho, l->ds2, (float)FACTOR,
                       (struct sb_prior){0.0f, (float)PRIOR_SD}, l->dmu, l->ds2, l->nnz);
    assert_close(naive_error(l->dmu, at_weights(s, n->dmu), l->nnz), l,
                 "dmu by differences");
    assert_close(naive_error(l->ds2, at_weights(s, n->ds2), l->nnz), l,
                 "drho by differences");
}

static void gradients_are_those_of_the_forward_pass(void **state)
{
    (void)state;
    static const struct layer_case shape[] = {
        {5, 7, 1, 1, 1, 0, 1, 1, 3, 0.6f, 0}, {3, 4, 3, 3, 1, 1, 4, 4, 2, 0.4f, 0},
        {3, 3, 3, 3, 2, 1, 5, 4, 2, 0.5f, 0}, {2, 5, 2, 2, 1, 1, 2, 2, 9, 0.7f, 1},
        {2, 2, 5, 5, 3, 2, 7, 5, 1, 0.3f, 0}, {4, 3, 1, 3, 2, 0, 3, 6, 2, 0.8f, 0},
        {3, 2, 1, 1, 3, 0, 5, 4, 2, 1.0f, 0},
    };
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        struct layer l;
        struct naive n;
        layer_init(&l, best_env().kernels->lanes, &shape[i], 40 + i, away_from_zero);
        naive_init(&n, &l);
        naive_forward(&n);
        struct side s = side_init(&l, &n, false);
        forward(&s, true);
        make_dv(&s);
        difference_inputs(&s);
        difference_weights(&s);
        side_fini(&s);
        naive_fini(&n);
        layer_fini(&l);
    }
}

/* ---- dense layers -------------------------------------------------------------------- */

static void run_dense(struct side *s)
{
    memset(s->l->y.data, 0xff, sb_act_size(&s->l->y) * sizeof(float));
    memset(s->l->dx.data, 0xff, sb_act_size(&s->l->dx) * sizeof(float));
    memset(s->dmu, 0xff, s->count * sizeof(float));
    forward(s, true);
    make_dv(s);
    input_gradient(s, true, 0);
    weight_gradient(s, true);
}

/* Copies of y, dx and dmu behind each other. */
static float *dense_results(const struct side *s, size_t *n)
{
    *n = s->n->outputs + s->n->inputs + s->count;
    float *all = check_floats(*n);
    sb_act_store(&s->l->y, all);
    sb_act_store(&s->l->dx, all + s->n->outputs);
    memcpy(all + s->n->outputs + s->n->inputs, s->dmu, s->count * sizeof(float));
    return all;
}

static void dense_does_not_depend_on_threads_nor_allocate(void **state)
{
    (void)state;
    for (int i = 0; i < LAYER_CASES; i += 3) {
        struct layer l;
        struct naive n;
        size_t size = 0;
        float *first = NULL;
        layer_init(&l, best_env().kernels->lanes, &layer_cases[i], 3, dice_mild);
        naive_init(&n, &l);
        naive_forward(&n);
        struct side s = side_init(&l, &n, true);
        sb_free(s.scratch);
        for (s.env.threads = 1; s.env.threads <= 4; s.env.threads++) {
            s.scratch = check_alloc((size_t)s.env.threads, sb_dense_scratch(&l.conv));
            size_t count = sb_mem_count();
            run_dense(&s);
            assert_int_equal(sb_mem_count(), count);
            float *now = dense_results(&s, &size);
            if (first && check_difference(now, first, size) != size)
                fail_msg("%s: %d threads change a bit", layer_name(l.shape),
                         s.env.threads);
            sb_free(first);
            first = now;
            sb_free(s.scratch);
        }
        s.scratch = NULL;
        sb_free(first);
        side_fini(&s);
        naive_fini(&n);
        layer_fini(&l);
    }
}

/* sb_dense_* draw the same noise as sb_sparse_*: means differ by rounding, slopes too, but
 * not by a number of another place. */
static void dense_draws_the_noise_of_sparse(void **state)
{
    (void)state;
    struct sb_noise noise = {.stream = sb_rng_stream(2, SB_RNG_NOISE, 0, 9, 4),
                             .image = 24};
    for (int i = 0; i < LAYER_CASES; i++) {
        struct layer l;
        struct naive n;
        layer_init(&l, best_env().kernels->lanes, &layer_cases[i], 3, dice_mild);
        naive_init(&n, &l);
        naive_forward(&n);
        struct side s = side_init(&l, &n, true);
        struct sb_forward w = {.mu = l.mu, .s2 = l.s2, .noise = &noise};
        assert_int_equal(sb_sparse_forward(&s.env, &l.sparse, &w, &l.x, &l.y, &l.slope,
                                           layer_scratch(&l, s.env.threads)),
                         SB_OK);
        naive_read(&l.y, n.y);
        naive_read(&l.slope, n.slope);
        w.mu = s.mu;
        w.s2 = s.s2;
        assert_int_equal(
            sb_dense_forward(&s.env, &l.conv, &w, &l.x, &l.y, &l.slope, s.scratch),
            SB_OK);
        assert_close(naive_error_act(&l.y, n.y), &l, "y of dense and sparse");
        assert_close(naive_error_act(&l.slope, n.slope), &l, "slope of dense and sparse");
        side_fini(&s);
        naive_fini(&n);
        layer_fini(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree_with_the_naive_statement),
        cmocka_unit_test(products_agree_on_random_shapes),
        cmocka_unit_test(gradients_are_those_of_the_forward_pass),
        cmocka_unit_test(dense_does_not_depend_on_threads_nor_allocate),
        cmocka_unit_test(dense_draws_the_noise_of_sparse),
    };
    return cmocka_run_group_tests_name("kernels/gradients", tests, NULL, NULL);
}
