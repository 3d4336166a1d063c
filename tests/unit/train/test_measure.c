/* What plan says of times and of a machine that others used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "train/measure.h"

static void want_time(double seconds, const char *want)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    sb_measure_print_time(f, seconds);
    fclose(f);
    assert_string_equal(text, want);
    free(text);
}

static void test_times(void **state)
{
    (void)state;
    want_time(0.4, "0 s\n");
    want_time(119.0, "119 s\n");
    want_time(121.0, "2 min\n");
    want_time(7199.0, "120 min\n");
    want_time(7200.0, "2.0 h\n");
    want_time(47.9 * 3600.0, "47.9 h\n");
    want_time(48.0 * 3600.0, "2.0 days\n");
    want_time(45.0 * 86400.0, "45.0 days\n");
    want_time(NAN, "unknown\n");
    want_time(INFINITY, "unknown\n");
}

static void test_busy(void **state)
{
    (void)state;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    sb_measure_print_busy(f, 0.05); /* a little is usual */
    fflush(f);
    assert_string_equal(text, "");
    sb_measure_print_busy(f, 0.371);
    fclose(f);
    assert_string_equal(text,
                        "the machine was busy: a thread waited 37 % of the measured "
                        "time for a processor that others had; on a quiet one it "
                        "will be less\n");
    free(text);
}

static void test_examples(void **state)
{
    (void)state;
    assert_int_equal(sb_measure_examples(1e9, 128), 128);
    assert_int_equal(sb_measure_examples(5e11, 128), 128);
    assert_int_equal(sb_measure_examples(1e12, 128), 64);
    assert_int_equal(sb_measure_examples(1.1e12, 128), 48); /* whole blocks */
    assert_int_equal(sb_measure_examples(1e15, 128), 16);   /* one at least */
    assert_int_equal(sb_measure_examples(1e15, 12), 12);
    assert_int_equal(sb_measure_examples(0.0, 100), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_busy),
        cmocka_unit_test(test_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
