/* base/comm: what a process alone does where several would talk to each other. */
#include "base/comm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void alone_every_exchange_is_a_copy(void **state)
{
    (void)state;
    char all[8] = "........", data[4] = "abcd";
    struct sb_comm_span one = {2, 4};
    struct sb_comm_request r;
    assert_int_equal(sb_comm_all_gather(NULL, "letters", data, all, &one), SB_OK);
    assert_memory_equal(all, "..abcd..", 8);
    assert_int_equal(sb_comm_all_gather(NULL, "letters", NULL, all, &one), SB_OK);
    assert_memory_equal(all, "..abcd..", 8);
    const struct sb_comm_span to = {1, 2}, from = {6, 2};
    assert_int_equal(sb_comm_exchange(NULL, "letters", data, &to, all, &from), SB_OK);
    assert_memory_equal(all, "..abcdbc", 8);
    assert_int_equal(sb_comm_start_exchange(NULL, "letters", data, &from, all, &one, &r),
                     SB_EARG);
    assert_string_equal(sb_message(), "an exchange sends 2 bytes where 4 are expected");
    assert_int_equal(sb_comm_broadcast(NULL, "letters", data, 4, 0), SB_OK);
    assert_int_equal(sb_comm_same(NULL, "letters", data, 4), SB_OK);
    assert_int_equal(sb_comm_barrier(NULL, "the end"), SB_OK);
    assert_true(sb_comm_rank(NULL) == 0 && sb_comm_size(NULL) == 1);
    sb_comm_poll(NULL);
}

static void equal_spans_follow_each_other(void **state)
{
    (void)state;
    struct sb_comm_span span[3];
    sb_comm_equal_spans(span, 3, 5);
    for (size_t i = 0; i < 3; i++)
        assert_true(span[i].offset == 5 * i && span[i].bytes == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone_every_exchange_is_a_copy),
        cmocka_unit_test(equal_spans_follow_each_other),
    };
    return cmocka_run_group_tests_name("base/comm", tests, NULL, NULL);
}
