/* model/model: every malformed form with its exact sentence, damage of every kind, and
 * every allocation failed once. */
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "rewrite.h"
#include "two_files.h"

/* One member; layer `0` has 2 of 576 weights, layer `2` all of its 30. */
static void write_small(void)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    const float mean[] = {0, 0.5f, 1}, sd[] = {1, 1, 1};
    const uint32_t active[] = {2, 30};
    const int32_t positions[] = {7, 575};
    const struct sb_model_info info = {
        .arch = "mlp-3",
        .method = "sebays",
        .recipe = "",
        .channels = 3,
        .height = 8,
        .width = 8,
        .classes = 10,
        .class_name = names,
        .mean = mean,
        .sd = sd,
        .gauss = true,
    };
    struct sb_model m;
    struct sb_trained member;
    assert_int_equal(sb_model_init(&m, &info), SB_OK);
    assert_int_equal(sb_trained_plan(&member, &m.arch, active, true), SB_OK);
    memcpy(member.position[0], positions, sizeof positions);
    assert_int_equal(sb_model_add(&m, &member), SB_OK);
    assert_int_equal(sb_model_write(&m, path), SB_OK);
    sb_model_fini(&m);
}

/* ---- malformed files ---- */

#define FIGURES(seed, acc, epoch)                                                        \
    "[{\"sample_seed\":" seed ",\"accuracy\":" acc                                       \
    ",\"nll\":1,\"ece\":1,\"epoch\":" epoch "}]"

static const struct change changes[] = {
    META("format", NULL,
         "metadata \"format\" is missing, not \"sebays-model\"; want the "
         "model.safetensors of a run directory"),
    META("format", "gguf",
         "metadata \"format\" is another, not \"sebays-model\"; want the "
         "model.safetensors of a run directory"),
    META("version", NULL, "has no metadata \"version\""),
    META("version", "1", "version 1 of sebays-model; this program reads version 2"),
    META("version", "-1",
         "metadata \"version\": want an integer from 0 to 18446744073709551615"),
    META("arch", NULL, "has no metadata \"arch\""),
    META("arch", "vgg",
         "architecture 'vgg': want one of mlp-H1-H2..., lenet, resnet-D (D = 6n + 2), "
         "wrn-D-K (D = 6n + 4)"),
    META("arch", "mlp-4", "tensor \"net0.2.mu\": has 30 numbers, the layer 40 weights"),
    META("arch", "mlp-3-3", "tensor \"net0.2.mu\": has 30 numbers, the layer 9 weights"),
    META("arch", "wrn-10-1",
         "1 networks of wrn-10-1 have at least 38 tensors each, the file has 7"),
    META("method", NULL, "has no metadata \"method\""),
    META("recipe", NULL, "has no metadata \"recipe\""),
    META("posterior", NULL, "has no metadata \"posterior\""),
    META("posterior", "cauchy",
         "metadata \"posterior\": \"cauchy\", want gauss or point"),
    META("posterior", "point", "tensor \"net0.0.rho\": belongs to no part of the model"),
    META("shape", NULL, "has no metadata \"shape\""),
    META("shape", "[3,8",
         "metadata shape: line 1, column 4: ']' expected near end of "
         "file"),
    META("shape", "[3,8]", "metadata \"shape\": want [channels, height, width]"),
    META("shape", "{\"a\":1}", "metadata \"shape\": want [channels, height, width]"),
    META("shape", "[3,0,8]", "metadata \"shape\": want [channels, height, width]"),
    META("shape", "[3,8.5,8]", "metadata \"shape\": want [channels, height, width]"),
    META("shape", "[3,4294967297,8]",
         "metadata \"shape\": want [channels, height, width]"),
    META("shape", "[2147483647,8,8]",
         "metadata \"normalisation\": want mean and sd of 2147483647 channels"),
    META("shape", "[3,2147483647,2]",
         "an image of 3 x 2147483647 x 2 has too many features"),
    META("classes", "ten", "metadata \"classes\": want an integer from 0 to 2147483647"),
    META("classes", "4294967296",
         "metadata \"classes\": want an integer from 0 to 2147483647"),
    META("classes", "9", "metadata \"class_names\": want an array of 9 names or none"),
    META("class_names", "{}",
         "metadata \"class_names\": want an array of 10 names or none"),
    META("class_names", "[0,1,2,3,4,5,6,7,8,9]",
         "metadata \"class_names\": name 0 is not a string"),
    META("normalisation", "[]",
         "metadata \"normalisation\": want mean and sd of 3 channels"),
    META("normalisation", "{\"mean\":[0,0,0],\"sd\":[1,1]}",
         "metadata \"normalisation\": want mean and sd of 3 channels"),
    META("normalisation", "{\"mean\":[0,0,0],\"sd\":[1,1,null]}",
         "metadata \"normalisation\": sd of channel 2 is not a number"),
    META("normalisation", "{\"mean\":[0,0,0],\"sd\":[1,1,-1]}",
         "model: normalisation of channel 2: mean 0 and sd -1; want finite ones and sd "
         "above 0"),
    META("normalisation", "{\"mean\":[0,0,0],\"sd\":[1,1,1e300]}",
         "model: normalisation of channel 2: mean 0 and sd inf; want finite ones and sd "
         "above 0"),
    META("networks", "[]",
         "metadata \"networks\": want an array of at least one network"),
    META("networks", "{}",
         "metadata \"networks\": want an array of at least one network"),
    META("networks", "[{},{},{},{}]",
         "4 networks of mlp-3 have at least 2 tensors each, the file has 7"),
    META(
        "networks", "[0]",
        "metadata \"networks\", network 0: want an object with key \"sample_seed\", have "
        "an integer"),
    META("networks", FIGURES("\"-4\"", "1", "1"),
         "metadata \"networks\", network 0: key \"sample_seed\": want an integer, have "
         "\"-4\""),
    META("networks", FIGURES("\"4\"", "\"a\"", "1"),
         "metadata \"networks\", network 0: key \"accuracy\": want a number, have a "
         "string"),
    META("networks", FIGURES("\"4\"", "1", "-1"),
         "metadata \"networks\", network 0: key \"epoch\": want an integer from 0 to "
         "9223372036854775807, have -1"),
    GONE("net0.0.mu", "has no tensor \"net0.0.mu\""),
    GONE("net0.0.positions", "has no tensor \"net0.0.positions\""),
    GONE("net0.0.rho", "has no tensor \"net0.0.rho\""),
    GONE("net0.2.bias", "has no tensor \"net0.2.bias\""),
    TENSOR("extra", "U8", "", "tensor \"extra\": belongs to no part of the model", 0),
    TENSOR("net1.0.mu", "F32", "",
           "tensor \"net1.0.mu\": belongs to no part of the model", 3),
    TENSOR("net0.2.positions", "I32", "",
           "tensor \"net0.2.positions\": belongs to no part of the model", 30),
    TENSOR("net0.0.mu", "F32", "",
           "tensor \"net0.0.mu\": a list of 0 weights, the layer has 576; want at "
           "least one and not all",
           0),
    TENSOR("net0.0.mu", "F32", "",
           "tensor \"net0.0.mu\": a list of 576 weights, the layer has 576; want at "
           "least one and not all",
           576),
    TENSOR("net0.0.mu", "F64", "", "tensor \"net0.0.mu\": is F64, want F32", 4),
    TENSOR("net0.0.mu", "F32", "",
           "tensor \"net0.0.positions\": its shape is [2], want [4]", 4),
    TENSOR("net0.0.mu", "F32", "",
           "tensor \"net0.0.mu\": its shape is [192, 3], want [3, 192]", 192, 3),
    TENSOR("net0.0.mu", "F32", "1 nan", "tensor \"net0.0.mu\": number 1 is not finite",
           2),
    TENSOR("net0.0.rho", "F32", "-inf 1", "tensor \"net0.0.rho\": number 0 is not finite",
           2),
    TENSOR("net0.2.bias", "F32", "",
           "tensor \"net0.2.bias\": its shape is [9], want [10]", 9),
    TENSOR("net0.0.positions", "I64", "", "tensor \"net0.0.positions\": is I64, want I32",
           2),
    TENSOR("net0.0.positions", "I32", "-1 5",
           "tensor \"net0.0.positions\": position -1 is outside the layer's 576 weights",
           2),
    TENSOR("net0.0.positions", "I32", "5 576",
           "tensor \"net0.0.positions\": position 576 is outside the layer's 576 "
           "weights",
           2),
    TENSOR("net0.0.positions", "I32", "5 5",
           "tensor \"net0.0.positions\": position 5 comes after position 5", 2),
    TENSOR("net0.0.positions", "I32", "6 5",
           "tensor \"net0.0.positions\": position 5 comes after position 6", 2),
};

static void malformed_files_are_refused(void **state)
{
    (void)state;
    const struct change none = {0};
    struct sb_model m;
    write_small();
    rewrite(path, other, &none);
    assert_int_equal(sb_model_read(&m, other), SB_OK);
    sb_model_fini(&m);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        rewrite(path, other, &changes[i]);
        read_refused(other, changes[i].sentence);
    }
}

static void write_lenet(void)
{
    static const float zero[] = {0}, one[] = {1};
    const struct sb_model_info info = {
        .arch = "lenet",
        .method = "dnn",
        .recipe = "",
        .channels = 1,
        .height = 16,
        .width = 16,
        .classes = 2,
        .mean = zero,
        .sd = one,
    };
    struct sb_model m;
    struct sb_trained member;
    assert_int_equal(sb_model_init(&m, &info), SB_OK);
    assert_int_equal(sb_trained_plan(&member, &m.arch, NULL, false), SB_OK);
    assert_int_equal(sb_model_add(&m, &member), SB_OK);
    assert_int_equal(sb_model_write(&m, path), SB_OK);
    sb_model_fini(&m);
}

static void malformed_norms_are_refused(void **state)
{
    (void)state;
    static const struct change norms[] = {
        GONE("net0.bn1.running_mean", "has no tensor \"net0.bn1.running_mean\""),
        TENSOR("net0.bn1.running_var", "F32", "0 1 -1",
               "tensor \"net0.bn1.running_var\": number 2 is negative", 20),
        TENSOR("net0.bn2.weight", "F32", "inf",
               "tensor \"net0.bn2.weight\": number 0 is not finite", 50),
        TENSOR("net0.bn2.bias", "F32", "",
               "tensor \"net0.bn2.bias\": its shape is [1, 50], want [50]", 1, 50),
    };
    write_lenet();
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        rewrite(path, other, &norms[i]);
        read_refused(other, norms[i].sentence);
    }
}

/* Sizes in the texts alone must not make the reader ask for much. */
static void memory_is_asked_for_what_is_there(void **state)
{
    (void)state;
    static const struct change large[] = {
        META("arch", "mlp-1000000-1000", ""), META("arch", "wrn-9994-1000", ""),
        META("shape", "[3,1000000,600]", ""), META("classes", "2147483647", "")};
    struct sb_model m;
    write_small();
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        rewrite(path, other, &large[i]);
        size_t live = sb_mem_live();
        sb_mem_peak_reset();
        assert_int_equal(sb_model_read(&m, other), SB_EFORMAT);
        assert_true(sb_mem_peak() - live < (size_t)20 << 20);
        assert_int_equal(sb_mem_live(), live);
    }
}

/* ---- damage ---- */

static void every_truncation_is_refused(void **state)
{
    (void)state;
    write_small();
    survive_truncations(path);
}

static void every_flipped_bit_is_survived(void **state)
{
    (void)state;
    write_small();
    survive_flipped_bits(path, NULL);
}

/* ---- memory ---- */

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    write_small();
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 200; n++) {
        struct sb_model m;
        struct sb_net net = {0};
        struct sb_model_plan plan = {.lanes = 8, .max_batch = 8, .threads = 1};
        sb_mem_fail_after(n);
        st = sb_model_read(&m, path);
        if (st == SB_OK)
            st = sb_model_write(&m, other);
        if (st == SB_OK)
            st = sb_model_net(&m, 0, &plan, &net);
        sb_mem_fail_after(-1);
        sb_model_fini(&m);
        sb_net_fini(&net);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(st, SB_OK);
    assert_in_range(n, 20, 199);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_files_are_refused),
        cmocka_unit_test(malformed_norms_are_refused),
        cmocka_unit_test(memory_is_asked_for_what_is_there),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_flipped_bit_is_survived),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
