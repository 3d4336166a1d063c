/* Memory follows the weights that exist: a network whose largest layer would take more bytes
 * as one dense tensor than everything it holds, trained through updates of its support. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "nets.h"
#include "train/step.h"

enum {
    SIDE = 8,
    CHANNELS = 3,
    CLASSES = 10,
    BATCH = 8,
    HIDDEN = 3000,
    LAYERS = 3,
    STEPS = 12,
    EVERY = 4 /* steps between two updates */
};

/* Bytes of the middle layer as one dense tensor of floats. */
static const size_t dense_bytes = (size_t)HIDDEN * HIDDEN * sizeof(float);

struct run {
    struct sb_env env;
    struct sb_net net;
    struct sb_growth growth;
    uint32_t label[BATCH];
};

static void start(struct run *r, const uint32_t active[LAYERS])
{
    *r = (struct run){.env = {.threads = 1, .kernels = &sb_kernels_scalar}};
    struct sb_net_options o = {
        .shape.name = "mlp-3000-3000",
        .shape.channels = CHANNELS,
        .shape.height = SIDE,
        .shape.width = SIDE,
        .shape.classes = CLASSES,
        .lanes = 8,
        .max_batch = BATCH,
        .threads = 1,
        .gauss = true,
        .active = active,
    };
    assert_int_equal(sb_net_init(&r->net, &o), SB_OK);
    assert_int_equal(sb_net_start(&r->net, 1, 0, -6.0f), SB_OK);
    sb_net_refresh(&r->env, &r->net);
    nets_randomise(r->net.input.data, (size_t)CHANNELS * SIDE * SIDE * BATCH, 1, 0);
    for (uint32_t i = 0; i < BATCH; i++)
        r->label[i] = i % CLASSES;
}

static void finish(struct run *r)
{
    sb_growth_fini(&r->growth);
    sb_net_fini(&r->net);
}

static void step(struct run *r, uint32_t number, double rate)
{
    struct sb_step_options o = {
        .seed = 1,
        .number = number,
        .sgd = {0.05f, 0.9f, 0.0f, false},
        .lr_rho = 0.01f,
        .kl_factor = 1e-5f,
        .prior_sd = 0.2f,
        .rate = rate,
        .criterion = SB_PRUNE_SNR,
        .batches = 1,
    };
    double loss;
    assert_int_equal(sb_train_step(&r->env, &r->net, &r->net.input,
                                   &(struct sb_truth){.label = r->label}, &o, &r->growth,
                                   &loss),
                     SB_OK);
}

static const uint32_t thin[LAYERS] = {6000, 20000, 3000};
static const uint32_t thick[LAYERS] = {6000, 60000, 3000};

static void no_dense_tensor_outside_an_update(void **state)
{
    (void)state;
    struct run r;
    size_t before = sb_mem_live();
    sb_mem_peak_reset();
    start(&r, thin);
    size_t planned = sb_mem_live() - before;
    assert_true(sb_mem_peak() - before < dense_bytes); /* not even while it is built */
    for (uint32_t i = 1; i <= STEPS; i++) {
        bool update = i % EVERY == 0;
        size_t count = sb_mem_count();
        sb_mem_peak_reset();
        step(&r, i, update ? 0.5 : -1.0);
        size_t peak = sb_mem_peak() - before;
        if (update) { /* the one place: one layer's gradient, and keys of it */
            assert_true(peak >= dense_bytes);
            assert_true(peak < planned + 3 * dense_bytes + dense_bytes / 2);
        } else {
            assert_int_equal(sb_mem_count(), count);
            assert_int_equal(peak, planned);
        }
        assert_int_equal(sb_mem_live() - before, planned);
    }
    finish(&r);
    assert_int_equal(sb_mem_live(), before);
}

static void support_keeps_its_count(void **state)
{
    (void)state;
    struct run r;
    start(&r, thin);
    for (uint32_t i = 1; i <= STEPS; i++) {
        step(&r, i, i % EVERY == 0 ? 0.8 : -1.0);
        for (uint32_t l = 0; l < LAYERS; l++) {
            const struct sb_weight *w = &r.net.weight[l];
            assert_int_equal(w->nnz, thin[l]);
            assert_int_equal(w->pattern.row_ptr[w->conv.out], thin[l]);
        }
        if (i % EVERY == 0) /* it did move */
            assert_true(r.growth.dropped > r.growth.returned);
    }
    finish(&r);
}

static size_t bytes_of(const uint32_t active[LAYERS])
{
    struct run r;
    size_t before = sb_mem_live();
    start(&r, active);
    size_t bytes = sb_mem_live() - before;
    finish(&r);
    return bytes;
}

static void bytes_follow_the_weights(void **state)
{
    (void)state;
    size_t more = bytes_of(thick) - bytes_of(thin), weights = thick[1] - thin[1];
    /* mu, rho, two gradients, two momenta, sigma^2, both transposed, position, two orders
     * of the kernels, a permutation: about 50 bytes */
    assert_true(more / weights >= 32);
    assert_true(more / weights <= 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_dense_tensor_outside_an_update),
        cmocka_unit_test(support_keeps_its_count),
        cmocka_unit_test(bytes_follow_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
