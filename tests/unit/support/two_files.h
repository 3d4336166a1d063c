/* two_files - names of two files for a test program: a group's setup and teardown. */
#ifndef SB_TESTS_TWO_FILES_H
#define SB_TESTS_TWO_FILES_H

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/sebays-test-XXXXXX";
static char other[] = "/tmp/sebays-test-XXXXXX";

static inline int make_paths(void **state)
{
    (void)state;
    int a = mkstemp(path), b = mkstemp(other);
    return a < 0 || b < 0 || close(a) || close(b) ? -1 : 0;
}

static inline int remove_paths(void **state)
{
    (void)state;
    return unlink(path) || unlink(other) ? -1 : 0;
}

#endif
