/* base/json: exact sentences for malformed text and wrong values; stable output. */
#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static json_t *parse(const char *text)
{
    json_t *value;
    assert_int_equal(sb_json_parse("test", text, strlen(text), &value), SB_OK);
    assert_non_null(value);
    return value;
}

static void check_failure(sb_status st, const char *sentence)
{
    assert_int_equal(st, SB_EFORMAT);
    assert_string_equal(sb_message(), sentence);
}

/* ---- parsing ---- */

static void malformed_text_is_located(void **state)
{
    (void)state;
    const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "f.json: line 1, column 0: '[' or '{' expected near end of file"},
        {"7", "f.json: line 1, column 1: '[' or '{' expected near '7'"},
        {"{\n  \"a\": 1,\n  b\n}",
         "f.json: line 3, column 3: string or '}' expected near 'b'"},
        {"{\"a\": 1, \"a\": 2}",
         "f.json: line 1, column 12: duplicate object key near '\"a\"'"},
        {"{\"a\": 99999999999999999999}",
         "f.json: line 1, column 26: too big integer near '99999999999999999999'"},
        {"[1e999]", "f.json: line 1, column 6: real number overflow near '1e999'"},
        {"[1] x", "f.json: line 1, column 5: end of file expected near 'x'"},
        {"[\"\\u0000\"]", "f.json: line 1, column 9: \\u0000 is not allowed without "
                          "JSON_ALLOW_NUL near '\"\\u0000\"'"},
        {"[\"\xff\"]", "f.json: line 1, column 2: unable to decode byte 0xff near '\"'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *value = (json_t *)&state;
        const char *text = cases[i].text;
        check_failure(sb_json_parse("f.json", text, strlen(text), &value),
                      cases[i].sentence);
        assert_null(value);
    }
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    char *text = sb_malloc(DEPTH, 1);
    json_t *value;
    assert_non_null(text);
    memset(text, '[', DEPTH);
    check_failure(sb_json_parse("f.json", text, DEPTH, &value),
                  "f.json: line 1, column 2049: maximum parsing depth reached near '['");
    sb_free(text);
}

static void text_needs_no_terminator(void **state)
{
    (void)state;
    const char text[] = {'[', '1', ']', ' ', ' ', '!'};
    json_t *value;
    assert_int_equal(sb_json_parse("f.json", text, 5, &value), SB_OK);
    assert_int_equal(json_array_size(value), 1);
    json_decref(value);
}

/* ---- getters ---- */

static void getters_get(void **state)
{
    (void)state;
    json_t *o =
        parse("{\"s\": \"text\", \"i\": -3, \"r\": 0.5, \"a\": [1, 2], \"o\": {}}");
    const char *s;
    int64_t i;
    double x;
    const json_t *v;
    assert_int_equal(sb_json_string(o, "f", "s", &s), SB_OK);
    assert_string_equal(s, "text");
    assert_int_equal(sb_json_integer(o, "f", "i", -3, 0, &i), SB_OK);
    assert_true(i == -3);
    assert_int_equal(sb_json_integer(o, "f", "i", -10, -3, &i), SB_OK);
    assert_int_equal(sb_json_integer(o, "f", "i", INT64_MIN, INT64_MAX, &i), SB_OK);
    assert_int_equal(sb_json_number(o, "f", "r", &x), SB_OK);
    assert_true(x == 0.5);
    assert_int_equal(sb_json_number(o, "f", "i", &x), SB_OK);
    assert_true(x == -3.0);
    assert_int_equal(sb_json_array(o, "f", "a", &v), SB_OK);
    assert_int_equal(json_array_size(v), 2);
    assert_int_equal(sb_json_object(o, "f", "o", &v), SB_OK);
    assert_int_equal(json_object_size(v), 0);
    json_decref(o);
}

static void getters_say_what_is_wrong(void **state)
{
    (void)state;
    json_t *o = parse("{\"s\": \"text\", \"i\": 12, \"r\": 0.5, \"a\": [], \"o\": {}, "
                      "\"t\": true, \"f\": false, \"n\": null}");
    const char *s = "untouched";
    int64_t i = 77;
    double x = 77.0;
    const json_t *v = o;
    check_failure(sb_json_string(o, "m.json", "name", &s),
                  "m.json: key \"name\" is missing, want a string");
    check_failure(sb_json_string(o, "m.json", "i", &s),
                  "m.json: key \"i\": want a string, have an integer");
    check_failure(sb_json_integer(o, "m.json", "r", 0, 9, &i),
                  "m.json: key \"r\": want an integer, have a real number");
    check_failure(sb_json_integer(o, "m.json", "i", 0, 9, &i),
                  "m.json: key \"i\": want an integer from 0 to 9, have 12");
    check_failure(sb_json_integer(o, "m.json", "i", 13, INT64_MAX, &i),
                  "m.json: key \"i\": want an integer from 13 to 9223372036854775807, "
                  "have 12");
    check_failure(sb_json_number(o, "m.json", "s", &x),
                  "m.json: key \"s\": want a number, have a string");
    check_failure(sb_json_number(o, "m.json", "n", &x),
                  "m.json: key \"n\": want a number, have null");
    check_failure(sb_json_array(o, "m.json", "o", &v),
                  "m.json: key \"o\": want an array, have an object");
    check_failure(sb_json_array(o, "m.json", "t", &v),
                  "m.json: key \"t\": want an array, have true");
    check_failure(sb_json_object(o, "m.json", "a", &v),
                  "m.json: key \"a\": want an object, have an array");
    check_failure(sb_json_object(o, "m.json", "f", &v),
                  "m.json: key \"f\": want an object, have false");
    assert_string_equal(s, "untouched");
    assert_true(i == 77 && x == 77.0 && v == o);
    json_decref(o);
}

static void getters_need_an_object(void **state)
{
    (void)state;
    json_t *a = parse("[]");
    double x;
    check_failure(sb_json_number(a, "m.json", "k", &x),
                  "m.json: want an object with key \"k\", have an array");
    check_failure(sb_json_number(NULL, "m.json", "k", &x),
                  "m.json: want an object with key \"k\", have nothing");
    json_decref(a);
}

/* ---- writing ---- */

static void check_text(const json_t *value, bool pretty, const char *want)
{
    char *text;
    assert_int_equal(sb_json_write(value, pretty, &text), SB_OK);
    assert_string_equal(text, want);
    sb_free(text);
}

static void keys_are_sorted(void **state)
{
    (void)state;
    json_t *a = parse("{\"b\": [1, \"x\\n\"], \"a\": {\"d\": true, \"c\": null}}");
    json_t *b = parse("{\"a\": {\"c\": null, \"d\": true}, \"b\": [1, \"x\\n\"]}");
    check_text(a, false, "{\"a\":{\"c\":null,\"d\":true},\"b\":[1,\"x\\n\"]}");
    check_text(b, false, "{\"a\":{\"c\":null,\"d\":true},\"b\":[1,\"x\\n\"]}");
    check_text(a, true,
               "{\n  \"a\": {\n    \"c\": null,\n    \"d\": true\n  },\n  \"b\": [\n"
               "    1,\n    \"x\\n\"\n  ]\n}\n");
    json_decref(a);
    json_decref(b);
}

static void any_value_can_be_written(void **state)
{
    (void)state;
    json_t *s = json_string("");
    check_text(s, false, "\"\"");
    check_text(json_null(), true, "null\n");
    json_decref(s);
}

static void doubles_come_back_exactly(void **state)
{
    (void)state;
    const double numbers[] = {0.1,
                              1.0 / 3.0,
                              -0.0,
                              5e-324,
                              1.7976931348623157e308,
                              1.0000000000000002,
                              123456789012345680.0};
    enum { N = sizeof numbers / sizeof *numbers };
    json_t *array = json_array(), *back;
    char *text;
    for (size_t i = 0; i < N; i++)
        assert_int_equal(json_array_append_new(array, sb_json_real(numbers[i])), 0);
    assert_int_equal(sb_json_write(array, false, &text), SB_OK);
    back = parse(text);
    for (size_t i = 0; i < N; i++) {
        double x = json_real_value(json_array_get(back, i));
        assert_memory_equal(&x, &numbers[i], sizeof x);
    }
    sb_free(text);
    json_decref(array);
    json_decref(back);
}

static void not_finite_is_null(void **state)
{
    (void)state;
    assert_true(json_is_null(sb_json_real(NAN)));
    assert_true(json_is_null(sb_json_real(INFINITY)));
    assert_true(json_is_null(sb_json_real(-INFINITY)));
}

static void writing_survives_failed_allocations(void **state)
{
    (void)state;
    size_t live = sb_mem_live();
    json_t *a = parse("[1, 2]");
    sb_status st = SB_ENOMEM;
    long n = 0;
    for (; st != SB_OK && n < 100; n++) {
        char *text;
        sb_mem_fail_after(n);
        st = sb_json_write(a, false, &text);
        sb_mem_fail_after(-1);
        if (st != SB_OK) {
            assert_int_equal(st, SB_ENOMEM);
            assert_string_equal(sb_message(), "json: no memory for a text of 5 bytes");
            assert_null(text);
        }
        sb_free(text);
        assert_int_equal(sb_mem_live(), live);
    }
    assert_int_equal(n, 2); /* one allocation, failed once, then success */
    json_decref(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_text_is_located),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(text_needs_no_terminator),
        cmocka_unit_test(getters_get),
        cmocka_unit_test(getters_say_what_is_wrong),
        cmocka_unit_test(getters_need_an_object),
        cmocka_unit_test(keys_are_sorted),
        cmocka_unit_test(any_value_can_be_written),
        cmocka_unit_test(doubles_come_back_exactly),
        cmocka_unit_test(not_finite_is_null),
        cmocka_unit_test(writing_survives_failed_allocations),
    };
    return cmocka_run_group_tests_name("base/json", tests, NULL, NULL);
}
