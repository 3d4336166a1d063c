/* forms/tree: where a tree can branch and how often; else a sentence that names the option. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "forms/form.h"

static sb_status build(const char *arch, const char *branch_at, uint32_t members)
{
    const struct sb_arch_shape shape = {arch, 3, 8, 8, 10, SB_LIKELIHOOD_CATEGORICAL};
    struct sb_form_spec s = {.kind = SB_FORM_TREE, .members = members};
    struct sb_arch a;
    snprintf(s.branch_at, sizeof s.branch_at, "%s", branch_at);
    sb_status st = sb_form_build(&s, &shape, SB_FORM_TRAINED, &a);
    sb_arch_fini(&a);
    return st;
}

static void blocks_and_what_begins_a_way_are_points(void **state)
{
    (void)state;
    assert_int_equal(build("wrn-10-1", "group3.0", 2), SB_OK);
    assert_int_equal(build("wrn-10-1", "group3.0.conv2", 2), SB_OK);
    assert_int_equal(build("wrn-10-1", "", 2), SB_OK);
    assert_int_equal(build("mlp-12-9", "2", 2), SB_OK);
}

static void ways_of_a_block_are_not_parted(void **state)
{
    (void)state;
    assert_int_equal(build("wrn-10-1", "group3.0.shortcut", 2), SB_EARG);
    assert_string_equal(
        sb_message(),
        "method.branch_at = group3.0.shortcut: a branch would begin within block "
        "group3.0, whose two ways meet further on; want 'group3.0', the whole block");
}

static void members_that_are_too_many_are_named(void **state)
{
    (void)state;
    assert_int_equal(build("wrn-28-10", "", 4096), SB_EARG);
    assert_string_equal(
        sb_message(),
        "method.members = 4096: a branch of wrn-28-10 has 7 layers, its trunk 22; want "
        "at most 2337 members, 16384 layers in all");
    assert_int_equal(build("wrn-28-10", "", 2337), SB_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_and_what_begins_a_way_are_points),
        cmocka_unit_test(ways_of_a_block_are_not_parted),
        cmocka_unit_test(members_that_are_too_many_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
