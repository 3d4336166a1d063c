/* base/log: threshold, formatting, cutting, silence. */
#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct heard {
    int lines;
    enum sb_log_level level;
    char line[2048];
};

static void hear(void *context, enum sb_log_level level, const char *line)
{
    struct heard *h = context;
    h->lines++;
    h->level = level;
    assert_true(strlen(line) < sizeof h->line);
    memcpy(h->line, line, strlen(line) + 1);
}

static void lines_are_formatted(void **state)
{
    (void)state;
    struct heard h = {0};
    struct sb_log log = {.level = SB_LOG_INFO, .write = hear, .context = &h};
    sb_log_write(&log, SB_LOG_INFO, "epoch %d of %d: %s", 3, 10, "100%");
    assert_int_equal(h.lines, 1);
    assert_int_equal(h.level, SB_LOG_INFO);
    assert_string_equal(h.line, "epoch 3 of 10: 100%");
}

static void levels_below_the_threshold_are_dropped(void **state)
{
    (void)state;
    for (int threshold = SB_LOG_DEBUG; threshold <= SB_LOG_WARN; threshold++) {
        for (int level = SB_LOG_DEBUG; level <= SB_LOG_WARN; level++) {
            struct heard h = {0};
            struct sb_log log = {(enum sb_log_level)threshold, hear, &h};
            sb_log_write(&log, (enum sb_log_level)level, "x");
            assert_int_equal(h.lines, level >= threshold);
        }
    }
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    struct heard h = {0};
    struct sb_log log = {.level = SB_LOG_DEBUG, .write = hear, .context = &h};
    sb_log_write(&log, SB_LOG_WARN, "%01500d", 7);
    assert_int_equal(strlen(h.line), 1023);
}

static void no_listener_is_silent(void **state)
{
    (void)state;
    struct sb_log log = {.level = SB_LOG_DEBUG};
    sb_log_write(NULL, SB_LOG_WARN, "x");
    sb_log_write(&log, SB_LOG_WARN, "x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_formatted),
        cmocka_unit_test(levels_below_the_threshold_are_dropped),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(no_listener_is_silent),
    };
    return cmocka_run_group_tests_name("base/log", tests, NULL, NULL);
}
