/* kernels/loss, kernels/params and sums of kernels/act: values against their statement in
 * double, gradients against finite differences of it (see naive_slope), within 1e-5 of the
 * largest value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../kernels/naive.h"
#include "kernels/kernels.h"
#include "kernels/loss.h"
#include "kernels/params.h"

#define TOLERANCE 1e-5

static struct sb_env best_env(void)
{
    struct sb_env env = {.threads = 2};
    assert_int_equal(sb_kernels_choose("auto", &env.kernels), SB_OK);
    return env;
}

static void assert_small(double error, const char *what)
{
    if (!(error <= TOLERANCE))
        fail_msg("%s: relative error %g", what, error);
}

static void assert_relative(double have, double want, double tolerance)
{
    if (!(fabs(have - want) <= tolerance * fabs(want)))
        fail_msg("%.9g, not %.9g", have, want);
}

/* ---- softmax and cross-entropy ------------------------------------------------------- */

struct loss_naive {
    size_t batch, classes;
    const uint32_t *label;
    double *logit, *p; /* [batch][classes] */
};

static double loss_objective(void *context)
{
    struct loss_naive *v = context;
    double loss = 0.0;
    for (size_t i = 0; i < v->batch; i++) {
        double *z = v->logit + i * v->classes, *p = v->p + i * v->classes;
        double top = -INFINITY, sum = 0.0;
        for (size_t c = 0; c < v->classes; c++)
            top = fmax(top, z[c]);
        for (size_t c = 0; c < v->classes; c++)
            sum += p[c] = exp(z[c] - top);
        for (size_t c = 0; c < v->classes; c++)
            p[c] /= sum;
        loss += top + log(sum) - z[v->label[i]];
    }
    return loss / (double)v->batch;
}

static void check_softmax(uint32_t batch, uint32_t classes, float scale)
{
    struct sb_env env = best_env();
    struct sb_act z, d;
    struct dice dice = {batch + classes};
    double loss = 0.0;
    size_t n = (size_t)batch * classes;
    uint32_t *label = check_alloc(batch, sizeof *label);
    float *flat = check_floats(n);
    check_must(sb_act_init(&z, env.kernels->lanes, batch, classes, 1, 1), "logits");
    check_must(sb_act_init(&d, env.kernels->lanes, batch, classes, 1, 1), "gradient");
    for (size_t i = 0; i < n; i++)
        flat[i] = scale * dice_mild(&dice);
    for (uint32_t i = 0; i < batch; i++)
        label[i] = dice_below(&dice, classes);
    sb_act_load(&z, flat);
    struct loss_naive v = {batch, classes, label, naive_doubles(n), naive_doubles(n)};
    naive_read(&z, v.logit);
    assert_int_equal(sb_loss_softmax(&env, NULL, &z, label, NULL, &loss, &d), SB_OK);
    double *want = naive_doubles(n);
    for (size_t i = 0; i < n; i++)
        want[i] = naive_slope(loss_objective, &v, &v.logit[i]);
    double naive = loss_objective(&v);
    assert_true(fabs(loss - naive) <= 1e-6 * (1.0 + naive));
    assert_small(naive_error_act(&z, v.p), "probabilities");
    /* one class: p = 1 and no gradient; 1e-9 is the difference's own rounding */
    for (size_t i = 0; classes == 1 && i < n; i++)
        want[i] = fabs(want[i]) < 1e-9 ? 0.0 : want[i];
    assert_small(naive_error_act(&d, want), "gradient of the logits");
    sb_act_fini(&z);
    sb_act_fini(&d);
    void *block[] = {label, flat, v.logit, v.p, want};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        sb_free(block[i]);
}

static void softmax(void **state)
{
    (void)state;
    static const uint32_t batch[] = {1, 2, 7, 8, 9, 33}, classes[] = {1, 2, 3, 10, 97};
    for (size_t i = 0; i < sizeof batch / sizeof *batch; i++)
        for (size_t j = 0; j < sizeof classes / sizeof *classes; j++)
            check_softmax(batch[i], classes[j], j % 2 ? 1.0f : 20.0f);
}

/* Logits far apart: no overflow, and the loss is their distance. */
static void softmax_of_large_logits(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    struct sb_act z;
    const float logits[3][2] = {{1000.0f, 0.0f}, {-30000.0f, 30000.0f}, {1e30f, -1e30f}};
    const uint32_t label[3] = {0, 0, 0};
    double loss = 0.0;
    check_must(sb_act_init(&z, env.kernels->lanes, 3, 2, 1, 1), "logits");
    sb_act_load(&z, logits[0]);
    assert_int_equal(sb_loss_softmax(&env, NULL, &z, label, NULL, &loss, NULL), SB_OK);
    assert_relative(loss, 60000.0 / 3.0, 1e-6);
    assert_true(sb_act_plane(&z, 0, 0)[0] == 1.0f && sb_act_plane(&z, 0, 1)[1] == 1.0f);
    assert_true(sb_act_plane(&z, 0, 1)[0] >= 0.0f && sb_act_plane(&z, 0, 1)[0] < 1e-37f);
    sb_act_fini(&z);
}

/* ---- posterior ----------------------------------------------------------------------- */

enum { PARAMS = 5001 };

struct posterior {
    float *mu, *rho, *ds2, *dmu, *drho; /* [PARAMS] */
    double *want_mu, *want_rho;         /* [PARAMS] */
};

/* rho from -20 (sigma 2e-9) to 25, where softplus is the identity. */
static struct posterior posterior_init(void)
{
    struct posterior p;
    struct dice d = {12};
    float **array[] = {&p.mu, &p.rho, &p.ds2, &p.dmu, &p.drho};
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
        *array[i] = check_floats(PARAMS);
        dice_fill(&d, dice_mild, *array[i], PARAMS);
    }
    for (size_t i = 0; i < PARAMS; i++)
        p.rho[i] = i % 10 ? 2.0f * p.rho[i] - 2.0f : 22.5f * p.rho[i] + 2.5f;
    p.want_mu = naive_doubles(PARAMS);
    p.want_rho = naive_doubles(PARAMS);
    return p;
}

static void posterior_fini(struct posterior *p)
{
    void *block[] = {p->mu, p->rho, p->ds2, p->dmu, p->drho, p->want_mu, p->want_rho};
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        sb_free(block[i]);
}

static double softplus(double x)
{
    return x > 30.0 ? x : log1p(exp(x));
}

static void variance_is_softplus_squared(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    struct posterior p = posterior_init();
    sb_params_variance(&env, p.rho, p.drho, PARAMS);
    for (size_t i = 0; i < PARAMS; i++) { /* each by itself: they span 18 decades */
        double s = softplus((double)p.rho[i]);
        assert_relative((double)p.drho[i], s * s, 2e-6);
    }
    posterior_fini(&p);
}

/* log(prior / s) + (s^2 + mu^2) / (2 prior^2) - 1/2 */
struct kl_naive {
    double mu, rho, prior;
};

static struct sb_prior at_zero(float sd)
{
    return (struct sb_prior){0.0f, sd};
}

static double kl_objective(void *context)
{
    const struct kl_naive *v = context;
    double s = softplus(v->rho);
    return log(v->prior / s) + (s * s + v->mu * v->mu) / (2.0 * v->prior * v->prior) -
           0.5;
}

static void kl_is_that_of_the_normals(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    struct posterior p = posterior_init();
    const float prior[] = {1.0f, 0.1f, 2.5f};
    for (int i = 0; i < 3; i++) {
        double want = 0.0;
        for (size_t k = 0; k < PARAMS; k++) {
            struct kl_naive v = {(double)p.mu[k], (double)p.rho[k], (double)prior[i]};
            want += kl_objective(&v);
        }
        assert_relative(sb_params_kl(&env, p.mu, p.rho, at_zero(prior[i]), PARAMS), want,
                        1e-6);
    }
    assert_true(sb_params_kl(&env, p.mu, p.rho, at_zero(1.0f), 0) == 0.0);
    /* sigma = prior_sd and mu = 0: the posterior is the prior */
    float zero[16] = {0}, rho[16];
    for (int i = 0; i < 16; i++)
        rho[i] = (float)log(exp(0.7) - 1.0);
    assert_true(fabs(sb_params_kl(&env, zero, rho, at_zero(0.7f), 16)) < 16 * 1e-6);
    /* a prior mean only moves mu */
    float *moved = malloc(PARAMS * sizeof *moved);
    assert_non_null(moved);
    for (size_t k = 0; k < PARAMS; k++)
        moved[k] = p.mu[k] + 1.0f;
    assert_relative(
        sb_params_kl(&env, moved, p.rho, (struct sb_prior){1.0f, 0.5f}, PARAMS),
        sb_params_kl(&env, p.mu, p.rho, at_zero(0.5f), PARAMS), 1e-5);
    free(moved);
    posterior_fini(&p);
}

/* dmu and drho of factor KL + sum ds2 s^2: differences of the KL, and of s^2. */
static double square_objective(void *context)
{
    const struct kl_naive *v = context;
    return softplus(v->rho) * softplus(v->rho);
}

static void posterior_gradient(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    struct posterior p = posterior_init();
    const float factor = 0.02f, prior = 0.5f;
    for (size_t i = 0; i < PARAMS; i++) {
        p.rho[i] = fmodf(p.rho[i], 4.0f); /* all gradients of one size */
        struct kl_naive v = {(double)p.mu[i], (double)p.rho[i], (double)prior};
        p.want_mu[i] =
            (double)p.dmu[i] + (double)factor * naive_slope(kl_objective, &v, &v.mu);
        p.want_rho[i] = (double)factor * naive_slope(kl_objective, &v, &v.rho) +
                        (double)p.ds2[i] * naive_slope(square_objective, &v, &v.rho);
    }
    sb_params_gradient(&env, p.mu, p.rho, p.ds2, factor, at_zero(prior), p.dmu, p.drho,
                       PARAMS);
    assert_small(naive_error(p.dmu, p.want_mu, PARAMS), "dmu");
    assert_small(naive_error(p.drho, p.want_rho, PARAMS), "drho");
    /* sigma tiny: d(-log s)/drho = -1; sigma = rho: d(s^2)/drho = 2 rho */
    float mu = 0.0f, rho = -18.0f, ds2 = 0.0f, dmu = 0.0f, drho = 0.0f;
    sb_params_gradient(&env, &mu, &rho, &ds2, 1.0f, at_zero(1.0f), &dmu, &drho, 1);
    assert_relative((double)drho, -1.0, 1e-6);
    rho = 24.0f;
    ds2 = -1.0f;
    sb_params_gradient(&env, &mu, &rho, &ds2, 0.0f, at_zero(1.0f), &dmu, &drho, 1);
    assert_relative((double)drho, -48.0, 1e-6);
    posterior_fini(&p);
}

/* ---- optimiser ----------------------------------------------------------------------- */

static void naive_sgd(const struct sb_sgd *o, double *w, const double *g, double *m)
{
    for (size_t i = 0; i < PARAMS; i++) {
        double d = g[i] + (double)o->decay * w[i];
        m[i] = (double)o->momentum * m[i] + d;
        w[i] -= (double)o->rate * (o->nesterov ? d + (double)o->momentum * m[i] : m[i]);
    }
}

static void sgd_steps(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    for (int form = 0; form < 8; form++) {
        struct sb_sgd o = {0.1f, form & 2 ? 0.9f : 0.0f, form & 4 ? 5e-2f : 0.0f,
                           form & 1};
        struct posterior p = posterior_init();
        double *g = naive_doubles(PARAMS);
        for (size_t i = 0; i < PARAMS; i++) {
            p.want_mu[i] = (double)p.mu[i];
            p.want_rho[i] = (double)p.dmu[i]; /* the momentum */
        }
        struct dice d = {7};
        for (int step = 0; step < 5; step++) {
            dice_fill(&d, dice_mild, p.ds2, PARAMS);
            for (size_t i = 0; i < PARAMS; i++)
                g[i] = (double)p.ds2[i];
            naive_sgd(&o, p.want_mu, g, p.want_rho);
            sb_params_sgd(&env, &o, p.mu, p.ds2, p.dmu, PARAMS);
        }
        assert_small(naive_error(p.mu, p.want_mu, PARAMS), "weights");
        assert_small(naive_error(p.dmu, p.want_rho, PARAMS), "momenta");
        sb_free(g);
        posterior_fini(&p);
    }
}

/* ---- sums over channels: a bias' gradient -------------------------------------------- */

static void channel_sums(void **state)
{
    (void)state;
    struct sb_env env = best_env();
    static const uint32_t shape[][4] = {{1, 1, 1, 1}, {9, 3, 5, 7}, {33, 5, 1, 1}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        const uint32_t *s = shape[i];
        struct sb_act a;
        struct dice d = {i};
        size_t pixels = (size_t)s[2] * s[3], n = s[0] * s[1] * pixels;
        check_must(sb_act_init(&a, env.kernels->lanes, s[0], s[1], s[2], s[3]), "act");
        layer_deal_act(&a, &d, dice_mild, true); /* padding lanes do not count */
        double *x = naive_doubles(n), *want = naive_doubles(s[1]);
        float *have = check_floats(s[1]);
        naive_read(&a, x);
        for (size_t k = 0; k < n; k++)
            want[k / pixels % s[1]] += x[k];
        sb_act_channel_sums(&env, &a, have);
        assert_small(naive_error(have, want, s[1]), "channel sums");
        sb_free(x);
        sb_free(want);
        sb_free(have);
        sb_act_fini(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax),
        cmocka_unit_test(softmax_of_large_logits),
        cmocka_unit_test(variance_is_softplus_squared),
        cmocka_unit_test(kl_is_that_of_the_normals),
        cmocka_unit_test(posterior_gradient),
        cmocka_unit_test(sgd_steps),
        cmocka_unit_test(channel_sums),
    };
    return cmocka_run_group_tests_name("kernels/loss and params", tests, NULL, NULL);
}
