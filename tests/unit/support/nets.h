/* nets - small networks with every number random, for tests of members and files. */
#ifndef SB_TESTS_NETS_H
#define SB_TESTS_NETS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/fmath.h"
#include "base/mem.h"
#include "base/rng.h"
#include "kernels/kernels.h"
#include "nn/net.h"
#include "nn/trained.h"
#include "tensor/topology.h"

enum { NETS_LAYERS = 64 };

/* How many weights of each layer exist; sb_topology_erk is one. */
typedef sb_status nets_allocate_fn(const struct sb_weight_shape *shape, size_t layers,
                                   double density, struct sb_allocation *out);

/* The network of o, but for o->active. */
static inline sb_status nets_make(struct sb_net *net, const struct sb_net_options *o,
                                  nets_allocate_fn *allocate, double density)
{
    struct sb_net_options sparse = *o;
    uint32_t active[NETS_LAYERS];
    struct sb_weight_shape shape[NETS_LAYERS];
    struct sb_allocation allocation[NETS_LAYERS];
    struct sb_arch a;
    memset(net, 0, sizeof *net);
    sb_status st = sb_arch_init(&a, &o->shape);
    if (st == SB_OK) {
        sb_arch_weight_shapes(&a, shape);
        st = allocate(shape, a.weights, density, allocation);
    }
    for (uint32_t i = 0; st == SB_OK && i < a.weights; i++)
        active[i] = allocation[i].active;
    sb_arch_fini(&a);
    sparse.active = active;
    return st == SB_OK ? sb_net_init(net, &sparse) : st;
}

static inline struct sb_net_options nets_options(const char *arch, bool gauss)
{
    bool lenet = strcmp(arch, "lenet") == 0;
    return (struct sb_net_options){
        .shape = {.name = arch,
                  .channels = lenet ? 1 : 3,
                  .height = lenet ? 28 : 8,
                  .width = lenet ? 28 : 8,
                  .classes = 10},
        .lanes = 8,
        .max_batch = 8,
        .threads = 1,
        .gauss = gauss,
    };
}

/* A network of arch on 1 x 28 x 28 (lenet) or 3 x 8 x 8 images, 10 classes; density 1: all
 * dense, else ERK. */
static inline sb_status nets_init(struct sb_net *net, const char *arch, double density,
                                  bool gauss)
{
    struct sb_net_options o = nets_options(arch, gauss);
    return nets_make(net, &o, sb_topology_erk, density);
}

/* The same for inference. */
static inline sb_status nets_init_inference(struct sb_net *net, const char *arch,
                                            double density, bool gauss)
{
    struct sb_net_options o = nets_options(arch, gauss);
    o.inference = true;
    return nets_make(net, &o, sb_topology_erk, density);
}

static inline void nets_randomise(float *x, size_t n, uint64_t seed, uint32_t what)
{
    struct sb_stream s = sb_rng_stream(seed, SB_RNG_TEST, 0, what, 0);
    for (size_t i = 0; x && i < n; i++)
        x[i] = 2.0f * sb_rng_uniform(&s, i) - 1.0f;
}

/* Supports of (seed), and every number that training changes random. */
static inline sb_status nets_fill(const struct sb_env *env, struct sb_net *net,
                                  uint64_t seed)
{
    sb_status st = sb_net_start(net, seed, 0, -6.0f);
    uint32_t what = 0;
    for (uint32_t i = 0; i < net->arch.weights; i++) {
        struct sb_weight *w = &net->weight[i];
        nets_randomise(w->mu, w->nnz, seed, what++);
        nets_randomise(w->mu_momentum, w->nnz, seed, what++);
        nets_randomise(w->rho, w->nnz, seed, what++);
        nets_randomise(w->rho_momentum, w->nnz, seed, what++);
        nets_randomise(w->bias, w->conv.out, seed, what++);
        nets_randomise(w->bias_momentum, w->conv.out, seed, what++);
    }
    for (uint32_t i = 0; i < net->arch.norms; i++) {
        struct sb_net_norm *m = &net->norm[i];
        uint32_t n = m->norm.channels;
        nets_randomise(m->norm.gamma, n, seed, what++);
        nets_randomise(m->norm.beta, n, seed, what++);
        nets_randomise(m->gamma_momentum, n, seed, what++);
        nets_randomise(m->beta_momentum, n, seed, what++);
        nets_randomise(m->norm.running_mean, n, seed, what++);
        nets_randomise(m->norm.running_var, n, seed, what++);
        for (uint32_t c = 0; c < n; c++)
            m->norm.running_var[c] = 1.5f + m->norm.running_var[c];
    }
    if (st == SB_OK)
        sb_net_refresh(env, net);
    return st;
}

static inline bool nets_same_floats(const float *a, const float *b, size_t n)
{
    return (!a && !b) || (a && b && memcmp(a, b, n * sizeof *a) == 0);
}

static inline bool nets_same_weight(const struct sb_weight *a, const struct sb_weight *b,
                                    bool momenta)
{
    size_t n = a->nnz, out = a->conv.out;
    if (n != b->nnz || a->dense != b->dense ||
        (!a->dense &&
         (memcmp(a->pattern.row_ptr, b->pattern.row_ptr, (out + 1) * sizeof(uint32_t)) ||
          memcmp(a->pattern.col, b->pattern.col, n * sizeof(uint32_t)))))
        return false;
    if (momenta && (!nets_same_floats(a->mu_momentum, b->mu_momentum, n) ||
                    !nets_same_floats(a->rho_momentum, b->rho_momentum, n) ||
                    !nets_same_floats(a->bias_momentum, b->bias_momentum, out)))
        return false;
    return nets_same_floats(a->mu, b->mu, n) && nets_same_floats(a->rho, b->rho, n) &&
           nets_same_floats(a->mu_t, b->mu_t, n) &&
           nets_same_floats(a->s2_t, b->s2_t, n) &&
           nets_same_floats(a->bias, b->bias, out);
}

/* Bit for bit, derived arrays included. */
static inline bool nets_same(const struct sb_net *a, const struct sb_net *b, bool momenta)
{
    if (a->arch.weights != b->arch.weights || a->arch.norms != b->arch.norms)
        return false;
    for (uint32_t i = 0; i < a->arch.weights; i++)
        if (!nets_same_weight(&a->weight[i], &b->weight[i], momenta))
            return false;
    for (uint32_t i = 0; i < a->arch.norms; i++) {
        const struct sb_net_norm *x = &a->norm[i], *y = &b->norm[i];
        size_t n = x->norm.channels;
        if (!nets_same_floats(x->norm.gamma, y->norm.gamma, n) ||
            !nets_same_floats(x->norm.beta, y->norm.beta, n) ||
            !nets_same_floats(x->norm.running_mean, y->norm.running_mean, n) ||
            !nets_same_floats(x->norm.running_var, y->norm.running_var, n) ||
            (momenta && (!nets_same_floats(x->gamma_momentum, y->gamma_momentum, n) ||
                         !nets_same_floats(x->beta_momentum, y->beta_momentum, n))))
            return false;
    }
    return true;
}

/* Whether two hold the same layers, as many weights in each. */
static inline bool nets_alike(const struct sb_trained *a, const struct sb_trained *b)
{
    bool same = a->params.n == b->params.n && a->gauss == b->gauss;
    for (uint32_t i = 0; same && i < a->params.n; i++)
        same = sb_param_alike(&a->params.param[i], &b->params.param[i]);
    return same;
}

/* A layer's means, or the deviations beside them. */
static inline const struct sb_param *nets_mu(const struct sb_trained *t, uint32_t layer)
{
    return &t->params.param[t->mu[layer]];
}

static inline const float *nets_rho(const struct sb_trained *t, uint32_t layer)
{
    return t->params.param[nets_mu(t, layer)->rho].value;
}

/* to gets from's parameters, as a model file would carry them. */
static inline sb_status nets_copy(const struct sb_env *env, const struct sb_net *from,
                                  struct sb_net *to)
{
    struct sb_trained member = {0};
    sb_status st = sb_trained_init(&member, from);
    if (st == SB_OK)
        st = sb_trained_save(&member, from);
    if (st == SB_OK)
        st = sb_trained_load(&member, env, to);
    sb_trained_fini(&member);
    return st;
}

#endif
