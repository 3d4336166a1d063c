/* kernels/norm and kernels/pool: values against their statement in double, gradients
 * against finite differences of that statement.
 *
 * An objective is sum r . f(x) with random r, so its gradient is what the backward pass
 * gives for dy = r. Differences are taken in double (see naive_slope), and the library's
 * floats are allowed 1e-5 of the largest value. Kinks are avoided: the inputs keep ReLUs
 * and maxima further from changing than the step, which is asserted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../kernels/naive.h"
#include "kernels/kernels.h"
#include "kernels/norm.h"
#include "kernels/pool.h"

#define TOLERANCE 1e-5

static struct sb_env best_env(void)
{
    struct sb_env env = {.threads = 2};
    assert_int_equal(sb_kernels_choose(NULL, &env.kernels), SB_OK);
    return env;
}

static void assert_small(double error, const char *what)
{
    if (!(error <= TOLERANCE))
        fail_msg("%s: relative error %g", what, error);
}

static void init_act(struct sb_act *a, uint32_t n, uint32_t c, uint32_t h, uint32_t w,
                     uint64_t seed, dice_fn *fn)
{
    struct dice d = {seed};
    check_must(sb_act_init(a, best_env().kernels->lanes, n, c, h, w), "act");
    if (fn)
        layer_deal_act(a, &d, fn, false);
}

static double *values_of(const struct sb_act *a)
{
    double *x = naive_doubles((size_t)a->batch * a->channels * a->height * a->width);
    naive_read(a, x);
    return x;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* ---- batch norm ---------------------------------------------------------------------- */

struct norm_naive {
    size_t images, channels, pixels, n;
    bool relu, with_residual;
    double *x, *residual, *r; /* [n] */
    double *gamma, *beta;     /* [channels] */
    double *y;                /* [n] */
    double *mean, *var;       /* [channels] biased */
    double nearest_kink;
};

static double norm_objective(void *context)
{
    struct norm_naive *v = context;
    size_t plane = v->pixels, image = v->channels * plane;
    double count = (double)(v->images * v->pixels);
    memset(v->mean, 0, v->channels * sizeof(double));
    memset(v->var, 0, v->channels * sizeof(double));
    for (size_t i = 0; i < v->n; i++)
        v->mean[i % image / plane] += v->x[i] / count;
    for (size_t i = 0; i < v->n; i++) {
        double d = v->x[i] - v->mean[i % image / plane];
        v->var[i % image / plane] += d * d / count;
    }
    v->nearest_kink = INFINITY;
    for (size_t i = 0; i < v->n; i++) {
        size_t c = i % image / plane;
        double z = (v->x[i] - v->mean[c]) / sqrt(v->var[c] + 1e-5);
        z = z * v->gamma[c] + v->beta[c] + (v->with_residual ? v->residual[i] : 0.0);
        v->nearest_kink = fmin(v->nearest_kink, fabs(z));
        v->y[i] = v->relu && z < 0.0 ? 0.0 : z;
    }
    return dot(v->r, v->y, v->n);
}

struct norm_test {
    struct sb_env env;
    struct sb_norm n;
    float *per_channel; /* [8][channels]: the norm's six, dgamma, dbeta */
    struct sb_act x, residual, dy, y, dx, dresidual;
    struct norm_naive v;
};

static void init_norm_act(struct norm_test *t, uint32_t n, uint32_t c, uint32_t h,
                          uint32_t w)
{
    init_act(&t->x, n, c, h, w, 1, dice_mild);
    init_act(&t->residual, n, c, h, w, 2, dice_mild);
    init_act(&t->dy, n, c, h, w, 3, dice_mild);
    init_act(&t->y, n, c, h, w, 0, NULL);
    init_act(&t->dx, n, c, h, w, 0, NULL);
    init_act(&t->dresidual, n, c, h, w, 0, NULL);
}

static void init_norm(struct norm_test *t, uint32_t n, uint32_t c, uint32_t h, uint32_t w,
                      int form)
{
    struct dice d = {4};
    *t =
        (struct norm_test){.env = best_env(), .per_channel = check_floats(8 * (size_t)c)};
    float *p = t->per_channel;
    t->n = (struct sb_norm){.channels = c,
                            .epsilon = 1e-5f,
                            .momentum = 0.1f,
                            .gamma = p,
                            .beta = p + c,
                            .running_mean = p + 2 * c,
                            .running_var = p + 3 * c,
                            .mean = p + 4 * c,
                            .inv_sd = p + 5 * c};
    init_norm_act(t, n, c, h, w);
    size_t pixels = (size_t)h * w, all = n * c * pixels;
    t->v = (struct norm_naive){.images = n,
                               .channels = c,
                               .pixels = pixels,
                               .n = all,
                               .relu = form & 1,
                               .with_residual = form & 2,
                               .x = values_of(&t->x),
                               .residual = values_of(&t->residual),
                               .r = values_of(&t->dy),
                               .gamma = naive_doubles(c),
                               .beta = naive_doubles(c),
                               .y = naive_doubles(all),
                               .mean = naive_doubles(c),
                               .var = naive_doubles(c)};
    for (uint32_t i = 0; i < c; i++) {
        t->n.gamma[i] = 1.0f + 0.5f * dice_mild(&d);
        t->n.beta[i] = dice_mild(&d);
        t->n.running_mean[i] = dice_mild(&d);
        t->n.running_var[i] = 1.0f + 0.5f * dice_mild(&d);
        t->v.gamma[i] = (double)t->n.gamma[i];
        t->v.beta[i] = (double)t->n.beta[i];
    }
}

static void fini_norm(struct norm_test *t)
{
    struct sb_act *act[] = {&t->x, &t->residual, &t->dy, &t->y, &t->dx, &t->dresidual};
    double *block[] = {t->v.x,    t->v.residual, t->v.r,    t->v.gamma,
                       t->v.beta, t->v.y,        t->v.mean, t->v.var};
    for (size_t i = 0; i < sizeof act / sizeof *act; i++)
        sb_act_fini(act[i]);
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        sb_free(block[i]);
    sb_free(t->per_channel);
}

/* Running averages move by a tenth; the variance they follow is unbiased. */
static void check_norm_forward(struct norm_test *t)
{
    uint32_t c = t->n.channels;
    double count = (double)(t->v.images * t->v.pixels);
    double *mean = naive_doubles(c), *var = naive_doubles(c);
    norm_objective(&t->v);
    for (uint32_t i = 0; i < c; i++) {
        mean[i] = 0.9 * (double)t->n.running_mean[i] + 0.1 * t->v.mean[i];
        var[i] =
            0.9 * (double)t->n.running_var[i] + 0.1 * t->v.var[i] * count / (count - 1.0);
    }
    assert_int_equal(sb_norm_train(&t->env, &t->n, &t->x,
                                   t->v.with_residual ? &t->residual : NULL, &t->y,
                                   t->v.relu ? SB_NORM_RELU : 0),
                     SB_OK);
    assert_small(naive_error_act(&t->y, t->v.y), "norm: y");
    assert_small(naive_error(t->n.running_mean, mean, c), "norm: running mean");
    assert_small(naive_error(t->n.running_var, var, c), "norm: running variance");
    sb_free(mean);
    sb_free(var);
}

static void check_norm_backward(struct norm_test *t)
{
    struct norm_naive *v = &t->v;
    uint32_t c = t->n.channels;
    float *dgamma = t->per_channel + 6 * c, *dbeta = t->per_channel + 7 * c;
    struct sb_norm_backward b = {.dy = &t->dy,
                                 .y = v->relu && v->with_residual ? &t->y : NULL,
                                 .relu = v->relu,
                                 .x = &t->x,
                                 .dx = &t->dx,
                                 .residual = &t->dresidual,
                                 .dgamma = dgamma,
                                 .dbeta = dbeta};
    double *want = naive_doubles(v->n);
    assert_int_equal(sb_norm_backward(&t->env, &t->n, &b), SB_OK);
    for (size_t i = 0; i < v->n; i++) {
        want[i] = naive_slope(norm_objective, v, &v->x[i]);
        assert_true(!v->relu || v->nearest_kink > 1e-5);
    }
    assert_small(naive_error_act(&t->dx, want), "norm: dx");
    for (size_t i = 0; v->with_residual && i < v->n; i++)
        want[i] = naive_slope(norm_objective, v, &v->residual[i]);
    if (v->with_residual)
        assert_small(naive_error_act(&t->dresidual, want), "norm: residual's gradient");
    for (size_t i = 0; i < c; i++)
        want[i] = naive_slope(norm_objective, v, &v->gamma[i]);
    assert_small(naive_error(dgamma, want, c), "norm: dgamma");
    for (size_t i = 0; i < c; i++)
        want[i] = naive_slope(norm_objective, v, &v->beta[i]);
    assert_small(naive_error(dbeta, want, c), "norm: dbeta");
    sb_free(want);
}

static void batch_norm(void **state)
{
    (void)state;
    static const uint32_t shape[][4] = {{3, 2, 1, 1}, {9, 3, 1, 1}, {2, 3, 2, 2},
                                        {9, 2, 3, 1}, {8, 1, 5, 3}, {17, 2, 2, 1}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int form = 0; form < 4; form++) {
            struct norm_test t;
            init_norm(&t, shape[i][0], shape[i][1], shape[i][2], shape[i][3], form);
            check_norm_forward(&t);
            check_norm_backward(&t);
            fini_norm(&t);
        }
}

static void batch_norm_inference_uses_running_averages(void **state)
{
    (void)state;
    struct norm_test t;
    init_norm(&t, 9, 3, 2, 3, 0);
    for (size_t i = 0; i < t.v.n; i++) {
        size_t c = i / t.v.pixels % 3;
        double z = (t.v.x[i] - (double)t.n.running_mean[c]) /
                   sqrt((double)t.n.running_var[c] + 1e-5);
        t.v.y[i] = fmax(z * t.v.gamma[c] + t.v.beta[c] + t.v.residual[i], 0.0);
    }
    assert_int_equal(sb_norm_infer(&t.env, &t.n, &t.x, &t.residual, &t.y, SB_NORM_RELU),
                     SB_OK);
    assert_small(naive_error_act(&t.y, t.v.y), "norm: inference");
    fini_norm(&t);
}

/* The averages are constants: dx = g gamma / sd, behind the ReLU. */
static void batch_norm_inference_gradient(void **state)
{
    (void)state;
    struct norm_test t;
    init_norm(&t, 9, 3, 2, 3, 3);
    double *want = naive_doubles(t.v.n);
    assert_int_equal(sb_norm_infer(&t.env, &t.n, &t.x, &t.residual, &t.y, SB_NORM_RELU),
                     SB_OK);
    for (size_t i = 0; i < t.v.n; i++) {
        size_t c = i / t.v.pixels % 3;
        double scale = t.v.gamma[c] / sqrt((double)t.n.running_var[c] + 1e-5);
        double z = (t.v.x[i] - (double)t.n.running_mean[c]) * scale + t.v.beta[c] +
                   t.v.residual[i];
        want[i] = z > 0.0 ? t.v.r[i] * scale : 0.0;
    }
    struct sb_norm_backward b = {.dy = &t.dy,
                                 .y = &t.y,
                                 .x = &t.x,
                                 .dx = &t.dx,
                                 .inference = 1,
                                 .dgamma = t.per_channel + 18,
                                 .dbeta = t.per_channel + 21};
    assert_int_equal(sb_norm_backward(&t.env, &t.n, &b), SB_OK);
    assert_small(naive_error_act(&t.dx, want), "norm: dx of inference");
    sb_free(want);
    fini_norm(&t);
}

/* One number a channel has no variance: y = beta, no gradient but beta's. */
static void batch_norm_of_one_number(void **state)
{
    (void)state;
    struct norm_test t;
    init_norm(&t, 1, 2, 1, 1, 0);
    float *d = t.per_channel + 12;
    struct sb_norm_backward b = {
        .dy = &t.dy, .x = &t.x, .dx = &t.dx, .dgamma = d, .dbeta = d + 2};
    assert_int_equal(sb_norm_train(&t.env, &t.n, &t.x, NULL, &t.y, 0), SB_OK);
    assert_int_equal(sb_norm_backward(&t.env, &t.n, &b), SB_OK);
    for (uint32_t c = 0; c < 2; c++) {
        float y = sb_act_plane(&t.y, 0, c)[0], dx = sb_act_plane(&t.dx, 0, c)[0];
        float scale = t.n.gamma[c] * t.n.inv_sd[c]; /* 316: what rounding is scaled by */
        assert_true(fabsf(y - t.n.beta[c]) <= 1e-6f * scale);
        assert_true(fabsf(dx) <= 1e-6f * scale);
        assert_true(fabsf(d[c]) <= 1e-5f * scale);
        assert_true(d[2 + c] == sb_act_plane(&t.dy, 0, c)[0]);
    }
    fini_norm(&t);
}

/* A mean of 1000 and a deviation of 1: sums must not cancel, wherever the running mean is. */
static void check_far(float running_mean)
{
    struct norm_test t;
    init_norm(&t, 33, 2, 4, 4, 0);
    for (size_t i = 0; i < t.v.n; i++)
        t.v.x[i] = (double)(float)(t.v.x[i] + 1000.0);
    float *flat = check_floats(t.v.n);
    for (size_t i = 0; i < t.v.n; i++)
        flat[i] = (float)t.v.x[i];
    sb_act_load(&t.x, flat);
    t.n.running_mean[0] = t.n.running_mean[1] = running_mean;
    norm_objective(&t.v);
    assert_int_equal(sb_norm_train(&t.env, &t.n, &t.x, NULL, &t.y, 0), SB_OK);
    /* x itself has 6e-5 between its floats */
    assert_true(naive_error_act(&t.y, t.v.y) < 1e-4);
    for (uint32_t c = 0; c < 2; c++)
        assert_true(fabs((double)t.n.inv_sd[c] * sqrt(t.v.var[c] + 1e-5) - 1.0) < 1e-5);
    sb_free(flat);
    fini_norm(&t);
}

static void batch_norm_far_from_zero(void **state)
{
    (void)state;
    check_far(999.0f);
    check_far(0.0f); /* as in the first steps of a training */
    check_far(990.0f);
}

/* ---- pooling ------------------------------------------------------------------------- */

struct pool_naive {
    size_t planes, height, width, size; /* size 0: the mean of a plane */
    double *x, *r, *y;
};

static double pool_objective(void *context)
{
    struct pool_naive *v = context;
    size_t size = v->size, h = size ? v->height / size : 1,
           w = size ? v->width / size : 1;
    for (size_t i = 0; i < v->planes * h * w; i++)
        v->y[i] = size ? -INFINITY : 0.0;
    for (size_t i = 0; i < v->planes * v->height * v->width; i++) {
        size_t p = i / v->width / v->height, row = i / v->width % v->height;
        size_t col = i % v->width, pixels = v->height * v->width;
        if (!size)
            v->y[p] += v->x[i] / (double)pixels;
        else if (row / size < h && col / size < w) {
            double *y = &v->y[(p * h + row / size) * w + col / size];
            *y = fmax(*y, v->x[i]);
        }
    }
    return dot(v->r, v->y, v->planes * h * w);
}

/* All different, by more than the step of a difference. */
static void spread(struct sb_act *a)
{
    size_t n = (size_t)a->batch * a->channels * a->height * a->width;
    float *flat = check_floats(n);
    for (size_t i = 0; i < n; i++)
        flat[i] = (float)(i * 7919 % n) / (float)n - 0.5f; /* 7919 is prime */
    sb_act_load(a, flat);
    sb_free(flat);
}

static void check_pool(const uint32_t s[4], uint32_t size)
{
    struct sb_env env = best_env();
    struct sb_act x, y, dy, dx;
    uint32_t h = size ? s[2] / size : 1, w = size ? s[3] / size : 1;
    size_t n = (size_t)s[0] * s[1] * s[2] * s[3];
    init_act(&x, s[0], s[1], s[2], s[3], 0, NULL);
    init_act(&dx, s[0], s[1], s[2], s[3], 0, NULL);
    init_act(&y, s[0], s[1], h, w, 0, NULL);
    init_act(&dy, s[0], s[1], h, w, 6, dice_mild);
    spread(&x);
    struct pool_naive v = {(size_t)s[0] * s[1], s[2],           s[3],         size,
                           values_of(&x),       values_of(&dy), values_of(&y)};
    double *want = naive_doubles(n);
    pool_objective(&v);
    assert_int_equal(size ? sb_pool_max(&env, &x, size, &y) : sb_pool_mean(&env, &x, &y),
                     SB_OK);
    assert_small(naive_error_act(&y, v.y), size ? "max pool" : "mean pool");
    assert_int_equal(size ? sb_pool_max_backward(&env, &x, &y, &dy, size, &dx)
                          : sb_pool_mean_backward(&env, &dy, &dx),
                     SB_OK);
    for (size_t i = 0; i < n; i++)
        want[i] = naive_slope(pool_objective, &v, &v.x[i]);
    assert_small(naive_error_act(&dx, want), size ? "max pool: dx" : "mean pool: dx");
    struct sb_act *act[] = {&x, &y, &dy, &dx};
    double *block[] = {v.x, v.r, v.y, want};
    for (int i = 0; i < 4; i++) {
        sb_act_fini(act[i]);
        sb_free(block[i]);
    }
}

static void pooling(void **state)
{
    (void)state;
    static const uint32_t shape[][4] = {
        {1, 1, 1, 1}, {3, 2, 4, 4}, {9, 1, 5, 7}, {2, 3, 9, 6}, {1, 5, 3, 3}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (uint32_t size = 0; size <= 3; size++)
            if (size <= shape[i][2] && size <= shape[i][3])
                check_pool(shape[i], size);
}

/* Of equal maxima the first, row by row, has the gradient. */
static void max_pool_ties(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    struct sb_act x, y, dy, dx;
    const float in[16] = {1, 1, 0, 2, 1, 1, 2, 2, -1, -2, 0, -0.0f, -1, -1, -0.0f, 0};
    const float want[16] = {5, 0, 0, 6, 0, 0, 0, 0, 7, 0, 8, 0, 0, 0, 0, 0};
    const float gradient[4] = {5, 6, 7, 8};
    float have[16];
    init_act(&x, 1, 1, 4, 4, 0, NULL);
    init_act(&dx, 1, 1, 4, 4, 0, NULL);
    init_act(&y, 1, 1, 2, 2, 0, NULL);
    init_act(&dy, 1, 1, 2, 2, 0, NULL);
    sb_act_load(&x, in);
    sb_act_load(&dy, gradient);
    assert_int_equal(sb_pool_max(&env, &x, 2, &y), SB_OK);
    assert_int_equal(sb_pool_max_backward(&env, &x, &y, &dy, 2, &dx), SB_OK);
    sb_act_store(&dx, have);
    for (int i = 0; i < 16; i++)
        assert_true(have[i] == want[i]);
    sb_act_fini(&x);
    sb_act_fini(&y);
    sb_act_fini(&dy);
    sb_act_fini(&dx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_norm),
        cmocka_unit_test(batch_norm_inference_uses_running_averages),
        cmocka_unit_test(batch_norm_inference_gradient),
        cmocka_unit_test(batch_norm_of_one_number),
        cmocka_unit_test(batch_norm_far_from_zero),
        cmocka_unit_test(pooling),
        cmocka_unit_test(max_pool_ties),
    };
    return cmocka_run_group_tests_name("kernels/norm and pool", tests, NULL, NULL);
}
