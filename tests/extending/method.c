/* method - adding a method: docs/extending.md quotes this file, and this test trains it.
 *
 * A Bayesian relative of `static`: Gaussian weights on a random support that never moves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "kernels/kernels.h"
#include "recipe/options.h"
#include "train/trainer.h"

static const struct sb_implied two_short_runs[] = {
    {"method.members", "2"},
    {"method.explore_epochs", "1"},
    {"method.exploit_epochs", "1"},
};

static const struct sb_method static_bayes = {
    .name = "static-bayes",
    .summary = "sparse Bayesian networks on random fixed supports, trained apart",
    .posterior = SB_POSTERIOR_GAUSS,
    .support = SB_SUPPORT_STATIC,
    .schedule = SB_SCHEDULE_PARALLEL,
    .form = SB_FORM_PLAIN,
    .least_members = 2,
    .implied = two_short_runs,
    .implied_count = 3,
};

static void a_row_is_enough_to_train(void **state)
{
    (void)state;
    struct sb_recipe r;
    struct sb_env env = {.threads = 2};
    struct sb_run_result result;
    char directory[] = "extending.XXXXXX";
    assert_non_null(mkdtemp(directory));
    sb_recipe_init(&r);
    assert_int_equal(sb_kernels_choose("auto", &env.kernels), SB_OK);
    assert_int_equal(sb_recipe_set(&r, "data.set", TABLES "/iris.csv"), SB_OK);
    assert_int_equal(sb_recipe_set(&r, "model.arch", "mlp-16"), SB_OK);
    for (size_t i = 0; i < static_bayes.implied_count; i++)
        assert_int_equal(
            sb_recipe_set(&r, static_bayes.implied[i].key, static_bayes.implied[i].value),
            SB_OK);
    r.method = &static_bayes;
    struct sb_run_options o = {.out = directory};
    assert_int_equal(sb_run_train(&env, &r, &o, &result), SB_OK);
    assert_int_equal(result.members, 2);
    assert_true(result.density < 1.0);
    sb_run_result_fini(&result);
    assert_true(sb_file_remove_tree(directory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_row_is_enough_to_train)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
