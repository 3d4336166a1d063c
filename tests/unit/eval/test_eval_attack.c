/* eval/attack and eval/ensemble: what an attack may change, that it hurts, that it
 * repeats; one prediction for every way to ask. */
#include "eval/attack.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "kernels/kernels.h"
#include "nets.h"
#include "refused.h"

enum {
    CHANNELS = 3,
    SIDE = 8,
    SIZE = CHANNELS * SIDE * SIDE,
    N = 21,
    CLASSES = 10,
    EVERY = 5
};

struct world {
    struct sb_env env;
    struct sb_model model;
    struct sb_ensemble ensemble;
    float pixel[N * SIZE];
    uint32_t label[N];
};

/* Logits times `sure`. */
static void sharpen(struct sb_net *n, float sure)
{
    struct sb_weight *fc = &n->weight[n->arch.weights - 1];
    for (uint32_t i = 0; i < fc->nnz; i++)
        fc->mu[i] *= sure;
    for (uint32_t i = 0; i < fc->conv.out; i++)
        fc->bias[i] *= sure;
}

static sb_status add_member(struct world *w, uint64_t seed, float sure)
{
    struct sb_net net;
    struct sb_trained member = {0};
    sb_status st = nets_init(&net, "resnet-8", 0.5, true);
    if (st == SB_OK)
        st = sb_net_start(&net, seed, 0, -4.0f);
    if (st == SB_OK)
        sharpen(&net, sure);
    sb_net_refresh(&w->env, &net);
    if (st == SB_OK)
        st = sb_trained_init(&member, &net);
    if (st == SB_OK)
        st = sb_trained_save(&member, &net);
    member.sample_seed = seed;
    if (st == SB_OK)
        st = sb_model_add(&w->model, &member);
    sb_trained_fini(&member);
    sb_net_fini(&net);
    return st;
}

static void init_sure(struct world *w, enum sb_sample_kind sampling, uint32_t draws,
                      float sure)
{
    static const float mean[] = {0.4f, 0.5f, 0.45f}, sd[] = {0.2f, 0.25f, 0.3f};
    const struct sb_model_info info = {.arch = "resnet-8",
                                       .method = "sebays",
                                       .recipe = "",
                                       .channels = CHANNELS,
                                       .height = SIDE,
                                       .width = SIDE,
                                       .classes = CLASSES,
                                       .mean = mean,
                                       .sd = sd,
                                       .gauss = true};
    const struct sb_config_eval how = {.bins = 15, .sampling = sampling, .draws = draws};
    struct sb_stream s = sb_rng_stream(1, SB_RNG_TEST, 0, 0, 0);
    memset(w, 0, sizeof *w);
    w->env.threads = 2;
    assert_int_equal(sb_kernels_choose(NULL, &w->env.kernels), SB_OK);
    assert_int_equal(sb_model_init(&w->model, &info), SB_OK);
    assert_int_equal(add_member(w, 1, 1), SB_OK);
    assert_int_equal(add_member(w, 2, sure), SB_OK);
    assert_int_equal(sb_ensemble_init(&w->ensemble, &w->env, &w->model, &how, 8), SB_OK);
    for (uint32_t i = 0; i < N * SIZE; i++)
        w->pixel[i] = (float)sb_rng_below(&s, i, 256) / 255.0f;
    for (uint32_t i = 0; i < N; i++)
        w->label[i] = i % CLASSES;
}

static void init(struct world *w, enum sb_sample_kind sampling, uint32_t draws)
{
    init_sure(w, sampling, draws, 1);
}

static void fini(struct world *w)
{
    sb_ensemble_fini(&w->ensemble);
    sb_model_fini(&w->model);
}

/* Probabilities of both members: [member][image][class]. */
static const float *predict(struct world *w, const float *pixel)
{
    static float prob[2 * N * CLASSES];
    struct sb_dataset d = {.element = SB_FLOATS,
                           .values = pixel,
                           .n = N,
                           .channels = CHANNELS,
                           .height = SIDE,
                           .width = SIDE,
                           .path = "pixels"};
    struct sb_chosen all = {.data = &d, .n = N};
    assert_int_equal(sb_ensemble_check(&w->ensemble, &d), SB_OK);
    assert_int_equal(sb_ensemble_predict(&w->ensemble, &all, prob), SB_OK);
    return prob;
}

/* Mean of - log p(label) of one member. */
static double loss_of(struct world *w, const float *pixel, size_t member)
{
    const float *prob = predict(w, pixel);
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum -= log((double)prob[(member * N + i) * CLASSES + w->label[i]]);
    return sum / N;
}

static double attacked(struct world *w, const char *kind, uint32_t member, float *out)
{
    struct sb_attack a;
    assert_int_equal(sb_attack_parse(&a, kind), SB_OK);
    assert_int_equal(sb_attack_init(&a, &w->ensemble, member, 8), SB_OK);
    assert_int_equal(sb_attack_run(&a, w->pixel, w->label, 0, N, out), SB_OK);
    sb_attack_fini(&a);
    return loss_of(w, out, member);
}

static void attacks_hurt_within_bounds(void **state)
{
    (void)state;
    static struct world w;
    static float fgsm[N * SIZE], pgd[N * SIZE], again[N * SIZE];
    init(&w, SB_SAMPLE_DRAW, 1);
    for (uint32_t m = 0; m < 2; m++) {
        double clean = loss_of(&w, w.pixel, m), one = attacked(&w, "fgsm", m, fgsm);
        double many = attacked(&w, "pgd-20", m, pgd);
        attacked(&w, "pgd-20", m, again);
        assert_memory_equal(pgd, again, sizeof pgd);
        if (!(one > clean + 0.05 && many > clean + 0.05))
            fail_msg("losses: clean %g, fgsm %g, pgd %g", clean, one, many);
        size_t moved = 0;
        for (size_t i = 0; i < N * SIZE; i++) {
            float far = fabsf(fgsm[i] - w.pixel[i]), too = 8.0f / 255 + 1e-6f;
            moved += far > 8.0f / 255 - 1e-6f;
            assert_true(far <= too && fabsf(pgd[i] - w.pixel[i]) <= too);
            assert_true(fgsm[i] >= 0 && fgsm[i] <= 1 && pgd[i] >= 0 && pgd[i] <= 1);
        }
        assert_true(moved > N * SIZE * 9 / 10); /* all but those at the ends */
    }
    fini(&w);
}

/* The sign of the difference quotient, for the pixels it is clear for. */
static void fgsm_follows_the_gradient(void **state)
{
    (void)state;
    static struct world w;
    static float fgsm[N * SIZE], x[N * SIZE];
    double slope[SIZE], largest = 0;
    size_t clear = 0;
    init(&w, SB_SAMPLE_MEAN, 1);
    attacked(&w, "fgsm", 1, fgsm);
    memcpy(x, w.pixel, sizeof x);
    for (size_t i = 0; i < SIZE; i += EVERY) {
        x[i] = w.pixel[i] + 4e-3f;
        slope[i] = loss_of(&w, x, 1);
        x[i] = w.pixel[i] - 4e-3f;
        slope[i] -= loss_of(&w, x, 1);
        x[i] = w.pixel[i];
        largest = fmax(largest, fabs(slope[i]));
    }
    for (size_t i = 0; i < SIZE; i += EVERY) {
        float want = w.pixel[i] + (slope[i] > 0 ? 8.0f : -8.0f) / 255.0f;
        if (fabs(slope[i]) < 0.2 * largest)
            continue;
        clear++;
        assert_true(fabsf(fgsm[i] - fminf(fmaxf(want, 0), 1)) < 1e-6f);
    }
    assert_true(clear > 5);
    fini(&w);
}

/* By how much image 0 is rather of class a than of class b, to the second member, in logits. */
static double rather(struct world *w, const float *pixel, uint32_t a, uint32_t b)
{
    const float *p = predict(w, pixel) + (size_t)N * CLASSES;
    return log((double)p[a]) - log((double)p[b]);
}

/* Where p(label) is 1 in single precision and all others are 0, the loss still has a
 * direction: away from the class, towards the next one. */
static void the_sure_are_attacked(void **state)
{
    (void)state;
    static struct world w, sure;
    static float fgsm[N * SIZE], x[N * SIZE];
    double slope[SIZE], largest = 0;
    uint32_t first = 0, second, clear = 0;
    init(&w, SB_SAMPLE_MEAN, 1);
    init_sure(&sure, SB_SAMPLE_MEAN, 1, 1e5f);
    const float *p = predict(&w, w.pixel) + (size_t)N * CLASSES;
    for (uint32_t k = 1; k < CLASSES; k++)
        first = p[k] > p[first] ? k : first;
    second = first == 0;
    for (uint32_t k = 0; k < CLASSES; k++)
        second = k != first && p[k] > p[second] ? k : second;
    sure.label[0] = first;
    p = predict(&sure, w.pixel) + (size_t)N * CLASSES;
    assert_true(p[first] == 1.0f);
    attacked(&sure, "fgsm", 1, fgsm);
    memcpy(x, w.pixel, sizeof x);
    for (size_t i = 0; i < SIZE; i += EVERY) {
        x[i] = w.pixel[i] + 4e-3f;
        slope[i] = rather(&w, x, second, first);
        x[i] = w.pixel[i] - 4e-3f;
        slope[i] -= rather(&w, x, second, first);
        x[i] = w.pixel[i];
        largest = fmax(largest, fabs(slope[i]));
    }
    for (size_t i = 0; i < SIZE; i += EVERY) {
        float want = w.pixel[i] + (slope[i] > 0 ? 8.0f : -8.0f) / 255.0f;
        if (fabs(slope[i]) < 0.2 * largest)
            continue;
        clear++;
        assert_true(fabsf(fgsm[i] - fminf(fmaxf(want, 0), 1)) < 1e-6f);
    }
    assert_true(clear > 5);
    fini(&w);
    fini(&sure);
}

static void ways_of_sampling(void **state)
{
    (void)state;
    static struct world w;
    double loss[4];
    const enum sb_sample_kind way[] = {SB_SAMPLE_DRAW, SB_SAMPLE_DRAWS, SB_SAMPLE_MEAN,
                                       SB_SAMPLE_NOISE};
    for (int i = 0; i < 4; i++) {
        init(&w, way[i], 3);
        loss[i] = loss_of(&w, w.pixel, 0);
        assert_true(loss[i] == loss_of(&w, w.pixel, 0));
        for (int k = 0; k < i; k++)
            assert_true(loss[i] != loss[k]);
        fini(&w);
    }
}

static void what_cannot_be(void **state)
{
    (void)state;
    static struct world w;
    struct sb_attack a;
    struct sb_dataset grey = {
        .path = "set", .n = 3, .channels = 1, .height = 8, .width = 8};
    struct sb_dataset none = {.path = "set", .channels = 3, .height = 8, .width = 8};
    refused(sb_attack_parse(&a, "cw"), SB_EARG,
            "there is no attack 'cw'; want fgsm, pgd or pgd-STEPS");
    refused(sb_attack_parse(&a, "pgd-0"), SB_EARG,
            "there is no attack 'pgd-0'; want fgsm, pgd or pgd-STEPS");
    refused(sb_attack_parse(&a, "pgd-9999999999999"), SB_EARG,
            "there is no attack 'pgd-9999999999999'; want fgsm, pgd or pgd-STEPS");
    init(&w, SB_SAMPLE_DRAW, 1);
    refused(sb_ensemble_check(&w.ensemble, &grey), SB_EARG,
            "set: examples are 1 x 8 x 8, the model takes 3 x 8 x 8");
    refused(sb_ensemble_check(&w.ensemble, &none), SB_EARG,
            "set: there are no examples in it");
    fini(&w);
}

static void allocation_failures_are_survived(void **state)
{
    (void)state;
    static struct world w;
    const struct sb_config_eval how = {.sampling = SB_SAMPLE_DRAW};
    struct sb_ensemble e;
    struct sb_attack a;
    init(&w, SB_SAMPLE_DRAW, 1);
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 2000; n++) {
        sb_mem_fail_after(n);
        st = sb_ensemble_init(&e, &w.env, &w.model, &how, 8);
        sb_mem_fail_after(-1);
        sb_ensemble_fini(&e);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_true(n > 10 && n < 2000);
    st = SB_ENOMEM;
    for (n = 0; st != SB_OK && n < 2000; n++) {
        assert_int_equal(sb_attack_parse(&a, "fgsm"), SB_OK);
        sb_mem_fail_after(n);
        st = sb_attack_init(&a, &w.ensemble, 0, 8);
        sb_mem_fail_after(-1);
        sb_attack_fini(&a);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_true(n > 10 && n < 2000);
    fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attacks_hurt_within_bounds),
        cmocka_unit_test(fgsm_follows_the_gradient),
        cmocka_unit_test(the_sure_are_attacked),
        cmocka_unit_test(ways_of_sampling),
        cmocka_unit_test(what_cannot_be),
        cmocka_unit_test(allocation_failures_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
