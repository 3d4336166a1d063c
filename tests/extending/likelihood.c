/* likelihood - adding a likelihood: docs/extending.md quotes this file, and this test compares
 * it with the formula and its gradient with differences.
 *
 * Counts: y ~ Poisson(exp f) for an output f. The loss of a row is exp f - y f + log y!.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fmath.h"
#include "kernels/kernels.h"
#include "kernels/partials.h"
#include "nn/likelihood.h"

/* ---- the likelihood ------------------------------------------------------------------ */

/* A head's prediction: the mean of each count. */
static void predict_counts(const struct sb_env *env,
                           const struct sb_likelihood_head *head)
{
    (void)env;
    for (uint32_t b = 0; b < head->prediction->blocks; b++)
        for (uint32_t t = 0; t < head->prediction->channels; t++)
            for (uint32_t l = 0; l < head->prediction->lanes; l++)
                sb_act_plane(head->prediction, b, t)[l] =
                    sb_exp(sb_act_plane(head->outputs, b, t)[l]);
}

/* One target of a block of rows; y is that of its first row. d may be NULL. */
static void add_block(const struct sb_act *x, uint32_t block, uint32_t target,
                      const float *y, float scale, struct sb_act *d,
                      double sum[SB_PARTIALS])
{
    const float *f = sb_act_plane(x, block, target);
    float *df = d ? sb_act_plane(d, block, target) : NULL;
    float loss[SB_MAX_LANES] = {0};
    uint32_t lanes = sb_act_lanes(x, block);
    for (uint32_t l = 0; l < x->lanes; l++) {
        float count = l < lanes ? y[(size_t)l * x->channels] : 0.0f;
        if (l < lanes)
            loss[l] = sb_exp(f[l]) - count * f[l] + lgammaf(count + 1.0f);
        if (df)
            df[l] = l < lanes ? (sb_exp(f[l]) - count) * scale : 0.0f;
    }
    sb_partials_add(sum, block, x->lanes, lanes, loss);
}

static sb_status loss_of_counts(const struct sb_env *env, const struct sb_shards *shards,
                                const struct sb_likelihood_head *head,
                                const struct sb_truth *truth, double *loss,
                                struct sb_act *d, float *dnoise)
{
    const struct sb_act *x = head->outputs;
    double sum[SB_PARTIALS] = {0};
    (void)dnoise;
    if (!truth->target)
        return sb_fail(SB_EARG, "loss: counts need targets, and there are none");
    if (truth->weight || (shards && shards->spread))
        return sb_fail(SB_EARG, "loss: counts have no weights yet, and one process");
    for (uint32_t t = 0; t < x->channels; t++)
        for (uint32_t b = 0; b < x->blocks; b++)
            add_block(x, b, t, truth->target + (size_t)b * x->lanes * x->channels + t,
                      1.0f / (float)x->batch, d, sum);
    *loss = sb_partials_fold(sum) / x->batch;
    predict_counts(env, head);
    return SB_OK;
}

static const struct sb_likelihood counts = {
    .name = "counts",
    .outputs = 1,     /* of the network, for each target */
    .predictions = 1, /* its mean */
    .noise = 0,       /* no parameter that belongs to no node */
    .predict = predict_counts,
    .loss = loss_of_counts,
};

/* ---- tests --------------------------------------------------------------------------- */

enum { ROWS = 19, TARGETS = 2 };

struct batch {
    struct sb_env env;
    struct sb_act x, prediction, d;
    float output[ROWS * TARGETS], y[ROWS * TARGETS];
    struct sb_likelihood_head head;
    struct sb_truth truth;
};

static void setup(struct batch *b, uint32_t lanes)
{
    *b = (struct batch){.env = {.threads = 1, .kernels = &sb_kernels_scalar}};
    struct sb_act *const act[] = {&b->x, &b->prediction, &b->d};
    for (int i = 0; i < 3; i++)
        assert_int_equal(sb_act_init(act[i], lanes, ROWS, TARGETS, 1, 1), SB_OK);
    for (uint32_t i = 0; i < ROWS * TARGETS; i++) {
        b->output[i] = 0.1f * (float)(i % 23) - 1.0f;
        b->y[i] = (float)(i * 7 % 5);
    }
    b->head = (struct sb_likelihood_head){.outputs = &b->x, .prediction = &b->prediction};
    b->truth = (struct sb_truth){.target = b->y};
    sb_act_load(&b->x, b->output);
}

static void teardown(struct batch *b)
{
    sb_act_fini(&b->x);
    sb_act_fini(&b->prediction);
    sb_act_fini(&b->d);
}

static double loss_of(struct batch *b)
{
    double loss = NAN;
    sb_act_load(&b->x, b->output);
    assert_int_equal(counts.loss(&b->env, NULL, &b->head, &b->truth, &loss, &b->d, NULL),
                     SB_OK);
    return loss;
}

static void the_loss_is_the_formula(void **state)
{
    (void)state;
    struct batch b;
    double want = 0.0, loss[2];
    for (int k = 0; k < 2; k++) {
        setup(&b, k ? 16 : 8);
        loss[k] = loss_of(&b);
        assert_true(fabs(sb_act_plane(&b.prediction, 0, 1)[0] - exp(b.output[1])) < 1e-5);
        teardown(&b);
    }
    for (uint32_t i = 0; i < ROWS * TARGETS; i++)
        want += exp(b.output[i]) - (double)b.y[i] * b.output[i] + lgamma(b.y[i] + 1.0);
    assert_true(fabs(loss[0] - want / ROWS) < 1e-5);
    assert_true(loss[0] == loss[1]); /* the bits depend on no number of lanes */
}

static void its_gradient_is_that_of_differences(void **state)
{
    (void)state;
    struct batch b;
    setup(&b, 8);
    for (uint32_t i = 0; i < ROWS * TARGETS; i++) {
        const float step = 1e-2f, at = b.output[i];
        loss_of(&b);
        float have = sb_act_plane(&b.d, i / TARGETS / 8, i % TARGETS)[i / TARGETS % 8];
        b.output[i] = at + step;
        double up = loss_of(&b);
        b.output[i] = at - step;
        double down = loss_of(&b);
        b.output[i] = at;
        assert_true(fabs((up - down) / (2.0 * step) - have) < 1e-4);
    }
    assert_true(sb_act_plane(&b.d, 2, 0)[3] == 0.0f); /* a lane that has no row */
    teardown(&b);
}

static void labels_are_no_counts(void **state)
{
    (void)state;
    struct batch b;
    double loss;
    setup(&b, 8);
    b.truth.target = NULL;
    assert_int_equal(counts.loss(&b.env, NULL, &b.head, &b.truth, &loss, NULL, NULL),
                     SB_EARG);
    assert_string_equal(sb_message(), "loss: counts need targets, and there are none");
    teardown(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loss_is_the_formula),
        cmocka_unit_test(its_gradient_is_that_of_differences),
        cmocka_unit_test(labels_are_no_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
