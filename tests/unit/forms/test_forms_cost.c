/* forms: the arithmetic of each on WRN-28-10, as a multiple of the plain network's, as
 * docs/report.md states it beside the paper's. Rows are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forms/form.h"
#include "tensor/topology.h"

enum { LAYERS = 128 };

/* Multiply-adds of an example's forward, a share of each layer's weights there. */
static double macs(const struct sb_arch *a, const struct sb_allocation *plan)
{
    double sum = 0.0;
    uint32_t w = 0;
    for (uint32_t i = 0; i < a->nodes; i++) {
        const struct sb_arch_node *n = &a->node[i];
        if (n->kind != SB_NODE_WEIGHT)
            continue;
        double weights = plan ? plan[w].active : sb_conv_weights(&n->conv);
        sum += weights * n->conv.out_height * n->conv.out_width;
        w++;
    }
    return sum;
}

static double cost(enum sb_form_kind kind, uint32_t members)
{
    const struct sb_arch_shape shape = {"wrn-28-10", 3,  32,
                                        32,          10, SB_LIKELIHOOD_CATEGORICAL};
    struct sb_form_spec s = {
        .kind = kind, .members = members, .rate = 0.1f, .repetitions = 4};
    struct sb_arch plain, a;
    assert_int_equal(
        sb_form_build(&(struct sb_form_spec){0}, &shape, SB_FORM_TRAINED, &plain), SB_OK);
    assert_int_equal(sb_form_build(&s, &shape, SB_FORM_TRAINED, &a), SB_OK);
    double out = macs(&a, NULL) * sb_form_rows(&s, 1) / macs(&plain, NULL);
    sb_arch_fini(&a);
    sb_arch_fini(&plain);
    return out;
}

static void about(double have, double want)
{
    if (!(have > want - 0.005 && have < want + 0.005))
        fail_msg("cost %.4f, want %.2f", have, want);
}

static void forms_cost_what_the_page_says(void **state)
{
    (void)state;
    about(cost(SB_FORM_DROPOUT, 1), 1.00);
    about(cost(SB_FORM_MIMO, 3), 4.00);
    about(cost(SB_FORM_BATCH_ENSEMBLE, 4), 4.00);
    about(cost(SB_FORM_RANK_1, 4), 4.00);
    about(cost(SB_FORM_TREE, 3), 1.54);
}

static void sparse_networks_do_too(void **state)
{
    (void)state;
    struct sb_arch a;
    struct sb_weight_shape shape[LAYERS];
    struct sb_allocation plan[LAYERS];
    const struct sb_arch_shape wide = {"wrn-28-10", 3,  32,
                                       32,          10, SB_LIKELIHOOD_CATEGORICAL};
    assert_int_equal(sb_arch_init(&a, &wide), SB_OK);
    sb_arch_weight_shapes(&a, shape);
    double dense = macs(&a, NULL);
    assert_int_equal(sb_topology_erk(shape, a.weights, 0.2, plan), SB_OK);
    about(3 * macs(&a, plan) / dense, 1.02);
    about(450.0 / 250.0 * macs(&a, plan) / dense, 0.61);
    assert_int_equal(sb_topology_erk(shape, a.weights, 0.1, plan), SB_OK);
    about(850.0 / 250.0 * macs(&a, plan) / dense, 0.57);
    sb_arch_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_cost_what_the_page_says),
        cmocka_unit_test(sparse_networks_do_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
