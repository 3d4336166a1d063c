/* models - small model files with every number random, for tests of prediction. */
#ifndef SB_TESTS_MODELS_H
#define SB_TESTS_MODELS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "nets.h"

static const char *const models_names[] = {"zero", "one", "two",   "three", "four",
                                           "five", "six", "seven", "eight", "nine"};

/* members random members of arch (see nets_init), the first of which has seed 10. */
static inline sb_status models_make(struct sb_model *m, const char *arch, double density,
                                    bool gauss, uint32_t members)
{
    static const float mean[] = {0.4914f, 0.4822f, 0.4465f},
                       sd[] = {0.247f, 0.24f, 0.26f};
    const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
    struct sb_net net;
    memset(m, 0, sizeof *m);
    sb_status st = nets_init(&net, arch, density, gauss);
    if (st == SB_OK) {
        const struct sb_arch_node *input = &net.arch.node[0];
        struct sb_model_info info = {
            .arch = arch,
            .method = "sebays",
            .recipe = "[train]\nlr = 0.1\n",
            .channels = input->channels,
            .height = input->height,
            .width = input->width,
            .classes = 10,
            .class_name = models_names,
            .mean = mean,
            .sd = sd,
            .gauss = gauss,
        };
        st = sb_model_init(m, &info);
    }
    for (uint32_t i = 0; i < members && st == SB_OK; i++) {
        struct sb_trained member = {0};
        st = nets_fill(&env, &net, 10 + i);
        if (st == SB_OK)
            st = sb_trained_init(&member, &net);
        if (st == SB_OK)
            st = sb_trained_save(&member, &net);
        member.sample_seed = 77 + i;
        if (st == SB_OK)
            st = sb_model_add(m, &member);
        sb_trained_fini(&member);
    }
    sb_net_fini(&net);
    return st;
}

static inline sb_status models_write(const char *path, const char *arch, double density,
                                     bool gauss, uint32_t members)
{
    struct sb_model m;
    sb_status st = models_make(&m, arch, density, gauss, members);
    if (st == SB_OK)
        st = sb_model_write(&m, path);
    sb_model_fini(&m);
    return st;
}

/* n random bytes. */
static inline void models_pixels(uint8_t *out, size_t n)
{
    struct sb_stream s = sb_rng_stream(5, SB_RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(256.0f * sb_rng_uniform(&s, i));
}

#endif
