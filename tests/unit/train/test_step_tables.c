/* Training steps on every kernel table, with 8 lanes and with 16, leave the same bits in all
 * parameters, momenta and running averages, whatever the size of a batch and the number of
 * its shards; a step of them also moves the support. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "nets.h"
#include "train/step.h"

enum { CLASSES = 10, MOST = 70, STEPS = 4 };

struct trial {
    const char *arch;
    uint32_t channels, height, width;
    bool gauss;
    uint32_t group; /* rows convolutions draw their weights for; 0: local */
};

/* Planes of all widths that layers tell apart: 1, 2 and more. */
static const struct trial trials[] = {
    {"lenet", 1, 16, 16, true, 0},   {"wrn-10-1", 3, 8, 8, true, 0},
    {"wrn-10-1", 2, 5, 7, false, 0}, {"resnet-8", 3, 6, 5, true, 0},
    {"mlp-40-30", 1, 6, 5, true, 0}, {"lenet", 1, 16, 16, true, 16},
    {"wrn-10-1", 3, 8, 8, true, 32}, {"resnet-8", 3, 6, 5, true, 16},
};

static const uint32_t batches[STEPS] = {37, 16, MOST, 3};
static const uint32_t cuts[] = {1, 2, 3, 8}; /* into so many shards */
enum { TRIALS = sizeof trials / sizeof *trials, CUTS = sizeof cuts / sizeof *cuts };

/* That share of every layer, so that none is dense: test_net_isa has dense ones. */
static sb_status thin_all(const struct sb_weight_shape *shape, size_t layers,
                          double density, struct sb_allocation *out)
{
    for (size_t i = 0; i < layers; i++) {
        double weights = 1.0;
        for (int k = 0; k < shape[i].ndim; k++)
            weights *= shape[i].dim[k];
        out[i].active = (uint32_t)(density * weights);
    }
    return SB_OK;
}

/* A few steps of a fresh network; the losses, too. */
static void train(const struct trial *t, uint32_t shards, const struct sb_env *env,
                  struct sb_net *net, double loss[STEPS])
{
    size_t size = (size_t)t->channels * t->height * t->width;
    float *images = sb_malloc(MOST * size, sizeof *images);
    uint32_t label[MOST];
    struct sb_net_options o = {.shape.name = t->arch,
                               .shape.channels = t->channels,
                               .shape.height = t->height,
                               .shape.width = t->width,
                               .shape.classes = CLASSES,
                               .lanes = env->kernels->lanes,
                               .max_batch = MOST,
                               .shard = sb_shards_width(MOST, shards, 16),
                               .threads = env->threads,
                               .gauss = t->gauss,
                               .group = t->group};
    struct sb_growth growth = {0};
    assert_non_null(images);
    assert_int_equal(nets_make(net, &o, thin_all, 0.3), SB_OK);
    assert_int_equal(sb_net_start(net, 5, 1, -3.0f), SB_OK);
    sb_net_refresh(env, net);
    for (uint32_t i = 0; i < STEPS; i++) {
        struct sb_act x;
        struct sb_step_options s = {.seed = 9,
                                    .number = i,
                                    .sgd = {0.05f, 0.9f, 5e-4f, 1},
                                    .lr_rho = 0.01f,
                                    .kl_factor = 1e-3f,
                                    .prior_sd = 1.0f,
                                    .rate = i == 2 ? 0.3 : -1.0,
                                    .step_on_update = true,
                                    .batches = 1};
        nets_randomise(images, batches[i] * size, 3, i);
        for (uint32_t k = 0; k < batches[i]; k++)
            label[k] = (7 * k + i) % CLASSES;
        assert_int_equal(sb_act_init(&x, env->kernels->lanes, batches[i], t->channels,
                                     t->height, t->width),
                         SB_OK);
        sb_act_load(&x, images);
        assert_int_equal(sb_train_step(env, net, &x, &(struct sb_truth){.label = label},
                                       &s, &growth, &loss[i]),
                         SB_OK);
        sb_act_fini(&x);
    }
    sb_free(images);
}

static void every_table_trains_the_same(void **state)
{
    (void)state;
    const struct sb_kernels *table[SB_MOST_KERNELS];
    size_t tables = sb_kernels_list(table, SB_MOST_KERNELS);
    for (size_t i = 0; i < TRIALS * CUTS; i++) {
        const struct trial *trial = &trials[i / CUTS];
        uint32_t n = cuts[i % CUTS];
        if (n > 1 && trial->channels == 2)
            continue; /* nothing that others do not show */
        struct sb_env env = {.kernels = table[0], .threads = 1};
        struct sb_net want;
        double loss[STEPS];
        train(trial, n, &env, &want, loss);
        for (size_t k = 1; k < tables; k++)
            for (env.threads = n > 1 ? 3 : 1; env.threads <= 3; env.threads += 2) {
                struct sb_net have;
                double now[STEPS];
                env.kernels = table[k];
                train(trial, n, &env, &have, now);
                if (!nets_same(&have, &want, true))
                    fail_msg("%s, %u shards: %s, %d threads: other parameters than "
                             "scalar's",
                             trial->arch, n, table[k]->name, env.threads);
                assert_memory_equal(now, loss, sizeof loss);
                sb_net_fini(&have);
            }
        sb_net_fini(&want);
    }
    for (size_t k = 1; k < tables; k++)
        printf("%s trains like scalar\n", table[k]->name);
}

/* Shards change the order of sums, and nothing else. */
static void shards_only_round_otherwise(void **state)
{
    (void)state;
    struct sb_env env = {.threads = 2};
    assert_int_equal(sb_kernels_choose("auto", &env.kernels), SB_OK);
    for (size_t i = 0; i < TRIALS; i++) {
        struct sb_net one, many;
        double loss[STEPS], other[STEPS];
        train(&trials[i], 1, &env, &one, loss);
        train(&trials[i], 8, &env, &many, other);
        for (uint32_t k = 0; k < STEPS; k++)
            assert_true(fabs(loss[k] - other[k]) < 2e-4 * (1.0 + loss[k]));
        assert_false(nets_same(&one, &many, true)); /* they are there */
        sb_net_fini(&one);
        sb_net_fini(&many);
    }
}

/* Kernels that a network was not planned for. */
static void other_lanes_are_refused(void **state)
{
    (void)state;
    struct sb_env env = {.kernels = &sb_kernels_scalar16, .threads = 1};
    struct sb_net net;
    struct sb_pass pass = {0};
    assert_int_equal(nets_init(&net, "mlp-3", 0.5, false), SB_OK);
    assert_int_equal(sb_net_forward(&env, &net, &pass), SB_EARG);
    assert_string_equal(sb_message(),
                        "kernels with 16 lanes; the network was planned for 8");
    sb_net_fini(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_trains_the_same),
        cmocka_unit_test(shards_only_round_otherwise),
        cmocka_unit_test(other_lanes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
