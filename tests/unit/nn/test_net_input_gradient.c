/* The gradient of the images, of inference and of training, against differences of the
 * loss along random directions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "nets.h"

enum { CHANNELS = 3, SIDE = 8, BATCH = 5, PIXELS = BATCH * CHANNELS * SIDE * SIDE };

struct trial {
    struct sb_env env;
    struct sb_net net;
    struct sb_pass pass;
    uint32_t label[BATCH];
    float x[PIXELS];
};

static void init(struct trial *t, const char *arch, bool training)
{
    struct sb_net_options o = {.shape.name = arch,
                               .shape.channels = CHANNELS,
                               .shape.height = SIDE,
                               .shape.width = SIDE,
                               .shape.classes = 10,
                               .max_batch = BATCH,
                               .threads = 1,
                               .input_gradient = true};
    *t = (struct trial){.env = {.threads = 1}, .pass = {.training = training}};
    assert_int_equal(sb_kernels_choose(NULL, &t->env.kernels), SB_OK);
    o.lanes = t->env.kernels->lanes;
    assert_int_equal(sb_net_init(&t->net, &o), SB_OK);
    assert_int_equal(sb_net_start(&t->net, 3, 0, -6.0f), SB_OK);
    for (uint32_t i = 0; i < t->net.arch.norms; i++) { /* not the identity */
        struct sb_norm *n = &t->net.norm[i].norm;
        nets_randomise(n->running_mean, n->channels, 5, i);
        nets_randomise(n->running_var, n->channels, 6, i);
        for (uint32_t c = 0; c < n->channels; c++)
            n->running_var[c] += 1.5f;
    }
    sb_net_refresh(&t->env, &t->net);
    nets_randomise(t->x, PIXELS, 4, 0);
    for (uint32_t i = 0; i < BATCH; i++)
        t->label[i] = 2 * i;
}

static double loss(struct trial *t, const float *x)
{
    double value = NAN;
    sb_net_set_batch(&t->net, BATCH);
    sb_act_load(&t->net.input, x);
    assert_int_equal(sb_net_forward(&t->env, &t->net, &t->pass), SB_OK);
    assert_int_equal(
        sb_net_loss(&t->env, &t->net, &(struct sb_truth){.label = t->label}, &value),
        SB_OK);
    return value;
}

static double moved(struct trial *t, const float *direction, float step)
{
    float x[PIXELS];
    for (size_t i = 0; i < PIXELS; i++)
        x[i] = t->x[i] + step * direction[i];
    return loss(t, x);
}

/* Directions of few pixels; what is left of the error are ReLUs that change on the way. A
 * backward that took the batch for the running averages would be far off. */
static void check(struct trial *t)
{
    float gradient[PIXELS], direction[PIXELS];
    double errors = 0.0, slopes = 0.0;
    loss(t, t->x);
    assert_int_equal(sb_net_backward(&t->env, &t->net, NULL, NULL), SB_OK);
    sb_act_store(&t->net.node[0].dy, gradient);
    for (uint32_t k = 0; k < 20; k++) {
        double want = 0.0;
        nets_randomise(direction, PIXELS, 9, k);
        for (size_t i = 0; i < PIXELS; i++) {
            direction[i] = i % 20 == k ? direction[i] : 0.0f;
            want += (double)direction[i] * (double)gradient[i];
        }
        double have = (moved(t, direction, 5e-4f) - moved(t, direction, -5e-4f)) / 1e-3;
        errors += (have - want) * (have - want);
        slopes += want * want;
    }
    assert_true(slopes > 0.0);
    if (!(errors < 1e-3 * slopes))
        fail_msg("relative error %g", sqrt(errors / slopes));
}

static void input_gradient(void **state)
{
    (void)state;
    static const char *const archs[] = {"mlp-20", "wrn-10-1", "resnet-8"};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        for (int training = 0; training < 2; training++) {
            struct trial t;
            init(&t, archs[i], training);
            check(&t);
            sb_net_fini(&t.net);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
