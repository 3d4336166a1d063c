/* base/failure: of many threads' failures the lowest chunk's arrives, word for word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/failure.h"
#include "base/threads.h"
#include "refused.h"

static void fail_some(void *context, size_t chunk, int worker)
{
    (void)worker;
    sb_status st = SB_OK;
    if (chunk % 7 == 3)
        st = sb_fail(chunk == 3 ? SB_EIO : SB_EARG, "chunk %zu failed", chunk);
    sb_failure_note(context, chunk, st);
}

static void the_lowest_chunk_is_told(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        struct sb_failure f = SB_FAILURE_NONE;
        assert_int_equal(sb_failure_raise(&f), SB_OK);
        sb_threads_run(threads, 200, fail_some, &f);
        refused(sb_failure_raise(&f), SB_EIO, "chunk 3 failed");
        refused(sb_failure_raise(&f), SB_EIO, "chunk 3 failed");
    }
}

static void long_sentences_fit(void **state)
{
    (void)state;
    char text[2 * SB_MESSAGE_BYTES];
    struct sb_failure f = SB_FAILURE_NONE;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    sb_failure_note(&f, 0, sb_fail(SB_EARG, "%s", text));
    text[SB_MESSAGE_BYTES - 1] = '\0';
    refused(sb_failure_raise(&f), SB_EARG, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_chunk_is_told),
        cmocka_unit_test(long_sentences_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
