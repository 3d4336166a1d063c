/* steps SUMS - a few training steps, updates of the support among them, on every kernel table
 * and with 1 and 3 threads: all parameters have the fingerprint that SUMS keeps. steps without
 * SUMS prints it.
 *
 * It needs no library but base, kernels, tensor, nn and the trainer's own step, so it is also
 * built for aarch64 and run under emulation: the same line of SUMS is for every processor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "kernels/kernels.h"
#include "nets.h"
#include "train/step.h"

enum { CLASSES = 10, BATCH = 11, STEPS = 3, SIDE = 28 };

struct network {
    const char *arch;
    uint32_t channels, side;
    double density;
    bool gauss;
};

static const struct network networks[] = {
    {"mlp-40-17", 1, 9, 1.0, false}, {"mlp-40-17", 1, 9, 0.3, true},
    {"lenet", 1, 28, 0.1, true},     {"wrn-10-1", 3, 8, 0.2, true},
    {"resnet-8", 3, 8, 1.0, false},
};

static sb_status start(struct sb_net *net, const struct network *w,
                       const struct sb_env *env)
{
    struct sb_net_options o = {.shape.name = w->arch,
                               .shape.channels = w->channels,
                               .shape.height = w->side,
                               .shape.width = w->side,
                               .shape.classes = CLASSES,
                               .lanes = env->kernels->lanes,
                               .max_batch = BATCH,
                               .threads = env->threads,
                               .gauss = w->gauss};
    sb_status st = nets_make(net, &o, sb_topology_erk, w->density);
    if (st == SB_OK)
        st = sb_net_start(net, 5, 0, -3.0f);
    if (st == SB_OK)
        sb_net_refresh(env, net);
    return st;
}

/* Step number i; the first collects growth gradients, the second moves the support. */
static sb_status step(const struct sb_env *env, struct sb_net *net,
                      const struct network *w, uint32_t i, struct sb_growth *growth)
{
    static float images[BATCH * SIDE * SIDE]; /* [image][channel][y][x] */
    uint32_t label[BATCH], batch = i + 1 < STEPS ? BATCH : BATCH / 2;
    struct sb_step_options o = {.seed = 9,
                                .number = i,
                                .sgd = {0.05f, 0.9f, 5e-4f, 1},
                                .lr_rho = 0.01f,
                                .kl_factor = 1e-3f,
                                .prior_sd = 0.2f,
                                .rate = i == 1 ? 0.3 : -1.0,
                                .collect = i == 0,
                                .step_on_update = true,
                                .batches = 2};
    struct sb_act x;
    double loss;
    nets_randomise(images, (size_t)batch * w->channels * w->side * w->side, 11, i);
    for (uint32_t k = 0; k < batch; k++)
        label[k] = (7 * k + i) % CLASSES;
    sb_status st =
        sb_act_init(&x, env->kernels->lanes, batch, w->channels, w->side, w->side);
    if (st == SB_OK && o.collect)
        st = sb_growth_start(growth, net);
    if (st == SB_OK) {
        sb_act_load(&x, images);
        st = sb_train_step(env, net, &x, &(struct sb_truth){.label = label}, &o, growth,
                           &loss);
    }
    sb_act_fini(&x);
    return st;
}

/* Of all numbers, and of where they are. */
static uint64_t fingerprint(const struct sb_net *net, uint64_t sum)
{
    for (uint32_t i = 0; i < net->params.n; i++) {
        const struct sb_param *p = &net->params.param[i];
        sum = sb_hash_on(sum, p->value, p->count * sizeof *p->value);
        if (p->momentum)
            sum = sb_hash_on(sum, p->momentum, p->count * sizeof *p->momentum);
    }
    for (uint32_t i = 0; i < net->arch.weights; i++)
        if (!net->weight[i].dense)
            sum = sb_hash_on(sum, net->weight[i].pattern.col,
                             net->weight[i].nnz * sizeof(uint32_t));
    return sum;
}

/* Of all networks after their steps; 0: a failure, which is printed. */
static uint64_t train(const struct sb_env *env)
{
    uint64_t sum = 1;
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        struct sb_net net;
        struct sb_growth growth = {0};
        sb_status st = start(&net, &networks[i], env);
        for (uint32_t k = 0; k < STEPS && st == SB_OK; k++)
            st = step(env, &net, &networks[i], k, &growth);
        if (st == SB_OK)
            sum = fingerprint(&net, sum);
        sb_growth_fini(&growth);
        sb_net_fini(&net);
        if (st != SB_OK) {
            fprintf(stderr, "FAILED: %s: %s\n", networks[i].arch, sb_message());
            return 0;
        }
    }
    return sum;
}

/* The line "FINGERPRINT steps" of the file; 0: there is none. */
static uint64_t wanted(const char *path)
{
    char line[128], name[32];
    unsigned long long sum, found = 0;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%16llx %31s", &sum, name) == 2 && strcmp(name, "steps") == 0)
            found = sum;
    if (f)
        fclose(f);
    return found;
}

int main(int argc, char **argv)
{
    const struct sb_kernels *table[SB_MOST_KERNELS];
    size_t tables = sb_kernels_list(table, SB_MOST_KERNELS);
    uint64_t want = argc > 1 ? wanted(argv[1]) : 0;
    for (size_t i = 0; i < tables; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            struct sb_env env = {.kernels = table[i], .threads = threads};
            uint64_t have = train(&env);
            if (argc < 2 && want == 0)
                want = have;
            if (have == 0 || have != want) {
                printf("FAILED: %s, %d threads: %016llx, want %016llx; where other bits "
                       "are meant: tests/bits/renew\n",
                       table[i]->name, threads, (unsigned long long)have,
                       (unsigned long long)want);
                return 1;
            }
        }
    printf("%016llx steps\n", (unsigned long long)want);
    return 0;
}
