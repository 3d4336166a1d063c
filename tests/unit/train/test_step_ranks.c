/* Training steps of several processes that share every batch leave the bits of one: in all
 * parameters, momenta, running averages and losses, on every one of them. Here processes are
 * threads; tests/dist has the same with MPI. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "nets.h"
#include "threads_comm.h"
#include "train/step.h"

enum { CLASSES = 10, MOST = 90, STEPS = 4, RANKS_MOST = 6 };

struct trial {
    const char *arch;
    uint32_t channels, size;
    double density;
    bool gauss;
    float far; /* where the running mean of every other channel begins */
};

static const struct trial trials[] = {
    {"lenet", 1, 16, 0.3, true, 0},     {"wrn-10-1", 3, 8, 0.3, true, 0},
    {"wrn-10-1", 3, 8, 1.0, false, 0},  {"wrn-10-1", 3, 8, 0.3, true, 100.0f},
    {"mlp-40-30", 1, 6, 0.3, false, 0},
};

/* Batches that fill all six shards, some of them, and one. */
static const uint32_t batches[STEPS] = {MOST, 37, 70, 3};

/* One process. */
struct rank {
    const struct trial *trial;
    const struct sb_comm *comm; /* NULL: alone */
    const struct sb_kernels *kernels;
    struct sb_net net;
    double loss[STEPS];
    sb_status st;
};

/* The rows that this process has of a batch. */
static sb_status fill(const struct rank *r, uint32_t step, struct sb_act *x,
                      uint32_t *label)
{
    const struct trial *t = r->trial;
    uint32_t first, n = sb_net_share_of(&r->net, batches[step], &first);
    size_t size = (size_t)t->channels * t->size * t->size;
    float *images = sb_malloc(batches[step] * size, sizeof *images);
    sb_status st =
        sb_act_init(x, r->kernels->lanes, n ? n : 1, t->channels, t->size, t->size);
    if (!images || st != SB_OK)
        return SB_ENOMEM;
    nets_randomise(images, batches[step] * size, 3, step);
    sb_act_set_batch(x, n);
    if (n > 0)
        sb_act_load(x, images + first * size);
    for (uint32_t k = 0; k < n; k++)
        label[k] = (7 * (first + k) + step) % CLASSES;
    sb_free(images);
    return SB_OK;
}

/* Batches are then far from the averages, and sums of a norm are taken twice. */
static void move_means(struct sb_net *n, float far)
{
    for (uint32_t i = 0; i < n->arch.norms; i++)
        for (uint32_t c = 0; c < n->norm[i].norm.channels; c += 2)
            n->norm[i].norm.running_mean[c] = far;
}

static sb_status begin(struct rank *r, const struct sb_env *env)
{
    const struct trial *t = r->trial;
    struct sb_net_options o = {.shape.name = t->arch,
                               .shape.channels = t->channels,
                               .shape.height = t->size,
                               .shape.width = t->size,
                               .shape.classes = CLASSES,
                               .lanes = r->kernels->lanes,
                               .max_batch = MOST,
                               .shard = 16,
                               .comm = r->comm,
                               .threads = env->threads,
                               .gauss = t->gauss};
    sb_status st = nets_make(&r->net, &o, sb_topology_erk, t->density);
    if (st == SB_OK)
        st = sb_net_start(&r->net, 5, 1, -3.0f);
    if (st == SB_OK) {
        move_means(&r->net, t->far);
        sb_net_refresh(env, &r->net);
    }
    return st;
}

/* A few steps of a fresh network; the third and the last also move the support. */
static void *train(void *context)
{
    struct rank *r = context;
    struct sb_env env = {.kernels = r->kernels, .threads = 1, .comm = r->comm};
    struct sb_growth growth = {0};
    r->st = begin(r, &env);
    for (uint32_t i = 0; i < STEPS && r->st == SB_OK; i++) {
        struct sb_act x = {0};
        uint32_t label[MOST];
        struct sb_step_options s = {.seed = 9,
                                    .number = i,
                                    .rows = batches[i],
                                    .sgd = {0.05f, 0.9f, 5e-4f, 1},
                                    .lr_rho = 0.01f,
                                    .clip = i % 2 ? 0.1f : 0.0f,
                                    .kl_factor = 1e-3f,
                                    .prior_sd = 1.0f,
                                    .rate = i >= 2 ? 0.3 : -1.0,
                                    .step_on_update = true,
                                    .batches = 1};
        r->st = fill(r, i, &x, label);
        if (r->st == SB_OK)
            r->st = sb_train_step(&env, &r->net, &x, &(struct sb_truth){.label = label},
                                  &s, &growth, &r->loss[i]);
        sb_act_fini(&x);
    }
    sb_growth_fini(&growth);
    return NULL;
}

static void compare(const struct rank *alone, const struct rank *r, uint32_t ranks)
{
    if (!nets_same(&alone->net, &r->net, true))
        fail_msg("%s, density %g: rank %u of %u has other parameters than one process",
                 r->trial->arch, r->trial->density, r->comm->rank, ranks);
    assert_memory_equal(alone->loss, r->loss, sizeof r->loss);
}

static void train_together(const struct rank *alone, uint32_t ranks,
                           const struct sb_kernels *kernels)
{
    struct threads_comm hub;
    pthread_t thread[RANKS_MOST];
    struct rank rank[RANKS_MOST];
    threads_comm_init(&hub, ranks);
    for (uint32_t i = 0; i < ranks; i++) {
        rank[i] = (struct rank){
            .trial = alone->trial, .comm = &hub.comm[i], .kernels = kernels};
        assert_int_equal(pthread_create(&thread[i], NULL, train, &rank[i]), 0);
    }
    for (uint32_t i = 0; i < ranks; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (uint32_t i = 0; i < ranks; i++) {
        assert_int_equal(rank[i].st, SB_OK);
        compare(alone, &rank[i], ranks);
        sb_net_fini(&rank[i].net);
    }
    assert_true(hub.most_late >=
                2); /* a layer's gradients are exchanged under the next */
    threads_comm_fini(&hub);
}

static void several_leave_the_bits_of_one(void **state)
{
    (void)state;
    const struct sb_kernels *table[SB_MOST_KERNELS];
    size_t tables = sb_kernels_list(table, SB_MOST_KERNELS);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        struct rank alone = {.trial = &trials[i], .kernels = table[tables - 1]};
        (void)train(&alone);
        assert_int_equal(alone.st, SB_OK);
        for (uint32_t ranks = 2; ranks <= RANKS_MOST; ranks++) /* on any kernels */
            train_together(&alone, ranks,
                           ranks == 3 && tables > 1 ? table[tables - 2]
                                                    : table[tables - 1]);
        sb_net_fini(&alone.net);
    }
}

static void more_processes_than_shards_are_refused(void **state)
{
    (void)state;
    struct threads_comm hub;
    struct sb_net net;
    threads_comm_init(&hub, 3);
    struct sb_net_options o = nets_options("mlp-8", false);
    o.max_batch = 32;
    o.shard = 16;
    o.comm = &hub.comm[0];
    assert_int_equal(nets_make(&net, &o, sb_topology_erk, 1.0), SB_EARG);
    assert_string_equal(
        sb_message(), "3 processes cannot share batches of 2 shards: start fewer, or "
                      "train with a larger train.shards (a shard has at least 16 rows)");
    sb_net_fini(&net);
    threads_comm_fini(&hub);
}

/* Planning survives every lack of memory. */
static void planning_without_memory(void **state)
{
    (void)state;
    struct threads_comm hub;
    struct sb_net net;
    sb_status st = SB_ENOMEM;
    long n = 0;
    threads_comm_init(&hub, 2);
    struct sb_net_options o = nets_options("mlp-8", true);
    o.max_batch = 64;
    o.shard = 16;
    o.comm = &hub.comm[1];
    for (; st != SB_OK && n < 200; n++) {
        sb_mem_fail_after(n);
        st = nets_make(&net, &o, sb_topology_erk, 0.5);
        sb_mem_fail_after(-1);
        sb_net_fini(&net);
    }
    assert_int_equal(st, SB_OK);
    assert_in_range(n, 10, 199);
    threads_comm_fini(&hub);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_leave_the_bits_of_one),
        cmocka_unit_test(more_processes_than_shards_are_refused),
        cmocka_unit_test(planning_without_memory),
    };
    return cmocka_run_group_tests_name("train/ranks", tests, NULL, NULL);
}
