/* nn/arch: graphs that break a rule which networks rely on are refused, with a sentence. */
#include "nn/arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "nn/net.h"
#include "refused.h"

static void build(struct sb_arch *a, const char *name)
{
    const struct sb_arch_shape shape = {name, 3, 8, 8, 10, SB_LIKELIHOOD_CATEGORICAL};
    assert_int_equal(sb_arch_init(a, &shape), SB_OK);
    assert_int_equal(sb_arch_check(a), SB_OK);
}

/* The first node of that kind from `from` on. */
static uint32_t find(const struct sb_arch *a, enum sb_node_kind kind, uint32_t from)
{
    while (from < a->nodes && a->node[from].kind != kind)
        from++;
    assert_true(from < a->nodes);
    return from;
}

/* Appends a copy of node i. */
static void again(struct sb_arch *a, uint32_t i)
{
    assert_int_equal(sb_arch_push(a, &a->node[i]), SB_OK);
}

/* a must be refused with the sentence, by a network, too; a is gone. */
static void refuse(struct sb_arch *a, const char *sentence)
{
    struct sb_net net;
    struct sb_net_options o = {.made = a, .max_batch = 2, .threads = 1};
    refused(sb_arch_check(a), SB_EARG, sentence);
    refused(sb_net_init(&net, &o), SB_EARG, sentence);
    sb_net_fini(&net);
    sb_arch_fini(a);
}

static void known_architectures_pass(void **state)
{
    (void)state;
    static const char *const names[] = {"mlp",       "mlp-7",    "lenet",   "resnet-8",
                                        "resnet-14", "wrn-10-1", "wrn-16-2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct sb_arch a;
        const struct sb_arch_shape shape = {names[i], 3,  32,
                                            32,       10, SB_LIKELIHOOD_CATEGORICAL};
        assert_int_equal(sb_arch_init(&a, &shape), SB_OK);
        assert_int_equal(sb_arch_check(&a), SB_OK);
        sb_arch_fini(&a);
    }
}

static void nodes_in_place_are_alone(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    struct sb_arch a;
    build(&a, "mlp-7"); /* input, flatten, 0, relu, 2 */
    again(&a, find(&a, SB_NODE_RELU, 0));
    refuse(&a,
           "node 3 works in the place of node 2 (0), which 1 others read; branch at a "
           "layer");

    build(&a, "mlp-7"); /* the head reads what the ReLU overwrites */
    a.node[a.nodes - 1].in = find(&a, SB_NODE_WEIGHT, 0);
    refuse(&a,
           "node 3 works in the place of node 2 (0), which 1 others read; branch at a "
           "layer");

    build(&a, "wrn-10-1");
    uint32_t add = find(&a, SB_NODE_ADD, 0), pool = find(&a, SB_NODE_MEAN_POOL, 0);
    char sentence[200];
    again(&a, add);
    snprintf(
        sentence, sizeof sentence,
        "node %u works in the place of node %u (%s), which 1 others read; branch at a "
        "layer",
        add, a.node[add].in, a.node[a.node[add].in].name);
    refuse(&a, sentence);

    build(&a, "wrn-10-1");
    again(&a, pool);
    snprintf(
        sentence, sizeof sentence,
        "node %u works in the place of node %u (%s), which 1 others read; branch at a "
        "layer",
        pool, a.node[pool].in, a.node[a.node[pool].in].name);
    refuse(&a, sentence);
    assert_int_equal(sb_mem_live(), live);
}

static void an_image_may_have_several_readers(void **state)
{
    (void)state;
    struct sb_arch a;
    build(&a, "mlp-7");
    again(&a, find(&a, SB_NODE_FLATTEN, 0));
    assert_int_equal(sb_arch_check(&a), SB_OK);
    sb_arch_fini(&a);
}

static void nodes_read_what_came_before(void **state)
{
    (void)state;
    struct sb_arch a;
    build(&a, "mlp-7");
    a.node[2].in = 2;
    refuse(&a, "node 2 (0) reads one that comes after it");
    build(&a, "wrn-10-1");
    uint32_t add = find(&a, SB_NODE_ADD, 0);
    a.node[add].other = add + 1;
    char sentence[100];
    snprintf(sentence, sizeof sentence, "node %u () reads one that comes after it", add);
    refuse(&a, sentence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_architectures_pass),
        cmocka_unit_test(nodes_in_place_are_alone),
        cmocka_unit_test(an_image_may_have_several_readers),
        cmocka_unit_test(nodes_read_what_came_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
