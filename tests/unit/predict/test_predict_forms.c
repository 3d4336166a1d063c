/* prediction of forms through include/sebays.h: layers that members share are computed once,
 * and every member still has the bits that it has alone, in any batch, on any threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "form_models.h"
#include "models.h"
#include "predict/forward.h"
#include "predict/input.h"
#include "predict/loaded.h"
#include "sebays.h"

enum {
    EXAMPLES = 21,
    NETWORKS = 2,
    MEMBERS = NETWORKS * FORMS_MEMBERS,
    ROW = EXAMPLES * FORMS_CLASSES,
    MOST_PIXELS = 28 * 28
};

static char path[] = "/tmp/sebays-test-XXXXXX";
static struct sb_env env;
static uint8_t pixels[EXAMPLES * MOST_PIXELS];

static int set_up(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    env = forms_env();
    models_pixels(pixels, sizeof pixels);
    return fd < 0 || close(fd) ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

/* ---- a member alone ------------------------------------------------------------------ */

static void fill(const struct sb_model *m, struct sb_net *net)
{
    unsigned char bad[EXAMPLES];
    const struct sb_model_info *o = &m->info;
    ptrdiff_t row = o->width, plane = row * o->height;
    struct sb_input in = {.data = pixels,
                          .type = SB_INPUT_U8,
                          .stride = {plane * o->channels, plane, row, 1}};
    struct sb_normalise normal;
    assert_int_equal(sb_normalise_given(&normal, SB_BYTES, o->channels, o->mean, o->sd),
                     SB_OK);
    sb_net_set_batch(net, EXAMPLES);
    sb_input_fill(&in, 0, &normal, 1, &net->input, bad);
    sb_normalise_fini(&normal);
}

/* What members share has the activation noise of the first of them. */
static void forward(const struct sb_model *m, uint32_t i, uint32_t draw, bool noise,
                    struct sb_net *net)
{
    struct sb_pass pass = {.sample = noise,
                           .seed = m->member[i].sample_seed,
                           .member = i - i % FORMS_MEMBERS,
                           .step = draw};
    uint32_t shared = net->arch.shared;
    assert_int_equal(sb_net_forward_part(&env, net, &pass, 0, shared), SB_OK);
    pass.member = i;
    assert_int_equal(sb_net_forward_part(&env, net, &pass, shared, net->arch.nodes),
                     SB_OK);
    sb_net_predict(&env, net);
}

/* Draw d of member i into a network; SB_FORM_MEAN: the mean. Of rank-1, scales are drawn. */
static void load(const struct sb_model *m, uint32_t i, uint32_t d, struct sb_net *net)
{
    struct sb_trained made;
    if (!sb_form_draws(&m->info.form)) {
        assert_int_equal(d != SB_FORM_MEAN && m->info.gauss
                             ? sb_trained_draw(&m->member[i], &env, net, d)
                             : sb_trained_load(&m->member[i], &env, net),
                         SB_OK);
        return;
    }
    assert_int_equal(sb_form_member(&m->info.form, &m->trained, &m->arch,
                                    &m->network[i / FORMS_MEMBERS], i % FORMS_MEMBERS, d,
                                    &made),
                     SB_OK);
    assert_int_equal(sb_trained_load(&made, &env, net), SB_OK);
    sb_trained_fini(&made);
}

/* Member i with a network of its own: out [EXAMPLES][classes]. */
static void alone(const struct sb_model *m, uint32_t i,
                  const struct sebays_predictor_options *o, float out[ROW])
{
    bool gauss = m->info.gauss, noise = gauss && o->sampling == SEBAYS_NOISE;
    uint32_t draws = sb_model_draws(m) && o->draws ? o->draws : 1;
    struct sb_model_plan plan = {.lanes = env.kernels->lanes,
                                 .max_batch = EXAMPLES,
                                 .threads = 1,
                                 .inference = true,
                                 .gauss = noise};
    struct sb_net net;
    float one[ROW];
    assert_int_equal(sb_model_net(m, i, &plan, &net), SB_OK);
    memset(out, 0, ROW * sizeof *out);
    for (uint32_t d = 0; d < draws; d++) {
        load(m, i, noise || o->sampling == SEBAYS_MEAN ? SB_FORM_MEAN : d, &net);
        fill(m, &net);
        forward(m, i, d, noise, &net);
        for (uint32_t k = 0; k < ROW; k++)
            one[k] = *sb_act_image(&net.head[0].prediction, k / FORMS_CLASSES,
                                   k % FORMS_CLASSES);
        sb_predict_add(&net, out, one, EXAMPLES, d, draws);
    }
    sb_net_fini(&net);
}

/* ---- and with the others ------------------------------------------------------------- */

static const struct sebays_predictor_options ways[] = {
    {.sampling = SEBAYS_DRAW},
    {.sampling = SEBAYS_DRAWS, .draws = 2},
    {.sampling = SEBAYS_MEAN},
    {.sampling = SEBAYS_NOISE, .draws = 2},
};

static const struct {
    uint32_t max_batch, threads, piece;
} cuts[] = {
    {EXAMPLES, 1, EXAMPLES}, {64, 3, EXAMPLES}, {1, 2, 1}, {8, 2, 20}, {64, 2, 7}};

static void check_cut(const struct sebays_model *m,
                      const struct sebays_predictor_options *way, size_t cut,
                      float want[MEMBERS][ROW])
{
    struct sebays_predictor_options o = *way;
    struct sebays_predictor *p;
    size_t image =
        (size_t)sebays_model_channels(m) * sebays_model_height(m) * sebays_model_width(m);
    o.max_batch = cuts[cut].max_batch;
    o.threads = cuts[cut].threads;
    assert_int_equal(sebays_predictor_new(m, &o, &p), SEBAYS_OK);
    for (size_t at = 0; at < EXAMPLES; at += cuts[cut].piece) {
        size_t left = EXAMPLES - at, n = left < cuts[cut].piece ? left : cuts[cut].piece;
        static float have[MEMBERS * ROW], mean[ROW];
        struct sebays_examples e = {
            .data = pixels + at * image, .count = n, .type = SEBAYS_U8, .first = at};
        struct sebays_prediction out = {.probabilities = mean, .members = have};
        assert_int_equal(sebays_predict(p, &e, &out), SEBAYS_OK);
        for (uint32_t i = 0; i < MEMBERS; i++)
            assert_memory_equal(have + i * n * FORMS_CLASSES,
                                want[i] + at * FORMS_CLASSES,
                                n * FORMS_CLASSES * sizeof(float));
    }
    sebays_predictor_free(p);
}

static void check_case(const struct forms_case *c, double density, bool gauss)
{
    static float want[MEMBERS][ROW];
    struct sb_model inside;
    struct sebays_model *m;
    assert_int_equal(form_models_make(&env, &inside, c, density, gauss, NETWORKS), SB_OK);
    assert_int_equal(sb_model_write(&inside, path), SB_OK);
    assert_int_equal(sebays_model_open(path, &m), SEBAYS_OK);
    assert_int_equal(sebays_model_members(m), MEMBERS);
    for (size_t w = 0; w < (sb_model_draws(&inside) ? 4 : 1); w++) {
        for (uint32_t i = 0; i < MEMBERS; i++)
            alone(&inside, i, &ways[w], want[i]);
        for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++)
            check_cut(m, &ways[w], k, want);
    }
    sebays_model_free(m);
    sb_model_fini(&inside);
}

static void members_have_the_bits_they_have_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMS_CASES; i++) {
        check_case(&forms_cases[i], 1.0, false);
        if (!forms_cases[i].plain)
            check_case(&forms_cases[i], 0.3, true);
    }
}

/* Several draws of a rank-1 network are as many members: the ensemble answers as they do. */
static void draws_are_members(void **state)
{
    (void)state;
    enum { DRAWS = 3 };
    const struct forms_case c = {"mlp-12-9", "", SB_FORM_RANK_1, false, true};
    static float mean[ROW], one[ROW], first[ROW];
    double want[ROW] = {0};
    struct sb_model inside;
    struct sebays_model *m;
    struct sebays_predictor *p;
    struct sebays_predictor_options o = {.sampling = SEBAYS_DRAWS, .draws = DRAWS};
    struct sebays_examples e = {.data = pixels, .count = EXAMPLES, .type = SEBAYS_U8};
    struct sebays_prediction out = {.probabilities = mean};
    assert_int_equal(form_models_make(&env, &inside, &c, 1.0, false, 1), SB_OK);
    assert_int_equal(sb_model_write(&inside, path), SB_OK);
    assert_int_equal(sebays_model_open(path, &m), SEBAYS_OK);
    assert_int_equal(sebays_predictor_new(m, &o, &p), SEBAYS_OK);
    assert_int_equal(sebays_predict(p, &e, &out), SEBAYS_OK);
    for (uint32_t i = 0; i < FORMS_MEMBERS; i++)
        for (uint32_t d = 0; d < DRAWS; d++) {
            struct sb_model_plan plan = {.lanes = env.kernels->lanes,
                                         .max_batch = EXAMPLES,
                                         .threads = 1,
                                         .inference = true};
            struct sb_net net;
            assert_int_equal(sb_model_net(&inside, i, &plan, &net), SB_OK);
            load(&inside, i, d, &net);
            fill(&inside, &net);
            assert_int_equal(sb_predict_forward(&env, &net, &(struct sb_pass){0}, 0, one),
                             SB_OK);
            if (d > 0)
                assert_memory_not_equal(one, first, sizeof one);
            else
                memcpy(first, one, sizeof one);
            for (uint32_t k = 0; k < ROW; k++)
                want[k] += (double)one[k] / (FORMS_MEMBERS * DRAWS);
            sb_net_fini(&net);
        }
    for (uint32_t k = 0; k < ROW; k++)
        assert_true(fabs((double)mean[k] - want[k]) < 1e-6);
    sebays_predictor_free(p);
    sebays_model_free(m);
    sb_model_fini(&inside);
}

/* ---- memory -------------------------------------------------------------------------- */

/* Bytes of a model's members made ready to run. */
static size_t loaded_bytes(const struct sb_model *m, uint32_t group)
{
    struct sb_loaded l;
    size_t before = sb_mem_live();
    assert_int_equal(sb_loaded_init(&l, &env, m, SB_LOAD_MEAN, SB_PLAN_FEW), SB_OK);
    size_t bytes = sb_mem_live() - before;
    assert_int_equal(l.group, group);
    sb_loaded_fini(&l);
    assert_int_equal(sb_mem_live(), before);
    return bytes;
}

/* A MIMO network has three heads of 500 x 10; a tree that branches at the head is the same. */
static void what_is_shared_is_loaded_once(void **state)
{
    (void)state;
    const struct forms_case mimo = {"lenet", "", SB_FORM_MIMO, false, false},
                            tree = {"lenet", "fc2", SB_FORM_TREE, false, false};
    struct sb_model plain, m;
    assert_int_equal(models_make(&plain, "lenet", 1.0, false, 1), SB_OK);
    size_t one = loaded_bytes(&plain, 1);
    assert_int_equal(form_models_make(&env, &m, &mimo, 1.0, false, 1), SB_OK);
    assert_true(loaded_bytes(&m, FORMS_MEMBERS) < one + one / 10);
    sb_model_fini(&m);
    assert_int_equal(form_models_make(&env, &m, &tree, 1.0, false, 2), SB_OK);
    assert_true(loaded_bytes(&m, FORMS_MEMBERS) < 2 * (one + one / 10));
    sb_model_fini(&m);
    sb_model_fini(&plain);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    const struct forms_case tree = {"wrn-10-1", "", SB_FORM_TREE, false, false};
    struct sb_model made;
    size_t live = sb_mem_live();
    assert_int_equal(form_models_make(&env, &made, &tree, 0.3, true, 1), SB_OK);
    assert_int_equal(sb_model_write(&made, path), SB_OK);
    sb_model_fini(&made);
    sebays_status st = SEBAYS_ENOMEM;
    long n = 0;
    for (; st != SEBAYS_OK && n < 3000; n++) {
        struct sebays_model *m = NULL;
        struct sebays_predictor *p = NULL;
        sb_mem_fail_after(n);
        st = sebays_model_open(path, &m);
        if (st == SEBAYS_OK)
            st = sebays_predictor_new(m, &ways[1], &p);
        sb_mem_fail_after(-1);
        assert_true(st == SEBAYS_OK || st == SEBAYS_ENOMEM);
        sebays_predictor_free(p);
        sebays_model_free(m);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_true(n > 100 && n < 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_have_the_bits_they_have_alone),
        cmocka_unit_test(draws_are_members),
        cmocka_unit_test(what_is_shared_is_loaded_once),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
