/* recipe/check: what is reckoned with in single precision must be in its range there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recipe/options.h"

/* Resolves what is usual with one assignment. */
static sb_status resolve(const char *assignment)
{
    struct sb_recipe r;
    sb_recipe_init(&r);
    assert_int_equal(sb_recipe_assign(&r, assignment), SB_OK);
    return sb_recipe_resolve(&r);
}

static void what_rounds_out_of_range_is_refused(void **state)
{
    (void)state;
    assert_int_equal(resolve("method.dropout_rate=0.99999999"), SB_EARG);
    assert_string_equal(sb_message(),
                        "method.dropout_rate = 0.99999998999999995: in single precision "
                        "that is 1, and nothing would be kept; want at most 0.9999999");
    assert_int_equal(resolve("method.scale_spread=1e-60"), SB_EARG);
    assert_string_equal(sb_message(),
                        "method.scale_spread = 1e-60: in single precision there is no "
                        "number so small; want at least 1.18e-38");
    assert_int_equal(resolve("method.scale_sd=1e-39"), SB_EARG);
    assert_int_equal(resolve("method.scale_prior_sd=1e-39"), SB_EARG);
}

static void what_is_advised_is_taken(void **state)
{
    (void)state;
    assert_int_equal(resolve("method.dropout_rate=0.9999999"), SB_OK);
    assert_int_equal(resolve("method.scale_spread=1.18e-38"), SB_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rounds_out_of_range_is_refused),
        cmocka_unit_test(what_is_advised_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
