/* base/nearest: did you mean. */
#include "base/nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void distances(void **state)
{
    (void)state;
    assert_int_equal(sb_nearest_distance("", ""), 0);
    assert_int_equal(sb_nearest_distance("", "abc"), 3);
    assert_int_equal(sb_nearest_distance("abc", ""), 3);
    assert_int_equal(sb_nearest_distance("kitten", "sitting"), 3);
    assert_int_equal(sb_nearest_distance("bacth", "batch"), 1);
    assert_int_equal(sb_nearest_distance("ca", "abc"), 3); /* no letter moves twice */
    assert_int_equal(sb_nearest_distance("Prune-Rate", "prune_rate"), 0);
}

static void the_first_of_equals_wins(void **state)
{
    (void)state;
    struct sb_nearest n = sb_nearest_begin("bat");
    assert_string_equal(n.best, "");
    const char *const words[] = {"elephant", "cat", "rat", "bath"};
    for (size_t i = 0; i < 4; i++)
        sb_nearest_offer(&n, words[i]);
    assert_string_equal(n.best, "cat");
    assert_int_equal(n.distance, 1);
}

static void long_words_are_cut(void **state)
{
    (void)state;
    char a[200], b[200];
    for (size_t i = 0; i < sizeof a; i++)
        a[i] = b[i] = 'x';
    a[199] = b[100] = '\0';
    assert_int_equal(sb_nearest_distance(a, b), 0);
    assert_int_equal(sb_nearest_distance(a, "x"), 62);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(the_first_of_equals_wins),
        cmocka_unit_test(long_words_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
