/* forms in model files: what was trained is kept once, and comes back as it was; files that
 * say what cannot be are refused with a sentence; every failed allocation is survived. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "form_models.h"
#include "model/model.h"
#include "refused.h"

static struct sb_env env;
static char path[] = "/tmp/sebays-test-XXXXXX";
static char other[] = "/tmp/sebays-test-XXXXXX";

static int begin(void **state)
{
    (void)state;
    env = forms_env();
    int a = mkstemp(path), b = mkstemp(other);
    return a < 0 || b < 0 || close(a) || close(b) ? -1 : 0;
}

static int end(void **state)
{
    (void)state;
    return unlink(path) || unlink(other) ? -1 : 0;
}

static sb_status make(struct sb_model *m, const struct forms_case *c, double density,
                      bool gauss, uint32_t networks)
{
    return form_models_make(&env, m, c, density, gauss, networks);
}

/* ---- there and back ------------------------------------------------------------------ */

static void same_members(const struct sb_model *a, const struct sb_model *b)
{
    assert_int_equal(a->members, b->members);
    for (uint32_t m = 0; m < a->members; m++) {
        const struct sb_trained *x = &a->member[m], *y = &b->member[m];
        assert_true(nets_alike(x, y));
        assert_int_equal(x->sample_seed, y->sample_seed);
        assert_int_equal(x->branch, y->branch);
        assert_int_equal(x->shared, y->shared);
        for (uint32_t i = 0; i < x->params.n; i++)
            assert_memory_equal(x->params.param[i].value, y->params.param[i].value,
                                x->params.param[i].count * sizeof(float));
        for (uint32_t i = 0; i < x->weights; i++) {
            assert_int_equal(!x->position[i], !y->position[i]);
            if (x->position[i])
                assert_memory_equal(x->position[i], y->position[i],
                                    nets_mu(x, i)->count * sizeof(int32_t));
        }
    }
}

/* The answers of a member, drawn as prediction draws it. */
static void predict(const struct sb_model *m, uint32_t member, float out[FORMS_CLASSES])
{
    struct sb_net net;
    struct sb_model_plan plan = {
        .lanes = 8, .max_batch = 1, .threads = 1, .inference = true};
    struct sb_pass pass = {0};
    assert_int_equal(sb_model_net(m, member, &plan, &net), SB_OK);
    assert_int_equal(sb_trained_draw(&m->member[member], &env, &net, 0), SB_OK);
    sb_net_set_batch(&net, 1);
    forms_images(&net.input, 8);
    assert_int_equal(sb_net_forward(&env, &net, &pass), SB_OK);
    for (uint32_t k = 0; k < FORMS_CLASSES; k++)
        out[k] = sb_act_plane(&net.head[0].logits, 0, k)[0];
    sb_net_fini(&net);
}

static void same_bytes(const char *a, const char *b)
{
    struct sb_map x, y;
    assert_int_equal(sb_map_open(&x, a), SB_OK);
    assert_int_equal(sb_map_open(&y, b), SB_OK);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    sb_map_close(&x);
    sb_map_close(&y);
}

static void check_there_and_back(const struct forms_case *c, double density, bool gauss)
{
    struct sb_model made, back[2];
    assert_int_equal(make(&made, c, density, gauss, 2), SB_OK);
    assert_int_equal(made.members, 2 * FORMS_MEMBERS);
    assert_int_equal(sb_model_write(&made, path), SB_OK);
    assert_int_equal(sb_model_read(&back[0], path), SB_OK);
    assert_int_equal(sb_model_map(&back[1], path), SB_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(back[i].info.form.kind, c->kind);
        same_members(&made, &back[i]);
        for (uint32_t m = 0; m < made.members; m += 4) {
            float want[FORMS_CLASSES], have[FORMS_CLASSES];
            predict(&made, m, want);
            predict(&back[i], m, have);
            assert_memory_equal(want, have, sizeof want);
        }
        assert_int_equal(sb_model_write(&back[i], other), SB_OK);
        same_bytes(path, other);
        sb_model_fini(&back[i]);
    }
    sb_model_fini(&made);
}

static void files_give_back_what_they_were_given(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    for (int i = 0; i < FORMS_CASES; i++) {
        check_there_and_back(&forms_cases[i], 1.0, false);
        if (!forms_cases[i].plain)
            check_there_and_back(&forms_cases[i], 0.3, true);
    }
    assert_int_equal(sb_mem_live(), live);
}

/* ---- size ---------------------------------------------------------------------------- */

static size_t file_size(const char *name)
{
    struct sb_map map;
    assert_int_equal(sb_map_open(&map, name), SB_OK);
    size_t size = map.size;
    sb_map_close(&map);
    return size;
}

/* A file of a wrn-16-2 as a form of four members, points, all numbers zero. */
static size_t size_of(enum sb_form_kind kind)
{
    static const float mean[] = {0, 0, 0}, sd[] = {1, 1, 1};
    struct sb_model_info info = {.arch = "wrn-16-2",
                                 .method = "test",
                                 .recipe = "",
                                 .channels = 3,
                                 .height = 32,
                                 .width = 32,
                                 .classes = 10,
                                 .mean = mean,
                                 .sd = sd,
                                 .form = {.kind = kind, .members = kind ? 4 : 1}};
    struct sb_model m;
    struct sb_trained t;
    assert_int_equal(sb_model_init(&m, &info), SB_OK);
    assert_int_equal(sb_trained_plan(&t, &m.trained, NULL, false), SB_OK);
    assert_int_equal(sb_model_add(&m, &t), SB_OK);
    assert_int_equal(m.members, kind == SB_FORM_PLAIN ? 1 : 4);
    assert_int_equal(sb_model_write(&m, path), SB_OK);
    sb_model_fini(&m);
    return file_size(path);
}

static void scales_cost_a_tenth_of_a_network_at_most(void **state)
{
    (void)state;
    size_t plain = size_of(SB_FORM_PLAIN);
    assert_in_range(10 * size_of(SB_FORM_BATCH_ENSEMBLE), 10 * plain, 11 * plain);
    assert_in_range(10 * size_of(SB_FORM_RANK_1), 10 * plain, 11 * plain);
}

/* ---- hostile metadata ---------------------------------------------------------------- */

/* Writes path to other, with another text for key. */
static void rewrite(const char *key, const char *text)
{
    struct sb_st st;
    struct sb_st_writer w;
    const char *k;
    json_t *value;
    assert_int_equal(sb_st_open(&st, path), SB_OK);
    assert_int_equal(sb_st_writer_init(&w), SB_OK);
    json_object_foreach(json_object_get(st.header, "__metadata__"), k, value)
        assert_int_equal(
            sb_st_writer_meta(&w, k,
                              strcmp(k, key) == 0 ? text : json_string_value(value)),
            SB_OK);
    for (size_t i = 0; i < st.tensors; i++)
        assert_int_equal(sb_st_writer_add(&w, st.tensor[i].name, st.tensor[i].dtype,
                                          st.tensor[i].ndim, st.tensor[i].shape,
                                          st.tensor[i].data),
                         SB_OK);
    assert_int_equal(sb_st_writer_write(&w, other), SB_OK);
    sb_st_writer_fini(&w);
    sb_st_close(&st);
}

static void refuse(const char *key, const char *text, const char *sentence)
{
    struct sb_model m;
    char want[400];
    snprintf(want, sizeof want, "%s: %s", other, sentence);
    rewrite(key, text);
    refused(sb_model_read(&m, other), SB_EFORMAT, want);
    refused(sb_model_map(&m, other), SB_EFORMAT, want);
}

static void write_small(enum sb_form_kind kind)
{
    const struct forms_case c = {"mlp-12-9", "", kind, false, false};
    struct sb_model m;
    assert_int_equal(make(&m, &c, 1.0, false, 1), SB_OK);
    assert_int_equal(sb_model_write(&m, path), SB_OK);
    sb_model_fini(&m);
}

static void trees_without_a_hidden_layer_are_refused(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    write_small(SB_FORM_TREE);
    refuse("arch", "mlp", "treenet needs a network with a hidden layer; mlp has none");
    assert_int_equal(sb_mem_live(), live);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    write_small(SB_FORM_TREE);
    refuse("form", "{\"name\":\"forest\",\"members\":3}",
           "there is no form 'forest'; the nearest is 'tree'");
    refuse("form", "{\"members\":3}",
           "metadata \"form\": key \"name\" is missing, want a string");
    refuse("form", "[]",
           "metadata \"form\": want an object with key \"name\", have an array");
    refuse("form", "{\"name\":\"tree\"}",
           "metadata \"form\": key \"members\" is missing, want an integer");
    refuse("form", "{\"name\":\"tree\",\"members\":0}",
           "metadata \"form\": key \"members\": want an integer from 1 to 4096, have 0");
    refuse(
        "form", "{\"name\":\"tree\",\"members\":5000}",
        "metadata \"form\": key \"members\": want an integer from 1 to 4096, have 5000");
    refuse("form", "{\"name\":\"tree\",\"members\":3,\"branch_at\":\"group9.0\"}",
           "method.branch_at = group9.0: mlp-12-9 has no such block or layer; want one "
           "such as '4'");
    refuse("form", "{\"name\":\"tree\",\"members\":3,\"branch_at\":7}",
           "metadata \"form\": key \"branch_at\": want the name of a block or layer, "
           "shorter than 48 bytes");
    refuse("form", "{\"name\":\"tree\",\"members\":2}",
           "tensor \"net0.branch2.2.mu\": belongs to no part of the model");
    refuse("form", "{\"name\":\"tree\",\"members\":4}",
           "has no tensor \"net0.branch3.2.mu\"");
    refuse("form", "{\"name\":\"plain\"}", "has no tensor \"net0.2.mu\"");
    write_small(SB_FORM_DROPOUT);
    refuse("form", "{\"name\":\"dropout\",\"members\":3}",
           "metadata \"form\": key \"rate\" is missing, want a number");
    refuse(
        "form", "{\"name\":\"dropout\",\"members\":3,\"rate\":1.5}",
        "metadata \"form\": key \"rate\": want a share of at least 0 and below 1, have "
        "1.5");
    refuse(
        "form", "{\"name\":\"dropout\",\"members\":3,\"rate\":-0.1}",
        "metadata \"form\": key \"rate\": want a share of at least 0 and below 1, have "
        "-0.1");
    refuse("form", "{\"name\":\"mimo\",\"members\":3}",
           "tensor \"net0.0.mu\": has 2304 numbers, the layer 6912 weights");
    refuse("arch", "mlp", "mlp has no hidden layer to drop elements of");
    write_small(SB_FORM_MIMO);
    refuse("form", "{\"name\":\"mimo\",\"members\":4096}",
           "tensor \"net0.0.mu\": has 6912 numbers, the layer 9437184 weights");
    refuse("arch", "mlp", "mimo needs a network with a hidden layer; mlp has none");
    rewrite("form", "{\"name\":\"mimo\",\"members\":4096}");
    assert_int_equal(rename(other, path), 0);
    refuse("classes", "1048578", /* of all members: 8192 beyond 2^32 */
           "mimo: 4096 members of 3 channels and 1048578 classes are too many");
    write_small(SB_FORM_BATCH_ENSEMBLE);
    refuse("form", "{\"name\":\"batch-ensemble\",\"members\":4}",
           "tensor \"net0.0.r\": its shape is [3, 192], want [4, 192]");
    refuse("form", "{\"name\":\"rank-1\",\"members\":3}",
           "has no tensor \"net0.0.r.mu\"");
    assert_int_equal(sb_mem_live(), live);
}

/* ---- memory -------------------------------------------------------------------------- */

/* All of a form's calls, once. */
static sb_status use(const struct forms_case *c, const struct sb_trained *t)
{
    struct sb_form_spec s = forms_spec(c);
    struct sb_arch_shape shape = forms_shape(c->arch);
    struct sb_arch trained = {0}, plain = {0};
    struct sb_trained member = {0};
    struct sb_feeder feeder = {0};
    sb_status st = sb_form_build(&s, &shape, SB_FORM_TRAINED, &trained);
    if (st == SB_OK)
        st = sb_form_build(&s, &shape, SB_FORM_MEMBER, &plain);
    if (st == SB_OK)
        st = sb_feeder_init(&feeder, &s, &trained, 8, 8);
    if (st == SB_OK)
        st = sb_form_member(&s, &trained, &plain, t, 1, 0, &member);
    sb_trained_fini(&member);
    sb_feeder_fini(&feeder);
    sb_arch_fini(&trained);
    sb_arch_fini(&plain);
    return st;
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    for (int i = 0; i < FORMS_CASES; i++) {
        const struct forms_case *c = &forms_cases[i];
        struct sb_net net;
        struct sb_trained t;
        assert_int_equal(
            forms_net(&net, c, c->plain ? 1.0 : 0.3, !c->plain, 8 * FORMS_MEMBERS),
            SB_OK);
        assert_int_equal(forms_fill(&env, &net, 1), SB_OK);
        assert_int_equal(sb_trained_init(&t, &net), SB_OK);
        assert_int_equal(sb_trained_save(&t, &net), SB_OK);
        size_t live = sb_mem_live();
        sb_status st = SB_ENOMEM;
        long n = 0;
        for (; st != SB_OK && n < 100; n++) {
            sb_mem_fail_after(n);
            st = use(c, &t);
            sb_mem_fail_after(-1);
            assert_true(st == SB_OK || st == SB_ENOMEM);
            assert_int_equal(sb_mem_live(), live);
        }
        assert_int_equal(st, SB_OK);
        assert_in_range(n, 10, 99);
        sb_trained_fini(&t);
        sb_net_fini(&net);
    }
}

static void a_model_survives_them_too(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    for (int i = 0; i < FORMS_CASES; i++) {
        struct sb_model m;
        if (strncmp(forms_cases[i].arch, "mlp", 3) != 0)
            continue;
        assert_int_equal(make(&m, &forms_cases[i], 1.0, false, 1), SB_OK);
        assert_int_equal(sb_model_write(&m, path), SB_OK);
        sb_model_fini(&m);
        sb_status st = SB_ENOMEM;
        long n = 0;
        for (; st != SB_OK && n < 1000; n++) {
            sb_mem_fail_after(n);
            st = sb_model_read(&m, path);
            sb_mem_fail_after(-1);
            assert_true(st == SB_OK || st == SB_ENOMEM);
            sb_model_fini(&m);
            assert_int_equal(sb_mem_live(), live);
        }
        assert_int_equal(st, SB_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_give_back_what_they_were_given),
        cmocka_unit_test(scales_cost_a_tenth_of_a_network_at_most),
        cmocka_unit_test(trees_without_a_hidden_layer_are_refused),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(a_model_survives_them_too),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
