/* options: lines of a recipe that are longer than inih's buffer. */
#include "recipe/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static sb_status parse(struct sb_recipe *r, const char *text)
{
    sb_recipe_init(r);
    return sb_recipe_parse(r, "r.ini", text, strlen(text));
}

/* Of inih's 198 bytes nobody knows: comments and values have any length. */
static void long_lines_are_not_cut(void **state)
{
    (void)state;
    struct sb_recipe r;
    char text[400], value[SB_CONFIG_PATH];
    for (size_t n = 150; n < 300; n++) {
        const char *const begin[] = {"[data]\n#", "[data]\nset=", "[data]\nset:  "};
        for (size_t k = 0; k < 3; k++) {
            size_t head = strlen(begin[k]);
            memset(text, 'x', sizeof text);
            memcpy(text, begin[k], head);
            memcpy(text + 7 + n, " ; y\r\n[train]\nbatch = 7", 24);
            assert_int_equal(parse(&r, text), SB_OK);
            assert_int_equal(r.config.train.batch, 7);
            memset(value, 'x', sizeof value);
            value[7 + n - head] = '\0';
            if (k > 0)
                assert_string_equal(r.config.data.set, value);
        }
    }
}

static void long_lines_that_say_nothing_are_refused(void **state)
{
    (void)state;
    struct sb_recipe r;
    char text[2 * SB_CONFIG_PATH];
    memset(text, 'x', sizeof text);
    memcpy(text, "[data]\n", 7);
    text[7 + 300] = '\0';
    assert_int_equal(parse(&r, text), SB_EFORMAT);
    assert_string_equal(sb_message(), "r.ini:2: a line of 300 bytes; without a key and a "
                                      "value at most 198 fit");
    text[7] = '[';
    assert_int_equal(parse(&r, text), SB_EFORMAT);
    memcpy(text + 7, "set =", 5);
    text[7 + 300] = 'x';
    text[12 + SB_CONFIG_PATH] = '\0';
    assert_int_equal(parse(&r, text), SB_EARG); /* a byte too much for the option ... */
    assert_non_null(strstr(sb_message(), "xxx...: want 1 to 4095 bytes, no ';'"));
    text[12 + SB_CONFIG_PATH] = 'x';
    text[sizeof text - 1] = '\0';
    assert_int_equal(parse(&r, text), SB_EFORMAT); /* ... and for every one */
    assert_non_null(strstr(sb_message(), "r.ini:2: a value of 8179 bytes; at most 4159"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_lines_are_not_cut),
        cmocka_unit_test(long_lines_that_say_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
