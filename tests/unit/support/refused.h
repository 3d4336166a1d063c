/* refused - a call that must fail, with the code and the sentence it gives. */
#ifndef SB_TESTS_REFUSED_H
#define SB_TESTS_REFUSED_H

#include "base/status.h"

/* The sentence is recorded by the call itself, not left over from an earlier one. */
#define refused(call, code, sentence)                                                    \
    do {                                                                                 \
        (void)sb_fail(SB_EIO, "nothing was said");                                       \
        assert_int_equal(call, code);                                                    \
        assert_string_equal(sb_message(), sentence);                                     \
    } while (0)

#endif
