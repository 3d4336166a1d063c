/* forms - small networks of every form with every number random, for tests of forms.
 *
 * Images are 1 x 28 x 28 (lenet) or 3 x 8 x 8, of 10 classes. Everything that is random
 * follows from a seed.
 */
#ifndef SB_TESTS_FORMS_H
#define SB_TESTS_FORMS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "forms/feeder.h"
#include "forms/form.h"
#include "nets.h"

/* The fastest kernels of eight lanes: their bits are those of all. */
static inline struct sb_env forms_env(void)
{
    struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
    (void)sb_kernels_choose(NULL, &env.kernels);
    env.kernels = env.kernels->narrow ? env.kernels->narrow : env.kernels;
    return env;
}

enum { FORMS_MEMBERS = 3, FORMS_CLASSES = 10, FORMS_SCALES = 128, FORMS_MASKS = 32 };

struct forms_case {
    const char *arch, *branch_at;
    enum sb_form_kind kind;
    bool channels; /* of dropout: whole ones are dropped */
    bool plain;    /* of weights: dense points only (recipe/method.c) */
};

/* A resnet's and a wrn's group1.0 have identity shortcuts, group3.0 (by default) has not. */
static const struct forms_case forms_cases[] = {
    {"mlp-12-9", "", SB_FORM_DROPOUT, false, false},
    {"lenet", "", SB_FORM_DROPOUT, false, false},
    {"wrn-10-1", "", SB_FORM_DROPOUT, false, false},
    {"resnet-8", "", SB_FORM_DROPOUT, false, false},
    {"mlp-12-9", "", SB_FORM_DROPOUT, true, false},
    {"lenet", "", SB_FORM_DROPOUT, true, false},
    {"wrn-10-1", "", SB_FORM_DROPOUT, true, false},
    {"resnet-8", "", SB_FORM_DROPOUT, true, false},
    {"mlp-12-9", "", SB_FORM_MIMO, false, false},
    {"lenet", "", SB_FORM_MIMO, false, false},
    {"wrn-10-1", "", SB_FORM_MIMO, false, false},
    {"resnet-8", "", SB_FORM_MIMO, false, false},
    {"mlp-12-9", "", SB_FORM_BATCH_ENSEMBLE, false, true},
    {"lenet", "", SB_FORM_BATCH_ENSEMBLE, false, true},
    {"wrn-10-1", "", SB_FORM_BATCH_ENSEMBLE, false, true},
    {"resnet-8", "", SB_FORM_BATCH_ENSEMBLE, false, true},
    {"mlp-12-9", "", SB_FORM_RANK_1, false, true},
    {"lenet", "", SB_FORM_RANK_1, false, true},
    {"wrn-10-1", "", SB_FORM_RANK_1, false, true},
    {"resnet-8", "", SB_FORM_RANK_1, false, true},
    {"mlp-12-9", "", SB_FORM_TREE, false, false},
    {"lenet", "", SB_FORM_TREE, false, false},
    {"lenet", "conv2", SB_FORM_TREE, false, false},
    {"wrn-10-1", "", SB_FORM_TREE, false, false},
    {"wrn-10-1", "group1.0", SB_FORM_TREE, false, false},
    {"resnet-8", "", SB_FORM_TREE, false, false},
    {"resnet-8", "group1.0", SB_FORM_TREE, false, false},
};

enum { FORMS_CASES = sizeof forms_cases / sizeof *forms_cases };

static inline struct sb_form_spec forms_spec(const struct forms_case *c)
{
    struct sb_form_spec s = {.kind = c->kind,
                             .members = FORMS_MEMBERS,
                             .rate = 0.3f,
                             .channels = c->channels,
                             .spread = c->kind == SB_FORM_RANK_1 ? 0.0f : 0.5f,
                             .scale_sd = 0.1f,
                             .scale_prior_sd = 0.1f,
                             .repetitions = 2,
                             .same = 0.25f};
    if (c->kind != SB_FORM_DROPOUT)
        s.rate = 0.0f;
    strcpy(s.branch_at, c->branch_at);
    return s;
}

static inline struct sb_arch_shape forms_shape(const char *arch)
{
    struct sb_arch_shape shape = nets_options(arch, false).shape;
    shape.classes = FORMS_CLASSES;
    return shape;
}

/* The trained network of a form, planned for so many rows. */
static inline sb_status forms_net(struct sb_net *net, const struct forms_case *c,
                                  double density, bool gauss, uint32_t rows)
{
    struct sb_form_spec s = forms_spec(c);
    struct sb_arch_shape shape = forms_shape(c->arch);
    struct sb_arch a;
    struct sb_weight_shape weight[NETS_LAYERS];
    struct sb_allocation allocation[NETS_LAYERS];
    uint32_t active[NETS_LAYERS];
    struct sb_net_options o = {.made = &a,
                               .lanes = 8,
                               .max_batch = rows,
                               .threads = 1,
                               .gauss = gauss,
                               .active = active};
    memset(net, 0, sizeof *net);
    sb_status st = sb_form_build(&s, &shape, SB_FORM_TRAINED, &a);
    if (st == SB_OK) {
        sb_arch_weight_shapes(&a, weight);
        st = sb_topology_erk(weight, a.weights, density, allocation);
    }
    for (uint32_t i = 0; st == SB_OK && i < a.weights; i++)
        active[i] = allocation[i].active;
    if (st == SB_OK)
        st = sb_net_init(net, &o);
    sb_arch_fini(&a);
    return st;
}

/* Weights and scales as training starts them, all else spread around what it starts as. */
static inline sb_status forms_fill(const struct sb_env *env, struct sb_net *net,
                                   uint64_t seed)
{
    static const struct {
        float centre, width;
    } range[SB_PARAM_ROLES] = {
        [SB_PARAM_RHO] = {-4.0f, 0.5f},       [SB_PARAM_BIAS] = {0.0f, 0.3f},
        [SB_PARAM_GAMMA] = {1.0f, 0.3f},      [SB_PARAM_BETA] = {0.0f, 0.3f},
        [SB_PARAM_RUNNING_MEAN] = {0, 0.3f},  [SB_PARAM_RUNNING_VAR] = {1.5f, 0.5f},
        [SB_PARAM_SCALE_RHO] = {-3.0f, 0.5f}, [SB_PARAM_SCALE_BIAS] = {0.0f, 0.3f},
    };
    sb_status st = sb_net_start(net, seed, 0, -6.0f);
    for (uint32_t i = 0; st == SB_OK && i < net->params.n; i++) {
        struct sb_param *p = &net->params.param[i];
        if (range[p->role].width == 0.0f)
            continue;
        nets_randomise(p->value, p->count, seed, i);
        for (uint32_t k = 0; k < p->count; k++)
            p->value[k] = range[p->role].centre + range[p->role].width * p->value[k];
    }
    if (st == SB_OK)
        sb_net_refresh(env, net);
    return st;
}

/* All images of a, random in [-1, 1]. */
static inline void forms_images(struct sb_act *a, uint64_t seed)
{
    struct sb_stream s = sb_rng_stream(seed, SB_RNG_TEST, 1, 0, 0);
    size_t pixels = (size_t)a->height * a->width, n = 0;
    for (uint32_t i = 0; i < a->batch; i++)
        for (uint32_t c = 0; c < a->channels; c++)
            for (size_t p = 0; p < pixels; p++)
                sb_act_image(a, i, c)[p * a->lanes] =
                    2.0f * sb_rng_uniform(&s, n++) - 1.0f;
}

#endif
