/* model/far: what a model keeps of its training rows comes back as it was; every malformed
 * form has its sentence, damage of every kind is survived, and every allocation failed once. */
#include "model/far.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "figures/far.h"
#include "rewrite.h"
#include "two_files.h"

enum {
    INPUT = 4,
    FEATURE = 3,
    MEMBERS = 2,
    QUANTILES = 5,
    NUMBERS = 4 + 10 + 6 + 12 + 5
};

/* Means are 0.5, factors have 1 on and below the diagonal, quantiles are 1, 2, ... */
static struct sb_far good(float number[NUMBERS])
{
    struct sb_far f = {INPUT, FEATURE, MEMBERS, QUANTILES, number};
    assert_int_equal(sb_far_floats(&f), NUMBERS);
    for (size_t i = 0; i < NUMBERS; i++)
        number[i] = 1;
    for (size_t i = 0; i < INPUT; i++)
        number[i] = 0.5f;
    for (size_t i = 0; i < (size_t)MEMBERS * FEATURE; i++)
        number[sb_far_mean_at(&f, 1) + i] = 0.5f;
    for (size_t i = 0; i < QUANTILES; i++)
        number[sb_far_quantile_at(&f) + i] = (float)(i + 1);
    return f;
}

/* Of mlp-3, or of another one, which the numbers then do not suit. */
static void write_model(const char *arch)
{
    static const float zero[] = {0}, one[] = {1};
    const struct sb_model_info info = {
        .arch = arch,
        .method = "dnn",
        .recipe = "",
        .channels = 1,
        .height = 2,
        .width = 2,
        .classes = 2,
        .mean = zero,
        .sd = one,
    };
    struct sb_model m;
    struct sb_trained member;
    float number[NUMBERS];
    assert_int_equal(sb_model_init(&m, &info), SB_OK);
    for (int i = 0; i < MEMBERS; i++) {
        assert_int_equal(sb_trained_plan(&member, &m.arch, NULL, false), SB_OK);
        assert_int_equal(sb_model_add(&m, &member), SB_OK);
    }
    m.far = good(number);
    assert_int_equal(sb_model_write(&m, path), SB_OK);
    sb_model_fini(&m);
}

static void it_comes_back(void **state)
{
    (void)state;
    struct sb_model m;
    float number[NUMBERS];
    struct sb_far f = good(number);
    write_model("mlp-3");
    assert_int_equal(sb_model_read(&m, path), SB_OK);
    assert_true(m.far.input == f.input && m.far.feature == f.feature);
    assert_true(m.far.members == f.members && m.far.quantiles == f.quantiles);
    assert_memory_equal(m.far.number, number, sizeof number);
    sb_model_fini(&m);
}

#define SHAPE(have, want) "its shape is [" have "], want [" want "]"
#define DIAGONAL          "a diagonal has a number that is not above 0"
#define ORDER             "is negative or below the one before"

static const struct change changes[] = {
    GONE("far.input.mean", "has no tensor \"far.input.mean\""),
    GONE("far.input.factor", "has no tensor \"far.input.factor\""),
    GONE("far.features.mean", "has no tensor \"far.features.mean\""),
    GONE("far.features.factor", "has no tensor \"far.features.factor\""),
    GONE("far.quantiles", "tensor \"far.input.mean\": belongs to no part of the model"),
    TENSOR("far.more", "F32", "", "tensor \"far.more\": belongs to no part of the model",
           1),
    TENSOR("far.input.mean", "F32", "", "tensor \"far.input.mean\": " SHAPE("3", "4"), 3),
    TENSOR("far.input.mean", "F32", "", "tensor \"far.input.mean\": " SHAPE("0", "4"), 0),
    TENSOR("far.input.mean", "F32", "", "tensor \"far.input.mean\": " SHAPE("2, 2", "4"),
           2, 2),
    TENSOR("far.input.mean", "F64", "", "tensor \"far.input.mean\": is F64, want F32", 4),
    TENSOR("far.input.factor", "F32", "",
           "tensor \"far.input.factor\": " SHAPE("1000", "10"), 1000),
    TENSOR("far.input.factor", "F32", "",
           "tensor \"far.input.factor\": " SHAPE("4, 4", "10"), 4, 4),
    TENSOR("far.features.mean", "F32", "",
           "tensor \"far.features.mean\": " SHAPE("3, 3", "2, 3"), 3, 3),
    TENSOR("far.features.mean", "F32", "",
           "tensor \"far.features.mean\": " SHAPE("3, 2", "2, 3"), 3, 2),
    TENSOR("far.features.factor", "F32", "",
           "tensor \"far.features.factor\": " SHAPE("2, 3, 3", "2, 6"), 2, 3, 3),
    TENSOR("far.features.factor", "I32", "",
           "tensor \"far.features.factor\": is I32, want F32", 2, 6),
    TENSOR("far.quantiles", "F32", "", "tensor \"far.quantiles\": want 1 to 256 of them",
           0),
    TENSOR("far.quantiles", "F32", "", "tensor \"far.quantiles\": want 1 to 256 of them",
           257),
    TENSOR("far.quantiles", "F32", "", "tensor \"far.quantiles\": " SHAPE("2, 2", "4"), 2,
           2),
    TENSOR("far.quantiles", "I32", "", "tensor \"far.quantiles\": is I32, want F32", 5),
    TENSOR("far.input.mean", "F32", "1 1 nan",
           "tensor \"far.input.mean\": number 2 is not finite", 4),
    TENSOR("far.input.factor", "F32", "inf",
           "tensor \"far.input.factor\": number 0 is not finite", 10),
    TENSOR("far.features.mean", "F32", "0 -inf",
           "tensor \"far.features.mean\": number 1 is not finite", 2, 3),
    TENSOR("far.features.factor", "F32", "1 nan",
           "tensor \"far.features.factor\": number 1 is not finite", 2, 6),
    TENSOR("far.quantiles", "F32", "1 2 3 4 inf",
           "tensor \"far.quantiles\": number 4 is not finite", 5),
    TENSOR("far.input.factor", "F32", "", "tensor \"far.input.factor\": " DIAGONAL, 10),
    TENSOR("far.input.factor", "F32", "1 9 1 9 9 -1 9 9 9 1",
           "tensor \"far.input.factor\": " DIAGONAL, 10),
    TENSOR("far.features.factor", "F32", "1 9 1 9 9 1 1 9 1 9 9 -0",
           "tensor \"far.features.factor\": " DIAGONAL, 2, 6),
    TENSOR("far.quantiles", "F32", "-1 2 3 4 5",
           "tensor \"far.quantiles\": number 0 " ORDER, 5),
    TENSOR("far.quantiles", "F32", "1 2 3 2 5",
           "tensor \"far.quantiles\": number 3 " ORDER, 5),
};

static void malformed_files_are_refused(void **state)
{
    (void)state;
    write_model("mlp-3");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        rewrite(path, other, &changes[i]);
        read_refused(other, changes[i].sentence);
    }
}

/* What reading asks for at its most. */
static size_t peak_of_refusal(const char *file)
{
    struct sb_model m;
    size_t live = sb_mem_live();
    sb_mem_peak_reset();
    assert_int_equal(sb_model_read(&m, file), SB_EFORMAT);
    assert_int_equal(sb_mem_live(), live);
    return sb_mem_peak() - live;
}

/* Members in a text alone must not make the reader ask for their Gaussians, 2080 numbers
 * each: the same file is refused at the same cost without the tensors that claim them. */
static void memory_is_asked_for_what_is_there(void **state)
{
    (void)state;
    static const struct change many = META("form",
                                           "{\"name\":\"dropout\",\"members\":2048,"
                                           "\"rate\":0.5}",
                                           ""),
                               none = GONE("far.quantiles", "");
    write_model("mlp-64");
    rewrite(path, other, &many);
    size_t with = peak_of_refusal(other);
    rewrite(other, path, &none);
    size_t without = peak_of_refusal(path);
    assert_true(with < without + ((size_t)1 << 20));
}

/* ---- damage and memory ---- */

/* Whatever numbers it has, far is one from 0 to 1. */
static void conclude(const struct sb_model *m)
{
    const struct sb_far *f = &m->far;
    const float z[2][FEATURE + 1] = {{0, 0, 0, 0}, {1e30f, -1e30f, 3, -7}};
    for (int k = 0; k < 2 && f->members == MEMBERS; k++) {
        float away[1 + MEMBERS], far;
        for (uint32_t p = 0; p <= MEMBERS; p++)
            away[p] = (float)sb_far_away(f, p, z[k]);
        sb_far_conclude(f, away, 1, 1, &far);
        assert_true(far >= 0 && far <= 1);
    }
}

static void every_truncation_and_flipped_bit_is_survived(void **state)
{
    (void)state;
    write_model("mlp-3");
    survive_truncations(path);
    survive_flipped_bits(path, conclude);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    write_model("mlp-3");
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 200; n++) {
        struct sb_model m;
        sb_mem_fail_after(n);
        st = sb_model_read(&m, path);
        if (st == SB_OK)
            st = sb_model_write(&m, other);
        sb_mem_fail_after(-1);
        sb_model_fini(&m);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_in_range(n, 20, 199);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_back),
        cmocka_unit_test(malformed_files_are_refused),
        cmocka_unit_test(memory_is_asked_for_what_is_there),
        cmocka_unit_test(every_truncation_and_flipped_bit_is_survived),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
