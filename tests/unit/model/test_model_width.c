/* model: the width of continuous targets comes back as it was, and what has none has the bytes
 * of one that never could have any; malformed ones are refused, damage is survived, and every
 * allocation failed once. */
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "rewrite.h"
#include "two_files.h"

static const float widths[] = {0.1f, 3.0f};

static struct sb_model_info info_of(const float *width)
{
    static const float zero[] = {0, 1}, one[] = {1, 2};
    static const char *const names[] = {"a", "b"};
    return (struct sb_model_info){
        .arch = "mlp-3",
        .method = "dnn",
        .recipe = "",
        .channels = 2,
        .height = 1,
        .width = 1,
        .likelihood = SB_LIKELIHOOD_GAUSS_SHARED,
        .targets = 2,
        .target_name = names,
        .target_mean = zero,
        .target_sd = one,
        .target_width = width,
        .mean = zero,
        .sd = one,
    };
}

static void write_model(const float *width)
{
    const struct sb_model_info info = info_of(width);
    struct sb_model m;
    struct sb_trained member;
    assert_int_equal(sb_model_init(&m, &info), SB_OK);
    assert_int_equal(sb_trained_plan(&member, &m.arch, NULL, false), SB_OK);
    assert_int_equal(sb_model_add(&m, &member), SB_OK);
    assert_int_equal(sb_model_write(&m, path), SB_OK);
    sb_model_fini(&m);
}

static bool says_width(const char *file)
{
    struct sb_st st;
    assert_int_equal(sb_st_open(&st, file), SB_OK);
    bool says = strstr(sb_st_meta(&st, "targets"), "width") != NULL;
    sb_st_close(&st);
    return says;
}

static void it_comes_back(void **state)
{
    struct sb_model m;
    (void)state;
    write_model(widths);
    assert_int_equal(sb_model_map(&m, path), SB_OK);
    assert_memory_equal(m.info.target_width, widths, sizeof widths);
    assert_int_equal(sb_model_write(&m, other), SB_OK);
    sb_model_fini(&m);
    write_model(NULL);
    assert_int_equal(sb_model_read(&m, path), SB_OK);
    assert_null(m.info.target_width);
    sb_model_fini(&m);
    assert_true(says_width(other) && !says_width(path));
}

#define TARGETS(width)                                                                   \
    "{\"names\":[\"a\",\"b\"],\"mean\":[0,1],\"sd\":[1,2],\"width\":" width "}"
#define WANT "; want a finite one above 0"

static void malformed_ones_are_refused(void **state)
{
    static const struct change changes[] = {
        META("targets", TARGETS("[1]"),
             "metadata \"targets\": want the width of 2 targets"),
        META("targets", TARGETS("[]"),
             "metadata \"targets\": want the width of 2 targets"),
        META("targets", TARGETS("null"),
             "metadata \"targets\": want the width of 2 targets"),
        META("targets", TARGETS("{\"a\":1,\"b\":2}"),
             "metadata \"targets\": want the width of 2 targets"),
        META("targets", TARGETS("[1,2,3]"),
             "metadata \"targets\": want the width of 2 targets"),
        META("targets", TARGETS("[1,\"2\"]"),
             "metadata \"targets\": width of target 1 is not a number"),
        META("targets", TARGETS("[0,1]"), "model: target 0 has the width 0" WANT),
        META("targets", TARGETS("[1,-2]"), "model: target 1 has the width -2" WANT),
        META("targets", TARGETS("[1e60,1]"), "model: target 0 has the width inf" WANT),
        META("targets", TARGETS("[1e-60,1]"), "model: target 0 has the width 0" WANT),
    };
    struct sb_model m;
    const float bad[] = {1, NAN};
    const struct sb_model_info info = info_of(bad);
    (void)state;
    write_model(widths);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        rewrite(path, other, &changes[i]);
        read_refused(other, changes[i].sentence);
    }
    refused(sb_model_init(&m, &info), SB_EARG, "model: target 1 has the width nan" WANT);
    sb_model_fini(&m);
}

static void look(const struct sb_model *m)
{
    for (uint32_t t = 0; m->info.target_width && t < m->info.targets; t++)
        assert_true(isfinite(m->info.target_width[t]) && m->info.target_width[t] > 0);
}

static void damage_is_survived(void **state)
{
    (void)state;
    write_model(widths);
    survive_truncations(path);
    survive_flipped_bits(path, look);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    write_model(widths);
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 300; n++) {
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
    assert_in_range(n, 20, 299);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_back),
        cmocka_unit_test(malformed_ones_are_refused),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
