/* model/model: round trips to the byte, and what is refused before it becomes a file. */
#include "model/model.h"

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
#include "nets.h"
#include "refused.h"
#include "two_files.h"

static const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};

static const char *const names[] = {"T-shirt/top", "caf\xc3\xa9", "c", "d", "e",
                                    "f",           "g",           "h", "i", "\"j\""};
static const float mean[] = {0.4914f, 0.4822f, 0.4465f}, sd[] = {0.2470f, 0.2435f, 1e-3f};

static struct sb_model_info describe(const char *arch, const struct sb_net *net,
                                     bool gauss)
{
    const struct sb_arch_node *input = &net->arch.node[0];
    return (struct sb_model_info){
        .arch = arch,
        .method = "sebays",
        .recipe = "[train]\nlr = 0.1\n",
        .channels = input->channels,
        .height = input->height,
        .width = input->width,
        .classes = 10,
        .class_name = names,
        .mean = mean,
        .sd = sd,
        .gauss = gauss,
    };
}

/* A model of random members; figures include what JSON cannot say. */
static void make(struct sb_model *m, const char *arch, double density, bool gauss,
                 uint32_t members)
{
    struct sb_net net;
    assert_int_equal(nets_init(&net, arch, density, gauss), SB_OK);
    struct sb_model_info info = describe(arch, &net, gauss);
    assert_int_equal(sb_model_init(m, &info), SB_OK);
    for (uint32_t i = 0; i < members; i++) {
        struct sb_trained member;
        assert_int_equal(nets_fill(&env, &net, 10 + i), SB_OK);
        assert_int_equal(sb_trained_init(&member, &net), SB_OK);
        assert_int_equal(sb_trained_save(&member, &net), SB_OK);
        member.sample_seed = UINT64_MAX - i;
        member.figures = (struct sb_trained_figures){
            sb_figures_of_classes(1 / 3.0, i == 0 ? INFINITY : 0.1, NAN, 0.25), i};
        assert_int_equal(sb_model_add(m, &member), SB_OK);
        assert_null(member.memory);
    }
    sb_net_fini(&net);
}

/* ---- round trips ---- */

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

static void same_member(const struct sb_trained *a, const struct sb_trained *b)
{
    assert_true(nets_alike(a, b));
    assert_int_equal(a->bytes, b->bytes);
    assert_memory_equal(a->memory, b->memory, a->bytes);
    assert_true(a->sample_seed == b->sample_seed);
    const double *x = a->figures.of.value, *y = b->figures.of.value;
    assert_ptr_equal(a->figures.of.list, b->figures.of.list);
    assert_true(x[SB_CLASSES_ACC] == y[SB_CLASSES_ACC]);
    assert_true(x[SB_CLASSES_NLL] == y[SB_CLASSES_NLL]);
    assert_true(isnan(x[SB_CLASSES_ECE]) && isnan(y[SB_CLASSES_ECE]));
    assert_true(x[SB_CLASSES_BRIER] == y[SB_CLASSES_BRIER]);
    assert_true(a->figures.epoch == b->figures.epoch);
}

static void same_info(const struct sb_model_info *a, const struct sb_model_info *b)
{
    assert_string_equal(a->arch, b->arch);
    assert_string_equal(a->method, b->method);
    assert_string_equal(a->recipe, b->recipe);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->gauss, b->gauss);
    assert_memory_equal(a->mean, b->mean, a->channels * sizeof(float));
    assert_memory_equal(a->sd, b->sd, a->channels * sizeof(float));
    assert_int_equal(!a->class_name, !b->class_name);
    for (uint32_t i = 0; a->class_name && i < a->classes; i++)
        assert_string_equal(a->class_name[i], b->class_name[i]);
}

static void what_was_written_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        double density;
        bool gauss;
        uint32_t members;
    } kinds[] = {{"lenet", 0.1, true, 3},
                 {"wrn-10-1", 0.2, true, 2},
                 {"wrn-10-1", 0.2, false, 1},
                 {"mlp-7", 1.0, false, 7}};
    size_t live = sb_mem_live();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct sb_model a, b;
        make(&a, kinds[k].arch, kinds[k].density, kinds[k].gauss, kinds[k].members);
        assert_int_equal(sb_model_write(&a, path), SB_OK);
        assert_int_equal(sb_model_read(&b, path), SB_OK);
        same_info(&a.info, &b.info);
        assert_int_equal(b.members, kinds[k].members);
        for (uint32_t i = 0; i < b.members; i++)
            same_member(&a.member[i], &b.member[i]);
        assert_int_equal(sb_model_write(&b, other), SB_OK);
        same_bytes(path, other);
        sb_model_fini(&b);
        assert_int_equal(sb_model_map(&b, path), SB_OK);
        same_info(&a.info, &b.info);
        assert_null(b.member[0].memory); /* its numbers are in the file */
        assert_int_equal(sb_model_write(&b, other), SB_OK);
        same_bytes(path, other);
        sb_model_fini(&a);
        sb_model_fini(&b);
    }
    sb_model_fini(NULL);
    assert_int_equal(sb_mem_live(), live);
}

/* A file of another writer may put numbers at any byte: then they are copied. */
static void numbers_at_odd_places_are_copied(void **state)
{
    (void)state;
    struct sb_model a, b;
    struct sb_map map;
    make(&a, "mlp-7", 0.5, true, 2);
    assert_int_equal(sb_model_write(&a, path), SB_OK);
    assert_int_equal(sb_map_open(&map, path), SB_OK);
    unsigned char *odd = malloc(map.size + 1);
    uint64_t header;
    assert_non_null(odd);
    memcpy(&header, map.data, 8);
    memcpy(odd, map.data, 8 + header);
    odd[8 + header] = ' '; /* the header is a byte longer */
    memcpy(odd + 9 + header, map.data + 8 + header, map.size - 8 - header);
    header++;
    memcpy(odd, &header, 8);
    assert_int_equal(sb_model_map_bytes(&b, "odd", odd, map.size + 1), SB_OK);
    free(odd);
    same_member(&a.member[1], &b.member[1]);
    sb_map_close(&map);
    sb_model_fini(&a);
    sb_model_fini(&b);
}

static void a_model_predicts_as_its_network_did(void **state)
{
    (void)state;
    struct sb_model m;
    struct sb_net from, net;
    struct sb_pass pass = {0};
    make(&m, "wrn-10-1", 0.2, true, 2);
    assert_int_equal(sb_model_write(&m, path), SB_OK);
    sb_model_fini(&m);
    assert_int_equal(sb_model_read(&m, path), SB_OK);
    assert_int_equal(nets_init(&from, "wrn-10-1", 0.2, true), SB_OK);
    assert_int_equal(nets_fill(&env, &from, 11), SB_OK); /* member 1 */
    struct sb_model_plan plan = {.lanes = 8, .max_batch = 8, .threads = 1};
    assert_int_equal(sb_model_net(&m, 1, &plan, &net), SB_OK);
    assert_int_equal(sb_trained_load(&m.member[1], &env, &net), SB_OK);
    nets_randomise(net.input.data, sb_act_size(&net.input), 3, 0);
    memcpy(from.input.data, net.input.data, sb_act_size(&net.input) * sizeof(float));
    assert_int_equal(sb_net_forward(&env, &net, &pass), SB_OK);
    assert_int_equal(sb_net_forward(&env, &from, &pass), SB_OK);
    assert_memory_equal(net.head[0].logits.data, from.head[0].logits.data,
                        sb_act_size(&net.head[0].logits) * sizeof(float));
    sb_net_fini(&net);
    refused(sb_model_net(&m, 2, &plan, &net), SB_EARG,
            "model: member 2 of 2, counted from 0");
    sb_net_fini(&net);
    sb_net_fini(&from);
    sb_model_fini(&m);
}

/* ---- refusals ---- */

static void bad_descriptions_are_refused(void **state)
{
    (void)state;
    struct sb_net net;
    struct sb_model m;
    const char *bad_names[10];
    float bad_mean[] = {0, NAN, 0}, bad_sd[] = {1, 1, 0};
    memcpy(bad_names, names, sizeof names);
    bad_names[4] = "\xff";
    assert_int_equal(nets_init(&net, "mlp-3", 0.5, true), SB_OK);
    struct sb_model_info good = describe("mlp-3", &net, true), bad = good;
    bad.arch = "vgg";
    refused(sb_model_init(&m, &bad), SB_EARG,
            "architecture 'vgg': want one of mlp-H1-H2..., lenet, resnet-D (D = 6n + 2), "
            "wrn-D-K (D = 6n + 4)");
    sb_model_fini(&m);
    bad = good;
    bad.recipe = "a\xff";
    refused(sb_model_init(&m, &bad), SB_EARG, "model: its recipe is not UTF-8");
    sb_model_fini(&m);
    bad = good;
    bad.class_name = bad_names;
    refused(sb_model_init(&m, &bad), SB_EARG, "model: its class name is not UTF-8");
    sb_model_fini(&m);
    bad = good;
    bad.sd = bad_sd;
    refused(sb_model_init(&m, &bad), SB_EARG,
            "model: normalisation of channel 2: mean 0.4465 and sd 0; want finite ones "
            "and sd above 0");
    sb_model_fini(&m);
    bad = good;
    bad.mean = bad_mean;
    assert_int_equal(sb_model_init(&m, &bad), SB_EARG);
    sb_model_fini(&m);
    sb_net_fini(&net);
}

static void what_cannot_be_written_is_refused(void **state)
{
    (void)state;
    struct sb_net net;
    struct sb_model m;
    struct sb_trained member;
    assert_int_equal(nets_init(&net, "mlp-3", 0.5, false), SB_OK);
    struct sb_model_info info = describe("mlp-3", &net, true);
    info.class_name = NULL;
    assert_int_equal(sb_model_init(&m, &info), SB_OK);
    refused(sb_model_write(&m, "none"), SB_EARG,
            "cannot write none: a model without members");
    assert_int_equal(sb_trained_init(&member, &net), SB_OK);
    refused(sb_model_add(&m, &member), SB_EARG,
            "model: the network is no Gaussian posterior of this mlp-3 model");
    assert_non_null(member.memory);
    sb_trained_fini(&member);
    sb_net_fini(&net);
    assert_int_equal(nets_init(&net, "mlp-3", 0.5, true), SB_OK);
    assert_int_equal(nets_fill(&env, &net, 1), SB_OK);
    assert_int_equal(sb_trained_init(&member, &net), SB_OK);
    assert_int_equal(sb_trained_save(&member, &net), SB_OK);
    assert_int_equal(sb_model_add(&m, &member), SB_OK);
    refused(sb_model_write(&m, "/nonexistent/m"), SB_EIO,
            "cannot create /nonexistent/m: No such file or directory");
    assert_int_equal(sb_model_write(&m, path), SB_OK);
    sb_model_fini(&m);
    assert_int_equal(sb_model_read(&m, path), SB_OK);
    assert_null(m.info.class_name);
    sb_model_fini(&m);
    sb_net_fini(&net);
    refused(sb_model_read(&m, "/nonexistent/m"), SB_EIO,
            "cannot read /nonexistent/m: No such file or directory");
    sb_model_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(numbers_at_odd_places_are_copied),
        cmocka_unit_test(a_model_predicts_as_its_network_did),
        cmocka_unit_test(bad_descriptions_are_refused),
        cmocka_unit_test(what_cannot_be_written_is_refused),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
