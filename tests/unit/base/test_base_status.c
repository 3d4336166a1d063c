/* base/status: the sentence is kept, cut, per thread, and may quote itself. */
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/threads.h"

static void sentence_is_kept(void **state)
{
    (void)state;
    assert_string_equal(sb_message(), "");
    assert_int_equal(sb_fail(SB_EFORMAT, "want %d, have %s", 3, "100%"), SB_EFORMAT);
    assert_string_equal(sb_message(), "want 3, have 100%");
    assert_int_equal(sb_fail(SB_EIO, "outer: %s", sb_message()), SB_EIO);
    assert_string_equal(sb_message(), "outer: want 3, have 100%");
}

/* What a file holds does not steer the screen that its sentence is shown on. */
static void control_characters_are_not_passed_on(void **state)
{
    (void)state;
    assert_int_equal(
        sb_fail(SB_EARG, "column %s: H\xc3\xbchner", "a\x1b[31m\n\x7f\xc2\x9b"), SB_EARG);
    assert_string_equal(sb_message(), "column a?[31m????: H\xc3\xbchner");
}

static void long_sentences_are_cut(void **state)
{
    (void)state;
    assert_int_equal(sb_fail(SB_EARG, "%02000d", 7), SB_EARG);
    assert_int_equal(strlen(sb_message()), 1023);
}

enum { CHUNKS = 64 };

static void fail_and_look(void *context, size_t chunk, int worker)
{
    (void)worker;
    int *same = context;
    (void)sb_fail(SB_EARG, "chunk %zu", chunk);
    size_t digit = chunk % 10;
    const char *text = sb_message();
    same[chunk] = text[strlen(text) - 1] == (char)('0' + digit);
}

static void every_thread_has_its_own(void **state)
{
    (void)state;
    int same[CHUNKS] = {0};
    sb_threads_run(4, CHUNKS, fail_and_look, same);
    for (int i = 0; i < CHUNKS; i++)
        assert_true(same[i]);
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < SB_STATUS_COUNT; i++) {
        assert_non_null(sb_status_name((sb_status)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(sb_status_name((sb_status)i),
                                    sb_status_name((sb_status)j));
    }
    assert_string_equal(sb_status_name(SB_OK), "ok");
    assert_string_equal(sb_status_name(SB_STATUS_COUNT), "unknown status");
    assert_string_equal(sb_status_name((sb_status)-1), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentence_is_kept),
        cmocka_unit_test(control_characters_are_not_passed_on),
        cmocka_unit_test(long_sentences_are_cut),
        cmocka_unit_test(every_thread_has_its_own),
        cmocka_unit_test(every_status_has_a_name),
    };
    return cmocka_run_group_tests_name("base/status", tests, NULL, NULL);
}
