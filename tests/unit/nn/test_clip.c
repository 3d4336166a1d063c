/* Gradients that are too long: what steps together becomes as long as it may be and keeps its
 * direction; what is short enough keeps its bits; what is not finite stays so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/kernels.h"
#include "nets.h"

enum { TARGETS = 2, MOST = 4096 };

#define ALL (SB_NODE_NONE - 1) /* nodes, and what belongs to none */

struct fixture {
    struct sb_net net;
    struct sb_env env;
    float gradient[MOST], moved[MOST]; /* of all records, one after the other */
    uint32_t node[MOST];               /* whose they are */
    size_t n;
};

/* A network with every gradient random, and a record that belongs to no node. */
static void begin(struct fixture *f)
{
    *f = (struct fixture){.env.threads = 1};
    assert_int_equal(sb_kernels_choose(NULL, &f->env.kernels), SB_OK);
    struct sb_net_options o = {.shape.name = "mlp-9",
                               .shape.channels = 5,
                               .shape.height = 1,
                               .shape.width = 1,
                               .shape.classes = TARGETS,
                               .shape.likelihood = SB_LIKELIHOOD_GAUSS_SHARED,
                               .lanes = f->env.kernels->lanes,
                               .max_batch = 4,
                               .threads = 1};
    assert_int_equal(nets_make(&f->net, &o, sb_topology_erk, 0.6), SB_OK);
    assert_int_equal(sb_net_start(&f->net, 5, 0, -6.0f), SB_OK);
    for (uint32_t i = 0; i < f->net.params.n; i++) {
        struct sb_param *p = &f->net.params.param[i];
        assert_non_null(p->gradient);
        assert_true(f->n + p->count <= MOST);
        memset(p->value, 0, p->count * sizeof(float));
        nets_randomise(p->gradient, p->count, 6, i);
        memcpy(f->gradient + f->n, p->gradient, p->count * sizeof(float));
        for (uint32_t k = 0; k < p->count; k++)
            f->node[f->n++] = p->node;
    }
}

/* With rate 1 and values of 0, what moved is the gradient that was used. */
static struct sb_step_rates rates(float clip)
{
    return (struct sb_step_rates){
        .sgd = {.rate = 1.0f}, .rho = 1.0f, .scale = 1.0f, .clip = clip};
}

static void collect(struct fixture *f)
{
    size_t n = 0;
    for (uint32_t i = 0; i < f->net.params.n; i++) {
        const struct sb_param *p = &f->net.params.param[i];
        for (uint32_t k = 0; k < p->count; k++)
            f->moved[n++] = -p->value[k];
    }
    assert_int_equal(n, f->n);
}

/* Of the records of a node; ALL: of all. */
static double norm(const struct fixture *f, const float *x, uint32_t node)
{
    double sum = 0.0;
    for (size_t i = 0; i < f->n; i++)
        sum += node == ALL || f->node[i] == node ? (double)x[i] * (double)x[i] : 0.0;
    return sqrt(sum);
}

/* What moved of a node's records is `factor` times their gradients. */
static void moved_by(const struct fixture *f, uint32_t node, double factor)
{
    for (size_t i = 0; i < f->n; i++) {
        double want = factor * (double)f->gradient[i];
        if (node == ALL || f->node[i] == node)
            assert_true(fabs((double)f->moved[i] - want) <= 1e-6 * fabs(want));
    }
}

static void a_step_is_as_long_as_it_may_be(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    double length = norm(&f, f.gradient, ALL);
    struct sb_step_rates r = rates((float)(length / 4));
    sb_net_step(&f.env, &f.net, &r);
    collect(&f);
    moved_by(&f, ALL, 0.25);
    assert_true(fabs(norm(&f, f.moved, ALL) - length / 4) < 1e-5 * length);
    sb_net_fini(&f.net);
}

static void short_ones_keep_their_bits(void **state)
{
    (void)state;
    for (int none = 0; none < 2; none++) {
        struct fixture f;
        begin(&f);
        double length = norm(&f, f.gradient, ALL);
        struct sb_step_rates r = rates(none ? 0.0f : (float)(1.001 * length));
        sb_net_step(&f.env, &f.net, &r);
        collect(&f);
        assert_memory_equal(f.moved, f.gradient, f.n * sizeof(float));
        sb_net_fini(&f.net);
    }
}

/* An update of the support steps them one after the other. */
static void layers_are_clipped_by_themselves(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    uint32_t first = f.net.weight_node[0], second = f.net.weight_node[1];
    double length = norm(&f, f.gradient, first);
    struct sb_step_rates r = rates((float)(length / 2));
    sb_net_step_weight(&f.env, &f.net, 0, &r, 0.0f, 1.0f);
    collect(&f);
    moved_by(&f, first, 0.5);
    moved_by(&f, second, 0.0);
    moved_by(&f, SB_NODE_NONE, 0.0);
    r = rates((float)(norm(&f, f.gradient, SB_NODE_NONE) / 8));
    sb_net_step_others(&f.env, &f.net, &r, 0.0f);
    collect(&f);
    moved_by(&f, second, 0.0);
    moved_by(&f, SB_NODE_NONE, 0.125);
    sb_net_fini(&f.net);
}

static void what_is_not_finite_is_still_found(void **state)
{
    (void)state;
    struct fixture f;
    struct sb_step_rates r = rates(1.0f);
    begin(&f);
    f.net.params.param[0].gradient[0] = INFINITY;
    sb_net_step(&f.env, &f.net, &r);
    assert_string_equal(sb_net_not_finite(&f.net), f.net.params.param[0].layer);
    sb_net_fini(&f.net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_as_long_as_it_may_be),
        cmocka_unit_test(short_ones_keep_their_bits),
        cmocka_unit_test(layers_are_clipped_by_themselves),
        cmocka_unit_test(what_is_not_finite_is_still_found),
    };
    return cmocka_run_group_tests_name("nn/clip", tests, NULL, NULL);
}
