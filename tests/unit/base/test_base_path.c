/* base/path: names in directories, and paths that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/path.h"

static void joins(void **state)
{
    (void)state;
    char path[SB_PATH_BYTES];
    assert_int_equal(sb_path_join(path, "runs/a", "recipe.ini"), SB_OK);
    assert_string_equal(path, "runs/a/recipe.ini");
    assert_int_equal(sb_path_join(path, "runs/a/", "recipe.ini"), SB_OK);
    assert_string_equal(path, "runs/a/recipe.ini");
    assert_int_equal(sb_path_join(path, "/", "data"), SB_OK);
    assert_string_equal(path, "/data");
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    char path[SB_PATH_BYTES], directory[SB_PATH_BYTES];
    memset(directory, 'd', sizeof directory);
    directory[SB_PATH_BYTES - 3] = '\0';
    assert_int_equal(sb_path_join(path, directory, "n"), SB_OK);
    assert_int_equal(strlen(path), SB_PATH_BYTES - 1);
    assert_int_equal(sb_path_join(path, directory, "nn"), SB_EARG);
    assert_non_null(
        strstr(sb_message(), "a path of 4096 bytes is too long: it begins with ddd"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
