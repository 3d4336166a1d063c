/* base/text: texts that grow, and cutting between characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/text.h"

static void grows(void **state)
{
    (void)state;
    struct sb_text t = {0};
    char *out;
    for (int i = 0; i < 1000; i++)
        sb_text_add(&t, "%d,", i);
    assert_int_equal(sb_text_take(&t, &out), SB_OK);
    assert_int_equal(strlen(out), 10 * 2 + 90 * 3 + 900 * 4);
    sb_free(out);
    sb_mem_fail_after(0);
    sb_text_add(&t, "x");
    sb_mem_fail_after(-1);
    sb_text_add(&t, "y"); /* a failure stays */
    assert_int_equal(sb_text_take(&t, &out), SB_ENOMEM);
    assert_null(out);
}

static void cuts_between_characters(void **state)
{
    (void)state;
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"; /* 1 2 3 4 1 */
    static const int want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (int most = 0; most < (int)(sizeof want / sizeof *want); most++)
        assert_int_equal(sb_text_cut(text, most), want[most]);
    assert_int_equal(sb_text_cut("", 5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows),
        cmocka_unit_test(cuts_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
