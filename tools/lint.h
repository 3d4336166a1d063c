/* lint - included before every file that clang-tidy reads, and by nothing else.
 *
 * The analyzer sees one file at a time. That sb_fail() returns the status it is given is
 * what tells it that the code after a failed call is not reached.
 */
#include "base/status.h"

#define sb_fail(st, ...) (sb_fail(st, __VA_ARGS__), (st))
