/* forms: Gaussian weights under every form can be drawn for groups of rows. Steps and an
 * update of the support, with and without a step, leave the same bits on kernels of eight lanes
 * and on the best ones with several threads; and others than local noise would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "forms.h"
#include "train/step.h"

enum { EXAMPLES = 21, STEPS = 4 };

struct training {
    const struct forms_case *c;
    double density;
    uint32_t group;
};

static void plan(struct sb_net *net, const struct training *t, const struct sb_env *env)
{
    struct sb_form_spec s = forms_spec(t->c);
    struct sb_arch_shape shape = forms_shape(t->c->arch);
    struct sb_arch a;
    struct sb_weight_shape weight[NETS_LAYERS];
    struct sb_allocation allocation[NETS_LAYERS];
    uint32_t active[NETS_LAYERS];
    struct sb_net_options o = {.made = &a,
                               .lanes = env->kernels->lanes,
                               .max_batch = sb_form_rows(&s, EXAMPLES),
                               .threads = env->threads,
                               .gauss = true,
                               .group = t->group,
                               .active = active};
    assert_int_equal(sb_form_build(&s, &shape, SB_FORM_TRAINED, &a), SB_OK);
    sb_arch_weight_shapes(&a, weight);
    assert_int_equal(sb_topology_erk(weight, a.weights, t->density, allocation), SB_OK);
    for (uint32_t i = 0; i < a.weights; i++)
        active[i] = allocation[i].active;
    assert_int_equal(sb_net_init(net, &o), SB_OK);
    assert_int_equal(forms_fill(env, net, 6), SB_OK);
}

/* The third step moves the support, the fourth moves it and steps. */
static void train(struct sb_net *net, const struct training *t, const struct sb_env *env)
{
    struct sb_form_spec s = forms_spec(t->c);
    struct sb_arch_shape shape = forms_shape(t->c->arch);
    struct sb_feeder feeder;
    struct sb_growth growth = {0};
    struct sb_act x;
    uint32_t label[EXAMPLES];
    plan(net, t, env);
    assert_int_equal(
        sb_feeder_init(&feeder, &s, &net->arch, env->kernels->lanes, EXAMPLES), SB_OK);
    assert_int_equal(sb_act_init(&x, env->kernels->lanes, EXAMPLES, shape.channels,
                                 shape.height, shape.width),
                     SB_OK);
    forms_images(&x, 2);
    for (uint32_t i = 0; i < EXAMPLES; i++)
        label[i] = i % FORMS_CLASSES;
    struct sb_truth truth = {.label = label};
    for (uint32_t i = 1; i <= STEPS; i++) {
        struct sb_step_options o = {.seed = 9,
                                    .number = i,
                                    .sgd = {0.05f, 0.9f, 5e-4f, 0},
                                    .lr_rho = 0.01f,
                                    .kl_factor = 1e-3f,
                                    .prior_sd = 0.5f,
                                    .rate = i > 2 && t->density < 1.0 ? 0.3 : -1.0,
                                    .criterion = SB_PRUNE_SNR,
                                    .step_on_update = i == STEPS,
                                    .batches = 1};
        struct sb_fed fed = sb_feeder_run(&feeder, env, 9, 0, i, &x, &truth);
        size_t count = sb_mem_count();
        double loss;
        assert_int_equal(
            sb_train_step(env, net, fed.rows, &fed.truth, &o, &growth, &loss), SB_OK);
        assert_true(o.rate >= 0.0 || sb_mem_count() == count);
    }
    sb_growth_fini(&growth);
    sb_feeder_fini(&feeder);
    sb_act_fini(&x);
}

static void every_form_draws_weights(void **state)
{
    (void)state;
    const struct sb_env plain = forms_env();
    struct sb_env best = {.threads = 3};
    assert_int_equal(sb_kernels_choose(NULL, &best.kernels), SB_OK);
    for (int i = 0; i < FORMS_CASES; i++) {
        struct sb_net want, have, local;
        struct training t = {&forms_cases[i], i % 2 ? 0.3 : 1.0, 16};
        bool convolves = strncmp(t.c->arch, "mlp", 3) != 0;
        if (t.c->plain)
            continue;
        train(&want, &t, &plain);
        train(&have, &t, &best);
        t.group = 0;
        train(&local, &t, &best);
        assert_null(sb_net_not_finite(&want));
        if (!nets_same(&have, &want, true))
            fail_msg("%s, form %d: %s on 3 threads is not %s", t.c->arch, (int)t.c->kind,
                     best.kernels->name, plain.kernels->name);
        assert_true(nets_same_floats(have.weight[0].mu, local.weight[0].mu,
                                     have.weight[0].nnz) != convolves);
        sb_net_fini(&want);
        sb_net_fini(&have);
        sb_net_fini(&local);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_draws_weights),
    };
    return cmocka_run_group_tests_name("forms/estimator", tests, NULL, NULL);
}
