/* model/run_files: where a run's files are, and what is said of those that are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "model/run_files.h"
#include "refused.h"

static void every_file_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < SB_RUN_FILES; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(sb_run_file_name((enum sb_run_file)i),
                                    sb_run_file_name((enum sb_run_file)k));
    char path[SB_PATH_BYTES];
    assert_int_equal(sb_run_path("runs/a", SB_RUN_MODEL, path), SB_OK);
    assert_string_equal(path, "runs/a/model.safetensors");
    assert_int_equal(sb_run_member("runs/a", 12, path), SB_OK);
    assert_string_equal(path, "runs/a/member-12");
}

static void what_is_not_there_is_said_with_what_to_do(void **state)
{
    (void)state;
    static const char directory[] = "test-run-files";
    char path[SB_PATH_BYTES];
    (void)sb_file_remove_tree(directory);
    assert_int_equal(sb_file_make_directory(directory), SB_OK);
    refused(sb_run_find(directory, SB_RUN_RESULTS, path), SB_EIO,
            "test-run-files is no run directory, it has no recipe.ini; want one that "
            "'sebays train' made");
    assert_int_equal(sb_run_path(directory, SB_RUN_RECIPE, path), SB_OK);
    assert_int_equal(sb_file_put(path, "", 0), SB_OK);
    assert_true(sb_run_has(directory, SB_RUN_RECIPE));
    assert_int_equal(sb_run_find(directory, SB_RUN_RECIPE, path), SB_OK);
    assert_false(sb_run_has(directory, SB_RUN_RESULTS));
    refused(sb_run_find(directory, SB_RUN_RESULTS, path), SB_EIO,
            "test-run-files has no results.json: its training has not ended; go on with: "
            "sebays train test-run-files/recipe.ini --out test-run-files --resume");
    assert_true(sb_file_remove_tree(directory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_has_a_name_of_its_own),
        cmocka_unit_test(what_is_not_there_is_said_with_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
