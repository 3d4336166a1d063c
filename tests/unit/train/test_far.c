/* train/far: where training rows are, the same whenever it is asked, and every allocation on
 * the way failed once. */
#include "base/mem.h"
#include "figures/far.h"
#include "recipe/options.h"
#include "small_images.h"
#include "train/state.h"

static const struct sb_env env = {.kernels = &sb_kernels_scalar, .threads = 1};
static const struct sb_run_options options = {.out = "run"};

enum { ROWS = 16, MEMBERS = 2 };

/* A trainer on small images whose networks are trained; resolved into r, which it borrows. */
static void begin(struct sb_trainer *t, struct sb_recipe *r)
{
    static const char *const settings[] = {
        "data.set=.",
        "data.validation=4",
        "model.arch=mlp-5",
        "train.batch=8",
        "method.name=sebays",
        "method.members=2",
        "method.explore_epochs=1",
        "method.exploit_epochs=1",
        "train.threads=1",
    };
    write_small_images(20, 10);
    sb_recipe_init(r);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_int_equal(sb_recipe_assign(r, settings[i]), SB_OK);
    assert_int_equal(sb_recipe_resolve(r), SB_OK);
    assert_int_equal(sb_trainer_open(t, &env, r, &options), SB_OK);
    assert_int_equal(sb_trainer_begin_files(t), SB_OK);
    assert_int_equal(sb_trainer_run(t), SB_OK);
}

static void forget(struct sb_trainer *t)
{
    sb_free(t->far_number);
    t->far_number = NULL;
    t->far = (struct sb_far){0};
}

static void it_is_a_function_of_networks_and_rows(void **state)
{
    (void)state;
    struct sb_trainer t;
    struct sb_recipe r;
    float first[4096];
    begin(&t, &r);
    assert_int_equal(sb_trainer_locate(&t), SB_OK);
    assert_true(t.far.members == MEMBERS && t.far.feature == 5);
    assert_int_equal(t.far.quantiles, ROWS);
    size_t bytes = sb_far_floats(&t.far) * sizeof *first;
    assert_in_range(bytes, 1, sizeof first);
    memcpy(first, t.far.number, bytes);
    forget(&t);
    assert_int_equal(sb_trainer_locate(&t), SB_OK);
    assert_memory_equal(first, t.far.number, bytes);
    sb_trainer_close(&t);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    struct sb_trainer t;
    struct sb_recipe r;
    begin(&t, &r);
    size_t live = sb_mem_live();
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 1000; n++) {
        (void)sb_fail(SB_EIO, "nothing was said");
        sb_mem_fail_after(n);
        st = sb_trainer_locate(&t);
        sb_mem_fail_after(-1);
        assert_true(st == SB_OK || st == SB_ENOMEM);
        assert_true(st == SB_OK || strstr(sb_message(), "no memory"));
        assert_int_equal(t.far.members, st == SB_OK ? MEMBERS : 0);
        forget(&t);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_in_range(n, 10, 999);
    sb_trainer_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_a_function_of_networks_and_rows, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_failed_allocation_is_survived, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
