/* base/quota: limits of containers, as control groups of both versions tell them. Each
 * test has a machine of files below "test_base_quota.XXXXXX", its working directory. */
#include "base/quota.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"

static char name[] = "test_base_quota.XXXXXX";

static int set_up(void **state)
{
    (void)state;
    strcpy(name + sizeof name - 7, "XXXXXX");
    return mkdtemp(name) && chdir(name) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("..") == 0 && sb_file_remove_tree(name) ? 0 : -1;
}

/* Writes a file of the made-up machine, and the directories it lies in. */
static void put(const char *path, const char *text)
{
    char directory[600];
    snprintf(directory, sizeof directory, "m%s", path);
    *strrchr(directory, '/') = '\0';
    assert_int_equal(sb_file_make_directory(directory), SB_OK);
    snprintf(directory, sizeof directory, "m%s", path);
    assert_int_equal(sb_file_put(directory, text, strlen(text)), SB_OK);
}

#define SOME_MOUNTS                                                                      \
    "22 28 0:21 / /proc rw,relatime shared:12 - proc proc rw\n"                          \
    "28 0 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
#define SECOND "36 28 0:30 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define FIRST                                                                            \
    "33 31 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"

static void nothing_is_no_limit(void **state)
{
    (void)state;
    assert_int_equal(sb_quota_processors("m"), 0); /* no files at all */
    put("/proc/self/mountinfo", SOME_MOUNTS);
    put("/proc/self/cgroup", "0::/\n");
    assert_int_equal(sb_quota_processors("m"), 0);
    put("/proc/self/mountinfo", SOME_MOUNTS SECOND);
    assert_int_equal(sb_quota_processors("m"), 0); /* the root group has no cpu.max */
}

static void second_version(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int want;
    } rows[] = {
        {"max 100000\n", 0},
        {"200000 100000\n", 2},
        {"150000 100000\n", 2},
        {"1000 100000\n", 1},
        {"100000 100000\n", 1},
        {"100001 100000\n", 2},
        {"6400000 100000\n", 64},
        {"", 0},
        {"max\n", 0},
        {"200000\n", 0},
        {"0 100000\n", 0},
        {"-5 100000\n", 0},
        {"200000 0\n", 0},
        {"hello\n", 0},
        {"200000 100000", 0},
        {"9223372036854775807 1\n", 1 << 20},
    };
    put("/proc/self/mountinfo", SOME_MOUNTS SECOND);
    put("/proc/self/cgroup", "0::/box/mine\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put("/sys/fs/cgroup/box/mine/cpu.max", rows[i].text);
        assert_int_equal(sb_quota_processors("m"), rows[i].want);
    }
}

static void the_least_of_all_parents_counts(void **state)
{
    (void)state;
    put("/proc/self/mountinfo", SOME_MOUNTS SECOND);
    put("/proc/self/cgroup", "0::/box/inner/mine\n");
    put("/sys/fs/cgroup/box/cpu.max", "300000 100000\n");
    assert_int_equal(sb_quota_processors("m"), 3);
    put("/sys/fs/cgroup/box/inner/mine/cpu.max", "800000 100000\n");
    assert_int_equal(sb_quota_processors("m"), 3);
    put("/sys/fs/cgroup/box/inner/cpu.max", "50000 25000\n");
    assert_int_equal(sb_quota_processors("m"), 2);
    put("/sys/fs/cgroup/cpu.max", "100000 100000\n"); /* seen from inside a container */
    assert_int_equal(sb_quota_processors("m"), 1);
    put("/sys/fs/cgroup/other/cpu.max", "1 100000\n");
    assert_int_equal(sb_quota_processors("m"), 1);
}

static void first_version(void **state)
{
    (void)state;
    put("/proc/self/mountinfo", SOME_MOUNTS FIRST);
    put("/proc/self/cgroup",
        "5:cpuset:/a\n4:cpu,cpuacct:/docker/1f\n1:name=systemd:/b\n");
    assert_int_equal(sb_quota_processors("m"), 0);
    put("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us", "250000\n");
    assert_int_equal(sb_quota_processors("m"), 0); /* of what period? */
    put("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_period_us", "100000\n");
    assert_int_equal(sb_quota_processors("m"), 3);
    put("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us", "-1\n");
    assert_int_equal(sb_quota_processors("m"), 0);
}

/* The mount shows the container's own group, whose name is that of the world outside; or
 * the name begins outside what is seen. */
static void inside_a_container(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "4:cpuacct,cpu:/docker/1f\n0::/../../elsewhere\n");
    put("/proc/self/mountinfo",
        "33 31 0:31 /docker/1f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpuacct,cpu\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(sb_quota_processors("m"), 4);
    put("/proc/self/cgroup", "4:cpuacct,cpu:/docker/1fff\n0::/../../elsewhere\n");
    assert_int_equal(sb_quota_processors("m"), 4);
    put("/proc/self/mountinfo", SECOND);
    put("/sys/fs/cgroup/cpu.max", "500000 100000\n");
    assert_int_equal(sb_quota_processors("m"), 5);
}

/* Both at once, and the limit of the one that has the controller. */
static void both_versions(void **state)
{
    (void)state;
    put("/proc/self/mountinfo", SOME_MOUNTS FIRST
        "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
        "34 31 0:32 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
    put("/proc/self/cgroup", "4:cpu,cpuacct:/a\n0::/user.slice/a\n");
    put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "700000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpuset/a/cpu.cfs_quota_us", "1\n");
    put("/sys/fs/cgroup/cpuset/a/cpu.cfs_period_us", "1\n");
    assert_int_equal(sb_quota_processors("m"), 7);
    put("/sys/fs/cgroup/unified/user.slice/a/cpu.max", "600000 100000\n");
    assert_int_equal(sb_quota_processors("m"), 6);
}

/* Lines longer than any we look for, and a last one without an end. */
static void long_lines(void **state)
{
    (void)state;
    enum { LONG = 20000 };
    static char text[2 * LONG];
    memset(text, 'x', LONG);
    strcpy(text + LONG, "\n" SECOND "1 2 3");
    put("/proc/self/mountinfo", text);
    put("/proc/self/cgroup", "0::/a\n");
    put("/sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    assert_int_equal(sb_quota_processors("m"), 2);
    text[LONG - 1] = '\n'; /* a directory that no path is long enough for */
    memcpy(text, "0::/", 4);
    put("/proc/self/cgroup", text);
    assert_int_equal(sb_quota_processors("m"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_no_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(second_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_least_of_all_parents_counts, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(first_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(inside_a_container, set_up, tear_down),
        cmocka_unit_test_setup_teardown(both_versions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_lines, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("base/quota", tests, NULL, NULL);
}
