/* architecture - adding an architecture: docs/extending.md quotes this file, and this test
 * takes a step with it.
 *
 *     input - stem (3 x 3) - bn, ReLU -+- conv (3 x 3) - bn - + - ReLU - mean - fc
 *                                      +----------------------+
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "nets.h"
#include "train/step.h"

/* ---- the architecture ---------------------------------------------------------------- */

/* A node of the input's shape, of that kind. */
static struct sb_arch_node like(const struct sb_arch *a, uint32_t in,
                                enum sb_node_kind kind, const char *name)
{
    struct sb_arch_node n = a->node[in];
    n = (struct sb_arch_node){.kind = kind,
                              .in = in,
                              .other = SB_NODE_NONE,
                              .channels = n.channels,
                              .height = n.height,
                              .width = n.width};
    snprintf(n.name, sizeof n.name, "%s", name);
    return n;
}

static sb_status push_weight(struct sb_arch *a, const char *name, uint32_t in,
                             uint32_t out, uint32_t kernel, bool linear)
{
    struct sb_arch_node n = like(a, in, SB_NODE_WEIGHT, name);
    sb_status st = sb_conv_init(&n.conv, n.channels, out, kernel, kernel, 1, kernel / 2,
                                n.height, n.width);
    n.linear = n.bias = linear;
    n.channels = out;
    return st == SB_OK ? sb_arch_push(a, &n) : st;
}

static sb_status push_norm(struct sb_arch *a, const char *name, uint32_t in,
                           uint32_t other)
{
    struct sb_arch_node n = like(a, in, SB_NODE_NORM, name);
    n.other = other; /* added before the ReLU */
    n.relu = true;
    return sb_arch_push(a, &n);
}

/* One residual block of `width` channels. */
static sb_status one_block(struct sb_arch *a, uint32_t channels, uint32_t side,
                           uint32_t width, uint32_t classes)
{
    struct sb_arch_node input = {.kind = SB_NODE_INPUT,
                                 .name = "input",
                                 .other = SB_NODE_NONE,
                                 .channels = channels,
                                 .height = side,
                                 .width = side};
    *a = (struct sb_arch){.classes = classes};
    sb_status st = sb_arch_push(a, &input); /* node 0 */
    if (st == SB_OK)
        st = push_weight(a, "stem", 0, width, 3, false); /* 1 */
    if (st == SB_OK)
        st = push_norm(a, "stem_bn", 1, SB_NODE_NONE); /* 2 */
    if (st == SB_OK)
        st = push_weight(a, "conv", 2, width, 3, false); /* 3 */
    if (st == SB_OK)
        st = push_norm(a, "bn", 3, 2); /* 4: bn(conv) + what conv read, then ReLU */
    if (st != SB_OK)
        return st;
    struct sb_arch_node mean = like(a, 4, SB_NODE_MEAN_POOL, "");
    mean.height = mean.width = 1;
    st = sb_arch_push(a, &mean); /* 5 */
    if (st == SB_OK)
        st = push_weight(a, "fc", 5, classes, 1, true); /* 6 */
    return st == SB_OK ? sb_arch_set_heads(a, &(struct sb_arch_head){.node = 6}, 1) : st;
}

/* ---- its test ------------------------------------------------------------------------ */

static void it_learns(void **state)
{
    (void)state;
    enum { BATCH = 16, LANES = 8, STEPS = 60 };
    const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
    const uint32_t active[] = {40, 100, 24};
    struct sb_arch a;
    struct sb_net net;
    struct sb_act x;
    struct sb_growth growth = {0};
    uint32_t label[BATCH];
    double first = 0, loss = 0;
    size_t live = sb_mem_live();
    assert_int_equal(one_block(&a, 1, 6, 8, 3), SB_OK);
    assert_int_equal(sb_arch_check(&a), SB_OK);
    struct sb_net_options o = {.made = &a,
                               .lanes = LANES,
                               .max_batch = BATCH,
                               .threads = 1,
                               .gauss = true,
                               .active = active};
    assert_int_equal(sb_net_init(&net, &o), SB_OK);
    assert_int_equal(sb_net_start(&net, 1, 0, -6.0f), SB_OK);
    sb_net_refresh(&env, &net);
    assert_int_equal(sb_act_init(&x, LANES, BATCH, 1, 6, 6), SB_OK);
    nets_randomise(x.data, sb_act_size(&x), 1, 0);
    for (uint32_t i = 0; i < BATCH; i++) { /* a class has its brightness */
        label[i] = i % 3;
        for (uint32_t p = 0; p < 36; p++)
            sb_act_image(&x, i, 0)[(size_t)p * LANES] += (float)label[i];
    }
    struct sb_step_options step = {.seed = 1,
                                   .sgd = {.rate = 0.05f, .momentum = 0.9f},
                                   .lr_rho = 0.01f,
                                   .kl_factor = 1e-4f,
                                   .prior_sd = 0.2f,
                                   .rate = -1.0};
    for (step.number = 1; step.number <= STEPS; step.number++) {
        assert_int_equal(sb_train_step(&env, &net, &x, &(struct sb_truth){.label = label},
                                       &step, &growth, &loss),
                         SB_OK);
        first = step.number == 1 ? loss : first;
    }
    assert_true(loss < first / 2);
    sb_growth_fini(&growth);
    sb_act_fini(&x);
    sb_net_fini(&net);
    assert_int_equal(sb_mem_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_learns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
