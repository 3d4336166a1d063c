/* Training gives the same parameters, bit for bit, on every kernel table and number of
 * threads: dense and sparse, point and Gaussian networks, with either estimator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "nets.h"

enum { CLASSES = 10, BATCH = 19, STEPS = 2, MOST_TABLES = 8 };

struct training {
    const char *arch;
    uint32_t channels, size;
    double density;
    bool gauss;
    uint32_t group; /* rows convolutions draw their weights for; 0: local */
};

static const struct training trainings[] = {
    {"mlp-70-33", 1, 9, 1.0, false, 0}, {"mlp-70-33", 1, 9, 1.0, true, 0},
    {"lenet", 1, 28, 1.0, false, 0},    {"wrn-10-1", 3, 8, 1.0, false, 0},
    {"wrn-10-1", 3, 8, 1.0, true, 0},   {"lenet", 1, 28, 0.2, true, 0},
    {"wrn-10-1", 3, 8, 0.2, true, 0},   {"resnet-8", 3, 8, 1.0, false, 0},
    {"wrn-10-1", 3, 8, 1.0, true, 16},  {"lenet", 1, 28, 0.2, true, 16},
    {"wrn-10-1", 3, 8, 0.2, true, 16},  {"resnet-8", 3, 8, 0.2, true, 32},
};

static sb_status start(struct sb_net *net, const struct training *t,
                       const struct sb_env *env)
{
    struct sb_net_options o = {
        .shape.name = t->arch,
        .shape.channels = t->channels,
        .shape.height = t->size,
        .shape.width = t->size,
        .shape.classes = CLASSES,
        .lanes = env->kernels->lanes,
        .max_batch = BATCH,
        .threads = env->threads,
        .gauss = t->gauss,
        .group = t->group,
    };
    sb_status st = nets_make(net, &o, sb_topology_erk, t->density);
    if (st == SB_OK)
        st = sb_net_start(net, 5, 0, -3.0f);
    if (st == SB_OK)
        sb_net_refresh(env, net);
    return st;
}

/* A batch of its own each step, and a smaller one at the end, as in an epoch; gradients are
 * clipped in every second. */
static sb_status train(struct sb_net *net, const struct training *t,
                       const struct sb_env *env)
{
    const struct sb_sgd sgd = {.rate = 0.05f, .momentum = 0.9f, .decay = 5e-4f};
    uint32_t label[BATCH];
    sb_status st = SB_OK;
    for (uint32_t step = 0; step < STEPS && st == SB_OK; step++) {
        uint32_t batch = step + 1 < STEPS ? BATCH : BATCH / 2;
        struct sb_pass pass = {
            .training = true, .sample = t->gauss, .seed = 9, .step = step};
        size_t n = (size_t)batch * t->channels * t->size * t->size;
        float *images = sb_malloc(n, sizeof *images);
        double loss;
        assert_non_null(images);
        nets_randomise(images, n, 11, step);
        for (uint32_t i = 0; i < batch; i++)
            label[i] = (7 * i + step) % CLASSES;
        sb_net_set_batch(net, batch);
        sb_act_load(&net->input, images);
        sb_free(images);
        st = sb_net_forward(env, net, &pass);
        if (st == SB_OK)
            st = sb_net_loss(env, net, &(struct sb_truth){.label = label}, &loss);
        if (st == SB_OK)
            st = sb_net_backward(env, net, NULL, NULL);
        if (st != SB_OK)
            return st;
        sb_net_add_kl(env, net, 1e-3f, 0.2f);
        sb_net_step(env, net,
                    &(struct sb_step_rates){sgd, 0.01f, 0.0f, step % 2 ? 0.1f : 0.0f});
    }
    return st;
}

static void trains_to(const struct training *t, const struct sb_kernels *k, int threads,
                      struct sb_net *net)
{
    struct sb_env env = {.kernels = k, .threads = threads};
    assert_int_equal(start(net, t, &env), SB_OK);
    assert_int_equal(train(net, t, &env), SB_OK);
    assert_null(sb_net_not_finite(net));
}

static void every_table_trains_to_the_same_bits(void **state)
{
    (void)state;
    const struct sb_kernels *table[MOST_TABLES];
    size_t n = sb_kernels_list(table, MOST_TABLES);
    for (size_t i = 0; i < sizeof trainings / sizeof *trainings; i++) {
        const struct training *t = &trainings[i];
        struct sb_net first, other;
        trains_to(t, table[0], 1, &first);
        for (size_t k = 1; k < n; k++)
            for (int threads = 1; threads <= 3; threads++) {
                trains_to(t, table[k], threads, &other);
                if (!nets_same(&first, &other, true))
                    fail_msg("%s, density %g, %s, groups of %u: %s on %d threads differs "
                             "from scalar",
                             t->arch, t->density, t->gauss ? "gauss" : "point", t->group,
                             table[k]->name, threads);
                sb_net_fini(&other);
            }
        sb_net_fini(&first);
    }
    if (n == 1)
        puts("NOT TESTED: training on vector kernels (this machine runs scalar only)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_trains_to_the_same_bits),
    };
    return cmocka_run_group_tests_name("nn/isa", tests, NULL, NULL);
}
