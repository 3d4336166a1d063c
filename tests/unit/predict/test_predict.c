/* prediction through include/sebays.h: the same bits however it is asked for, the bits of
 * a member alone, no allocation in a call, and every failure survived. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "models.h"
#include "predict/forward.h"
#include "predict/input.h"
#include "refused.h"
#include "sebays.h"

enum { EXAMPLES = 44, CLASSES = 10, MOST_PIXELS = 28 * 28, MOST_MEMBERS = 3 };

static char path[] = "/tmp/sebays-test-XXXXXX";
static struct sb_env env = {.threads = 1};
static uint8_t pixels[EXAMPLES * MOST_PIXELS];

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    models_pixels(pixels, sizeof pixels);
    if (sb_kernels_choose(NULL, &env.kernels) != SB_OK)
        return -1;
    return fd < 0 || close(fd) ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

/* All that can be asked for. */
struct answers {
    float probabilities[EXAMPLES * CLASSES], members[MOST_MEMBERS * EXAMPLES * CLASSES];
    float total[EXAMPLES], aleatoric[EXAMPLES], epistemic[EXAMPLES];
    uint32_t votes[EXAMPLES * CLASSES];
};

static struct sebays_prediction all_of(struct answers *a)
{
    return (struct sebays_prediction){
        a->probabilities, a->members, a->total, a->aleatoric,
        a->epistemic,     a->votes,   NULL};
}

static struct sebays_model *open_model(const char *arch, double density, bool gauss,
                                       uint32_t members)
{
    struct sebays_model *m;
    assert_int_equal(models_write(path, arch, density, gauss, members), SB_OK);
    assert_int_equal(sebays_model_open(path, &m), SEBAYS_OK);
    return m;
}

static struct sebays_predictor *make(const struct sebays_model *m,
                                     const struct sebays_predictor_options *o)
{
    struct sebays_predictor *p;
    assert_int_equal(sebays_predictor_new(m, o, &p), SEBAYS_OK);
    return p;
}

static void ask(struct sebays_predictor *p, const struct sebays_examples *e,
                struct answers *a)
{
    struct sebays_prediction out = all_of(a);
    memset(a, 0xff, sizeof *a);
    assert_int_equal(sebays_predict(p, e, &out), SEBAYS_OK);
}

static const struct sebays_examples bytes = {
    .data = pixels, .count = EXAMPLES, .type = SEBAYS_U8};

/* ---- the same bits ---- */

/* One is so wide that threads take it 16 examples at a time: a call has more pieces than
 * threads. */
static const struct {
    const char *arch;
    double density;
    bool gauss;
    uint32_t members;
} kinds[] = {{"mlp-200-30", 1.0, true, 2},  {"mlp-200-30", 0.1, true, 3},
             {"mlp-200-30", 0.9, false, 2}, {"lenet", 0.1, true, 2},
             {"wrn-10-1", 0.2, true, 2},    {"lenet", 1.0, false, 1},
             {"resnet-8", 0.3, false, 2},   {"mlp-12000", 0.005, true, 2}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const struct sebays_predictor_options ways[] = {
    {.sampling = SEBAYS_DRAW, .max_batch = 44, .threads = 1},
    {.sampling = SEBAYS_DRAWS, .draws = 3, .max_batch = 64, .threads = 1},
    {.sampling = SEBAYS_MEAN, .max_batch = 44, .threads = 1},
    {.sampling = SEBAYS_NOISE, .draws = 2, .max_batch = 44, .threads = 2},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* Calls of `size` examples each, compared with the whole. */
static void ask_in_pieces(struct sebays_predictor *p, size_t size, size_t image,
                          const struct answers *want, uint32_t members)
{
    static struct answers a;
    ask(p, &(struct sebays_examples){.type = SEBAYS_U8}, &a); /* of none */
    for (size_t at = 0; at < EXAMPLES; at += size) {
        size_t n = EXAMPLES - at < size ? EXAMPLES - at : size, row = n * CLASSES;
        struct sebays_examples e = {
            .data = pixels + at * image, .count = n, .type = SEBAYS_U8, .first = at};
        ask(p, &e, &a);
        assert_memory_equal(a.probabilities, want->probabilities + at * CLASSES,
                            row * sizeof(float));
        assert_memory_equal(a.votes, want->votes + at * CLASSES, row * sizeof(uint32_t));
        assert_memory_equal(a.total, want->total + at, n * sizeof(float));
        assert_memory_equal(a.aleatoric, want->aleatoric + at, n * sizeof(float));
        assert_memory_equal(a.epistemic, want->epistemic + at, n * sizeof(float));
        for (uint32_t m = 0; m < members; m++)
            assert_memory_equal(a.members + m * row,
                                want->members + ((size_t)m * EXAMPLES + at) * CLASSES,
                                row * sizeof(float));
    }
}

static void bits_do_not_depend_on_the_batch_or_threads(void **state)
{
    (void)state;
    static struct answers want;
    static const struct {
        uint32_t max_batch, threads;
        size_t piece;
    } cases[] = {{1, 1, 9}, {1, 2, 44}, {7, 2, 44}, {65, 3, 1}, {44, 2, 23}, {16, 8, 30}};
    for (size_t k = 0; k < KINDS; k++) {
        struct sebays_model *m =
            open_model(kinds[k].arch, kinds[k].density, kinds[k].gauss, kinds[k].members);
        size_t image = (size_t)sebays_model_channels(m) * sebays_model_height(m) *
                       sebays_model_width(m);
        for (size_t w = 0; w < WAYS; w++) {
            struct sebays_predictor *p = make(m, &ways[w]);
            ask(p, &bytes, &want);
            sebays_predictor_free(p);
            for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
                struct sebays_predictor_options o = ways[w];
                o.max_batch = cases[c].max_batch;
                o.threads = cases[c].threads;
                p = make(m, &o);
                ask_in_pieces(p, cases[c].piece, image, &want, kinds[k].members);
                sebays_predictor_free(p);
            }
        }
        sebays_model_free(m);
    }
}

static void bits_are_those_of_every_instruction_set(void **state)
{
    (void)state;
    static struct answers want, have;
    struct sebays_model *m = open_model("wrn-10-1", 0.2, true, 2);
    struct sebays_predictor *best = make(m, NULL);
    struct sebays_predictor_options o = {.isa = "scalar"};
    struct sebays_predictor *scalar = make(m, &o);
    ask(best, &bytes, &want);
    ask(scalar, &bytes, &have);
    assert_memory_equal(have.probabilities, want.probabilities,
                        sizeof want.probabilities);
    sebays_predictor_free(best);
    sebays_predictor_free(scalar);
    sebays_model_free(m);
}

/* ---- a member alone ---- */

/* Member i with a network of its own, all examples at once. */
static void predict_alone(const struct sb_model *m, uint32_t i, uint32_t draws,
                          bool noise, float *out)
{
    static float draw[EXAMPLES * CLASSES];
    unsigned char bad[EXAMPLES];
    const struct sb_model_info *o = &m->info;
    ptrdiff_t row = o->width, plane = row * o->height;
    struct sb_input in = {.data = pixels,
                          .type = SB_INPUT_U8,
                          .stride = {plane * o->channels, plane, row, 1}};
    struct sb_normalise normal;
    struct sb_net net;
    struct sb_model_plan plan = {.lanes = env.kernels->lanes,
                                 .max_batch = EXAMPLES,
                                 .threads = 1,
                                 .inference = true,
                                 .gauss = noise};
    assert_int_equal(sb_normalise_given(&normal, SB_BYTES, o->channels, o->mean, o->sd),
                     SB_OK);
    assert_int_equal(sb_model_net(m, i, &plan, &net), SB_OK);
    memset(out, 0, sizeof draw);
    for (uint32_t k = 0; k < draws; k++) {
        struct sb_pass pass = {.sample = noise,
                               .seed = m->member[i].sample_seed,
                               .member = i,
                               .step = noise ? k : 0};
        assert_int_equal(noise ? sb_trained_load(&m->member[i], &env, &net)
                               : sb_trained_draw(&m->member[i], &env, &net, k),
                         SB_OK);
        sb_input_fill(&in, 0, &normal, 1, &net.input, bad);
        assert_int_equal(sb_predict_forward(&env, &net, &pass, 0, draw), SB_OK);
        sb_predict_add(&net, out, draw, EXAMPLES, k, draws);
    }
    sb_net_fini(&net);
    sb_normalise_fini(&normal);
}

static void bits_are_those_of_a_member_alone(void **state)
{
    (void)state;
    static struct answers have;
    static float want[EXAMPLES * CLASSES];
    for (size_t k = 0; k < KINDS; k++)
        for (size_t w = 0; w < WAYS; w++) {
            if (ways[w].sampling == SEBAYS_MEAN)
                continue;
            struct sebays_model *m = open_model(kinds[k].arch, kinds[k].density,
                                                kinds[k].gauss, kinds[k].members);
            struct sebays_predictor *p = make(m, &ways[w]);
            struct sb_model inside;
            uint32_t draws = ways[w].draws && kinds[k].gauss ? ways[w].draws : 1;
            bool noise = ways[w].sampling == SEBAYS_NOISE && kinds[k].gauss;
            assert_int_equal(sb_model_read(&inside, path), SB_OK);
            ask(p, &bytes, &have);
            for (uint32_t i = 0; i < kinds[k].members; i++) {
                predict_alone(&inside, i, draws, noise, want);
                assert_memory_equal(have.members + (size_t)i * EXAMPLES * CLASSES, want,
                                    sizeof want);
            }
            sb_model_fini(&inside);
            sebays_predictor_free(p);
            sebays_model_free(m);
        }
}

/* ---- the same examples in other forms ---- */

enum { CHANNELS = 3, SIDE = 8, IMAGE = CHANNELS * SIDE * SIDE };

static void any_layout_and_type_will_do(void **state)
{
    (void)state;
    static struct answers want, have;
    static uint8_t nhwc[EXAMPLES * IMAGE];
    static float floats[EXAMPLES * IMAGE + 1], reversed[EXAMPLES * IMAGE];
    struct sebays_model *m = open_model("wrn-10-1", 0.2, true, 2);
    struct sebays_predictor *p = make(m, NULL);
    for (size_t i = 0; i < EXAMPLES * IMAGE; i++) {
        size_t n = i / IMAGE, c = i / (SIDE * SIDE) % CHANNELS, at = i % (SIDE * SIDE);
        nhwc[n * IMAGE + at * CHANNELS + c] = pixels[i];
        floats[i] = (float)pixels[i] / 255.0f;
        reversed[EXAMPLES * IMAGE - 1 - i] = floats[i];
    }
    char *odd = (char *)floats + 1; /* floats that are not aligned */
    const ptrdiff_t s = sizeof(float);
    struct sebays_examples forms[] = {
        {.data = nhwc, .type = SEBAYS_U8, .layout = SEBAYS_NHWC},
        {.data = floats, .type = SEBAYS_F32},
        {.data = reversed + EXAMPLES * IMAGE - 1,
         .layout = SEBAYS_STRIDED,
         .stride = {-IMAGE * s, -SIDE * SIDE * s, -SIDE * s, -s}},
        {.data = odd,
         .layout = SEBAYS_STRIDED,
         .stride = {IMAGE * s, SIDE * SIDE * s, SIDE * s, s}},
    };
    ask(p, &bytes, &want);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        forms[i].count = EXAMPLES;
        if (forms[i].data == odd)
            memmove(odd, floats, EXAMPLES * IMAGE * sizeof(float));
        ask(p, &forms[i], &have);
        assert_memory_equal(have.members, want.members,
                            2 * EXAMPLES * CLASSES * sizeof(float));
    }
    sebays_predictor_free(p);
    sebays_model_free(m);
}

/* ---- memory ---- */

static void a_call_allocates_nothing(void **state)
{
    (void)state;
    static struct answers a;
    for (size_t k = 0; k < KINDS; k++)
        for (size_t w = 0; w < WAYS; w++) {
            struct sebays_model *m = open_model(kinds[k].arch, kinds[k].density,
                                                kinds[k].gauss, kinds[k].members);
            struct sebays_predictor *p = make(m, &ways[w]);
            size_t count = sb_mem_count();
            ask(p, &bytes, &a);
            ask(p, &bytes, &a);
            assert_int_equal(sb_mem_count(), count);
            sebays_predictor_free(p);
            sebays_model_free(m);
        }
}

static void predictors_share_the_weights(void **state)
{
    (void)state;
    struct sebays_model *m = open_model("mlp-200-30", 1.0, true, 3);
    struct sebays_predictor_options o = {.max_batch = 1, .threads = 1};
    size_t before = sb_mem_live();
    struct sebays_predictor *first = make(m, &o);
    size_t one = sb_mem_live() - before;
    struct sebays_predictor *second = make(m, &o);
    size_t two = sb_mem_live() - before - one;
    /* 192 x 200 + 200 x 30 + 30 x 10 weights, three members */
    size_t weights = 3 * (192 * 200 + 200 * 30 + 30 * 10) * sizeof(float);
    assert_true(one > weights && two < one - weights + 1);
    sebays_predictor_free(first);
    sebays_predictor_free(second);
    sebays_model_free(m);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    for (size_t w = 0; w < WAYS; w++) {
        assert_int_equal(models_write(path, "wrn-10-1", 0.2, true, 1), SB_OK);
        sebays_status st = SEBAYS_ENOMEM;
        long n = 0;
        for (; st != SEBAYS_OK && n < 2000; n++) {
            struct sebays_model *m = NULL;
            struct sebays_predictor *p = NULL;
            sb_mem_fail_after(n);
            st = sebays_model_open(path, &m);
            if (st == SEBAYS_OK)
                st = sebays_predictor_new(m, &ways[w], &p);
            sb_mem_fail_after(-1);
            assert_true(st == SEBAYS_OK || st == SEBAYS_ENOMEM);
            sebays_predictor_free(p);
            sebays_model_free(m);
            assert_int_equal(sb_mem_live(), live);
        }
        assert_true(n > 50 && n < 2000);
    }
}

/* ---- the model itself ---- */

static void a_model_tells_what_it_is(void **state)
{
    (void)state;
    struct sebays_model *m = open_model("wrn-10-1", 0.2, true, 3);
    assert_int_equal(sebays_model_members(m), 3);
    assert_int_equal(sebays_model_classes(m), 10);
    assert_string_equal(sebays_model_class_name(m, 9), "nine");
    assert_null(sebays_model_class_name(m, 10));
    assert_int_equal(sebays_model_channels(m), CHANNELS);
    assert_int_equal(sebays_model_height(m), SIDE);
    assert_int_equal(sebays_model_width(m), SIDE);
    assert_string_equal(sebays_model_arch(m), "wrn-10-1");
    assert_string_equal(sebays_model_method(m), "sebays");
    assert_string_equal(sebays_model_recipe(m), "[train]\nlr = 0.1\n");
    assert_true(sebays_model_bayesian(m));
    assert_true(fabs(sebays_model_density(m) - 0.2) < 1e-3);
    sebays_model_free(m);
    sebays_model_free(NULL);
    sebays_predictor_free(NULL);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static struct answers a;
    static float floats[2 * IMAGE];
    struct sebays_model *m;
    struct sebays_predictor *p;
    refused(sebays_model_open("/nonexistent/m", &m), SEBAYS_EIO,
            "cannot read /nonexistent/m: No such file or directory");
    assert_null(m);
    m = open_model("wrn-10-1", 0.2, true, 1);
    struct sebays_predictor_options o = {.isa = "avx9"};
    assert_int_equal(sebays_predictor_new(m, &o, &p), SEBAYS_EARG);
    assert_null(p);
    o = (struct sebays_predictor_options){.max_batch = (1 << 20) + 1};
    refused(sebays_predictor_new(m, &o, &p), SEBAYS_EARG,
            "predictor: max_batch 1048577; at most 1048576 work");
    o = (struct sebays_predictor_options){.sampling = (enum sebays_sampling)4};
    refused(sebays_predictor_new(m, &o, &p), SEBAYS_EARG,
            "predictor: there is no way of sampling number 4");
    o = (struct sebays_predictor_options){.sampling = SEBAYS_NOISE};
    p = make(m, &o);
    struct sebays_prediction out = all_of(&a);
    struct sebays_examples e = {.data = floats, .count = 2, .first = UINT32_MAX};
    refused(sebays_predict(p, &e, &out), SEBAYS_EARG,
            "examples 4294967295 to 4294967296: activation noise has numbers for the "
            "first 2^32; begin again from 0");
    e.first = 0;
    assert_int_equal(sebays_predict(p, &e, &out), SEBAYS_OK);
    assert_false(sebays_model_has_far(m));
    out.far = a.total;
    refused(
        sebays_predict(p, &e, &out), SEBAYS_EARG,
        "the model does not know where its training rows were; train it again with this "
        "version to ask how far examples are from them");
    out.far = NULL;
    floats[IMAGE + 5] = NAN;
    refused(
        sebays_predict(p, &e, &out), SEBAYS_ENUMERIC,
        "example 1 has a number that is not finite: nan in channel 0, row 0, column 5 "
        "(from 0); remove it, or replace what is missing as it was for training");
    e.layout = (enum sebays_layout)3;
    refused(sebays_predict(p, &e, &out), SEBAYS_EARG,
            "examples: there is no layout number 3");
    e = (struct sebays_examples){.count = 1};
    refused(sebays_predict(p, &e, &out), SEBAYS_EARG,
            "examples: data is NULL; want 1 examples");
    e.count = 0;
    assert_int_equal(sebays_predict(p, &e, &out), SEBAYS_OK);
    sebays_predictor_free(p);
    sebays_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_the_batch_or_threads),
        cmocka_unit_test(bits_are_those_of_every_instruction_set),
        cmocka_unit_test(bits_are_those_of_a_member_alone),
        cmocka_unit_test(any_layout_and_type_will_do),
        cmocka_unit_test(a_call_allocates_nothing),
        cmocka_unit_test(predictors_share_the_weights),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(a_model_tells_what_it_is),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
