/* A net that only predicts computes sums, norms and ReLUs along with its weights: the bits
 * are those of a net that computes them one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "nets.h"

enum { CHANNELS = 3, CLASSES = 10, IMAGES = 11 };

struct trial {
    const char *arch;
    uint32_t height, width;
    uint32_t left; /* norms and sums that are still passes of their own */
};

static const struct trial trials[] = {
    {"wrn-10-2", 16, 16, 0},  {"wrn-16-1", 32, 32, 0}, {"wrn-16-2", 12, 9, 0},
    {"resnet-14", 16, 16, 2}, {"resnet-8", 13, 8, 2},  {"lenet", 28, 28, 0},
    {"mlp-40-30", 6, 5, 0},
};

/* That share of every layer. */
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

static void make(struct sb_net *net, const struct trial *t, double density,
                 uint32_t lanes, bool inference)
{
    struct sb_net_options o = {
        .shape.name = t->arch,
        .shape.channels = CHANNELS,
        .shape.height = t->height,
        .shape.width = t->width,
        .shape.classes = CLASSES,
        .lanes = lanes,
        .max_batch = IMAGES,
        .threads = 2,
        .gauss = true,
        .inference = inference,
    };
    assert_int_equal(nets_make(net, &o, thin_all, density), SB_OK);
}

static void logits(const struct sb_env *env, struct sb_net *n, const float *images,
                   bool sample, float *out)
{
    struct sb_pass pass = {.sample = sample, .seed = 5, .member = 1, .step = 2};
    sb_act_load(&n->input, images);
    assert_int_equal(sb_net_forward(env, n, &pass), SB_OK);
    sb_act_store(&n->head[0].logits, out);
}

static void same_bits(const struct trial *t, double density, const struct sb_env *env)
{
    size_t size = (size_t)IMAGES * CHANNELS * t->height * t->width;
    float *images = sb_malloc(size, sizeof *images);
    float slow[IMAGES * CLASSES], fast[IMAGES * CLASSES];
    struct sb_net trains, predicts;
    assert_non_null(images);
    nets_randomise(images, size, 3, 1);
    make(&trains, t, density, env->kernels->lanes, false);
    make(&predicts, t, density, env->kernels->lanes, true);
    assert_int_equal(nets_fill(env, &trains, 7), SB_OK);
    assert_int_equal(nets_copy(env, &trains, &predicts), SB_OK);
    for (int sample = 0; sample < 2; sample++) {
        logits(env, &trains, images, sample, slow);
        logits(env, &predicts, images, sample, fast);
        assert_memory_equal(fast, slow, sizeof slow);
    }
    sb_net_fini(&trains);
    sb_net_fini(&predicts);
    sb_free(images);
}

static void folding_keeps_the_bits(void **state)
{
    (void)state;
    const struct sb_kernels *best;
    assert_int_equal(sb_kernels_choose(NULL, &best), SB_OK);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        for (int threads = 1; threads <= 2; threads++) {
            struct sb_env env = {.kernels = best, .threads = threads};
            same_bits(&trials[i], 0.5, &env);
            same_bits(&trials[i], 1.0, &env); /* training's products are the dense ones */
            env.kernels = best->narrow;
            if (best->narrow)
                same_bits(&trials[i], 0.5, &env);
        }
}

static void what_can_be_folded_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        struct sb_net n;
        uint32_t left = 0;
        make(&n, &trials[i], 0.5, 8, true);
        for (uint32_t k = 0; k < n.arch.nodes; k++) {
            enum sb_node_kind kind = n.arch.node[k].kind;
            left += n.node[k].fused_into == k &&
                    (kind == SB_NODE_NORM || kind == SB_NODE_ADD || kind == SB_NODE_RELU);
        }
        assert_int_equal(left, trials[i].left);
        sb_net_fini(&n);
    }
}

static void only_prediction(void **state)
{
    (void)state;
    struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
    struct sb_net net;
    struct sb_pass training = {.training = true};
    make(&net, &trials[0], 0.5, 8, true);
    assert_int_equal(sb_net_forward(&env, &net, &training), SB_EARG);
    sb_net_fini(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folding_keeps_the_bits),
        cmocka_unit_test(what_can_be_folded_is),
        cmocka_unit_test(only_prediction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
