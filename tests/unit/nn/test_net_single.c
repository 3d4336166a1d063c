/* One image spread over the lanes gives the bits it has in a batch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kernels/kernels.h"
#include "nets.h"

enum { CHANNELS = 3, CLASSES = 10, IMAGES = 2 };

struct trial {
    const char *arch;
    uint32_t height, width;
    double density;
    uint32_t bands; /* expected; 0: it stays a batch of one */
    uint32_t wide;  /* expected on 16 lanes, if not the same */
};

static const struct trial trials[] = {
    {"wrn-10-2", 32, 32, 0.3, 8, 0}, {"wrn-10-2", 32, 32, 1.0, 8, 0},
    {"wrn-10-4", 16, 16, 1.0, 4, 0}, {"resnet-8", 28, 28, 0.3, 7, 0},
    {"resnet-8", 24, 20, 0.4, 6, 0}, {"resnet-14", 8, 9, 0.5, 2, 0},
    {"resnet-8", 30, 32, 0.3, 0, 0}, {"lenet", 28, 28, 0.3, 0, 0},
    {"mlp-40", 8, 8, 0.5, 0, 0},     {"resnet-8", 64, 8, 0.2, 8, 16},
    {"wrn-10-1", 12, 40, 0.9, 3, 0}, {"resnet-8", 44, 8, 0.3, 0, 11},
};

static sb_status make(struct sb_net *net, const struct trial *t, uint32_t lanes,
                      bool single)
{
    struct sb_net_options o = {
        .shape.name = t->arch,
        .shape.channels = CHANNELS,
        .shape.height = t->height,
        .shape.width = t->width,
        .shape.classes = CLASSES,
        .lanes = lanes,
        .max_batch = single ? 1 : IMAGES,
        .threads = 2,
        .gauss = true,
        .inference = true,
        .single = single,
    };
    return nets_make(net, &o, sb_topology_erk, t->density);
}

/* The image's logits from the net for single images. */
static void one(const struct sb_env *env, struct sb_net *n, const float *image,
                uint32_t height, uint32_t width, float *logits)
{
    uint32_t bands = n->arch.bands ? n->arch.bands : 1;
    struct sb_act *x = &n->input;
    assert_int_equal(x->batch, bands);
    assert_int_equal(x->height * bands, height);
    for (uint32_t c = 0; c < CHANNELS; c++)
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t i = 0; i < width; i++)
                sb_act_image(x, y / x->height,
                             c)[(y % x->height * width + i) * x->lanes] = *image++;
    struct sb_pass pass = {0};
    assert_int_equal(sb_net_forward(env, n, &pass), SB_OK);
    for (uint32_t c = 0; c < CLASSES; c++)
        logits[c] = sb_act_plane(&n->head[0].logits, 0, c)[0];
}

static void same_bits(const struct trial *t, const struct sb_env *env)
{
    size_t size = (size_t)CHANNELS * t->height * t->width;
    float *images = sb_malloc(IMAGES * size, sizeof *images);
    float many[IMAGES * CLASSES], alone[CLASSES];
    struct sb_net batch, single;
    struct sb_pass pass = {0};
    assert_non_null(images);
    nets_randomise(images, IMAGES * size, 3, 1);
    uint32_t lanes = env->kernels->lanes;
    assert_int_equal(make(&batch, t, lanes, false), SB_OK);
    assert_int_equal(make(&single, t, lanes, true), SB_OK);
    assert_int_equal(single.arch.bands, lanes == 16 && t->wide ? t->wide : t->bands);
    assert_int_equal(nets_fill(env, &batch, 7), SB_OK);
    assert_int_equal(nets_copy(env, &batch, &single), SB_OK);
    sb_act_load(&batch.input, images);
    assert_int_equal(sb_net_forward(env, &batch, &pass), SB_OK);
    sb_act_store(&batch.head[0].logits, many);
    for (uint32_t i = 0; i < IMAGES; i++) {
        one(env, &single, images + i * size, t->height, t->width, alone);
        assert_memory_equal(alone, many + (size_t)i * CLASSES, sizeof alone);
    }
    sb_net_fini(&batch);
    sb_net_fini(&single);
    sb_free(images);
}

static void single_images_have_the_batch_bits(void **state)
{
    (void)state;
    const struct sb_kernels *table[SB_MOST_KERNELS];
    size_t tables = sb_kernels_list(table, SB_MOST_KERNELS);
    for (size_t k = 0; k < tables; k++) /* the portable ones are slow: once is enough */
        for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
            for (int threads = 1; threads <= (k < 2 ? 1 : 2); threads++) {
                struct sb_env env = {.kernels = table[k], .threads = threads};
                same_bits(&trials[i], &env);
            }
}

static void only_prediction(void **state)
{
    (void)state;
    struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
    struct sb_net net;
    struct sb_pass noise = {.sample = true};
    assert_int_equal(make(&net, &trials[0], 8, true), SB_OK);
    assert_int_equal(sb_net_forward(&env, &net, &noise), SB_EARG);
    sb_net_fini(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_images_have_the_batch_bits),
        cmocka_unit_test(only_prediction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
